/* The checkpoint of a run: its frame, the complete length of each output, and the state.
 *
 * A resumed run writes frames after the checkpoint again, with the same bytes.
 *
 * The files that a checkpoint refers to are synchronized with the disk before it: first the files,
 * then their folders, then the checkpoint, under a temporary name that replaces the old one. The
 * checkpoint before the last one stays as checkpoint.previous. A resumed run compares all files
 * with the checksums of the checkpoint and takes the first of these that is possible:
 *
 *     the last checkpoint        all files are whole
 *     the checkpoint before it   all files are whole until there
 *     the last checkpoint        frame files are not there, and all others are whole: someone has
 *                                moved them away
 *     the start of the run       something is damaged; all frames are written again
 */
#include "output/checkpoint.h"
#include "output/part_checkpoint.h"
#include "run/folder.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {HK_CHECKPOINT_NAME, HK_CHECKPOINT_PREVIOUS};

enum { NAME_COUNT = sizeof names / sizeof names[0], SYNC_SINGLE_MAX_FILES = 4 };

typedef struct Head {
  uint64_t scene_hash;
  int64_t frame, substep, substeps, halvings, output_count, begun;
  double h;
  HkTally tally;
  HkSum ledger;
} Head;

typedef struct Mark {
  int64_t written, offset;
  HkSum sum;
  HkTally tally;
} Mark;

static size_t head_size(const HkRun *run) {
  return sizeof(Head) + (size_t)run->output_count * sizeof(Mark);
}

static bool on_ranks(const HkRun *run) {
  return run->context.ranks != NULL;
}

/* ---- Writing ---- */

/* Returns the place behind head and marks. */
static char *pack_head(HkRun *run) {
  Head head = {.scene_hash = run->scene_hash,
               .frame = run->frame,
               .substep = run->substep,
               .substeps = run->substeps,
               .halvings = run->halvings,
               .output_count = run->output_count,
               .begun = run->begun,
               .h = run->sim->h,
               .tally = run->tally,
               .ledger = run->ledger.sum};
  char *at = run->packed;
  memcpy(at, &head, sizeof head);
  at += sizeof head;
  for (int q = 0; q < run->output_count; q++, at += sizeof(Mark)) {
    const HkOutput *o = &run->outputs[q];
    Mark mark = {o->written, o->offset, o->sum, o->tally};
    memcpy(at, &mark, sizeof mark);
  }
  return at;
}

/* Synchronizing a single file takes a few milliseconds; for more than SYNC_SINGLE_MAX_FILES files
 * it is faster to synchronize the whole file system. */
static HkStatus sync_files(HkRun *run, HkError *error) {
  /* Files that grow are those of rank 0; each rank synchronizes the frame files that it wrote. */
  int outputs = hk_run_is_first(run) ? run->output_count : 0;
  for (int q = 0; q < outputs; q++) HK_TRY(hk_output_sum(&run->outputs[q], error));
  int files = run->begun ? outputs + run->ledger.recent_count : 0;
  if (files <= SYNC_SINGLE_MAX_FILES || hk_sync_all(run->folder, NULL) < 0) {
    for (int q = 0; q < outputs; q++) HK_TRY(hk_output_sync(&run->outputs[q], error));
    HK_TRY(hk_ledger_sync(&run->ledger, error));
    HK_TRY(hk_sync(run->folder, error));
  }
  hk_ledger_forget_recent(&run->ledger);
  return HK_OK;
}

/* Keeps the last checkpoint as checkpoint.previous if it belongs to this run. After kill -9 at any
 * moment there are two checkpoints where there were two. */
static HkStatus keep_previous(const HkRun *run, const char *path, HkError *error) {
  char previous[4096], temporary[4096];
  HK_TRY(hk_folder_path(run->folder, HK_CHECKPOINT_PREVIOUS, previous, sizeof previous, error));
  HK_TRY(hk_folder_path(run->folder, HK_CHECKPOINT_PREVIOUS ".tmp", temporary, sizeof temporary,
                        error));
  unlink(temporary);
  if (!run->has_checkpoint) {
    unlink(previous);
    return HK_OK;
  }
  /* File systems without hard links rename it. */
  const char *from = link(path, temporary) == 0 ? temporary : path;
  if (rename(from, previous) != 0) return hk_fail_errno(error, "write", previous);
  unlink(temporary); /* rename leaves it where both names are links to the same file */
  return HK_OK;
}

/* All that comes before the file itself. */
static HkStatus prepare_checkpoint(HkRun *run, const char *path, size_t size, HkError *error) {
  HK_TRY(hk_grow(&run->context, &run->packed, &run->packed_room, (int64_t)size, 1, "a checkpoint",
                 error));
  HK_TRY(sync_files(run, error));
  char *at = pack_head(run);
  if (!on_ranks(run)) hk_state_pack(run->state, at);
  return hk_run_is_first(run) ? keep_previous(run, path, error) : HK_OK;
}

HkStatus hk_run_write_checkpoint(HkRun *run, HkError *error) {
  char path[4096];
  size_t size = head_size(run) + (on_ranks(run) ? 0 : hk_state_packed_size(run->state));
  HK_TRY(hk_folder_path(run->folder, HK_CHECKPOINT_NAME, path, sizeof path, error));
  HK_TRY(hk_run_agree(run, prepare_checkpoint(run, path, size, error), error));
  if (on_ranks(run))
    HK_TRY(hk_part_checkpoint_write(run->model, run->state, path, run->packed, size, error));
  else
    HK_TRY(hk_checkpoint_write(path, HK_CHECKPOINT_RUN, run->packed, size, error));
  run->has_checkpoint = true;
  return HK_OK;
}

/* ---- Reading ---- */

/* A correct checksum does not imply correct content. Counters are below INT64_MAX / 2, so that sums
 * do not overflow. */
static bool is_count(int64_t value) {
  return value >= 0 && value <= INT64_MAX / 2;
}

static bool is_sound_tally(const HkTally *t) {
  return is_count(t->steps) && is_count(t->substeps) && is_count(t->rejected) &&
         is_count(t->iterations) && is_count(t->worst_iterations) &&
         is_count(t->linear_iterations) && is_count(t->projections) && is_count(t->stationary) &&
         is_count(t->unconverged) && t->reason >= HK_STOP_NONE && t->reason <= HK_STOP_LIMITS;
}

static bool is_sound(const HkRun *run, const Head *head) {
  if (!(head->frame >= 0 && head->substeps >= 1 && head->substeps <= HK_RUN_STEPS_MAX &&
        head->substep >= 0 && head->substep <= head->substeps && head->halvings >= 0 &&
        head->halvings <= HK_RUN_HALVINGS_MAX && is_count(head->ledger.size) &&
        is_sound_tally(&head->tally)))
    return false;
  double h = run->interval / (double)head->substeps; /* as plan_time and halve set it */
  return fabs(head->h - h) <= 1e-9 * h;
}

static bool is_sound_mark(const Head *head, const Mark *mark) {
  return mark->written >= 0 && mark->written <= head->frame + 1 && is_count(mark->offset) &&
         is_count(mark->sum.size) && is_sound_tally(&mark->tally);
}

static HkStatus fail_unsound(const char *path, HkError *error) {
  return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0,
                    "holds counters that cannot be: it was not written by Hooke");
}

/* Checks head and marks, and sets the outputs by the marks. */
static HkStatus unpack_head(HkRun *run, const char *path, const char *payload, size_t size,
                            Head *to, HkError *error) {
  Head head;
  if (size < sizeof head)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0, "is too short for a run");
  memcpy(&head, payload, sizeof head);
  *to = head;
  if (head.scene_hash != run->scene_hash || head.output_count != run->output_count ||
      size < head_size(run))
    return hk_fail_at(
        error, HK_ERROR_INVALID, path, 0, 0,
        "belongs to another scene: only time.duration may change; the option force in place "
        "of resume starts over");
  if (head.frame > run->frames)
    return hk_fail_at(error, HK_ERROR_INVALID, path, 0, 0,
                      "is at frame %lld, beyond the end of this scene at frame %lld; give a larger "
                      "time.duration, or the option force to start over",
                      (long long)head.frame, (long long)run->frames);
  if (!is_sound(run, &head)) return fail_unsound(path, error);
  const char *at = payload + sizeof head;
  for (int q = 0; q < run->output_count; q++, at += sizeof(Mark)) {
    HkOutput *o = &run->outputs[q];
    Mark mark;
    memcpy(&mark, at, sizeof mark);
    if (!is_sound_mark(&head, &mark)) return fail_unsound(path, error);
    o->written = mark.written;
    o->offset = mark.offset;
    o->sum = mark.sum;
    o->tally = mark.tally;
  }
  return HK_OK;
}

static HkStatus take_head(HkRun *run, const Head *head, HkError *error) {
  run->frame = head->frame;
  run->substep = head->substep;
  run->begun = head->begun != 0;
  run->substeps = head->substeps;
  run->halvings = (int)head->halvings;
  run->tally = head->tally;
  run->ledger.sum = head->ledger;
  return hk_sim_set_h(run->sim, head->h, error);
}

static HkStatus load_parts(HkRun *run, const char *path, HkError *error) {
  Head head;
  char *bytes;
  size_t size;
  HK_TRY(hk_part_checkpoint_read_head(run->model, path, &bytes, &size, error));
  HkStatus status = unpack_head(run, path, bytes, size, &head, error);
  hk_free(&run->context, &bytes);
  HK_TRY(status); /* the same bytes on all ranks */
  HK_TRY(hk_part_checkpoint_read(run->model, run->state, path, error));
  return take_head(run, &head, error);
}

static HkStatus load(HkRun *run, const char *name, HkError *error) {
  char path[4096], *bytes;
  const char *payload;
  size_t size;
  Head head;
  HK_TRY(hk_folder_path(run->folder, name, path, sizeof path, error));
  if (on_ranks(run)) return load_parts(run, path, error);
  HK_TRY(
      hk_checkpoint_read(&run->context, path, HK_CHECKPOINT_RUN, &bytes, &payload, &size, error));
  HkStatus status = unpack_head(run, path, payload, size, &head, error);
  if (status >= 0)
    status =
        hk_state_unpack(run->state, payload + head_size(run), size - head_size(run), path, error);
  if (status >= 0) status = take_head(run, &head, error);
  hk_free(&run->context, &bytes);
  return status;
}

/* Compares the files with the loaded checkpoint; *why describes the first one that differs. */
static HkStatus check_own(const HkRun *run, HkFilesState *state, HkError *why, HkError *error) {
  *state = HK_FILES_WHOLE;
  for (int q = 0; q < run->output_count && *state == HK_FILES_WHOLE; q++)
    *state = hk_output_check(&run->outputs[q], why);
  if (*state != HK_FILES_WHOLE) return HK_OK;
  return hk_ledger_check(&run->context, run->folder, &run->ledger.sum, state, why, error);
}

/* check_own by rank 0, which has the folder. */
static HkStatus check_files(const HkRun *run, HkFilesState *state, HkError *why, HkError *error) {
  HkStatus status = hk_run_is_first(run) ? check_own(run, state, why, error) : HK_OK;
  HK_TRY(hk_run_agree(run, status, error));
  hk_run_share(run, state, sizeof *state);
  hk_run_share(run, why, sizeof *why);
  return HK_OK;
}

/* ---- Choosing ---- */

/* A checkpoint and the result of reading it. */
typedef struct Found {
  HkStatus read; /* status of reading it */
  HkFilesState files;
  HkError why; /* reason why it cannot be used */
} Found;

/* Reads a checkpoint and compares the files with it. Returns only errors that another checkpoint
 * would have, too. */
static HkStatus look(HkRun *run, const char *name, Found *found, HkError *error) {
  found->why = (HkError){0};
  found->files = HK_FILES_DAMAGED;
  found->read = load(run, name, &found->why);
  if (found->read == HK_ERROR_INVALID || found->read == HK_ERROR_MEMORY) {
    if (error) *error = found->why;
    return found->read;
  }
  return found->read < 0 ? HK_OK : check_files(run, &found->files, &found->why, error);
}

/* Replaces the last checkpoint by the one before it. */
static HkStatus promote(HkRun *run, HkError *error) {
  char path[4096], previous[4096];
  HK_TRY(hk_folder_path(run->folder, HK_CHECKPOINT_NAME, path, sizeof path, error));
  HK_TRY(hk_folder_path(run->folder, HK_CHECKPOINT_PREVIOUS, previous, sizeof previous, error));
  HkStatus status = HK_OK;
  if (hk_run_is_first(run) && rename(previous, path) != 0)
    status = hk_fail_errno(error, "write", path);
  return hk_run_agree(run, status, error);
}

/* Restarts the run from frame 0, with the step of the loaded checkpoint. */
static HkStatus start_over(HkRun *run, HkError *error) {
  HkState *start;
  HkStatus status = hk_state_create(run->model, &start, error);
  if (status >= 0) {
    hk_state_destroy(&run->state);
    run->state = start;
  }
  HK_TRY(hk_run_agree(run, status, error));
  run->frame = run->substep = 0;
  run->begun = run->has_checkpoint = false;
  run->repairs = true;
  run->tally = (HkTally){0};
  run->ledger.sum = (HkSum){0};
  for (int q = 0; q < run->output_count; q++) {
    HkOutput *o = &run->outputs[q];
    o->offset = o->written = 0;
    o->sum = (HkSum){0};
    o->tally = (HkTally){0};
  }
  return HK_OK;
}

static void warn(const HkRun *run, const HkError *why, const char *what) {
  hk_log(&run->context, HK_LOG_WARNING, "%s; %s", why->text, what);
}

/* Chooses how to continue when no checkpoint has all its files. */
static HkStatus choose(HkRun *run, const Found *found, HkError *error) {
  for (int q = 0; q < NAME_COUNT; q++) {
    if (found[q].read < 0 || found[q].files != HK_FILES_MISSING) continue;
    HK_TRY(load(run, names[q], error));
    warn(run, &found[q].why,
         "the run goes on without it; the option force writes all frames again");
    return q == 0 ? HK_OK : promote(run, error);
  }
  for (int q = 0; q < NAME_COUNT; q++) {
    if (found[q].read < 0) continue;
    HK_TRY(load(run, names[q], error));
    warn(run, &found[q].why, "the run begins at its start, and writes all frames again");
    return start_over(run, error);
  }
  return hk_fail(error, found[0].read, "%s; the option force in place of resume starts over",
                 found[0].why.text);
}

HkStatus hk_run_read_checkpoint(HkRun *run, HkError *error) {
  Found found[NAME_COUNT];
  char path[4096];
  HK_TRY(hk_folder_path(run->folder, HK_CHECKPOINT_NAME, path, sizeof path, error));
  bool there = hk_folder_has(run->folder, HK_CHECKPOINT_NAME);
  bool earlier = hk_folder_has(run->folder, HK_CHECKPOINT_PREVIOUS);
  hk_run_share(run, &there, sizeof there);
  hk_run_share(run, &earlier, sizeof earlier);
  if (!there && !earlier)
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0,
                      "is not there, so there is nothing to resume; the option force in place of "
                      "resume starts over");
  run->has_checkpoint = true;
  for (int q = 0; q < NAME_COUNT; q++) {
    HK_TRY(look(run, names[q], &found[q], error));
    if (found[q].read < 0 || found[q].files != HK_FILES_WHOLE) continue;
    if (q == 0) return HK_OK;
    if (there) warn(run, &found[0].why, "the run goes back to the checkpoint before the last one");
    return promote(run, error);
  }
  return choose(run, found, error);
}
