/* The checkpoint of a run: where it stands, how far each output is complete, and the state.
 *
 * Frames behind the checkpoint that a killed run had written already are written again, with the
 * same bytes.
 */
#include "output/checkpoint.h"
#include "run/folder.h"
#include "run/run.h"

#include <string.h>

typedef struct Head {
  uint64_t scene_hash;
  int64_t frame, substep, substeps, halvings, output_count, begun;
  double h;
  HkTally tally;
} Head;

typedef struct Mark {
  int64_t written, offset;
  HkTally tally;
} Mark;

static size_t head_size(const HkRun *run) {
  return sizeof(Head) + (size_t)run->output_count * sizeof(Mark);
}

HkStatus hk_run_write_checkpoint(HkRun *run, HkError *error) {
  char path[4096];
  size_t size = head_size(run) + hk_state_packed_size(run->state);
  HK_TRY(hk_folder_path(run->folder, "checkpoint", path, sizeof path, error));
  HK_TRY(hk_grow(&run->context, &run->packed, &run->packed_room, (int64_t)size, 1, "a checkpoint",
                 error));
  Head head = {.scene_hash = run->scene_hash,
               .frame = run->frame,
               .substep = run->substep,
               .substeps = run->substeps,
               .halvings = run->halvings,
               .output_count = run->output_count,
               .begun = run->begun,
               .h = run->sim->h,
               .tally = run->tally};
  char *at = run->packed;
  memcpy(at, &head, sizeof head);
  at += sizeof head;
  for (int q = 0; q < run->output_count; q++, at += sizeof(Mark)) {
    const HkOutput *o = &run->outputs[q];
    Mark mark = {o->written, o->offset, o->tally};
    memcpy(at, &mark, sizeof mark);
  }
  hk_state_pack(run->state, at);
  return hk_checkpoint_write(path, HK_CHECKPOINT_RUN, run->packed, size, error);
}

static HkStatus unpack(HkRun *run, const char *path, const char *payload, size_t size,
                       HkError *error) {
  Head head;
  if (size < sizeof head)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "is too short for a run");
  memcpy(&head, payload, sizeof head);
  if (head.scene_hash != run->scene_hash || head.output_count != run->output_count ||
      size < head_size(run))
    return hk_fail_at(
        error, HK_ERROR_INVALID, path, 0, 0,
        "belongs to another scene: only time.duration may change; run again with --force to "
        "start over");
  if (head.frame > run->frames)
    return hk_fail_at(error, HK_ERROR_INVALID, path, 0, 0,
                      "is at frame %lld, beyond the end of this scene at frame %lld; give a larger "
                      "time.duration, or --force to start over",
                      (long long)head.frame, (long long)run->frames);
  const char *at = payload + sizeof head;
  for (int q = 0; q < run->output_count; q++, at += sizeof(Mark)) {
    Mark mark;
    memcpy(&mark, at, sizeof mark);
    run->outputs[q].written = mark.written;
    run->outputs[q].offset = mark.offset;
    run->outputs[q].tally = mark.tally;
  }
  HK_TRY(hk_state_unpack(run->state, at, size - (size_t)(at - payload), path, error));
  run->frame = head.frame;
  run->substep = head.substep;
  run->begun = head.begun != 0;
  run->substeps = head.substeps;
  run->halvings = (int)head.halvings;
  run->tally = head.tally;
  return hk_sim_set_h(run->sim, head.h, error);
}

HkStatus hk_run_read_checkpoint(HkRun *run, HkError *error) {
  char path[4096], *bytes;
  const char *payload;
  size_t size;
  HK_TRY(hk_folder_path(run->folder, "checkpoint", path, sizeof path, error));
  if (!hk_folder_has(run->folder, "checkpoint"))
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0,
                      "is not there, so there is nothing to resume; run without --resume");
  HK_TRY(
      hk_checkpoint_read(&run->context, path, HK_CHECKPOINT_RUN, &bytes, &payload, &size, error));
  HkStatus status = unpack(run, path, payload, size, error);
  hk_free(&run->context, &bytes);
  return status;
}
