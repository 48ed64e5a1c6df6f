/* Lists that several threads fill; see pieces.h. */
#include "contact/pieces.h"

#include "base/threads.h"

#include <string.h>

enum { PIECES_A_THREAD = 8 }; /* at a time: enough for an even share */

void *hk_piece_append(HkPiece *p) {
  int64_t bytes = p->capacity;
  if (p->status >= 0)
    p->status = hk_grow(p->context, &p->entries, &bytes, (p->count + 1) * (int64_t)p->size, 1,
                        "contact", NULL);
  if (p->status < 0) return NULL;
  p->capacity = bytes;
  return (char *)p->entries + (size_t)p->count++ * p->size;
}

/* Some pieces, from `first` on. */
typedef struct Wave {
  HkPieces *pieces;
  const HkFill *fill;
  int64_t first;
  char *to; /* where the list of the first one begins */
} Wave;

static void fill_range(void *user, int64_t begin, int64_t end) {
  const Wave *w = user;
  for (int64_t k = begin; k < end; k++) {
    int64_t from = (w->first + k) * w->fill->grain, until = from + w->fill->grain;
    if (until > w->fill->count) until = w->fill->count;
    w->fill->fill(w->fill->user, from, until, &w->pieces->piece[k]);
  }
}

static void copy_range(void *user, int64_t begin, int64_t end) {
  const Wave *w = user;
  int64_t at = 0;
  for (int64_t k = 0; k < begin; k++) at += w->pieces->piece[k].count;
  for (int64_t k = begin; k < end; k++) {
    const HkPiece *p = &w->pieces->piece[k];
    if (p->count == 0) continue; /* an empty list may be NULL */
    memcpy(w->to + (size_t)at * p->size, p->entries, (size_t)p->count * p->size);
    at += p->count;
  }
}

/* Runs `count` pieces and appends their lists to *list. */
static HkStatus run_wave(Wave *w, const HkContext *c, int threads, int64_t count, void *list,
                         int64_t *list_count, int64_t *capacity) {
  int64_t all = *list_count;
  for (int64_t k = 0; k < count; k++) {
    HkPiece *p = &w->pieces->piece[k];
    p->context = c;
    p->count = 0;
    p->size = w->fill->size;
    p->status = HK_OK;
  }
  hk_parallel_work(threads, count, 1, fill_range, w);
  for (int64_t k = 0; k < count; k++) {
    HK_TRY(w->pieces->piece[k].status);
    all += w->pieces->piece[k].count;
  }
  HK_TRY(hk_grow(c, list, capacity, all, w->fill->size, "contact", NULL));
  memcpy(&w->to, list, sizeof w->to);
  if (all > 0) w->to += (size_t)*list_count * w->fill->size;
  hk_parallel_work(threads, count, 1, copy_range, w);
  *list_count = all;
  return HK_OK;
}

HkStatus hk_pieces_fill(HkPieces *pieces, const HkContext *c, int threads, const HkFill *fill,
                        void *list, int64_t *count, int64_t *capacity) {
  int64_t all = (fill->count + fill->grain - 1) / fill->grain, before = pieces->count;
  int64_t wave = (int64_t)PIECES_A_THREAD * (threads > 1 ? threads : 1);
  if (wave > all) wave = all;
  HK_TRY(hk_grow(c, &pieces->piece, &pieces->count, wave, sizeof *pieces->piece, "contact", NULL));
  for (int64_t k = before; k < pieces->count; k++) pieces->piece[k] = (HkPiece){0};
  *count = 0;
  for (int64_t first = 0; first < all; first += wave) {
    Wave w = {.pieces = pieces, .fill = fill, .first = first};
    HK_TRY(
        run_wave(&w, c, threads, all - first < wave ? all - first : wave, list, count, capacity));
  }
  return HK_OK;
}

void hk_pieces_destroy(const HkContext *c, HkPieces *pieces) {
  for (int64_t k = 0; k < pieces->count; k++) hk_free(c, &pieces->piece[k].entries);
  hk_free(c, &pieces->piece);
  pieces->count = 0;
}

size_t hk_pieces_bytes(const HkPieces *pieces) {
  size_t bytes = (size_t)pieces->count * sizeof *pieces->piece;
  for (int64_t k = 0; k < pieces->count; k++) bytes += (size_t)pieces->piece[k].capacity;
  return bytes;
}
