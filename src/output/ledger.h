/* The file `checksums` of a run: checksums of the frame files that it has written.
 *
 *     checksum (16 hexadecimal digits)  size (bytes)  name in the run's folder
 *
 * one line a file, in the order in which they were written. It grows, and the checkpoint holds its
 * length and its own checksum. A resumed run compares the files with it.
 */
#ifndef HK_OUTPUT_LEDGER_H
#define HK_OUTPUT_LEDGER_H

#include "base/durable.h"
#include "base/memory.h"
#include "base/ranks.h"

#include <stdio.h>

#define HK_LEDGER_NAME "checksums"

typedef struct HkLedger {
  HkContext context;
  const char *folder; /* of the run, borrowed, no slash at the end */
  FILE *file;
  HkSum sum;    /* of the whole file: sum.size is its length */
  char *recent; /* names since the last hk_ledger_forget_recent, each ended by 0 */
  int64_t recent_size, recent_room;
  int recent_count;
} HkLedger;

/* Opens the file and truncates it to l->sum.size. */
HkStatus hk_ledger_open(HkLedger *l, HkError *error);
/* Adds a file that is written; its path begins with the run's folder. */
HkStatus hk_ledger_add(HkLedger *l, const char *path, HkError *error);
/* path = that of a rank's piece of a frame file: frame_000000_0003.vtu of frame_000000.vtu. */
HkStatus hk_ledger_piece_path(const char *pattern, int rank, char *path, size_t size,
                              HkError *error);
/* Adds the pieces of a frame file, one of each rank; rank 0 has the file of the ledger. Collective.
 */
HkStatus hk_ledger_add_pieces(HkLedger *l, const char *path, HkError *error);
/* Synchronizes the ledger, the files that were added since the last hk_ledger_forget_recent and
 * their folders with the disk. */
HkStatus hk_ledger_sync(const HkLedger *l, HkError *error);
void hk_ledger_forget_recent(HkLedger *l);
HkStatus hk_ledger_close(HkLedger *l, HkError *error);

/* Result of comparing the files of a run with their checksums. */
typedef enum HkFilesState {
  HK_FILES_WHOLE,
  HK_FILES_MISSING, /* some are missing, all others are intact */
  HK_FILES_DAMAGED
} HkFilesState;

/* Compares the files with the lines up to `sum`; *why describes the first one that is not intact.
 */
HkStatus hk_ledger_check(const HkContext *context, const char *folder, const HkSum *sum,
                         HkFilesState *state, HkError *why, HkError *error);

#endif
