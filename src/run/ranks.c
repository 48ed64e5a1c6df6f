/* Cancellation of a run on ranks: all of them end at the same point.
 *
 * A signal reaches ranks at different times, so that the callbacks of all of them are asked
 * together, which takes a message. Steps ask far more often than that pays; all ranks count the
 * calls and meet at every ask_every-th one. The clock of rank 0 adapts that number, which all ranks
 * receive when they meet.
 */
#include "run/run.h"

#include "base/clock.h"

static const double ASK_MIN_SECONDS = 0.01, ASK_MAX_SECONDS = 0.05;

enum { ASK_MOST = 1 << 20 };

/* The number of calls until ranks meet again, by the time since they met. */
static int64_t next_number(const HkRun *run, double seconds) {
  if (seconds < ASK_MIN_SECONDS && run->ask_every < ASK_MOST) return 2 * run->ask_every;
  if (seconds > ASK_MAX_SECONDS && run->ask_every > 1) return run->ask_every / 2;
  return run->ask_every;
}

bool hk_run_ask_ranks(HkRun *run) {
  if (run->ask_every < 1) run->ask_every = 1;
  if (++run->asked < run->ask_every) return false;
  double now = hk_wall_time();
  bool mine = run->cancel && run->cancel(run->cancel_user);
  double values[] = {mine,
                     hk_run_is_first(run) ? (double)next_number(run, now - run->last_asked) : 0};
  hk_ranks_most(run->context.ranks, values, 2);
  run->asked = 0;
  run->last_asked = now;
  run->ask_every = (int64_t)values[1];
  return values[0] > 0;
}
