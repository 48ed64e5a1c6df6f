/* Table, JSON and CSV of `hooke compare --over`; see accuracy.h. */
#include "accuracy.h"

#include "command.h"
#include "describe.h"
#include "json.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- Table ----------------------------------------------------------------------------------- */

static void print_head(const Accuracy *a) {
  const AccuracyRun *r = &a->reference;
  printf("%s%s%s\n", a->scene, a->title ? ": " : "", a->title ? a->title : "");
  text_row(stdout, "vertices", "%s, %s pinned", text_count(a->model.vertices).c,
           text_count(a->model.pinned).c);
  text_row(stdout, "springs", "%s", text_count(a->model.springs).c);
  text_row(stdout, "time", "%g s from the start; implicit integrators take the step %g s", a->over,
           a->implicit_h);
  text_row(stdout, "reference", "%s, %s steps of %.3g s; all references together took %s",
           r->integrator->name, text_count(r->steps).c, r->h,
           text_duration(a->reference_seconds).c);
  text_row(stdout, "its error",
           "at most about %.2g m: the distance to the reference of twice the step", r->error);
  text_row(stdout, "its motion", "%.4g m: the largest root mean square displacement", a->motion);
  text_row(stdout, "its energy", "%.6g J at the end", r->energy);
}

static Text steps_text(int64_t count) {
  return count > 0 ? text_count(count) : (Text){"-"};
}

/* Returns the uncertainty of a run's error due to the reference's own; "" if it is small. */
static Text uncertainty(const Accuracy *a, const AccuracyRun *r) {
  Text text = {""};
  double part = a->reference.error / r->error;
  if (r->resolved || !(a->reference.error > 0)) return text;
  if (part < 1)
    snprintf(text.c, sizeof text.c, "  uncertain by %.0f %%", 100 * part);
  else
    snprintf(text.c, sizeof text.c, "  below the error of the reference");
  return text;
}

static void print_rows(const Accuracy *a) {
  int width = 10;
  for (int q = 0; q < a->count; q++) {
    int length = (int)strlen(a->runs[q].integrator->name);
    if (length > width) width = length;
  }
  printf("\nDistance to the reference at the end (root mean square over the masses, and largest of "
         "a vertex)\n");
  printf("  %-*s %9s %9s %10s %9s %10s %11s %9s %8s %11s\n", width, "", "", "", "", "relative", "",
         "energy - its", "", "not con-", "");
  printf("  %-*s %9s %9s %10s %9s %10s %12s %9s %8s %11s\n", width, "method", "step s", "steps",
         "error m", "to motion", "largest m", "energy J", "time s", "verged", "stationary");
  for (int q = 0; q < a->count; q++) {
    const AccuracyRun *r = &a->runs[q];
    if (isnan(r->error)) continue;
    printf("%c %-*s %9.3g %9s %10.3g %9.2g %10.3g %+12.3g %9.3g %8s %11s%s\n",
           r->efficient ? '*' : ' ', width, r->integrator->name, r->h, text_count(r->steps).c,
           r->error, r->error / a->motion, r->largest, r->energy - a->reference.energy, r->seconds,
           steps_text(r->unconverged).c, steps_text(r->stationary).c, uncertainty(a, r).c);
  }
}

/* ---- Conclusions ----------------------------------------------------------------------------- */

/* Writes why errors are uncertain, or "". */
static void describe_state(const Accuracy *a, char *text, size_t size) {
  const double error = a->reference.error;
  text[0] = 0;
  if (a->state == ACCURACY_CHAOTIC)
    snprintf(text, size,
             "The reference is not resolved: references of successively halved steps stay about "
             "%.2g m apart, since the motion is chaotic or not smooth. Methods whose errors are of "
             "that size cannot be ranked; a shorter --over helps.",
             error);
  else if (a->state != ACCURACY_RESOLVED)
    snprintf(text, size,
             "The reference is not resolved for every method: %s. Methods whose errors are not far "
             "above %.2g m cannot be ranked.",
             a->state == ACCURACY_TIME       ? "a finer one would take longer than --seconds allows"
             : a->state == ACCURACY_HALVINGS ? "its step was halved as often as allowed"
                                             : "it was interrupted",
             error);
}

/* Returns the most accurate run of a kind, or NULL; the runs are sorted by error. */
static const AccuracyRun *nearest(const Accuracy *a, bool implicit) {
  for (int q = 0; q < a->count; q++)
    if (!isnan(a->runs[q].error) && describe_is_implicit(a->runs[q].integrator) == implicit)
      return &a->runs[q];
  return NULL;
}

static void print_conclusion(const Accuracy *a) {
  char text[1024];
  size_t used;
  const AccuracyRun *first = &a->runs[0], *last = first, *implicit = nearest(a, true);
  if (a->count == 0 || isnan(first->error)) return;
  for (int q = 0; q < a->count; q++)
    if (a->runs[q].efficient) last = &a->runs[q];
  used = (size_t)snprintf(text, sizeof text, "%s%s is the nearest to the reference: %.2g m in %s.",
                          first->resolved ? "" : "As far as the reference is resolved, ",
                          first->integrator->name, first->error, text_duration(first->seconds).c);
  if (implicit && implicit != first)
    used += (size_t)snprintf(text + used, sizeof text - used,
                             " Of the implicit integrators at %g s it is %s: %.2g m in %s.",
                             implicit->h, implicit->integrator->name, implicit->error,
                             text_duration(implicit->seconds).c);
  if (last != first && last != implicit)
    used += (size_t)snprintf(text + used, sizeof text - used, " %s is the fastest: %.2g m in %s.",
                             last->integrator->name, last->error, text_duration(last->seconds).c);
  snprintf(text + used, sizeof text - used,
           " * marks the methods that are worth their cost: no other is both nearer and faster.");
  printf("\n");
  text_wrap(stdout, text, 0, text_width(stdout));
}

void accuracy_print(const Accuracy *a) {
  char text[512];
  print_head(a);
  print_rows(a);
  print_conclusion(a);
  describe_state(a, text, sizeof text);
  if (text[0]) text_wrap(stdout, text, 0, text_width(stdout));
  for (int q = 0; q < a->count; q++)
    if (a->runs[q].why[0])
      printf("%s is left out: %s\n", a->runs[q].integrator->name, a->runs[q].why);
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

static void json_run(Json *json, const Accuracy *a, const AccuracyRun *r) {
  put_begin(json, NULL, '{');
  put_text(json, "method", r->integrator->name);
  put_text(json, "message", r->why[0] ? r->why : NULL);
  put_number(json, "step", r->h);
  put_integer(json, "steps", r->steps);
  put_number(json, "error", r->error);
  put_number(json, "relative_error", r->error / a->motion);
  put_number(json, "largest_error", r->largest);
  put_number(json, "energy_difference", r->energy - a->reference.energy);
  put_number(json, "seconds", r->seconds);
  put_integer(json, "unconverged", r->unconverged);
  put_integer(json, "stationary", r->stationary);
  put_boolean(json, "resolved", r->resolved);
  put_boolean(json, "efficient", r->efficient);
  put_end(json, '}');
}

static void json_reference(Json *json, const Accuracy *a) {
  static const char *const states[] = {"resolved", "time", "halvings", "chaotic", "interrupted"};
  const AccuracyRun *r = &a->reference;
  put_begin(json, "reference", '{');
  put_text(json, "method", r->integrator->name);
  put_number(json, "step", r->h);
  put_integer(json, "steps", r->steps);
  put_integer(json, "halvings", a->halvings);
  put_text(json, "state", states[a->state]);
  put_number(json, "error", r->error);
  put_number(json, "motion", a->motion);
  put_number(json, "energy", r->energy);
  put_number(json, "seconds", a->reference_seconds);
  put_end(json, '}');
}

void accuracy_json(const Accuracy *a, int exit_code) {
  Json json = {.file = stdout};
  put_begin(&json, NULL, '{');
  put_integer(&json, "exit_code", exit_code);
  put_text(&json, "scene", a->scene);
  put_text(&json, "title", a->title);
  put_integer(&json, "vertices", a->model.vertices);
  put_integer(&json, "springs", a->model.springs);
  put_integer(&json, "pinned", a->model.pinned);
  put_number(&json, "over", a->over);
  put_number(&json, "implicit_step", a->implicit_h);
  json_reference(&json, a);
  put_begin(&json, "methods", '[');
  for (int q = 0; q < a->count; q++) json_run(&json, a, &a->runs[q]);
  put_end(&json, ']');
  put_end(&json, '}');
  fputc('\n', stdout);
}

int accuracy_csv(const Accuracy *a, const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return complain(EXIT_FILE, "%s: cannot write: %s", path, strerror(errno));
  fputs("method,step,steps,error,relative_error,largest_error,energy_difference,seconds,"
        "unconverged,stationary\n",
        file);
  for (int q = 0; q < a->count; q++) {
    const AccuracyRun *r = &a->runs[q];
    if (isnan(r->error)) continue;
    fprintf(file, "%s,%.17g,%lld,%.17g,%.17g,%.17g,%.17g,%.9g,%lld,%lld\n", r->integrator->name,
            r->h, (long long)r->steps, r->error, r->error / a->motion, r->largest,
            r->energy - a->reference.energy, r->seconds, (long long)r->unconverged,
            (long long)r->stationary);
  }
  bool bad = ferror(file) != 0;
  if (fclose(file) != 0 || bad)
    return complain(EXIT_FILE, "%s: cannot write: %s", path, strerror(errno));
  return EXIT_GOOD;
}
