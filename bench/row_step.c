/* The rows about one implicit step to a given error; contest.h describes the measurement. */
#include "contest.h"

#include <math.h>

/* Required ratios of a row, at each goal; NAN: none. */
typedef struct Wanted {
  double ratio[RACE_GOALS], ratio_mean[RACE_GOALS], ms[RACE_GOALS];
} Wanted;

/* Share of the steps in which a method must reach the goal to count as the best one. */
static const double BEST_MIN_HIT_SHARE = 0.9;

static int count_hits(const Lap *laps, const bool *ran, int count, int goal) {
  int hits = 0;
  for (int q = 0; q < count; q++) hits += laps[q].hit[goal] && (!ran || ran[q]);
  return hits;
}

static double median_at(const Contest *c, const Runner *r, int goal) {
  double seconds[CONTEST_MAX_STEPS];
  for (int q = 0; q < c->t.count; q++) seconds[q] = r->laps[q].seconds[goal];
  return median_of(seconds, c->t.count);
}

/* Returns the fastest method that reaches the goal in nearly all steps, or -1. */
static int find_best(const Contest *c, int goal) {
  int best = -1;
  for (int q = 0; q < c->runner_count; q++) {
    const Runner *r = &c->runners[q];
    if (r->retired || count_hits(r->laps, NULL, c->t.count, goal) < BEST_MIN_HIT_SHARE * c->t.count)
      continue;
    if (best < 0 || median_at(c, r, goal) < median_at(c, &c->runners[best], goal)) best = q;
  }
  return best;
}

/* Computes ratios over the steps at which both are near the same solution. */
static void compute_ratios(const Contest *c, const Runner *r, int goal, Measure *m) {
  double own[CONTEST_MAX_STEPS], peer[CONTEST_MAX_STEPS], all[CONTEST_MAX_STEPS];
  int pairs = 0;
  for (int q = 0; q < c->t.count; q++) {
    all[q] = r->laps[q].seconds[goal];
    if (!c->peer_ran[q] || !c->peer_laps[q].hit[goal] || !r->laps[q].hit[goal]) continue;
    own[pairs] = r->laps[q].seconds[goal];
    peer[pairs++] = c->peer_laps[q].seconds[goal];
  }
  measure_times(m, own, pairs, peer, pairs);
  Statistics s = statistics_of(all, c->t.count);
  m->ms = 1e3 * s.median;
  m->ms_mean = 1e3 * s.mean;
  m->ms_spread = 1e3 * s.spread;
}

static double alone_ms(const Contest *c, int goal) {
  double seconds[CONTEST_MAX_STEPS];
  int count = 0;
  for (int q = 0; q < c->t.count; q++)
    if (c->alone_ran[q]) seconds[count++] = c->alone_laps[q].seconds[goal];
  return 1e3 * median_of(seconds, count);
}

/* Returns the memory of model, state and workspace. */
static double memory_gb(const Contest *c, const Runner *r) {
  HkModelInfo info = hk_model_info(c->problem.model);
  return 1e-9 * ((double)info.bytes + (double)info.state_bytes + (double)hk_sim_bytes(r->sim));
}

static void add_runner(const Contest *c, const char *row, int index, int goal, bool best,
                       const Wanted *wanted) {
  const Runner *r = &c->runners[index];
  int ran = 0, hits = count_hits(r->laps, NULL, c->t.count, goal);
  for (int q = 0; q < c->t.count; q++) ran += c->peer_ran[q];
  Measure m = measure_start(row, &c->problem, r->method->name, c->peer ? c->peer_name : NULL);
  m.goal = race_goals[goal];
  compute_ratios(c, r, goal, &m);
  if (best) {
    m.wanted = c->peer ? wanted->ratio[goal] : NAN;
    m.wanted_mean = c->peer ? wanted->ratio_mean[goal] : NAN;
    m.wanted_ms = wanted->ms[goal];
  }
  int length = snprintf(m.note, sizeof m.note, "%d of %d steps", hits, c->t.count);
  if (c->peer)
    length += snprintf(m.note + length, sizeof m.note - (size_t)length, ", peer %d of %d",
                       count_hits(c->peer_laps, c->peer_ran, c->t.count, goal), ran);
  if (best && c->peer && !isnan(alone_ms(c, goal)))
    length += snprintf(m.note + length, sizeof m.note - (size_t)length, ", with one thread %.0f ms",
                       alone_ms(c, goal));
  if (best) snprintf(m.note + length, sizeof m.note - (size_t)length, ", %.3g GB", memory_gb(c, r));
  bench_add(c->bench, &m);
}

static void add_plain(const Contest *c, const char *row) {
  double seconds[CONTEST_MAX_STEPS], errors[CONTEST_MAX_STEPS];
  if (!c->has_plain) return;
  for (int q = 0; q < c->t.count; q++) {
    seconds[q] = c->plain[q].total;
    errors[q] = c->plain[q].error;
  }
  Measure m = measure_start(row, &c->problem, "default with its own end", NULL);
  measure_times(&m, seconds, c->t.count, NULL, 0);
  m.error = median_of(errors, c->t.count);
  bench_add(c->bench, &m);
}

static void run_contest(Bench *bench, const char *row, const ContestSettings *settings,
                        const Wanted *wanted) {
  Contest *c = bench_stopped() ? NULL : contest_run(bench, settings);
  if (!c) return;
  for (int goal = 0; goal < RACE_GOALS; goal++) {
    int best = find_best(c, goal);
    for (int q = 0; q < c->runner_count; q++)
      if (!c->runners[q].retired) add_runner(c, row, q, goal, q == best, wanted);
  }
  add_plain(c, row);
  contest_destroy(&c);
}

/* ---- The rows -------------------------------------------------------------------------------- */

void row_cloth(Bench *b) {
  const Wanted small = {{25, 25}, {15, 12}, {NAN, 33}}, large = {{25, 25}, {15, 12}, {NAN, NAN}};
  const Wanted none = {{NAN, NAN}, {NAN, NAN}, {NAN, NAN}};
  if (b->quick) {
    run_contest(b, "cloth", &(ContestSettings){"cloth", 41, 20, 6, 4, 5, 0}, &none);
    return;
  }
  run_contest(b, "cloth", &(ContestSettings){"cloth", 81, 30, 30, 60, 5, 0}, &small);
  run_contest(b, "cloth", &(ContestSettings){"cloth", 129, 30, 30, 150, 10, 0}, &large);
}

/* A block of 1 kg comes to rest within a few steps. */
void row_block(Bench *b) {
  const Wanted wanted = {{50, 50}, {NAN, NAN}, {NAN, NAN}};
  if (b->quick) {
    run_contest(b, "block", &(ContestSettings){"block", 10, 0, 6, 4, 5, 0}, &wanted);
    return;
  }
  run_contest(b, "block", &(ContestSettings){"block", 20, 0, 30, 60, 5, 0}, &wanted);
  run_contest(b, "block", &(ContestSettings){"block", 40, 0, 6, 300, 10, 0}, &wanted);
}

void row_irregular(Bench *b) {
  const Wanted disc = {{20, 10}, {NAN, NAN}, {NAN, NAN}};
  const Wanted ball = {{100, 100}, {NAN, NAN}, {NAN, NAN}};
  if (b->quick) {
    run_contest(b, "irregular", &(ContestSettings){"disc", 20, 20, 4, 3, 5, 0}, &disc);
    return;
  }
  run_contest(b, "irregular", &(ContestSettings){"disc", 57, 30, 30, 100, 10, 0}, &disc);
  run_contest(b, "irregular", &(ContestSettings){"ball", 18, 0, 12, 200, 10, 0}, &ball);
}
