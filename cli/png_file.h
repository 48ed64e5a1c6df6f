/* Pictures as PNG files. */
#ifndef HOOKE_CLI_PNG_FILE_H
#define HOOKE_CLI_PNG_FILE_H

#include "target.h"

/* Writes width x height pixels of 4 bytes, row by row from the top; the fourth is left out. */
HkStatus png_write(const Target *target, const unsigned char *rgba, int width, int height,
                   HkError *error);

#endif
