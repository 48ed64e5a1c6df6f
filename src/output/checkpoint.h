/* Checkpoint files, which are complete or absent: magic, version, size and checksum around a
 * payload. */
#ifndef HK_OUTPUT_CHECKPOINT_H
#define HK_OUTPUT_CHECKPOINT_H

#include "model/state.h"

/* Names in the folder of a run: the last checkpoint, and the one before it. */
#define HK_CHECKPOINT_NAME "checkpoint"
#define HK_CHECKPOINT_PREVIOUS "checkpoint.previous"

typedef enum HkCheckpointKind { HK_CHECKPOINT_STATE = 1, HK_CHECKPOINT_RUN = 2 } HkCheckpointKind;

/* Writes to a temporary name, flushes to the disk and renames. */
HkStatus hk_checkpoint_write(const char *path, HkCheckpointKind kind, const void *payload,
                             size_t size, HkError *error);
/* Reads and checks; *payload points into *bytes, which is freed with hk_free. */
HkStatus hk_checkpoint_read(const HkContext *context, const char *path, HkCheckpointKind kind,
                            char **bytes, const char **payload, size_t *size, HkError *error);

#endif
