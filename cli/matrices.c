/* hooke matrices: the mass matrix, the gradient of the potential energy and the stiffness matrix
 *
 *     M = diag(m_0, m_0, m_0, m_1, ...),   g = dE/dx,   K = df/dx = -d2E/dx2
 *
 * of a scene at a time, as JSON or as Matrix Market files. Coordinate c of vertex i is 3 i + c.
 */
#include "command.h"
#include "json.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STIFFNESS, MASS, GRADIENT };

typedef struct Settings {
  TextList sets;
  const char *output;
  int matrix;
  double time;
  bool libraries;
} Settings;

static const Option options[] = {
    OPTION_TEXT(Settings, output, 'o', "--output", "FILE",
                "write FILE, which ends in .json or .mtx; JSON on standard output if not given"),
    OPTION_CHOICE(Settings, matrix, 0, "--matrix", "K|M|gradient",
                  "which one an .mtx file holds; K if not given. JSON holds all of them"),
    OPTION_NUMBER(Settings, time, 0, "--time", "T", 0, 0, 1e12,
                  "simulate T seconds with the scene's integrator first; 0 if not given"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_LIBRARIES(Settings),
};

/* The state of a scene at a time, and its matrices. */
typedef struct System {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
  HkTriplets *K; /* N/m */
  double *g;     /* N, three a vertex */
  int64_t n;     /* vertices */
} System;

static void release(System *s) {
  hk_triplets_destroy(&s->K);
  free(s->g);
  hk_state_destroy(&s->state);
  hk_sim_destroy(&s->sim);
  hk_model_destroy(&s->model);
  hk_scene_destroy(&s->scene);
}

/* ---- Computing ------------------------------------------------------------------------------- */

/* Moves the state to a time (s) by a whole number of steps, none longer than the scene's. */
static HkStatus advance(System *s, double time, HkError *error) {
  double steps = ceil(time / hk_sim_h(s->sim) - 1e-9);
  if (!(time > 0)) return HK_OK;
  if (!(steps < 1e15))
    return text_fail(error, HK_ERROR_INVALID, "--time %g takes %g steps, which are too many", time,
                     steps);
  if (steps < 1) steps = 1;
  HkStatus status = hk_sim_set_h(s->sim, time / steps, error);
  return status < 0 ? status : hk_sim_steps(s->sim, s->state, (int64_t)steps, error);
}

static HkStatus compute(const HkContext *context, const Settings *settings, const char *name,
                        System *s, HkError *error) {
  HkStatus status = source_read(context, name, &settings->sets, &s->scene, error);
  if (status >= 0) status = hk_model_compile(s->scene, &s->model, error);
  if (status >= 0) status = hk_state_create(s->model, &s->state, error);
  if (status >= 0) status = hk_sim_create(s->model, NULL, 0, &s->sim, error);
  if (status >= 0) status = advance(s, settings->time, error);
  if (status >= 0) status = hk_sim_stiffness(s->sim, s->state, &s->K, error);
  if (status < 0) return status;
  s->n = hk_state_vertex_count(s->state);
  s->g = malloc((size_t)s->n * 3 * sizeof *s->g);
  if (!s->g) return text_fail(error, HK_ERROR_MEMORY, "out of memory for the gradient");
  hk_sim_energy_gradient(s->sim, s->state, s->g);
  return HK_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_array(Json *json, const char *key, const double *values, int64_t count) {
  put_begin(json, key, '[');
  for (int64_t q = 0; q < count; q++) put_number(json, NULL, values[q]);
  put_end(json, ']');
}

static void put_indices(Json *json, const char *key, const int32_t *values, int64_t count) {
  put_begin(json, key, '[');
  for (int64_t q = 0; q < count; q++) put_integer(json, NULL, values[q]);
  put_end(json, ']');
}

static void write_json(FILE *file, const char *name, const System *s) {
  const double *mass = hk_model_masses(s->model);
  int64_t pinned;
  const int32_t *pins = hk_model_pins(s->model, &pinned);
  Json json = {.file = file};
  put_begin(&json, NULL, '{');
  put_text(&json, "scene", name);
  put_number(&json, "time", hk_state_time(s->state));
  put_integer(&json, "vertices", s->n);
  put_indices(&json, "pinned", pins, pinned);
  put_array(&json, "x", hk_state_x(s->state), 3 * s->n);
  put_begin(&json, "mass", '[');
  for (int64_t q = 0; q < 3 * s->n; q++) put_number(&json, NULL, mass[q / 3]);
  put_end(&json, ']');
  put_array(&json, "gradient", s->g, 3 * s->n);
  put_begin(&json, "stiffness", '{');
  put_integer(&json, "size", s->K->size);
  put_indices(&json, "rows", s->K->row, s->K->count);
  put_indices(&json, "columns", s->K->column, s->K->count);
  put_array(&json, "values", s->K->value, s->K->count);
  put_end(&json, '}');
  put_end(&json, '}');
  fputc('\n', file);
}

/* ---- Matrix Market: rows and columns count from 1 -------------------------------------------- */

static void write_matrix(FILE *file, int matrix, const System *s) {
  const double *mass = hk_model_masses(s->model);
  long long size = (long long)s->K->size, count = (long long)s->K->count;
  fprintf(file, "%%%%MatrixMarket matrix %s real general\n",
          matrix == GRADIENT ? "array" : "coordinate");
  if (matrix == STIFFNESS) {
    fprintf(file, "%% K = df/dx in N/m\n%lld %lld %lld\n", size, size, count);
    for (int64_t q = 0; q < s->K->count; q++)
      fprintf(file, "%d %d %.17g\n", s->K->row[q] + 1, s->K->column[q] + 1, s->K->value[q]);
  } else if (matrix == MASS) {
    fprintf(file, "%% M in kg\n%lld %lld %lld\n", size, size, size);
    for (long long q = 0; q < size; q++)
      fprintf(file, "%lld %lld %.17g\n", q + 1, q + 1, mass[q / 3]);
  } else {
    fprintf(file, "%% dE/dx in N\n%lld 1\n", size);
    for (long long q = 0; q < size; q++) fprintf(file, "%.17g\n", s->g[q]);
  }
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), end = strlen(ending);
  return length >= end && strcmp(text + length - end, ending) == 0;
}

static int cannot_write(const char *path) {
  return complain(EXIT_FILE, "%s: cannot write: %s", path, strerror(errno));
}

/* The file appears when it is complete. */
static int write_file(const Settings *settings, const char *name, const System *s) {
  char part[4096];
  if (snprintf(part, sizeof part, "%s.part", settings->output) >= (int)sizeof part)
    return complain(EXIT_FILE, "%s: the name is too long", settings->output);
  FILE *file = fopen(part, "w");
  if (!file) return cannot_write(settings->output);
  if (ends_with(settings->output, ".mtx"))
    write_matrix(file, settings->matrix, s);
  else
    write_json(file, name, s);
  bool bad = ferror(file) != 0;
  if (fclose(file) != 0 || bad || rename(part, settings->output) != 0) {
    int code = cannot_write(settings->output);
    remove(part);
    return code;
  }
  return EXIT_GOOD;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  (void)word_count;
  HkContext context = hk_context_default();
  HkError error = {0};
  System system = {0};
  int code = EXIT_GOOD;
  context.log = text_log;
  context.libraries = settings->libraries;
  if (settings->output && !ends_with(settings->output, ".json") &&
      !ends_with(settings->output, ".mtx"))
    return complain(EXIT_USAGE, "--output %s: the name ends in neither .json nor .mtx",
                    settings->output);
  if (compute(&context, settings, words[0], &system, &error) < 0)
    code = complain_of(&error);
  else if (settings->output)
    code = write_file(settings, words[0], &system);
  else
    write_json(stdout, words[0], &system);
  release(&system);
  return code;
}

const Command command_matrices = {
    .name = "matrices",
    .arguments = "SCENE",
    .summary = "write mass and stiffness matrix, energy gradient",
    .text = "Writes M (kg), the gradient dE/dx of the potential energy (N) and K = df/dx = "
            "-d2E/dx2 (N/m) of all forces with a potential, at the start of the scene or at "
            "--time. Coordinate c of vertex i is 3 i + c. K is the true derivative: compressed "
            "springs are not projected. Pinned vertices are included as if they were free; "
            "\"pinned\" lists them. JSON holds everything, with K as rows, columns and values "
            "that count from 0; an .mtx file (Matrix Market) holds one matrix.",
    .examples = "  hooke matrices double_spring\n"
                "  hooke matrices my.json -o my-matrices.json --time 0.5\n"
                "  hooke matrices my.json -o K.mtx\n"
                "  hooke matrices my.json -o M.mtx --matrix M\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
