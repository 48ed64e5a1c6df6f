/* hooke_bench_load: the time of a step with one thread and with all, on a machine that is otherwise
 * idle and beside busy processes. Needs no peers.
 *
 *     hooke_bench_load [--runs N] [--busy N] [PROBLEM]
 *
 * --runs   runs of each case (8); the cases take turns
 * --busy   number of busy processes of a loaded run (two for each core)
 * PROBLEM  part of the name of the problems to measure, such as explicit (all)
 *
 * `worst` is the longest run. `ratio` is the median with all threads over the median with one
 * thread under the same load: at most 1.5 is required under load. */
#include "base/clock.h"
#include "base/sort.h"
#include "hooke/hooke.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_RUNS = 64, MAX_BUSY = 256, PROBLEMS = 4 };

typedef struct Problem {
  const char *name, *integrator;
  int size;      /* vertices along each side of the cloth */
  double h;      /* step in s */
  int64_t steps; /* of one run */
} Problem;

static const Problem problems[PROBLEMS] = {
    {"explicit 81 x 81", "'symplectic_euler'", 81, 1e-5, 2000},
    {"newton 41 x 41", "{'type': 'backward_euler', 'minimizer': 'newton'}", 41, 1.0 / 60, 10},
    {"newton 81 x 81", "{'type': 'backward_euler', 'minimizer': 'newton'}", 81, 1.0 / 60, 5},
    {"explicit 1000 x 1000", "'symplectic_euler'", 1000, 1e-6, 20}};

/* ---- Simulations ---- */

typedef struct Cloth {
  const Problem *problem;
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state, *start;
} Cloth;

static HkStatus cloth_make(Cloth *c, const Problem *p, int threads, HkError *error) {
  char text[1024];
  HkContext context = hk_context_default();
  context.threads = threads;
  c->problem = p;
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'plane': 'xz'}, 'springs': "
           "{'k': 10000, 'shear': true, 'bending': true}, 'mass': {'total': 1}}], 'pins': "
           "[{'select': 'top_left'}, {'select': 'top_right'}], 'forces': ['gravity'], "
           "'integrator': %s}",
           p->size, p->size, p->integrator);
  for (char *q = text; *q; q++)
    if (*q == '\'') *q = '"';
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), p->name, NULL, NULL, 0, &c->scene, error);
  if (status >= 0) status = hk_model_compile(c->scene, &c->model, error);
  if (status >= 0) status = hk_sim_create(c->model, NULL, p->h, &c->sim, error);
  if (status >= 0) status = hk_state_create(c->model, &c->state, error);
  if (status >= 0) status = hk_state_create(c->model, &c->start, error);
  if (status >= 0) status = hk_sim_steps(c->sim, c->state, 2, error); /* allocates workspaces */
  return status;
}

static void cloth_destroy(Cloth *c) {
  hk_state_destroy(&c->start);
  hk_state_destroy(&c->state);
  hk_sim_destroy(&c->sim);
  hk_model_destroy(&c->model);
  hk_scene_destroy(&c->scene);
}

/* Microseconds of a step, or a negative number after an error. Each run has the same steps. */
static double cloth_run(Cloth *c) {
  if (hk_state_copy(c->start, c->state, NULL) < 0) return -1;
  double began = hk_wall_time();
  HkStatus status = hk_sim_steps(c->sim, c->state, c->problem->steps, NULL);
  return status < 0 ? -1 : 1e6 * (hk_wall_time() - began) / (double)c->problem->steps;
}

/* ---- Load ---- */

static int start_busy(pid_t *child, int count) {
  int started = 0;
  for (; started < count; started++) {
    child[started] = fork();
    if (child[started] < 0) break;
    if (child[started] == 0) {
      volatile uint64_t spins = 0;
      alarm(600); /* in case the parent process is killed */
      for (;;) spins++;
    }
  }
  const struct timespec pause = {.tv_nsec = 50000000};
  nanosleep(&pause, NULL); /* the scheduler spreads the processes over the cores */
  return started;
}

static void stop_busy(const pid_t *child, int count) {
  for (int q = 0; q < count; q++) kill(child[q], SIGKILL);
  for (int q = 0; q < count; q++) waitpid(child[q], NULL, 0);
}

/* ---- Runs and their table ---- */

typedef struct Times {
  double us[2][2][MAX_RUNS]; /* [load][all threads][run] */
} Times;

static double median(const double *sorted, int count) {
  return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

static void print_times(const Problem *p, Times *t, int runs, int busy) {
  for (int load = 0; load < 2; load++) {
    double one = 0;
    for (int all = 0; all < 2; all++) {
      double *us = t->us[load][all];
      char ratio[32] = "";
      hk_sort_double(us, runs);
      if (all == 0) one = median(us, runs);
      if (all == 1) snprintf(ratio, sizeof ratio, "%.2f", median(us, runs) / one);
      printf("%-21s %4d %8s %11.1f %11.1f %11.1f %7s\n", p->name, load ? busy : 0,
             all ? "all" : "1", us[0], median(us, runs), us[runs - 1], ratio);
    }
  }
  fflush(stdout);
}

static bool measure(const Problem *p, int runs, int busy) {
  static Times times;
  Cloth cloth[2] = {{.problem = NULL}, {.problem = NULL}};
  HkError error = {0};
  bool good = cloth_make(&cloth[0], p, 1, &error) >= 0 && cloth_make(&cloth[1], p, 0, &error) >= 0;
  for (int q = 0; q < runs && good; q++)
    for (int load = 0; load < 2 && good; load++) {
      pid_t child[MAX_BUSY];
      int started = load ? start_busy(child, busy) : 0;
      for (int all = 0; all < 2; all++) {
        times.us[load][all][q] = cloth_run(&cloth[all]);
        good = good && times.us[load][all][q] >= 0;
      }
      stop_busy(child, started);
    }
  if (good)
    print_times(p, &times, runs, busy);
  else
    fprintf(stderr, "hooke_bench_load: %s: %s\n", p->name,
            error.text[0] ? error.text : "a step failed");
  cloth_destroy(&cloth[0]);
  cloth_destroy(&cloth[1]);
  return good;
}

int main(int argc, char **argv) {
  int runs = 8, busy = 2 * (int)sysconf(_SC_NPROCESSORS_ONLN);
  const char *part = "";
  for (int q = 1; q < argc; q++) {
    if (strcmp(argv[q], "--runs") == 0 && q + 1 < argc)
      runs = atoi(argv[++q]);
    else if (strcmp(argv[q], "--busy") == 0 && q + 1 < argc)
      busy = atoi(argv[++q]);
    else if (argv[q][0] != '-')
      part = argv[q];
    else
      return fprintf(stderr, "hooke_bench_load [--runs N] [--busy N] [PROBLEM]\n"), 2;
  }
  if (runs < 1 || runs > MAX_RUNS || busy < 0 || busy > MAX_BUSY)
    return fprintf(stderr, "hooke_bench_load: --runs 1 to %d, --busy 0 to %d\n", MAX_RUNS,
                   MAX_BUSY),
           2;
  printf("%-21s %4s %8s %11s %11s %11s %7s\n", "problem", "busy", "threads", "best us", "median us",
         "worst us", "ratio");
  bool good = true;
  for (int q = 0; q < PROBLEMS; q++)
    if (strstr(problems[q].name, part)) good = measure(&problems[q], runs, busy) && good;
  return good ? 0 : 1;
}
