/* Results of `hooke compare` as a table and as JSON; see comparison.h. */
#include "comparison.h"

#include "command.h"
#include "json.h"
#include "signals.h"
#include "text.h"

#include <math.h>
#include <string.h>

static const int marks[] = {1, 10, 100, 1000};    /* iterations */
static const double goals[] = {1e-2, 1e-4, 1e-6}; /* relative errors */
static const double ROUNDING = 1e-15;             /* errors below it are rounding errors */
static const double SAME = 1e-12;                 /* error */

enum { MARKS = sizeof marks / sizeof marks[0], GOALS = sizeof goals / sizeof goals[0] };

/* ---- Numbers --------------------------------------------------------------------------------- */

static void update_best(Comparison *c, const Result *r) {
  for (int q = 0; q < r->count; q++)
    if (r->points[q].change < c->best) {
      c->best = r->points[q].change;
      c->best_name = r->name;
    }
}

bool comparison_finish(Comparison *c) {
  c->best = 0;
  c->best_name = c->exact.name;
  update_best(c, &c->exact);
  for (int q = 0; q < c->count; q++) update_best(c, &c->results[q]);
  return c->best < 0 && isfinite(c->best);
}

double comparison_error(const Comparison *c, const Result *r, int index) {
  return (r->points[index].change - c->best) / -c->best;
}

/* Returns the error of newton's solution: above 0 if another method found a lower g. */
static double exact_error(const Comparison *c) {
  return c->exact.count > 0 ? comparison_error(c, &c->exact, c->exact.count - 1) : NAN;
}

/* Returns the index of the point after `iteration` iterations, or -1. */
static int find_mark(const Result *r, int iteration) {
  for (int q = r->count - 1; q >= 0; q--)
    if (r->points[q].iteration == iteration) return q;
  return -1;
}

/* Returns the index of the first point with at most this error, or -1. */
static int find_goal(const Comparison *c, const Result *r, double goal) {
  for (int q = 0; q < r->count; q++)
    if (comparison_error(c, r, q) <= goal) return q;
  return -1;
}

/* Whether a solve ended at another solution of the step than newton. */
static bool is_elsewhere(const Result *r) {
  return r->solution > 0;
}

static int iterations_made(const Result *r) {
  return r->count > 0 ? r->points[r->count - 1].iteration : 0;
}

static double ms_per_iteration(const Result *r) {
  int made = iterations_made(r);
  return made > 0 ? 1e3 * r->points[r->count - 1].seconds / made : NAN;
}

static const char *ending(const Comparison *c, const Result *r) {
  if (r->status == HK_ERROR_BLOWUP) return "blew up";
  if (r->status < 0) return "error";
  if (r->count > 0 && !isfinite(r->points[r->count - 1].change)) return "diverged";
  if (r->timed_out) return "time";
  if (signals_caught() && r->info.reason == HK_STOP_ITERATIONS &&
      iterations_made(r) < c->iterations)
    return "interrupted";
  return hk_stop_name(r->info.reason);
}

/* Returns a name for a solution that is not newton's; only a converged one is a minimum. */
static const char *solution_kind(const Result *r) {
  return r->info.reason == HK_STOP_CONVERGED ? "another minimum" : "another stationary point";
}

/* Whether the Hessian was indefinite on the way to an end that is not known to be a minimum. */
static bool met_negative_curvature(const Result *r) {
  return r->info.projections > 0 && r->info.reason == HK_STOP_STATIONARY;
}

/* ---- Table ----------------------------------------------------------------------------------- */

static Text error_text(double error) {
  Text text = {0};
  if (!isfinite(error))
    snprintf(text.c, sizeof text.c, "not finite");
  else if (error < ROUNDING)
    snprintf(text.c, sizeof text.c, "< 1e-15");
  else
    snprintf(text.c, sizeof text.c, "%.3g", error);
  return text;
}

static Text ms_text(double ms) {
  Text text = {0};
  snprintf(text.c, sizeof text.c, ms < 99.95 ? "%.3g" : "%.0f", ms);
  return text;
}

static int name_width(const Comparison *c) {
  int width = 6;
  for (int q = 0; q < c->count; q++)
    if ((int)strlen(c->results[q].name) > width) width = (int)strlen(c->results[q].name);
  return width;
}

static void print_head(const Comparison *c) {
  const HkStepInfo *r = &c->exact.info;
  printf("%s%s%s\n", c->scene, c->title ? ": " : "", c->title ? c->title : "");
  text_row(stdout, "vertices", "%s, %s pinned", text_count(c->model.vertices).c,
           text_count(c->model.pinned).c);
  text_row(stdout, "springs", "%s", text_count(c->model.springs).c);
  text_row(stdout, "state", "at %g s, after %d step%s of backward_euler by newton", c->time,
           c->steps, c->steps == 1 ? "" : "s");
  text_row(stdout, "step", "%g s%s%s%s", c->h, c->not_taken ? "; the scene's own is that of " : "",
           c->not_taken ? c->not_taken : "", c->not_taken ? ", which is explicit" : "");
  text_row(stdout, "reference", "newton: %d iterations, gradient %.2g, g(x_0) - g* = %.6g kg m^2",
           r->iterations, r->gradient, -c->best);
}

static void print_errors(const Comparison *c, int width) {
  printf("\nRelative error (g(x_i) - g*) / (g(x_0) - g*)\n  %-*s", width, "iterations");
  for (int k = 0; k < MARKS && marks[k] <= c->iterations; k++) printf(" %10d", marks[k]);
  printf(" %10s %9s  %s\n", "at the end", "made", "stopped");
  for (int q = 0; q < c->count; q++) {
    const Result *r = &c->results[q];
    if (r->count == 0) continue;
    printf("  %-*s", width, r->name);
    for (int k = 0; k < MARKS && marks[k] <= c->iterations; k++) {
      int at = find_mark(r, marks[k]);
      printf(" %10s", at < 0 ? "-" : error_text(comparison_error(c, r, at)).c);
    }
    printf(" %10s %9d  %s", error_text(comparison_error(c, r, r->count - 1)).c, iterations_made(r),
           ending(c, r));
    if (met_negative_curvature(r)) printf(", indefinite Hessian");
    if (is_elsewhere(r))
      printf("; %s, g - g(newton) = %+.3g kg m^2", solution_kind(r), r->difference);
    printf("\n");
  }
}

static void print_times(const Comparison *c, int width) {
  printf("\nIterations and milliseconds to a relative error of\n  %-*s", width, "");
  for (int k = 0; k < GOALS; k++) printf(" %15s%d", "1e", (int)floor(log10(goals[k]) + 0.5));
  printf("  ms an iteration\n");
  for (int q = 0; q < c->count; q++) {
    const Result *r = &c->results[q];
    if (r->count == 0) continue;
    printf("  %-*s", width, r->name);
    for (int k = 0; k < GOALS; k++) {
      int at = find_goal(c, r, goals[k]);
      if (at < 0)
        printf(" %7s %9s", "-", "-");
      else
        printf(" %7d %9s", r->points[at].iteration, ms_text(1e3 * r->points[at].seconds).c);
    }
    double each = ms_per_iteration(r);
    printf("  %15s\n", isnan(each) ? "-" : ms_text(each).c);
  }
}

/* Prints the number of different solutions of the step, their distances, and the guesses from which
 * newton finds another one. Returns the number of lines. */
static int print_solutions(const Comparison *c) {
  double nearest = INFINITY, farthest = 0;
  if (c->solution_count < 2) return 0;
  for (int q = 0; q < c->count + c->restart_count; q++) {
    const Result *r = q < c->count ? &c->results[q] : &c->restarts[q - c->count];
    if (!is_elsewhere(r)) continue;
    nearest = fmin(nearest, r->distance);
    farthest = fmax(farthest, r->distance);
  }
  char apart[64];
  snprintf(apart, sizeof apart, farthest > 1.01 * nearest ? "%.2g to %.2g" : "%.2g", nearest,
           farthest);
  printf("\nThe step has several solutions: %d different ends were found%s, %s of the step's "
         "motion away\nfrom newton's. Errors relative to g*, the lowest g of the methods, then "
         "mean little.\n",
         c->solution_count, c->solution_count == COMPARISON_MAX_SOLUTIONS ? " at least" : "",
         apart);
  for (int q = 0; q < c->restart_count; q++) {
    const Result *r = &c->restarts[q];
    if (!is_elsewhere(r)) continue;
    printf("newton from %s ends at %s", r->name, solution_kind(r));
    if (isfinite(r->difference)) printf(", g - g(newton) = %+.3g kg m^2", r->difference);
    printf("\n");
  }
  return 2;
}

/* Prints the solves by newton, with any linear solver, in which the Hessian was indefinite. */
static int print_negative_curvature(const Comparison *c, const char *lead) {
  int count = met_negative_curvature(&c->exact);
  for (int q = 0; q < c->count; q++) count += met_negative_curvature(&c->results[q]);
  if (count > 0)
    printf("%sNegative curvature: the Hessian was indefinite, and %s not known to be %s.\n", lead,
           count == 1 ? "one end marked stationary is" : "the ends marked stationary are",
           count == 1 ? "a minimum" : "minima");
  return count;
}

/* Prints the accuracy of the reference if a limit ended it. */
static int print_reference(const Comparison *c, const char *lead) {
  const HkStepInfo *r = &c->exact.info;
  bool limited = r->reason == HK_STOP_ITERATIONS || c->exact.timed_out;
  char text[512], limit[64] = "the limit of iterations";
  if (!limited) return 0;
  if (c->exact.timed_out) snprintf(limit, sizeof limit, "--seconds %g", c->seconds);
  snprintf(text, sizeof text,
           "The reference is not solved: %s ended newton after %d iterations, at a relative "
           "gradient of m = %.2g. g* is the lowest g that was found, and errors are only as good "
           "as that.",
           limit, r->iterations, r->gradient);
  printf("%s", lead);
  text_wrap(stdout, text, 0, text_width(stdout));
  return 1;
}

static void print_notes(const Comparison *c) {
  const char *lead = print_solutions(c) ? "" : "\n";
  if (print_reference(c, lead)) lead = "";
  if (print_negative_curvature(c, lead)) lead = "";
  if (exact_error(c) > SAME) {
    printf("%s%s found a lower g than newton, by %.2g of the way from g(x_0); it is taken as g*\n",
           lead, c->best_name, exact_error(c));
    lead = "";
  }
  for (int q = 0; q < c->count; q++) {
    const Result *r = &c->results[q];
    if (r->status >= 0 && !r->lost) continue;
    printf("%s%s%s: %s\n", lead, r->name, r->count == 0 ? " is left out" : "",
           r->lost ? "no memory for all its iterations" : r->why);
    lead = "";
  }
  if (c->unconverged > 0)
    printf("%s%d of the %d steps before did not converge\n", lead, c->unconverged, c->steps);
}

void comparison_print(const Comparison *c) {
  int width = name_width(c) > 10 ? name_width(c) : 10;
  bool some = false;
  for (int q = 0; q < c->count; q++) some |= c->results[q].count > 0;
  print_head(c);
  if (some) print_errors(c, width);
  if (some) print_times(c, width);
  print_notes(c);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Members about the end of a solve. */
static void json_solution(Json *json, const Result *r) {
  put_number(json, "solution", r->solution < 0 ? NAN : r->solution);
  put_number(json, "distance", r->distance);
  put_number(json, "energy_difference", r->difference);
  put_integer(json, "projections", r->info.projections);
  put_boolean(json, "negative_curvature", met_negative_curvature(r));
}

static void json_restart(Json *json, const Comparison *c, const Result *r) {
  put_begin(json, NULL, '{');
  put_text(json, "guess", r->name);
  put_text(json, "stopped", ending(c, r));
  put_integer(json, "iterations", iterations_made(r));
  put_number(json, "gradient", r->info.gradient);
  json_solution(json, r);
  put_end(json, '}');
}

static void json_result(Json *json, const Comparison *c, const Result *r) {
  put_begin(json, NULL, '{');
  put_text(json, "method", r->name);
  put_text(json, "stopped", ending(c, r));
  put_text(json, "message", r->status < 0 ? r->why : NULL);
  put_integer(json, "iterations", iterations_made(r));
  put_number(json, "error", r->count > 0 ? comparison_error(c, r, r->count - 1) : NAN);
  put_number(json, "gradient", r->count > 0 ? r->points[r->count - 1].gradient : NAN);
  put_number(json, "ms_per_iteration", ms_per_iteration(r));
  json_solution(json, r);
  put_begin(json, "errors", '{');
  for (int k = 0; k < MARKS; k++) {
    char key[16];
    int at = find_mark(r, marks[k]);
    snprintf(key, sizeof key, "%d", marks[k]);
    put_number(json, key, at < 0 ? NAN : comparison_error(c, r, at));
  }
  put_end(json, '}');
  put_begin(json, "goals", '[');
  for (int k = 0; k < GOALS; k++) {
    int at = find_goal(c, r, goals[k]);
    put_begin(json, NULL, '{');
    put_number(json, "error", goals[k]);
    put_number(json, "iterations", at < 0 ? NAN : r->points[at].iteration);
    put_number(json, "milliseconds", at < 0 ? NAN : 1e3 * r->points[at].seconds);
    put_end(json, '}');
  }
  put_end(json, ']');
  put_end(json, '}');
}

void comparison_json(const Comparison *c, int exit_code) {
  Json json = {.file = stdout};
  put_begin(&json, NULL, '{');
  put_integer(&json, "exit_code", exit_code);
  put_text(&json, "scene", c->scene);
  put_text(&json, "title", c->title);
  put_integer(&json, "vertices", c->model.vertices);
  put_integer(&json, "springs", c->model.springs);
  put_integer(&json, "pinned", c->model.pinned);
  put_number(&json, "time", c->time);
  put_integer(&json, "steps", c->steps);
  put_integer(&json, "unconverged", c->unconverged);
  put_number(&json, "step", c->h);
  put_number(&json, "decrease", -c->best);
  put_text(&json, "best", c->best_name);
  put_number(&json, "newton_error", c->best < 0 ? exact_error(c) : NAN);
  put_number(&json, "newton_gradient", c->exact.info.gradient);
  put_integer(&json, "newton_iterations", c->exact.info.iterations);
  put_number(&json, "seconds", c->seconds);
  put_text(&json, "newton_stopped", c->exact.count > 0 ? ending(c, &c->exact) : NULL);
  put_integer(&json, "newton_projections", c->exact.info.projections);
  put_integer(&json, "solutions", c->solution_count);
  put_begin(&json, "restarts", '[');
  for (int q = 0; q < c->restart_count; q++) json_restart(&json, c, &c->restarts[q]);
  put_end(&json, ']');
  put_begin(&json, "methods", '[');
  for (int q = 0; q < c->count; q++) json_result(&json, c, &c->results[q]);
  put_end(&json, ']');
  put_end(&json, '}');
  fputc('\n', stdout);
}
