/* Arrays of the files that the outputs vtp and vtu write. */
#ifndef HOOKE_CLI_VTK_ARRAYS_H
#define HOOKE_CLI_VTK_ARRAYS_H

#include "hooke/hooke.h"

/* A whole file in memory. */
typedef struct VtkFile {
  char path[4096];
  char *text;
} VtkFile;

/* Reads a file into memory. */
HkStatus vtk_open(const char *path, VtkFile *file, HkError *error);
/* Decodes the array of that name, which must have count numbers of 32 or 64 bits. */
HkStatus vtk_read(const VtkFile *file, const char *name, int64_t count, float *values,
                  HkError *error);
void vtk_close(VtkFile *file);

#endif
