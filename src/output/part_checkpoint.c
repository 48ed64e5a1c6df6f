/* Checkpoints of a run on ranks, in the byte order of the machine:
 *
 *     header       of every checkpoint (checkpoint.h); its checksum is that of front and head
 *     Front        counters of the state, and the checksum of the arrays
 *     head         bytes of the caller
 *     x, v         m, m/s: three numbers a vertex, in the order of the whole model
 *     x_old, v_old the same, one step before; only if h_old > 0
 *     held         one byte a vertex: HK_PIN_*, NO_PIN where the vertex has no pin
 *
 * Each rank writes the values of the vertices that it owns, and reads those of its vertices, ghosts
 * included, so that the number of ranks may change in between. The checksum of the arrays is the
 * sum over all vertices, modulo 2^64, of a hash of the vertex number with its values: no rank needs
 * the whole file, and the sum does not depend on the parts.
 */
#include "output/part_checkpoint.h"

#include "base/durable.h"
#include "base/file.h"
#include "model/part.h"
#include "output/checkpoint.h"
#include "output/places.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_PIN = 255, MAX_VECTORS = 4, MAX_HEAD = 1 << 26 };

typedef struct Front {
  int64_t head_size;
  uint64_t fingerprint;
  int64_t vertices, steps, level;
  double time, given_speed, h_old;
  uint64_t arrays; /* checksum */
} Front;

/* What reading or writing needs. */
typedef struct Buffers {
  HkPlaces places;
  uint8_t *held; /* of each vertex of the part */
  double *x;     /* 3 an owned vertex, for writing */
} Buffers;

static HkRanks *ranks_of(const HkModel *m) {
  return m->part->ranks;
}

static bool is_first(const HkModel *m) {
  return ranks_of(m)->rank == 0;
}

/* ---- Buffers ---- */

static void fill_held(const HkModel *m, const HkState *s, uint8_t *held) {
  memset(held, NO_PIN, (size_t)m->n);
  for (int64_t q = 0; q < m->pin_count; q++) held[m->pin_vertex[q]] = s->pin_held[q];
}

static void buffers_release(const HkModel *m, Buffers *b) {
  hk_places_destroy(m, &b->places);
  hk_free(&m->context, &b->held);
  hk_free(&m->context, &b->x);
}

static HkStatus buffers_create(const HkModel *m, bool writes, Buffers *b, HkError *error) {
  const HkContext *c = &m->context;
  *b = (Buffers){0};
  HK_TRY(hk_places_create(m, !writes, &b->places, error));
  HkStatus status = hk_alloc(c, &b->held, m->n + 1, 1, "a checkpoint", error);
  if (status >= 0 && writes)
    status = hk_alloc(c, &b->x, m->part->owned + 1, 3 * sizeof *b->x, "a checkpoint", error);
  status = hk_model_agree(m, status, error);
  if (status < 0) buffers_release(m, b);
  return status;
}

/* ---- The checksum of the arrays ---- */

/* x, v and, if there is a history, x_old, v_old; returns how many. */
static int vectors_of(const HkState *s, bool history, double *vectors[MAX_VECTORS]) {
  vectors[0] = s->x;
  vectors[1] = s->v;
  vectors[2] = s->x_old;
  vectors[3] = s->v_old;
  return history ? MAX_VECTORS : 2;
}

static uint64_t sum_of(const HkModel *m, const HkState *s, bool history, const uint8_t *held) {
  const HkPart *p = m->part;
  double *vectors[MAX_VECTORS];
  int count = vectors_of(s, history, vectors);
  uint64_t sum = 0;
  for (int64_t i = 0; i < m->n; i++) {
    if (p->ghost[i]) continue;
    uint64_t h = hk_hash(HK_HASH_START, &p->number[i], sizeof p->number[i]);
    for (int k = 0; k < count; k++) h = hk_hash(h, vectors[k] + 3 * i, 3 * sizeof(double));
    sum += hk_hash(h, &held[i], 1);
  }
  int64_t all = (int64_t)sum;
  hk_ranks_sum_int64(ranks_of(m), &all, 1);
  return (uint64_t)all;
}

static size_t vertex_size(bool history) {
  return (history ? 4 : 2) * 3 * sizeof(double) + 1;
}

/* ---- Writing ---- */

static HkStatus check_state(const HkModel *m, const HkState *s, HkError *error) {
  if (!hk_model_any(m, s->springs.count > 0 || hk_state_memory_packed_size(s) > 0)) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "a checkpoint of ranks has no place for springs of a state or memory of forces; "
                 "choose the device cpu");
}

static HkStatus write_front(const HkModel *m, HkRanksFile *file, const void *bytes, size_t size,
                            HkError *error) {
  int64_t at = 0, count = (int64_t)size;
  HkFilePieces pieces = {0, 1, is_first(m) ? 1 : 0, &at, &count};
  return ranks_of(m)->type->file_write(file, &pieces, bytes, error);
}

/* Rank 0: header, front and head. */
static HkStatus make_front(const HkModel *m, Front *front, const void *head, char **bytes,
                           HkError *error) {
  size_t before = sizeof(HkCheckpointHeader), size = before + sizeof *front;
  size_t head_size = (size_t)front->head_size;
  HK_TRY(hk_alloc(&m->context, bytes, (int64_t)(size + head_size), 1, "a checkpoint", error));
  memcpy(*bytes + before, front, sizeof *front);
  memcpy(*bytes + size, head, head_size);
  uint64_t checksum = hk_hash(HK_HASH_START, *bytes + before, sizeof *front + head_size);
  uint64_t arrays = (uint64_t)front->vertices * vertex_size(front->h_old > 0);
  HkCheckpointHeader header =
      hk_checkpoint_header(HK_CHECKPOINT_PARTS, sizeof *front + head_size + arrays, checksum);
  memcpy(*bytes, &header, before);
  return HK_OK;
}

static HkStatus write_all(const HkModel *m, const HkState *s, HkRanksFile *file, Buffers *b,
                          const char *front, size_t front_size, HkError *error) {
  bool history = s->h_old > 0;
  double *vectors[MAX_VECTORS];
  int count = vectors_of(s, history, vectors);
  size_t item = 3 * sizeof(double);
  int64_t offset = (int64_t)front_size, total = m->part->total;
  HK_TRY(write_front(m, file, front, front_size, error));
  for (int k = 0; k < count; k++, offset += total * (int64_t)item) {
    hk_places_pack(m, vectors[k], item, b->x);
    HK_TRY(hk_places_write(m, &b->places, file, offset, item, b->x, error));
  }
  hk_places_pack(m, b->held, 1, b->held);
  return hk_places_write(m, &b->places, file, offset, 1, b->held, error);
}

/* Rank 0: gives the file its name. */
static HkStatus rename_durably(const char *temporary, const char *path, HkError *error) {
  char folder[4096];
  if (rename(temporary, path) != 0) return hk_fail_errno(error, "write", path);
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
  return hk_sync(folder[0] ? folder : "/", error);
}

static HkStatus write_file(const HkModel *m, const HkState *s, Buffers *b, const char *path,
                           const char *front, size_t front_size, HkError *error) {
  HkRanks *ranks = ranks_of(m);
  HkRanksFile *file = NULL;
  HkError inner = {0};
  char temporary[4096];
  int length = snprintf(temporary, sizeof temporary, "%s.tmp", path);
  if (length < 0 || (size_t)length >= sizeof temporary)
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "the path is too long");
  int64_t size = (int64_t)front_size + m->part->total * (int64_t)vertex_size(s->h_old > 0);
  if (is_first(m)) unlink(temporary);
  HkStatus status = hk_places_reserve(m, temporary, size, error);
  if (status >= 0) status = ranks->type->file_open(ranks, temporary, true, &file, error);
  if (status >= 0) status = write_all(m, s, file, b, front, front_size, error);
  HkStatus closed = ranks->type->file_close(&file, &inner);
  if (status >= 0 && closed < 0) {
    if (error) *error = inner;
    status = closed;
  }
  if (is_first(m) && status >= 0) status = rename_durably(temporary, path, error);
  status = hk_ranks_agree(ranks, status, error);
  if (is_first(m) && status < 0) unlink(temporary);
  return status;
}

HkStatus hk_part_checkpoint_write(const HkModel *m, const HkState *s, const char *path,
                                  const void *head, size_t head_size, HkError *error) {
  Front front = {(int64_t)head_size, s->fingerprint, m->part->total,
                 s->steps,           s->level,       s->time,
                 s->given_speed,     s->h_old,       0};
  Buffers buffers;
  char *bytes = NULL;
  HK_TRY(check_state(m, s, error));
  HK_TRY(buffers_create(m, true, &buffers, error));
  fill_held(m, s, buffers.held);
  front.arrays = sum_of(m, s, s->h_old > 0, buffers.held);
  HkStatus status = hk_model_agree(m, make_front(m, &front, head, &bytes, error), error);
  size_t size = sizeof(HkCheckpointHeader) + sizeof front + head_size;
  if (status >= 0) status = write_file(m, s, &buffers, path, bytes, size, error);
  hk_free(&m->context, &bytes);
  buffers_release(m, &buffers);
  return status;
}

/* ---- Reading ---- */

/* Counters of a file that has the right checksum may still be those of another program. */
static bool is_sound(const Front *f, uint64_t payload) {
  bool counts = f->head_size >= 0 && f->head_size <= MAX_HEAD && f->vertices >= 0 &&
                (uint64_t)f->vertices <= payload / vertex_size(false) && f->steps >= 0 &&
                f->steps <= INT64_MAX / 2 && f->level >= 0 && f->level <= HK_STATE_DEPTH_MAX;
  return counts && isfinite(f->time) && isfinite(f->given_speed) && f->h_old >= 0 &&
         isfinite(f->h_old) &&
         payload ==
             sizeof *f + (uint64_t)f->head_size + (uint64_t)f->vertices * vertex_size(f->h_old > 0);
}

/* Reads front and head from an open file of `size` bytes. */
static HkStatus read_open(const HkModel *m, FILE *file, const char *path, size_t size, Front *front,
                          char **head, HkError *error) {
  HkCheckpointHeader header = {0};
  if (fread(&header, 1, sizeof header, file) < sizeof header) size = 0;
  HK_TRY(hk_checkpoint_check(path, HK_CHECKPOINT_PARTS, &header, size, error));
  if (fread(front, 1, sizeof *front, file) < sizeof *front || !is_sound(front, header.size))
    return hk_checkpoint_fail_damaged(path, error);
  size_t bytes = (size_t)front->head_size;
  HK_TRY(hk_alloc(&m->context, head, front->head_size + 1, 1, "a checkpoint", error));
  if (fread(*head, 1, bytes, file) < bytes) return hk_checkpoint_fail_damaged(path, error);
  uint64_t checksum = hk_hash(HK_HASH_START, front, sizeof *front);
  /* The hash goes on over the head where it is a whole number of words behind the front. */
  _Static_assert(sizeof(Front) % sizeof(uint64_t) == 0, "hk_hash pads the last word");
  if (header.checksum != hk_hash(checksum, *head, bytes))
    return hk_checkpoint_fail_damaged(path, error);
  return HK_OK;
}

static HkStatus read_front(const HkModel *m, const char *path, Front *front, char **head,
                           HkError *error) {
  struct stat info;
  if (stat(path, &info) != 0) return hk_fail_errno(error, "open", path);
  if (!S_ISREG(info.st_mode)) return hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "is not a file");
  FILE *file = fopen(path, "rb");
  if (!file) return hk_fail_errno(error, "open", path);
  HkStatus status = read_open(m, file, path, (size_t)info.st_size, front, head, error);
  fclose(file);
  if (status < 0) hk_free(&m->context, head);
  return status;
}

/* Rank 0 reads the front, and all ranks get it. */
static HkStatus share_front(const HkModel *m, const char *path, Front *front, char **head,
                            HkError *error) {
  HkRanks *ranks = ranks_of(m);
  *front = (Front){0};
  *head = NULL;
  HkStatus status = is_first(m) ? read_front(m, path, front, head, error) : HK_OK;
  HK_TRY(hk_ranks_agree(ranks, status, error));
  ranks->type->broadcast(ranks, 0, front, sizeof *front);
  if (!is_first(m))
    status = hk_alloc(&m->context, head, front->head_size + 1, 1, "a checkpoint", error);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) ranks->type->broadcast(ranks, 0, *head, (size_t)front->head_size);
  if (status < 0) hk_free(&m->context, head);
  return status;
}

HkStatus hk_part_checkpoint_read_head(const HkModel *m, const char *path, char **head,
                                      size_t *head_size, HkError *error) {
  Front front;
  HK_TRY(share_front(m, path, &front, head, error));
  *head_size = (size_t)front.head_size;
  return HK_OK;
}

/* Takes the pins of the part; false if pins of the file are not those of the model. */
static bool take_held(const HkModel *m, HkState *s, const uint8_t *held) {
  int64_t q = 0;
  for (int64_t i = 0; i < m->n; i++) {
    bool pinned = q < m->pin_count && m->pin_vertex[q] == i;
    if (pinned ? held[i] > HK_PIN_KEPT : held[i] != NO_PIN) return false;
    if (pinned) s->pin_held[q++] = held[i];
  }
  return true;
}

static HkStatus read_arrays(const HkModel *m, HkState *s, HkRanksFile *file, const Buffers *b,
                            const Front *front, HkError *error) {
  double *vectors[MAX_VECTORS];
  int count = vectors_of(s, front->h_old > 0, vectors);
  int64_t offset = (int64_t)(sizeof(HkCheckpointHeader) + sizeof *front) + front->head_size;
  for (int k = 0; k <= count; k++) {
    size_t item = k < count ? 3 * sizeof(double) : 1;
    void *to = k < count ? (void *)vectors[k] : (void *)b->held;
    HK_TRY(hk_places_read(m, &b->places, file, offset, item, to, error));
    offset += front->vertices * (int64_t)item;
  }
  return HK_OK;
}

static HkStatus read_file(const HkModel *m, HkState *s, const char *path, const Front *front,
                          HkError *error) {
  HkRanks *ranks = ranks_of(m);
  HkRanksFile *file = NULL;
  Buffers buffers;
  HkStatus status = front->h_old > 0 ? hk_state_need_history(s, error) : HK_OK;
  HK_TRY(hk_ranks_agree(ranks, status, error));
  HK_TRY(buffers_create(m, false, &buffers, error));
  status = ranks->type->file_open(ranks, path, false, &file, error);
  if (status >= 0) status = read_arrays(m, s, file, &buffers, front, error);
  ranks->type->file_close(&file, NULL);
  if (status >= 0 && sum_of(m, s, front->h_old > 0, buffers.held) != front->arrays)
    status = hk_checkpoint_fail_damaged(path, error);
  bool fits = status < 0 || take_held(m, s, buffers.held);
  if (hk_model_any(m, !fits))
    status = hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "holds pins that cannot be");
  buffers_release(m, &buffers);
  return status;
}

HkStatus hk_part_checkpoint_read(const HkModel *m, HkState *s, const char *path, HkError *error) {
  Front front;
  char *head;
  HK_TRY(share_front(m, path, &front, &head, error));
  hk_free(&m->context, &head);
  if (front.fingerprint != s->fingerprint || front.vertices != m->part->total)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "holds the state of another model");
  hk_state_own(s);
  HK_TRY(read_file(m, s, path, &front, error));
  hk_state_springs_release(s);
  hk_state_memory_release(s);
  s->steps = front.steps;
  s->level = (int)front.level;
  s->time = front.time;
  s->given_speed = front.given_speed;
  s->h_old = front.h_old;
  s->edits++;
  return HK_OK;
}
