/* Vertices of a rank in a file; see places.h. */
#include "output/places.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Lists the runs and returns their number; it only counts while places->at is NULL. */
static int64_t list(const HkModel *m, bool ghosts, HkPlaces *places) {
  const HkPart *p = m->part;
  int64_t pieces = 0, end = -1;
  for (int64_t i = 0; i < m->n; i++) {
    if (p->ghost[i] && !ghosts) continue;
    bool begins = p->number[i] != end;
    pieces += begins;
    end = p->number[i] + 1;
    if (!places->at) continue;
    if (begins) places->at[pieces - 1] = p->number[i];
    places->count[pieces - 1] = begins ? 1 : places->count[pieces - 1] + 1;
  }
  return pieces;
}

HkStatus hk_places_create(const HkModel *m, bool ghosts, HkPlaces *p, HkError *error) {
  const HkContext *c = &m->context;
  *p = (HkPlaces){0};
  p->pieces = list(m, ghosts, p);
  HkStatus status = hk_alloc(c, &p->count, p->pieces + 1, sizeof *p->count, "places", error);
  if (status >= 0) status = hk_alloc(c, &p->at, p->pieces + 1, sizeof *p->at, "places", error);
  status = hk_model_agree(m, status, error);
  if (status < 0)
    hk_places_destroy(m, p);
  else
    list(m, ghosts, p);
  return status;
}

void hk_places_destroy(const HkModel *m, HkPlaces *p) {
  hk_free(&m->context, &p->at);
  hk_free(&m->context, &p->count);
  p->pieces = 0;
}

/* Returns 0, or the number of the error. */
static int reserve(int file, int64_t bytes) {
  int reason = posix_fallocate(file, 0, (off_t)bytes);
  if (reason != EOPNOTSUPP && reason != EINVAL) return reason;
  return ftruncate(file, (off_t)bytes) == 0 ? 0 : errno; /* file systems without reservation */
}

HkStatus hk_places_reserve(const HkModel *m, const char *path, int64_t bytes, HkError *error) {
  HkStatus status = HK_OK;
  if (m->part->ranks->rank == 0) {
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    int reason = file >= 0 ? reserve(file, bytes) : errno;
    if (file >= 0) close(file);
    errno = reason;
    if (reason) status = hk_fail_errno(error, "write", path);
  }
  return hk_model_agree(m, status, error);
}

HkStatus hk_places_write(const HkModel *m, const HkPlaces *p, HkRanksFile *file, int64_t offset,
                         size_t item, const void *data, HkError *error) {
  HkFilePieces pieces = {offset, (int64_t)item, p->pieces, p->at, p->count};
  return m->part->ranks->type->file_write(file, &pieces, data, error);
}

HkStatus hk_places_read(const HkModel *m, const HkPlaces *p, HkRanksFile *file, int64_t offset,
                        size_t item, void *data, HkError *error) {
  HkFilePieces pieces = {offset, (int64_t)item, p->pieces, p->at, p->count};
  return m->part->ranks->type->file_read(file, &pieces, data, error);
}

void hk_places_pack(const HkModel *m, const void *from, size_t item, void *to) {
  const HkRuns *runs = &m->part->vertices;
  char *at = to;
  for (int64_t k = 0; k < runs->count; k++) {
    size_t bytes = (size_t)(runs->run[k].end - runs->run[k].begin) * item;
    memmove(at, (const char *)from + (size_t)runs->run[k].begin * item, bytes);
    at += bytes;
  }
}
