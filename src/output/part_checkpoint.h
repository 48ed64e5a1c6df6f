/* Checkpoints of a run on ranks: one file, which all ranks write and any number of ranks reads. */
#ifndef HK_OUTPUT_PART_CHECKPOINT_H
#define HK_OUTPUT_PART_CHECKPOINT_H

#include "model/state.h"

/* All functions are collective, and return the same status on all ranks. */

/* Writes to a temporary name, flushes to the disk and renames. head: bytes of the caller, those of
 * rank 0. HK_ERROR_UNSUPPORTED for a state with memory of forces or springs of its own. */
HkStatus hk_part_checkpoint_write(const HkModel *model, const HkState *state, const char *path,
                                  const void *head, size_t head_size, HkError *error);
/* Reads and checks what stands before the arrays; *head is freed with hk_free. */
HkStatus hk_part_checkpoint_read_head(const HkModel *model, const char *path, char **head,
                                      size_t *head_size, HkError *error);
/* Reads the state of this rank's part, ghosts included. After an error the state is undefined. */
HkStatus hk_part_checkpoint_read(const HkModel *model, HkState *state, const char *path,
                                 HkError *error);

#endif
