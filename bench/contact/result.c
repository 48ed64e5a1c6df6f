/* The tables of result.h, in Markdown. */
#include "result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Most contacts a vertex up to which a step may take twice the time of one without contact; with
 * more it may take four times as long. */
static const double FEW_CONTACTS = 1;

void result_clear(Result *r, const char *name, int64_t vertices) {
  memset(r, 0, sizeof *r);
  r->name = name;
  r->vertices = vertices;
}

void result_start(Result *r) {
  r->made = r->missed = r->count = 0;
  r->which[0] = '\0';
}

void result_add(Result *r, const Sample *s, const SystemPair *pair) {
  r->made++;
  if (s->status == HK_NOT_CONVERGED) {
    size_t length = strlen(r->which);
    snprintf(r->which + length, sizeof r->which - length, "%s%d (%s)", r->missed ? ", " : "",
             r->made, hk_stop_name(s->info.reason));
    r->missed++;
  }
  if (s->contacts == 0 || r->count == SAMPLES_MAX) return;
  r->sample[r->count] = *s;
  r->pair[r->count++] = *pair;
}

/* ---- Figures ---- */

typedef double Figure(const Sample *sample, const SystemPair *pair);

static double contacts(const Sample *s, const SystemPair *p) {
  (void)p;
  return (double)s->contacts;
}
static double candidates(const Sample *s, const SystemPair *p) {
  (void)p;
  return (double)s->candidates;
}
static double newton(const Sample *s, const SystemPair *p) {
  (void)p;
  return s->info.iterations;
}
static double newton_without(const Sample *s, const SystemPair *p) {
  (void)p;
  return s->info_without.iterations;
}
static double seconds(const Sample *s, const SystemPair *p) {
  (void)p;
  return s->seconds;
}
static double seconds_without(const Sample *s, const SystemPair *p) {
  (void)p;
  return s->seconds_without;
}
static double step_ratio(const Sample *s, const SystemPair *p) {
  (void)p;
  return s->seconds / s->seconds_without;
}
static double iteration_ratio(const Sample *s, const SystemPair *p) {
  (void)p;
  return s->seconds / s->info.iterations * s->info_without.iterations / s->seconds_without;
}
static double searches(const Sample *s, const SystemPair *p) {
  (void)p;
  return (double)s->profile.searches;
}
static double pcg(const Sample *s, const SystemPair *p) {
  (void)s;
  return p->with.iterations;
}
static double pcg_without(const Sample *s, const SystemPair *p) {
  (void)s;
  return p->without.iterations;
}
/* INFINITY where pcg did not converge with contact. */
static double pcg_ratio(const Sample *s, const SystemPair *p) {
  (void)s;
  if (!p->with.converged) return INFINITY;
  return p->with.iterations / (double)p->without.iterations;
}
static double evaluate(const Sample *s, const SystemPair *p) {
  (void)s;
  return 1e3 * p->with.evaluate;
}
static double evaluate_without(const Sample *s, const SystemPair *p) {
  (void)s;
  return 1e3 * p->without.evaluate;
}
static double prepare(const Sample *s, const SystemPair *p) {
  (void)s;
  return 1e3 * p->with.prepare;
}
static double prepare_without(const Sample *s, const SystemPair *p) {
  (void)s;
  return 1e3 * p->without.prepare;
}
static double iterate(const Sample *s, const SystemPair *p) {
  (void)s;
  return 1e3 * p->with.solve / p->with.iterations;
}
static double iterate_without(const Sample *s, const SystemPair *p) {
  (void)s;
  return 1e3 * p->without.solve / p->without.iterations;
}

static Statistics statistics(const Result *r, Figure *figure) {
  double values[SAMPLES_MAX];
  for (int q = 0; q < r->count; q++) values[q] = figure(&r->sample[q], &r->pair[q]);
  return statistics_of(values, r->count);
}

static double mean(const Result *r, Figure *figure) {
  return statistics(r, figure).mean;
}

static double median(const Result *r, Figure *figure) {
  return statistics(r, figure).median;
}

static Profile profile(const Result *r) {
  Profile sum = {0};
  for (int q = 0; q < r->count; q++) {
    const Profile *p = &r->sample[q].profile;
    for (int part = 0; part < PART_COUNT; part++) sum.seconds[part] += p->seconds[part];
    sum.searches += p->searches;
    sum.filters += p->filters;
    sum.cut += p->cut;
  }
  return sum;
}

static double contacts_a_vertex(const Result *r) {
  return mean(r, contacts) / (double)r->vertices;
}

/* us a vertex and search; NAN if there was none */
static double search_cost(const Result *r) {
  Profile p = profile(r);
  if (p.searches == 0) return NAN;
  return 1e6 * p.seconds[PART_SEARCH] / (double)p.searches / (double)r->vertices;
}

static double cut_share(const Result *r) {
  Profile p = profile(r);
  return 100 * (double)p.cut / (double)p.filters / (double)r->vertices;
}

/* ---- Goals ---- */

typedef struct Goals {
  int wanted, reached;
} Goals;

static void print_goal(Goals *g, double value, double most) {
  bool good = value <= most;
  if (isnan(value)) {
    printf(" |");
    return;
  }
  printf(" %.3g (%g: %s) |", value, most, good ? "yes" : "NO");
  g->wanted++;
  g->reached += good;
}

static void print_iterations(const Result *r, Goals *g) {
  bool drape = r->scene == SCENE_DRAPE, stack = r->scene == SCENE_STACK;
  printf("| %s | %lld | %d of %d | %.2f | %.1f |", r->name, (long long)r->vertices, r->count,
         r->made, contacts_a_vertex(r), mean(r, candidates) / (double)r->vertices);
  if (stack)
    print_goal(g, mean(r, newton), 5);
  else
    printf(" %.1f |", mean(r, newton));
  printf(" %.1f |", mean(r, newton_without));
  if (drape)
    print_goal(g, mean(r, newton) / mean(r, newton_without), 1.4);
  else
    printf(" %.2f |", mean(r, newton) / mean(r, newton_without));
  printf(" %.1f | %.1f |", mean(r, pcg), mean(r, pcg_without));
  print_goal(g, mean(r, pcg_ratio), 1.5);
  print_goal(g, statistics(r, pcg_ratio).largest, 2);
  print_goal(g, 100.0 * r->missed / r->made, 2);
  print_goal(g, cut_share(r), 0.5);
  printf(" %s %s |\n", r->which, r->error);
}

static void print_times(const Result *r, Goals *g) {
  bool few = contacts_a_vertex(r) <= FEW_CONTACTS;
  printf("| %s | %lld | %.1f | %.1f |", r->name, (long long)r->vertices, 1e3 * median(r, seconds),
         1e3 * median(r, seconds_without));
  if (r->scene == SCENE_REST)
    printf(" %.2f |", median(r, step_ratio));
  else
    print_goal(g, median(r, step_ratio), few ? 2 : 4);
  printf(" %.2f |", median(r, iteration_ratio));
  print_goal(g, mean(r, searches), r->scene == SCENE_REST ? 0.5 : 3);
  print_goal(g, search_cost(r), 1);
  double budget = 400 * (double)r->vertices + 200 * mean(r, contacts);
  printf(" %.0f | %.0f |", r->bytes / (double)r->vertices, r->list_bytes / (double)r->vertices);
  print_goal(g, r->bytes / budget, 1);
  printf("\n");
}

static void print_shares(const Result *r) {
  Profile p = profile(r);
  double total = mean(r, seconds) * r->count, rest = total;
  printf("| %s | %lld |", r->name, (long long)r->vertices);
  for (int part = 0; part < PART_COUNT; part++) {
    printf(" %.1f |", 100 * p.seconds[part] / total);
    rest -= p.seconds[part];
  }
  printf(" %.1f | %.2f / %.2f | %.2f / %.2f | %.2f / %.2f |\n", 100 * rest / total,
         median(r, evaluate), median(r, evaluate_without), median(r, prepare),
         median(r, prepare_without), median(r, iterate), median(r, iterate_without));
}

/* ---- Printing ---- */

void result_print_line(const Result *r) {
  if (r->count == 0) {
    printf("%-7s %6lld vertices: no step in contact was measured; %d steps were made %s\n", r->name,
           (long long)r->vertices, r->made, r->error);
  } else {
    printf("%-7s %6lld vertices, %2d steps: %.2f contacts a vertex, newton %.1f / %.1f, pcg %.1f / "
           "%.1f (ratio mean %.2f, most %.2f), step %.1f / %.1f ms (%.2f), %.1f searches, %d not "
           "converged %s\n",
           r->name, (long long)r->vertices, r->count, contacts_a_vertex(r), mean(r, newton),
           mean(r, newton_without), mean(r, pcg), mean(r, pcg_without), mean(r, pcg_ratio),
           statistics(r, pcg_ratio).largest, 1e3 * median(r, seconds),
           1e3 * median(r, seconds_without), median(r, step_ratio), mean(r, searches), r->missed,
           r->error);
  }
  fflush(stdout);
}

void result_print_tables(const Result *results, int count) {
  Goals g = {0, 0};
  printf(
      "\n| scene | vertices | steps in contact | contacts a vertex | candidates | newton a step | "
      "without | ratio | pcg to 1e-2 | without | ratio, mean | most | not converged, %% | "
      "vertices cut, %% | steps that did not converge |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int q = 0; q < count; q++)
    if (results[q].count > 0) print_iterations(&results[q], &g);
  printf("\n| scene | vertices | ms a step | without | ratio | ratio of an iteration | searches a "
         "step | us a vertex and search | bytes a vertex | of it lists | of 400 a vertex + 200 a "
         "contact |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int q = 0; q < count; q++)
    if (results[q].count > 0) print_times(&results[q], &g);
  printf(
      "\n| scene | vertices | search, %% | checks before it | closest points | filter | energy | "
      "forces | blocks | "
      "begin and end | elastic part and linear solver | ms of the Hessian, with / without | ms of "
      "the hierarchy | ms of a pcg iteration |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int q = 0; q < count; q++)
    if (results[q].count > 0) print_shares(&results[q]);
  printf("\n%d of %d goals are reached\n", g.reached, g.wanted);
}
