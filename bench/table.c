/* The table on the terminal, and the same as files.
 *
 *     results.csv    one line a measure
 *     results.json   machine, bandwidth and measures
 */
#include "bench.h"

#include "base/machine.h"
#include "json.h"
#include "signals.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Measures -------------------------------------------------------------------------------- */

void measure_check(Measure *m, double difference, double most) {
  m->error = difference;
  if (difference <= most) return;
  m->ratio = m->ratio_mean = NAN;
  snprintf(m->note, sizeof m->note, "the two answers differ: no ratio");
}

Measure measure_start(const char *row, const Problem *p, const char *method, const char *peer) {
  Measure m = {.row = row,
               .vertices = p ? (double)p->n : NAN,
               .goal = NAN,
               .ms = NAN,
               .ms_mean = NAN,
               .ms_spread = NAN,
               .peer_ms = NAN,
               .peer_ms_mean = NAN,
               .ratio = NAN,
               .ratio_mean = NAN,
               .wanted = NAN,
               .wanted_mean = NAN,
               .wanted_ms = NAN,
               .gb_per_s = NAN,
               .share = NAN,
               .wanted_share = NAN,
               .error = NAN};
  snprintf(m.problem, sizeof m.problem, "%s", p ? p->name : "");
  snprintf(m.method, sizeof m.method, "%s", method);
  snprintf(m.peer, sizeof m.peer, "%s", peer ? peer : "");
  return m;
}

void measure_times(Measure *m, const double *seconds, int count, const double *peer_seconds,
                   int count_peer) {
  int pairs = count < count_peer ? count : count_peer;
  Statistics own = statistics_of(seconds, count), peer = statistics_of(peer_seconds, count_peer);
  m->ms = 1e3 * own.median;
  m->ms_mean = 1e3 * own.mean;
  m->ms_spread = 1e3 * own.spread;
  if (pairs == 0) return;
  m->peer_ms = 1e3 * peer.median;
  m->peer_ms_mean = 1e3 * peer.mean;
  m->ratio = median_ratio(peer_seconds, seconds, pairs);
  m->ratio_mean = statistics_of(peer_seconds, pairs).mean / statistics_of(seconds, pairs).mean;
}

void measure_traffic(const Bench *bench, Measure *m, double bytes) {
  m->gb_per_s = 1e-6 * bytes / m->ms;
  m->share = 1e9 * m->gb_per_s / fmax(bench->all.read, bench->all.copy);
}

/* ---- Lines of the table ---------------------------------------------------------------------- */

typedef struct Cell {
  char text[32];
} Cell;

static Cell cell(double value, const char *format) {
  Cell c = {""};
  if (!isnan(value)) snprintf(c.text, sizeof c.text, format, value);
  return c;
}

static Cell ms_cell(double ms) {
  return cell(ms, ms < 10 ? "%.3f" : ms < 1000 ? "%.1f" : "%.0f");
}

static Cell ratio_cell(double ratio) {
  return cell(ratio, ratio < 9.95 ? "%.2f" : "%.1f");
}

/* Returns the required ratio and whether it is reached: "25 yes". */
static Cell wanted_cell(const Measure *m) {
  Cell c = {""};
  if (!isnan(m->wanted))
    snprintf(c.text, sizeof c.text, "%g %s", m->wanted, m->ratio >= m->wanted ? "yes" : "NO");
  return c;
}

static void print_wanted(const char *what, double value, double wanted, double scale,
                         const char *unit, bool reached) {
  if (!isnan(wanted))
    printf("  %s %.3g%s, wanted %s %.3g%s: %s", what, scale * value, unit,
           strcmp(what, "time") == 0 ? "<" : ">", scale * wanted, unit, reached ? "yes" : "NO");
}

static void print_line(const Measure *m) {
  char traffic[32] = "", what[128];
  if (!isnan(m->gb_per_s))
    snprintf(traffic, sizeof traffic, "%.1f (%.0f%%)", m->gb_per_s, 100 * m->share);
  snprintf(what, sizeof what, "%s%s%s", m->method, isnan(m->goal) ? "" : " to ",
           isnan(m->goal) ? "" : cell(m->goal, "%g").text);
  printf("%-15s %-11s %-33s %9s %9s %7s %7s %8s %12s  %s", m->row, m->problem, what,
         ms_cell(m->ms).text, ms_cell(m->peer_ms).text, ratio_cell(m->ratio).text,
         ratio_cell(m->ratio_mean).text, wanted_cell(m).text, traffic, m->peer);
  print_wanted("mean", m->ratio_mean, m->wanted_mean, 1, "", m->ratio_mean >= m->wanted_mean);
  print_wanted("time", m->ms, m->wanted_ms, 1, " ms", m->ms <= m->wanted_ms);
  print_wanted("bandwidth", m->share, m->wanted_share, 100, "%", m->share >= m->wanted_share);
  if (!isnan(m->error)) printf("  error %.1e", m->error);
  if (m->note[0]) printf("  %s", m->note);
  printf("\n");
  fflush(stdout);
}

void table_head(const Bench *b) {
  printf("memory: read %.1f, copy %.1f GB/s with one thread; read %.1f, copy %.1f GB/s with %d\n\n",
         1e-9 * b->one.read, 1e-9 * b->one.copy, 1e-9 * b->all.read, 1e-9 * b->all.copy,
         b->threads);
  printf("%-15s %-11s %-33s %9s %9s %7s %7s %8s %12s  %s\n", "row", "problem", "Hooke", "ms",
         "peer ms", "ratio", "of mean", "wanted", "GB/s", "peer and notes");
  fflush(stdout);
}

void table_foot(const Bench *b) {
  int wanted = 0, reached = 0;
  for (int q = 0; q < b->count; q++) {
    const Measure *m = &b->measures[q];
    wanted +=
        !isnan(m->wanted) + !isnan(m->wanted_mean) + !isnan(m->wanted_ms) + !isnan(m->wanted_share);
    reached += (m->ratio >= m->wanted) + (m->ratio_mean >= m->wanted_mean) +
               (m->ms <= m->wanted_ms) + (m->share >= m->wanted_share);
  }
  printf("\n%d of %d goals are reached\n", reached, wanted);
}

void bench_add(Bench *b, const Measure *m) {
  if (b->count == b->capacity) {
    int capacity = b->capacity ? 2 * b->capacity : 64;
    Measure *grown = realloc(b->measures, (size_t)capacity * sizeof *grown);
    if (!grown) return;
    b->measures = grown;
    b->capacity = capacity;
  }
  b->measures[b->count++] = *m;
  text_status("%s", "");
  print_line(m);
}

Curve *bench_add_curve(Bench *b, const char *problem, const char *name) {
  for (int q = 0; q < b->curve_count; q++)
    if (strcmp(b->curves[q].problem, problem) == 0 && strcmp(b->curves[q].name, name) == 0)
      return NULL;
  if (b->curve_count == b->curve_capacity) {
    int capacity = b->curve_capacity ? 2 * b->curve_capacity : 16;
    Curve *grown = realloc(b->curves, (size_t)capacity * sizeof *grown);
    if (!grown) return NULL;
    b->curves = grown;
    b->curve_capacity = capacity;
  }
  Curve *c = &b->curves[b->curve_count++];
  *c = (Curve){.count = 0};
  snprintf(c->problem, sizeof c->problem, "%s", problem);
  snprintf(c->name, sizeof c->name, "%s", name);
  return c;
}

void bench_missing(Bench *b, const char *method, const char *why) {
  for (int q = 0; q < b->missing_count; q++)
    if (strcmp(b->missing[q], method) == 0) return;
  if (b->missing_count < BENCH_MAX_MISSING) b->missing[b->missing_count++] = method;
  text_status("%s", "");
  fprintf(stderr, "%s is left out: %s\n", method, why);
}

bool bench_stopped(void) {
  return signals_caught() != 0;
}

int bench_rounds(Contestant *contestants, int count, int warm_up, int rounds) {
  const Rounds plan = {
      .warm_up = warm_up, .rounds = rounds, .seconds = INFINITY, .stopped = bench_stopped};
  int made = rounds_run(&plan, contestants, count);
  return made > 0 ? made : 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static FILE *open_file(const Bench *b, const char *name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", b->folder, name);
  FILE *file = fopen(path, "w");
  if (!file) perror(path);
  return file;
}

static bool write_csv(const Bench *b) {
  FILE *file = open_file(b, "results.csv");
  if (!file) return false;
  fputs("row,problem,vertices,method,peer,goal,ms,ms_mean,ms_spread,peer_ms,peer_ms_mean,ratio,"
        "ratio_mean,"
        "wanted,wanted_mean,wanted_ms,gb_per_s,share,wanted_share,error,note\n",
        file);
  for (int q = 0; q < b->count; q++) {
    const Measure *m = &b->measures[q];
    const double numbers[] = {m->goal,    m->ms,           m->ms_mean,   m->ms_spread,
                              m->peer_ms, m->peer_ms_mean, m->ratio,     m->ratio_mean,
                              m->wanted,  m->wanted_mean,  m->wanted_ms, m->gb_per_s,
                              m->share,   m->wanted_share, m->error};
    fprintf(file, "%s,%s,%.0f,%s,\"%s\"", m->row, m->problem, m->vertices, m->method, m->peer);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
      fprintf(file, isnan(numbers[k]) ? "," : ",%.6g", numbers[k]);
    fprintf(file, ",\"%s\"\n", m->note);
  }
  return fclose(file) == 0;
}

static void json_measure(Json *json, const Measure *m) {
  put_begin(json, NULL, '{');
  put_text(json, "row", m->row);
  put_text(json, "problem", m->problem);
  put_number(json, "vertices", m->vertices);
  put_text(json, "method", m->method);
  put_text(json, "peer", m->peer[0] ? m->peer : NULL);
  put_number(json, "goal", m->goal);
  put_number(json, "ms", m->ms);
  put_number(json, "ms_mean", m->ms_mean);
  put_number(json, "ms_spread", m->ms_spread);
  put_number(json, "peer_ms", m->peer_ms);
  put_number(json, "peer_ms_mean", m->peer_ms_mean);
  put_number(json, "ratio", m->ratio);
  put_number(json, "ratio_mean", m->ratio_mean);
  put_number(json, "wanted", m->wanted);
  put_number(json, "wanted_mean", m->wanted_mean);
  put_number(json, "wanted_ms", m->wanted_ms);
  put_number(json, "gb_per_s", m->gb_per_s);
  put_number(json, "share", m->share);
  put_number(json, "wanted_share", m->wanted_share);
  put_number(json, "error", m->error);
  put_text(json, "note", m->note[0] ? m->note : NULL);
  put_end(json, '}');
}

static void json_bandwidth(Json *json, const char *key, const Bandwidth *b) {
  put_begin(json, key, '{');
  put_number(json, "read", b->read);
  put_number(json, "copy", b->copy);
  put_end(json, '}');
}

static bool write_json(const Bench *b) {
  char processor[256], date[32];
  time_t t = time(NULL);
  FILE *file = open_file(b, "results.json");
  Json json = {.file = file};
  if (!file) return false;
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
  hk_machine_processor(processor, sizeof processor);
  put_begin(&json, NULL, '{');
  put_text(&json, "version", hk_version());
  put_text(&json, "date", date);
  put_text(&json, "processor", processor);
  put_integer(&json, "threads", b->threads);
  put_boolean(&json, "quick", b->quick);
  json_bandwidth(&json, "bandwidth_one_thread", &b->one);
  json_bandwidth(&json, "bandwidth", &b->all);
  put_begin(&json, "measures", '[');
  for (int q = 0; q < b->count; q++) json_measure(&json, &b->measures[q]);
  put_end(&json, ']');
  put_end(&json, '}');
  fputc('\n', file);
  return fclose(file) == 0;
}

bool table_write(const Bench *b) {
  bool csv = write_csv(b);
  return write_json(b) && csv;
}
