/* Checkpoints, in the byte order of the machine:
 *
 *     "HOOKECKP"  u32 version  u32 kind  u64 payload size  u64 payload checksum  payload
 *
 * The payload of a state is what hk_state_pack makes. Written to a temporary name, flushed,
 * renamed: after kill -9 at any moment the file is the old one or the new one. Anything else is
 * noticed by the checksum.
 */
#include "output/checkpoint.h"

#include "base/file.h"

#include <string.h>

static const char magic[8] = {'H', 'O', 'O', 'K', 'E', 'C', 'K', 'P'};
enum { VERSION = 3 };

HkCheckpointHeader hk_checkpoint_header(HkCheckpointKind kind, uint64_t size, uint64_t checksum) {
  HkCheckpointHeader header = {
      .version = VERSION, .kind = kind, .size = size, .checksum = checksum};
  memcpy(header.magic, magic, sizeof magic);
  return header;
}

HkStatus hk_checkpoint_write(const char *path, HkCheckpointKind kind, const void *payload,
                             size_t size, HkError *error) {
  HkWriter w;
  HkCheckpointHeader header =
      hk_checkpoint_header(kind, size, hk_hash(HK_HASH_START, payload, size));
  HK_TRY(hk_writer_open(&w, path, error));
  fwrite(&header, sizeof header, 1, w.file);
  fwrite(payload, 1, size, w.file);
  return hk_writer_commit_durable(&w, error);
}

HkStatus hk_checkpoint_fail_damaged(const char *path, HkError *error) {
  return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "is damaged: its checksum does not fit");
}

/* A run goes on as it was begun: on ranks, or in one process without them. */
static HkStatus fail_kind(const char *path, uint32_t kind, HkError *error) {
  if (kind == HK_CHECKPOINT_PARTS)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0,
                      "was written by ranks; resume it with the device petsc, on any number of "
                      "ranks");
  if (kind == HK_CHECKPOINT_RUN)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0,
                      "was written without ranks; resume it with the device that has begun it");
  return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "is a checkpoint of another kind (%u)",
                    kind);
}

HkStatus hk_checkpoint_check(const char *path, HkCheckpointKind kind,
                             const HkCheckpointHeader *header, size_t bytes, HkError *error) {
  if (bytes < sizeof *header || memcmp(header->magic, magic, sizeof magic) != 0)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "is not a checkpoint of Hooke");
  if (header->version != VERSION)
    return hk_fail_at(error, HK_ERROR_UNSUPPORTED, path, 0, 0,
                      "is a checkpoint of version %u, this program reads version %d",
                      header->version, VERSION);
  if (header->kind != (uint32_t)kind) return fail_kind(path, header->kind, error);
  if (header->size != bytes - sizeof *header) return hk_checkpoint_fail_damaged(path, error);
  return HK_OK;
}

static HkStatus check(const char *path, HkCheckpointKind kind, const char *bytes, size_t size,
                      HkError *error) {
  HkCheckpointHeader header = {0};
  if (size >= sizeof header) memcpy(&header, bytes, sizeof header);
  HK_TRY(hk_checkpoint_check(path, kind, &header, size, error));
  if (header.checksum != hk_hash(HK_HASH_START, bytes + sizeof header, size - sizeof header))
    return hk_checkpoint_fail_damaged(path, error);
  return HK_OK;
}

HkStatus hk_checkpoint_read(const HkContext *context, const char *path, HkCheckpointKind kind,
                            char **bytes, const char **payload, size_t *size, HkError *error) {
  size_t whole;
  HK_TRY(hk_file_read(context, path, bytes, &whole, error));
  HkStatus status = check(path, kind, *bytes, whole, error);
  if (status < 0) {
    hk_free(context, bytes);
    return status;
  }
  *payload = *bytes + sizeof(HkCheckpointHeader);
  *size = whole - sizeof(HkCheckpointHeader);
  return HK_OK;
}

/* The state of a part is no state of the model, and only a run knows how to write it. */
static HkStatus refuse_part(const HkState *state, HkError *error) {
  if (!state->context.ranks) return HK_OK;
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "a state on ranks holds a part of the model and has no file of its own; make an "
                 "HkRun, whose checkpoint all ranks write together");
}

HkStatus hk_state_save(const HkState *state, const char *path, HkError *error) {
  HK_TRY(refuse_part(state, error));
  size_t size = hk_state_packed_size(state);
  char *bytes = NULL;
  HK_TRY(hk_alloc(&state->context, &bytes, (int64_t)size, 1, "a checkpoint", error));
  hk_state_pack(state, bytes);
  HkStatus status = hk_checkpoint_write(path, HK_CHECKPOINT_STATE, bytes, size, error);
  hk_free(&state->context, &bytes);
  return status;
}

HkStatus hk_state_load(HkState *state, const char *path, HkError *error) {
  char *bytes;
  const char *payload;
  size_t size;
  HK_TRY(refuse_part(state, error));
  HK_TRY(hk_checkpoint_read(&state->context, path, HK_CHECKPOINT_STATE, &bytes, &payload, &size,
                            error));
  HkStatus status = hk_state_unpack(state, payload, size, path, error);
  hk_free(&state->context, &bytes);
  return status;
}
