/* One file of all ranks by MPI-IO: each rank has pieces of an array in it. */
#include "petsc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct HkRanksFile {
  HkRanks *ranks;
  MPI_File file;
  bool writes;
  char path[4096];
};

/* All ranks return the error of any of them. */
static HkStatus agree(const HkRanksFile *f, int code, const char *verb, HkError *error) {
  int worst = code, length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, comm_of(f->ranks));
  if (worst == MPI_SUCCESS) return HK_OK;
  MPI_Error_string(code != MPI_SUCCESS ? code : worst, text, &length);
  if (error) {
    memset(error, 0, sizeof *error);
    error->status = HK_ERROR_IO;
    snprintf(error->text, sizeof error->text, "cannot %s %.1000s: %.300s", verb, f->path, text);
  }
  return HK_ERROR_IO;
}

HkStatus petsc_file_open(HkRanks *ranks, const char *path, bool write, HkRanksFile **file,
                         HkError *error) {
  HkRanksFile *f = calloc(1, sizeof *f);
  int mode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
  *file = NULL;
  if (!f) return petsc_status(ranks, PETSC_ERR_MEM, error);
  f->ranks = ranks;
  f->writes = write;
  snprintf(f->path, sizeof f->path, "%s", path);
  int code = MPI_File_open(comm_of(ranks), path, mode, MPI_INFO_NULL, &f->file);
  HkStatus status = agree(f, code, write ? "write" : "read", error);
  if (status < 0) {
    free(f);
    return status;
  }
  *file = f;
  return HK_OK;
}

HkStatus petsc_file_resize(HkRanksFile *f, int64_t bytes, HkError *error) {
  return agree(f, MPI_File_set_size(f->file, bytes), "write", error);
}

/* The view of a rank: its pieces, one behind the other. */
static int set_view(HkRanksFile *f, const HkFilePieces *p, MPI_Datatype *item, MPI_Datatype *all,
                    int *count) {
  size_t pieces = p->pieces > 0 ? (size_t)p->pieces : 1;
  MPI_Aint *at = malloc(pieces * sizeof *at);
  int *length = malloc(pieces * sizeof *length);
  int code = at && length ? MPI_SUCCESS : MPI_ERR_NO_MEM;
  *count = 0;
  MPI_Type_contiguous((int)p->item, MPI_BYTE, item);
  MPI_Type_commit(item);
  for (int64_t k = 0; k < p->pieces && code == MPI_SUCCESS; k++) {
    at[k] = (MPI_Aint)(p->at[k] * p->item);
    length[k] = (int)p->count[k];
    *count += length[k];
  }
  if (code == MPI_SUCCESS)
    code = MPI_Type_create_hindexed((int)p->pieces, length, at, *item, all);
  else
    MPI_Type_dup(*item, all);
  MPI_Type_commit(all);
  free(at);
  free(length);
  int viewed =
      MPI_File_set_view(f->file, (MPI_Offset)p->offset, *item, *all, "native", MPI_INFO_NULL);
  return code == MPI_SUCCESS ? viewed : code;
}

/* Whether all of it was moved; a disk that is full may write less without an error. */
static int check_count(MPI_Status *status, MPI_Datatype item, int count) {
  int moved = 0;
  MPI_Get_count(status, item, &moved);
  return moved == count ? MPI_SUCCESS : MPI_ERR_NO_SPACE;
}

static HkStatus move(HkRanksFile *f, const HkFilePieces *pieces, void *data, bool write,
                     HkError *error) {
  MPI_Datatype item, all;
  MPI_Status status;
  int count = 0, code = set_view(f, pieces, &item, &all, &count);
  if (agree(f, code, write ? "write" : "read", error) >= 0) {
    code = write ? MPI_File_write_all(f->file, data, count, item, &status)
                 : MPI_File_read_all(f->file, data, count, item, &status);
    if (code == MPI_SUCCESS) code = check_count(&status, item, count);
  }
  HkStatus result = agree(f, code, write ? "write" : "read", error);
  MPI_Type_free(&all);
  MPI_Type_free(&item);
  return result;
}

HkStatus petsc_file_write(HkRanksFile *f, const HkFilePieces *pieces, const void *data,
                          HkError *error) {
  return move(f, pieces, (void *)(uintptr_t)data, true, error);
}

HkStatus petsc_file_read(HkRanksFile *f, const HkFilePieces *pieces, void *data, HkError *error) {
  return move(f, pieces, data, false, error);
}

HkStatus petsc_file_close(HkRanksFile **file, HkError *error) {
  HkRanksFile *f = *file;
  if (!f) return HK_OK;
  int code = f->writes ? MPI_File_sync(f->file) : MPI_SUCCESS;
  int closed = MPI_File_close(&f->file);
  HkStatus status = agree(f, code != MPI_SUCCESS ? code : closed, "write", error);
  free(f);
  *file = NULL;
  return status;
}
