/* Checkpoint files, which are complete or absent: magic, version, size and checksum around a
 * payload. */
#ifndef HK_OUTPUT_CHECKPOINT_H
#define HK_OUTPUT_CHECKPOINT_H

#include "model/state.h"

/* Names in the folder of a run: the last checkpoint, and the one before it. */
#define HK_CHECKPOINT_NAME "checkpoint"
#define HK_CHECKPOINT_PREVIOUS "checkpoint.previous"

typedef enum HkCheckpointKind {
  HK_CHECKPOINT_STATE = 1,
  HK_CHECKPOINT_RUN = 2,
  HK_CHECKPOINT_PARTS = 3 /* of a run on ranks: part_checkpoint.h */
} HkCheckpointKind;

/* The first bytes of every checkpoint. */
typedef struct HkCheckpointHeader {
  char magic[8];
  uint32_t version, kind;
  uint64_t size, checksum; /* of the payload */
} HkCheckpointHeader;

HkCheckpointHeader hk_checkpoint_header(HkCheckpointKind kind, uint64_t size, uint64_t checksum);
/* Checks all but the checksum of a header, of which `bytes` of the whole file were read. */
HkStatus hk_checkpoint_check(const char *path, HkCheckpointKind kind,
                             const HkCheckpointHeader *header, size_t bytes, HkError *error);
HkStatus hk_checkpoint_fail_damaged(const char *path, HkError *error);

/* Writes to a temporary name, flushes to the disk and renames. */
HkStatus hk_checkpoint_write(const char *path, HkCheckpointKind kind, const void *payload,
                             size_t size, HkError *error);
/* Reads and checks; *payload points into *bytes, which is freed with hk_free. */
HkStatus hk_checkpoint_read(const HkContext *context, const char *path, HkCheckpointKind kind,
                            char **bytes, const char **payload, size_t *size, HkError *error);

#endif
