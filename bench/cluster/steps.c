/* Times of explicit steps by rank. The functions of the ranks are called through clocks, so that
 * the library is measured as it is. */
#include "cluster.h"
#include "measure/statistics.h"
#include "measure/stopwatch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- Clocks around the functions of ranks ---- */

typedef struct Clocks {
  double begin, end, gather; /* s in starting an exchange, waiting for it, and for all ranks */
  int64_t exchanges, gathers;
  int64_t sent, received; /* bytes to and from other ranks */
} Clocks;

static Clocks clocks;
static const HkRanksType *plugin;

static void timed_begin(HkHalo *halo, const double *from, double *ghosts) {
  int64_t sent, received;
  plugin->halo_bytes(halo, &sent, &received);
  double start = seconds_now();
  plugin->halo_begin(halo, from, ghosts);
  clocks.begin += seconds_now() - start;
  clocks.exchanges++;
  clocks.sent += sent;
  clocks.received += received;
}

static void timed_end(HkHalo *halo, const double *from, double *ghosts) {
  double start = seconds_now();
  plugin->halo_end(halo, from, ghosts);
  clocks.end += seconds_now() - start;
}

static void timed_gather(HkRanks *ranks, const void *mine, size_t bytes, void *all) {
  double start = seconds_now();
  plugin->gather(ranks, mine, bytes, all);
  clocks.gather += seconds_now() - start;
  clocks.gathers++;
}

/* ---- Runs ---- */

/* One run on one rank. */
typedef struct Run {
  double wall, cpu;                    /* s */
  double own, begin, waiting, gathers; /* s; own: all but the other three */
  double sent, exchanges;              /* bytes, and number */
} Run;

enum { RUN_VALUES = sizeof(Run) / sizeof(double) };

static double cpu_seconds(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* A sum over all ranks, after which they go on at about the same time. */
static void wait_for_all(HkRanks *ranks) {
  double none = 0;
  if (ranks) hk_ranks_sum(ranks, &none, 1);
}

static Run run_once(World *w, HkRanks *ranks, int64_t steps) {
  HkError error = {0};
  wait_for_all(ranks);
  clocks = (Clocks){0};
  double cpu = cpu_seconds(), start = seconds_now();
  check(hk_sim_steps(w->sim, w->state, steps, &error), &error);
  Run r = {.wall = seconds_now() - start,
           .cpu = cpu_seconds() - cpu,
           .begin = clocks.begin,
           .waiting = clocks.end,
           .gathers = clocks.gather,
           .sent = (double)clocks.sent,
           .exchanges = (double)clocks.exchanges};
  r.own = r.wall - r.begin - r.waiting - r.gathers;
  return r;
}

/* ---- Results ---- */

/* The median of one value of the runs of a rank. */
static double median(const Run *runs, int count, size_t value) {
  double *values = malloc((size_t)count * sizeof *values), result;
  if (!values) exit(1);
  for (int q = 0; q < count; q++) values[q] = ((const double *)&runs[q])[value];
  result = median_of(values, count);
  free(values);
  return result;
}

/* The runs of all ranks, those of rank r first at r * count, on every rank. */
static Run *gather_runs(HkRanks *ranks, const Run *mine, int count) {
  int all = ranks ? hk_ranks_count(ranks) : 1;
  Run *runs = malloc((size_t)(all * count) * sizeof *runs);
  if (!runs) exit(1);
  if (ranks)
    plugin->gather(ranks, mine, (size_t)count * sizeof *mine, runs);
  else
    memcpy(runs, mine, (size_t)count * sizeof *mine);
  return runs;
}

static void print_ranks(const World *w, HkRanks *ranks, const Run *runs, const Options *o) {
  int64_t mine[2] = {hk_state_vertex_count(w->state), 0};
  HkPartView part;
  if (hk_model_part(w->model, &part)) {
    mine[1] = mine[0] - part.owned;
    mine[0] = part.owned;
  }
  int count = ranks ? hk_ranks_count(ranks) : 1;
  int64_t *all = malloc((size_t)count * sizeof mine);
  if (!all) exit(1);
  memcpy(all, mine, sizeof mine);
  if (ranks) plugin->gather(ranks, mine, sizeof mine, all);
  if (!ranks || hk_ranks_rank(ranks) == 0) {
    double ms = 1e3 / (double)o->steps;
    printf("rank    owned   ghosts  ms a step  own work  starting  waiting  all ranks    CPU ms  "
           "bytes sent a step\n");
    for (int r = 0; r < count; r++) {
      const Run *of = runs + r * o->runs;
      double value[RUN_VALUES] = {0};
      for (size_t q = 0; q < RUN_VALUES; q++) value[q] = median(of, o->runs, q);
      const Run *m = (const Run *)(const void *)value;
      printf("%4d %8lld %8lld  %9.3f %9.3f %9.3f %8.3f %10.3f %9.3f  %17.0f\n", r,
             (long long)all[2 * r], (long long)all[2 * r + 1], m->wall * ms, m->own * ms,
             m->begin * ms, m->waiting * ms, m->gathers * ms, m->cpu * ms,
             m->sent / (double)o->steps);
    }
  }
  free(all);
}

static void print_list(const char *name, const double *values, int count) {
  printf("\"%s\": [", name);
  for (int q = 0; q < count; q++) printf("%s%.6g", q ? ", " : "", values[q]);
  printf("], ");
}

/* Prints one line of JSON: the time of a run is that of the slowest rank, its CPU time the sum. */
static void print_summary(const World *w, HkRanks *ranks, const Run *runs, const Options *o,
                          double spring, double kinetic) {
  int count = ranks ? hk_ranks_count(ranks) : 1;
  double *wall = calloc((size_t)o->runs, sizeof *wall), *cpu = calloc((size_t)o->runs, sizeof *cpu);
  if (!wall || !cpu) exit(1);
  for (int q = 0; q < o->runs; q++)
    for (int r = 0; r < count; r++) {
      wall[q] = fmax(wall[q], runs[r * o->runs + q].wall);
      cpu[q] += runs[r * o->runs + q].cpu;
    }
  printf("{\"ranks\": %d, \"shape\": \"%s\", \"size\": %d, \"integrator\": \"%s\", \"springs\": "
         "%lld, \"steps\": %lld, ",
         count, o->shape, o->size, o->integrator, (long long)w->springs, (long long)o->steps);
  print_list("wall", wall, o->runs);
  print_list("cpu", cpu, o->runs);
  printf("\"spring_energy\": %.17g, \"kinetic_energy\": %.17g}\n", spring, kinetic);
  free(wall);
  free(cpu);
}

void measure_steps(const Options *o, HkRanks *ranks) {
  World w = world_make(o, ranks);
  HkRanksType timed;
  double spring, kinetic;
  world_move(&w);
  world_stagger(&w, true);
  if (ranks) {
    plugin = ranks->type;
    timed = *plugin;
    timed.halo_begin = timed_begin;
    timed.halo_end = timed_end;
    timed.gather = timed_gather;
    ranks->type = &timed;
  }
  Run *mine = calloc((size_t)o->runs, sizeof *mine);
  if (!mine) exit(1);
  run_once(&w, ranks, o->steps);
  for (int q = 0; q < o->runs; q++) mine[q] = run_once(&w, ranks, o->steps);
  if (ranks) ranks->type = plugin;
  world_stagger(&w, false);
  world_energies(&w, &spring, &kinetic);
  Run *runs = gather_runs(ranks, mine, o->runs);
  print_ranks(&w, ranks, runs, o);
  if (!ranks || hk_ranks_rank(ranks) == 0) print_summary(&w, ranks, runs, o, spring, kinetic);
  free(mine);
  free(runs);
  world_destroy(&w);
}
