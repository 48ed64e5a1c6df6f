/* Tries to make things pass through each other, and prints a table of what came out.
 *
 *     contact_sweep [--size N] [--starts N] [--seconds S] [--integrator NAME] [--h S]
 *                   [--linear NAME] [--minimizer NAME] [--start SEED] [--threads N] [--distance M]
 *                   [--thickness M] [--friction MU] [--renew] [--text] [SCENE ...]
 *
 * SCENE is a part of the name of a scene (default: all). Each scene runs from N jittered starts
 * (default 2), with steps of 1/24, 1/60 and 1/240 s (or --h) and with the linear solvers cholesky
 * and pcg with multigrid (or --linear, a part of its name), for S seconds at most (default 20).
 * --minimizer takes another one than newton, as JSON in single quotes.
 * With --stable PART the step is that part of the largest stable one of an explicit integrator.
 * --start runs one start alone; --renew repeats each step with a new simulation; --text prints the
 * scenes in place of running them. Exit status 1 if there is a crossing, a gap of 0 or less, an
 * escape, a repeated step that differs, or an error (tests/contact_scenes.h).
 */
#include "contact_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
  int size, starts, threads;
  long start; /* -1: all */
  double seconds, h, distance, thickness, stable, friction;
  const char *integrator, *linear, *minimizer;
  bool text, renews;
} Options;

static const char *const solvers[] = {"'cholesky'",
                                      "{'type': 'pcg', 'preconditioner': 'multigrid'}"};
static const double steps[] = {1.0 / 24, 1.0 / 60, 1.0 / 240};

static void print_head(void) {
  printf("| scene | h | solver | start | vertices | steps | iterations a step | worst | "
         "linear iterations a step | not converged | crossings | escapes | least gap | by hand | "
         "searches a step | ms a step | differences | |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

static void print_row(const ContactCase *c, const ContactResult *r) {
  double count = r->steps > 0 ? (double)r->steps : 1;
  printf("| %s | 1/%.0f | %s | %llu | %lld | %lld | %.1f | %lld | %.1f | %lld | %lld | %lld | %.2g "
         "| %.2g | %.1f | %.1f | %lld | %s%s |\n",
         contact_scene_name(c->scene), 1 / c->h,
         c->minimizer               ? c->minimizer
         : strstr(c->linear, "pcg") ? "pcg"
                                    : "cholesky",
         (unsigned long long)c->seed, (long long)r->vertices, (long long)r->steps,
         (double)r->iterations / count, (long long)r->most_iterations,
         (double)r->linear_iterations / count, (long long)r->unconverged, (long long)r->crossings,
         (long long)r->escapes, r->least_gap, r->least_by_hand, (double)r->searches / count,
         1e3 * r->seconds / count, (long long)r->differences, r->late ? "time was over " : "",
         r->error);
  fflush(stdout);
}

/* Runs a case, or prints its scene; returns 1 if it failed. */
static int run(const Options *o, ContactCase c) {
  ContactResult result;
  if (o->stable > 0) {
    c.h = 1e-6;
    c.h = fmin(o->stable * contact_stable_step(&c), steps[1]);
  }
  c.steps = (int64_t)ceil(contact_scene_duration(c.scene) / c.h);
  if (o->text) {
    char *text = contact_scene_text(&c);
    printf("%s\n", text);
    free(text);
    return 0;
  }
  contact_run(&c, &result);
  print_row(&c, &result);
  return contact_failed(&result);
}

static int run_scene(const Options *o, int scene) {
  int failed = 0;
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    if ((o->h > 0 || o->stable > 0) && k > 0) break;
    for (size_t l = 0; l < sizeof solvers / sizeof *solvers; l++) {
      if (o->linear && !strstr(solvers[l], o->linear)) continue;
      if (o->minimizer && l > 0) continue;
      for (int s = 0; s < o->starts; s++) {
        if (o->start >= 0 && s > 0) break;
        failed += run(o, (ContactCase){.scene = scene,
                                       .size = o->size,
                                       .h = o->h > 0 ? o->h : steps[k],
                                       .integrator = o->integrator,
                                       .linear = solvers[l],
                                       .minimizer = o->minimizer,
                                       .seed = o->start >= 0 ? (uint64_t)o->start : (uint64_t)s,
                                       .threads = o->threads,
                                       .distance = o->distance,
                                       .thickness = o->thickness,
                                       .friction = o->friction,
                                       .renews = o->renews,
                                       .seconds = o->seconds});
      }
    }
  }
  return failed;
}

/* Reads an option with a value; returns whether it is one. */
static bool read_option(Options *o, const char *name, const char *value) {
  if (strcmp(name, "--size") == 0)
    o->size = atoi(value);
  else if (strcmp(name, "--starts") == 0)
    o->starts = atoi(value);
  else if (strcmp(name, "--distance") == 0)
    o->distance = atof(value);
  else if (strcmp(name, "--thickness") == 0)
    o->thickness = atof(value);
  else if (strcmp(name, "--friction") == 0)
    o->friction = atof(value);
  else if (strcmp(name, "--threads") == 0)
    o->threads = atoi(value);
  else if (strcmp(name, "--start") == 0)
    o->start = atol(value);
  else if (strcmp(name, "--seconds") == 0)
    o->seconds = atof(value);
  else if (strcmp(name, "--h") == 0)
    o->h = atof(value);
  else if (strcmp(name, "--stable") == 0)
    o->stable = atof(value);
  else if (strcmp(name, "--integrator") == 0)
    o->integrator = value;
  else if (strcmp(name, "--linear") == 0)
    o->linear = value;
  else if (strcmp(name, "--minimizer") == 0)
    o->minimizer = value;
  else
    return false;
  return true;
}

int main(int argc, char **argv) {
  Options o = {.size = 1,
               .starts = 2,
               .threads = 1,
               .start = -1,
               .seconds = 20,
               .integrator = "backward_euler"};
  int at = 1, failed = 0;
  for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
    if (strcmp(argv[at], "--text") == 0) {
      o.text = true;
    } else if (strcmp(argv[at], "--renew") == 0) {
      o.renews = true;
    } else if (at + 1 == argc || !read_option(&o, argv[at], argv[at + 1])) {
      fprintf(stderr, "contact_sweep: '%s' is no option, or has no value\n", argv[at]);
      return 2;
    } else {
      at++;
    }
  }
  if (!o.text) print_head();
  for (int scene = 0; scene < contact_scene_count(); scene++) {
    bool chosen = at == argc;
    for (int k = at; k < argc; k++) chosen |= strstr(contact_scene_name(scene), argv[k]) != NULL;
    if (chosen) failed += run_scene(&o, scene);
  }
  return failed > 0;
}
