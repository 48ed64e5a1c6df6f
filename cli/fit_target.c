/* Reads what `hooke fit` fits to; see fit_target.h. */
#include "fit_target.h"

#include "pc2_cache.h"
#include "text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double TIME_TOLERANCE = 0.02; /* of the interval: times in files are rounded */

static HkStatus no_memory(HkError *error) {
  text_fail(error, HK_ERROR_MEMORY, "out of memory for the target");
  return HK_ERROR_MEMORY;
}

/* ---- Sightings ------------------------------------------------------------------------------- */

/* A list that grows. */
typedef struct Reading {
  FitTarget *target;
  const char *path;
  int64_t capacity;
} Reading;

static HkStatus add(Reading *r, double time, const int32_t *vertex, int64_t count,
                    const double x[3], HkError *error) {
  FitTarget *t = r->target;
  if (t->count == r->capacity) {
    r->capacity = 2 * r->capacity + 1024;
    Sighting *grown = realloc(t->sightings, (size_t)r->capacity * sizeof *grown);
    if (!grown) return no_memory(error);
    t->sightings = grown;
  }
  t->sightings[t->count++] =
      (Sighting){.time = time, .vertex = vertex, .count = count, .x = {x[0], x[1], x[2]}};
  return HK_OK;
}

/* ---- PC2 ------------------------------------------------------------------------------------- */

static float float_at(const unsigned char *bytes) {
  uint32_t bits =
      bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static HkStatus read_samples(Reading *r, const Pc2Cache *cache, double start, double rate,
                             const HkScene *scene, HkError *error) {
  float *x = malloc((size_t)(3 * cache->vertices + 1) * sizeof *x);
  HkStatus status = HK_OK;
  if (!x) return no_memory(error);
  for (int64_t k = 0; k < cache->count && status >= 0; k++) {
    double time = (start + (double)k * rate) / scene->time.frames_per_second;
    if (!pc2_read(cache, k, x))
      status = text_fail(error, HK_ERROR_INVALID, "%s: sample %lld is missing: the file is cut off",
                         r->path, (long long)k);
    for (int64_t i = 0; i < cache->vertices && status >= 0 && time >= 0; i++) {
      double place[3] = {(double)x[3 * i], (double)x[3 * i + 1], (double)x[3 * i + 2]};
      status = add(r, time, &r->target->vertices[i], 1, place, error);
    }
  }
  free(x);
  return status;
}

static HkStatus read_pc2(Reading *r, FILE *file, const HkScene *scene, int64_t n, HkError *error) {
  unsigned char head[32];
  Pc2Cache cache;
  bool whole = fread(head, 1, sizeof head, file) == sizeof head;
  double start = whole ? (double)float_at(head + 20) : 0;
  double rate = whole ? (double)float_at(head + 24) : 0;
  rewind(file);
  if (!pc2_open(file, n, &cache))
    return text_fail(error, HK_ERROR_INVALID,
                     "%s: is no point cache (PC2) of the %lld vertices of the scene", r->path,
                     (long long)n);
  HkStatus status = rate > 0 && isfinite(rate) && isfinite(start)
                        ? read_samples(r, &cache, start, rate, scene, error)
                        : text_fail(error, HK_ERROR_INVALID,
                                    "%s: the rate of its samples is %g frames", r->path, rate);
  pc2_close(&cache);
  return status;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* What a column holds. */
typedef struct Column {
  enum { OTHER, TIME, VERTEX, COORDINATE } kind;
  int probe, axis; /* of a coordinate; probe -1: of the column "vertex" */
} Column;

enum { COLUMNS_MAX = 4096 };

typedef struct Csv {
  Reading *reading;
  const HkModel *model;
  Column *columns;
  int count;
  bool has_time, has_vertex;
  int64_t line;
} Csv;

/* Cuts the next cell off a line, without quotes; returns NULL past the last. */
static char *next_cell(char **line) {
  char *cell = *line, *to = cell, *from = cell;
  bool quoted = false;
  if (!cell) return NULL;
  for (; *from && (quoted || *from != ','); from++) {
    if (*from == '"' && quoted && from[1] == '"')
      *to++ = *from++;
    else if (*from == '"')
      quoted = !quoted;
    else
      *to++ = *from;
  }
  *line = *from ? from + 1 : NULL;
  *to = 0;
  while (to > cell && strchr(" \t\r\n", to[-1])) *--to = 0;
  return cell + strspn(cell, " \t");
}

static HkStatus fail(const Csv *csv, HkError *error, const char *why, const char *cell) {
  text_fail(error, HK_ERROR_INVALID, "%s:%lld: %s%s%s", csv->reading->path, (long long)csv->line,
            why, cell[0] ? ": " : "", cell);
  return HK_ERROR_INVALID;
}

static int find_probe(const HkModel *model, const char *name, size_t length) {
  const char *probe;
  int64_t count;
  const int32_t *vertices;
  for (int p = 0; (probe = hk_model_probe(model, p, &vertices, &count)); p++)
    if (strlen(probe) == length && strncmp(probe, name, length) == 0) return p;
  return -1;
}

static Column column_of(Csv *csv, const char *name) {
  size_t length = strlen(name);
  const char *axes = "xyz", *axis = length ? strchr(axes, name[length - 1]) : NULL;
  if (strcmp(name, "time") == 0) {
    csv->has_time = true;
    return (Column){.kind = TIME};
  }
  if (strcmp(name, "vertex") == 0) {
    csv->has_vertex = true;
    return (Column){.kind = VERTEX};
  }
  if (!axis || !name[0]) return (Column){.kind = OTHER};
  if (length == 1) return (Column){.kind = COORDINATE, .probe = -1, .axis = (int)(axis - axes)};
  int probe = length > 2 && name[length - 2] == '.' ? find_probe(csv->model, name, length - 2) : -1;
  if (probe < 0) return (Column){.kind = OTHER};
  return (Column){.kind = COORDINATE, .probe = probe, .axis = (int)(axis - axes)};
}

static HkStatus read_header(Csv *csv, char *line, HkError *error) {
  for (char *cell; (cell = next_cell(&line)) && csv->count < COLUMNS_MAX;) {
    Column c = column_of(csv, cell);
    csv->columns[csv->count++] = c;
  }
  int coordinates = 0;
  for (int c = 0; c < csv->count; c++)
    coordinates +=
        csv->columns[c].kind == COORDINATE && (csv->columns[c].probe < 0) == csv->has_vertex;
  if (csv->has_time && coordinates >= 3) return HK_OK;
  return fail(
      csv, error,
      "the header needs the column time, and vertex,x,y,z or NAME.x,NAME.y,NAME.z of probes "
      "of the scene",
      "");
}

/* The numbers of a row; NAN where a cell is empty. */
static HkStatus read_cells(Csv *csv, char *line, double *values, HkError *error) {
  for (int c = 0; c < csv->count; c++) {
    char *cell = next_cell(&line), *end;
    values[c] = NAN;
    if (!cell || !cell[0] || csv->columns[c].kind == OTHER) continue;
    values[c] = strtod(cell, &end);
    if (*end) return fail(csv, error, "is no number", cell);
    if (isinf(values[c])) return fail(csv, error, "is not finite", cell);
  }
  return HK_OK;
}

static HkStatus add_row(Csv *csv, const double *values, HkError *error) {
  int64_t n = csv->reading->target->vertex_count, count;
  double time = NAN, vertex = NAN;
  const char *name;
  const int32_t *probe;
  for (int c = 0; c < csv->count; c++) {
    if (csv->columns[c].kind == TIME) time = values[c];
    if (csv->columns[c].kind == VERTEX) vertex = values[c];
  }
  if (isnan(time)) return fail(csv, error, "the time is missing", "");
  if (csv->has_vertex && !(vertex >= 0 && vertex < (double)n && vertex == floor(vertex)))
    return fail(csv, error, "the scene has no such vertex, or the number is missing", "");
  for (int p = csv->has_vertex ? -1 : 0; time >= 0; p++) {
    if (p >= 0 && csv->has_vertex) break;
    name = p < 0 ? "" : hk_model_probe(csv->model, p, &probe, &count);
    if (!name) break;
    double x[3] = {NAN, NAN, NAN};
    for (int c = 0; c < csv->count; c++)
      if (csv->columns[c].kind == COORDINATE && csv->columns[c].probe == p)
        x[csv->columns[c].axis] = values[c];
    if (isnan(x[0]) || isnan(x[1]) || isnan(x[2])) continue; /* not seen */
    const int32_t *seen = p < 0 ? &csv->reading->target->vertices[(int64_t)vertex] : probe;
    HkStatus status = add(csv->reading, time, seen, p < 0 ? 1 : count, x, error);
    if (status < 0) return status;
  }
  return HK_OK;
}

static HkStatus read_lines(Csv *csv, FILE *file, HkError *error) {
  double *values = malloc(COLUMNS_MAX * sizeof *values);
  char *line = NULL;
  size_t size = 0;
  HkStatus status = HK_OK;
  if (!values) return no_memory(error);
  while (status >= 0 && getline(&line, &size, file) >= 0) {
    csv->line++;
    bool empty = line[strspn(line, " \t\r\n")] == 0 || line[0] == '#';
    if (empty) continue;
    if (csv->count == 0) {
      status = read_header(csv, line, error);
    } else {
      status = read_cells(csv, line, values, error);
      if (status >= 0) status = add_row(csv, values, error);
    }
  }
  free(line);
  free(values);
  return status;
}

static HkStatus read_csv(Reading *r, FILE *file, const HkModel *model, HkError *error) {
  Csv csv = {.reading = r, .model = model};
  csv.columns = calloc(COLUMNS_MAX, sizeof *csv.columns);
  HkStatus status = csv.columns ? read_lines(&csv, file, error) : no_memory(error);
  free(csv.columns);
  return status;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The times that differ; returns their number. */
static int64_t sort_times(double *times, int64_t count) {
  int64_t kept = 0;
  qsort(times, (size_t)count, sizeof *times, compare_times);
  for (int64_t k = 0; k < count; k++)
    if (kept == 0 || times[k] > times[kept - 1]) times[kept++] = times[k];
  return kept;
}

/* The interval of which all times are multiples: times are rounded, so that the last one says how
 * long the smallest difference is exactly. */
static HkStatus find_interval(FitTarget *t, const char *path, HkError *error) {
  double least = t->times[0] > 0 ? t->times[0] : INFINITY, last = t->times[t->frames - 1];
  for (int64_t f = 1; f < t->frames; f++) least = fmin(least, t->times[f] - t->times[f - 1]);
  if (!isfinite(least))
    return text_fail(error, HK_ERROR_INVALID, "%s: there is nothing after the time 0", path);
  t->interval = last / floor(last / least + 0.5);
  for (int64_t f = 0; f < t->frames; f++) {
    double frames = t->times[f] / t->interval;
    if (fabs(frames - floor(frames + 0.5)) > TIME_TOLERANCE)
      return text_fail(error, HK_ERROR_INVALID,
                       "%s: the time %g s is no multiple of %g s, the interval of its frames", path,
                       t->times[f], t->interval);
  }
  return HK_OK;
}

/* The times of the frames, and where each begins. */
static HkStatus make_times(const Reading *r, HkError *error) {
  FitTarget *t = r->target;
  t->times = malloc((size_t)t->count * sizeof *t->times);
  if (!t->times) return no_memory(error);
  for (int64_t k = 0; k < t->count; k++) t->times[k] = t->sightings[k].time;
  t->frames = sort_times(t->times, t->count);
  t->first = calloc((size_t)t->frames + 2, sizeof *t->first);
  return t->first ? HK_OK : no_memory(error);
}

/* Sorts the sightings by frame. */
static HkStatus sort_sightings(const Reading *r, HkError *error) {
  FitTarget *t = r->target;
  Sighting *sorted = malloc((size_t)t->count * sizeof *sorted);
  if (!sorted) return no_memory(error);
  for (int64_t k = 0; k < t->count; k++) {
    const double *at = bsearch(&t->sightings[k].time, t->times, (size_t)t->frames, sizeof *t->times,
                               compare_times);
    t->sightings[k].frame = at - t->times;
    t->first[t->sightings[k].frame + 2]++;
  }
  for (int64_t f = 0; f < t->frames; f++) t->first[f + 2] += t->first[f + 1];
  for (int64_t k = 0; k < t->count; k++)
    sorted[t->first[t->sightings[k].frame + 1]++] = t->sightings[k];
  free(t->sightings);
  t->sightings = sorted;
  return HK_OK;
}

static HkStatus make_frames(const Reading *r, HkError *error) {
  if (r->target->count == 0)
    return text_fail(error, HK_ERROR_INVALID, "%s: has no positions to fit to", r->path);
  HkStatus status = make_times(r, error);
  if (status >= 0) status = sort_sightings(r, error);
  return status < 0 ? status : find_interval(r->target, r->path, error);
}

/* ---- The whole ------------------------------------------------------------------------------- */

HkStatus fit_target_read(FitTarget *target, const char *path, const HkScene *scene,
                         const HkModel *model, HkError *error) {
  Reading r = {.target = target, .path = path};
  int64_t n = hk_model_info(model).vertices;
  const char *dot = strrchr(path, '.');
  bool is_pc2 = dot && strcasecmp(dot, ".pc2") == 0;
  *target = (FitTarget){.vertex_count = n};
  target->vertices = malloc((size_t)(n + 1) * sizeof *target->vertices);
  if (!target->vertices) return no_memory(error);
  for (int64_t i = 0; i < n; i++) target->vertices[i] = (int32_t)i;
  FILE *file = text_open(path);
  if (!file)
    return text_fail(error, HK_ERROR_IO, "%s: cannot read: %s", path,
                     errno == EINVAL ? "it is no file" : strerror(errno));
  HkStatus status = is_pc2 ? read_pc2(&r, file, scene, n, error) : read_csv(&r, file, model, error);
  if (!is_pc2) fclose(file);
  if (status >= 0) status = make_frames(&r, error);
  return status;
}

void fit_target_release(FitTarget *target) {
  free(target->times);
  free(target->sightings);
  free(target->first);
  free(target->vertices);
  *target = (FitTarget){0};
}
