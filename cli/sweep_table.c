/* The table of `hooke sweep`: CSV by RFC 4180, one row a combination.
 *
 *     world, the varied values, status, steps, time, kinetic .. total, strain_min, strain_max,
 *     speed_max, iterations, linear_iterations, gradient, reason, NAME.x .. NAME.vz of each probe,
 *     message
 *
 * Numbers that do not exist, as those of a world that blew up, are empty.
 */
#include "sweep.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const numbers[] = {"time",  "kinetic",    "spring",     "gravity",  "other",
                                      "total", "strain_min", "strain_max", "speed_max"};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static const char *const probe_columns[] = {".x", ".y", ".z", ".vx", ".vy", ".vz"};

/* In quotes where the text has a comma, a quote or an end of line. */
static void put_text(FILE *file, const char *text, const char *rest) {
  bool plain = !strpbrk(text, ",\"\r\n");
  if (!plain) fputc('"', file);
  for (; *text; text++) {
    if (*text == '"') fputc('"', file);
    fputc(*text, file);
  }
  fprintf(file, "%s%s", rest, plain ? "" : "\"");
}

static void put_number(FILE *file, double value) {
  if (isfinite(value))
    fprintf(file, ",%.17g", value);
  else
    fputc(',', file);
}

static void probe_name(const HkScene *scene, int p, char *name, size_t size) {
  if (scene->probes[p].name)
    snprintf(name, size, "%s", scene->probes[p].name);
  else
    snprintf(name, size, "probe%d", p);
}

void sweep_header(FILE *file, const Variations *v, const HkScene *scene) {
  fputs("world", file);
  for (int q = 0; q < v->count; q++) {
    fputc(',', file);
    put_text(file, v->list[q].name, "");
  }
  fputs(",status,steps", file);
  for (int q = 0; q < NUMBERS; q++) fprintf(file, ",%s", numbers[q]);
  fputs(",iterations,linear_iterations,gradient,reason", file);
  for (int p = 0; p < scene->probe_count; p++) {
    char name[256];
    probe_name(scene, p, name, sizeof name);
    for (int c = 0; c < 6; c++) {
      fputc(',', file);
      put_text(file, name, probe_columns[c]);
    }
  }
  fputs(",message\n", file);
}

/* "blowup" of HK_ERROR_BLOWUP. */
static void put_status(FILE *file, HkStatus status) {
  static const char prefix[] = "HK_ERROR_";
  const char *name = hk_status_name(status);
  name += strncmp(name, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : strlen("HK_");
  fputc(',', file);
  for (; *name; name++) fputc(tolower((unsigned char)*name), file);
}

static void put_step_info(FILE *file, const HkStepInfo *s, bool made) {
  if (made)
    fprintf(file, ",%d,%d,%.6g,%s", s->iterations, s->linear_iterations, s->gradient,
            hk_stop_name(s->reason));
  else
    fputs(",,,,", file);
}

void sweep_row(FILE *file, const Variations *v, const HkScene *scene, const SweepWorld *w) {
  const HkStateInfo *i = &w->info;
  const double values[NUMBERS] = {i->time,  i->kinetic,    i->spring,     i->gravity,  i->other,
                                  i->total, i->strain_min, i->strain_max, i->speed_max};
  fprintf(file, "%lld", (long long)w->combination);
  for (int q = 0; q < v->count; q++) {
    fputc(',', file);
    put_text(file, variations_value(v, w->combination, q), "");
  }
  put_status(file, w->status);
  fprintf(file, ",%lld", (long long)w->steps);
  for (int q = 0; q < NUMBERS; q++) put_number(file, values[q]);
  put_step_info(file, &w->last, w->steps > 0);
  for (int p = 0; p < scene->probe_count; p++)
    for (int c = 0; c < 6; c++) put_number(file, p < w->probe_count ? w->probes[6 * p + c] : NAN);
  fputc(',', file);
  put_text(file, w->status < 0 ? w->error.text : "", "");
  fputc('\n', file);
}
