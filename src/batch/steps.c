/* Steps of a batch on the CPU: worker threads take worlds, and one thread steps a world.
 *
 * The calls of hk_sim_steps are cut into rounds of some hundredths of a second, so that the calling
 * thread, which alone asks the callback of the caller, is never long without a world of its own.
 * Bits do not depend on the rounds (hk_sim_steps), nor on who steps a world. device.c has the steps
 * of devices.
 */
#include "base/clock.h"
#include "batch/device.h"

#include <stdio.h>

/* ---- Cancellation ---- */

/* Whether another thread than this one is in hk_batch_steps. */
static bool is_helper(const HkBatch *b) {
#ifdef HK_WITH_THREADS
  return b->is_stepping && !pthread_equal(b->caller, pthread_self());
#else
  (void)b;
  return false;
#endif
}

static void set_caller(HkBatch *b, bool is_stepping) {
#ifdef HK_WITH_THREADS
  b->caller = pthread_self();
#endif
  b->is_stepping = is_stepping;
}

static bool ask(void *user) {
  HkBatch *b = user;
  if (atomic_load_explicit(&b->is_stopped, memory_order_relaxed)) return true;
  if (!b->cancel || is_helper(b)) return false;
  bool stops = b->cancel(b->cancel_user);
  if (stops && b->is_stepping) atomic_store_explicit(&b->is_stopped, true, memory_order_relaxed);
  return stops;
}

void hk_batch_set_cancel(HkBatch *b, HkCancelFn *cancel, void *user) {
  b->cancel = cancel;
  b->cancel_user = user;
  for (int64_t w = 0; w < b->count; w++) hk_sim_set_cancel(b->worlds[w].sim, ask, b);
}

/* ---- Rounds ---- */

typedef struct Round {
  HkBatch *batch;
  int64_t size; /* steps of a world, at most */
} Round;

void hk_world_keep_error(HkBatch *b, HkWorld *world, const HkError *error) {
  if (!world->error && hk_alloc(&b->context, &world->error, 1, sizeof *error, "", NULL) < 0) return;
  *world->error = *error;
}

static void step_world(void *user, int w) {
  const Round *round = user;
  HkWorld *world = &round->batch->worlds[w];
  HkError error = {0};
  int64_t left = world->goal - world->steps, before = world->state->steps;
  if (world->status < 0 || left == 0) return;
  HkStatus status =
      hk_sim_steps(world->sim, world->state, left < round->size ? left : round->size, &error);
  world->steps += world->state->steps - before;
  if (status != HK_OK) world->status = status;
  if (status < 0) hk_world_keep_error(round->batch, world, &error);
}

/* Makes rounds until the longest of the worlds has made its steps, or the caller cancels. */
static void make_rounds(HkBatch *b) {
  const double SHORT = 0.02, LONG = 0.1; /* s */
  Round round = {b, 1};
  int64_t count = 0;
  for (int64_t w = 0; w < b->count; w++)
    if (b->worlds[w].goal > count) count = b->worlds[w].goal;
  while (count > 0 && !atomic_load(&b->is_stopped)) {
    if (round.size > count) round.size = count;
    double start = hk_wall_time();
    hk_parallel_tasks(b->threads, (int)b->count, step_world, &round);
    double seconds = hk_wall_time() - start;
    count -= round.size;
    if (seconds < SHORT && round.size < INT64_MAX / 2) round.size *= 2;
    if (seconds > LONG && round.size > 1) round.size /= 2;
  }
}

/* ---- The call ---- */

static void begin(HkBatch *b, int64_t count, const int64_t *counts) {
  for (int64_t w = 0; w < b->count; w++) {
    b->worlds[w].status = HK_OK;
    b->worlds[w].steps = 0;
    b->worlds[w].goal = counts ? counts[w] : count;
    hk_free(&b->context, &b->worlds[w].error);
  }
  atomic_store(&b->is_stopped, false);
}

/* The first error, in the order of the worlds, with the number of the world. */
static HkStatus describe(const HkBatch *b, int64_t first, int64_t failed, HkError *error) {
  const HkWorld *world = &b->worlds[first];
  char others[64] = "";
  if (failed > 1)
    snprintf(others, sizeof others, ", the first of %lld that failed", (long long)failed);
  return hk_fail(error, world->status, "world %lld%s: %s", (long long)first, others,
                 world->error ? world->error->text : hk_status_name(world->status));
}

static HkStatus summarize(const HkBatch *b, HkError *error) {
  int64_t first = -1, failed = 0;
  HkStatus worst = HK_OK;
  for (int64_t w = 0; w < b->count; w++) {
    HkStatus status = b->worlds[w].status;
    if (status == HK_NOT_CONVERGED) worst = status;
    if (status >= 0 || status == HK_ERROR_CANCELLED) continue;
    if (failed++ == 0) first = w;
  }
  if (atomic_load(&b->is_stopped))
    return hk_fail(error, HK_ERROR_CANCELLED,
                   "the steps were cancelled; each world is at the end of its last whole step");
  return first >= 0 ? describe(b, first, failed, error) : worst;
}

/* An error of the device is one of all worlds that have none of their own. */
static void share_error(HkBatch *b, HkStatus status, const HkError *error) {
  for (int64_t w = 0; w < b->count; w++) {
    HkWorld *world = &b->worlds[w];
    if (world->status < 0) continue;
    world->status = status;
    hk_world_keep_error(b, world, error);
  }
}

/* counts NULL: `count` steps of each world. */
static HkStatus advance(HkBatch *b, int64_t count, const int64_t *counts, HkError *error) {
  begin(b, count, counts);
  set_caller(b, true);
  HkStatus status = HK_OK;
  HkError why = {0};
  if (b->device)
    status = hk_batch_device_steps(b->device, ask, &why);
  else
    make_rounds(b);
  set_caller(b, false);
  if (status < 0 && error) *error = why;
  if (status < 0) share_error(b, status, &why);
  if (status >= 0) status = summarize(b, error);
  atomic_store(&b->is_stopped, false); /* a world that is stepped alone asks anew */
  return status;
}

static HkStatus check_count(int64_t count, HkError *error) {
  if (count >= 0) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID, "%lld steps are not possible", (long long)count);
}

HkStatus hk_batch_steps(HkBatch *b, int64_t count, HkError *error) {
  HK_TRY(check_count(count, error));
  return advance(b, count, NULL, error);
}

HkStatus hk_batch_steps_each(HkBatch *b, const int64_t *counts, HkError *error) {
  for (int64_t w = 0; w < b->count; w++) HK_TRY(check_count(counts[w], error));
  return advance(b, 0, counts, error);
}
