/* Lists that several threads fill.
 *
 * A loop is cut into pieces, and each piece fills a list of its own. The lists are put one after
 * the other in the order of the pieces, so that the whole does not depend on the number of threads.
 * A few pieces are worked on at a time, and their memory is used again.
 */
#ifndef HK_CONTACT_PIECES_H
#define HK_CONTACT_PIECES_H

#include "base/memory.h"

typedef struct HkPiece {
  const HkContext *context;
  void *entries;
  int64_t count, capacity;
  size_t size; /* bytes, of an entry */
  HkStatus status;
} HkPiece;

typedef struct HkPieces {
  HkPiece *piece;
  int64_t count;
} HkPieces;

typedef struct HkFill {
  int64_t count, grain; /* entries of the loop, all of them and in a piece */
  size_t size;          /* bytes, of an entry of the list */
  /* Appends what entries begin .. end - 1 of the loop give. */
  void (*fill)(void *user, int64_t begin, int64_t end, HkPiece *piece);
  void *user;
} HkFill;

/* Returns the place of a new entry, or NULL, which hk_pieces_fill then returns as an error. */
void *hk_piece_append(HkPiece *piece);
/* Makes a list; *list (a pointer to a pointer) holds up to *capacity entries. */
HkStatus hk_pieces_fill(HkPieces *pieces, const HkContext *context, int threads, const HkFill *fill,
                        void *list, int64_t *count, int64_t *capacity);
void hk_pieces_destroy(const HkContext *context, HkPieces *pieces);
size_t hk_pieces_bytes(const HkPieces *pieces);

#endif
