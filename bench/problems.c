/* What is simulated; see problems.h. */
#include "problems.h"

#include "methods.h"
#include "stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GRAVITY = 9.81; /* m/s^2, the default of the force */

/* Parts of a spacing by which vertices of the irregular meshes are moved at most, each way. */
static const double JITTER = 0.25;

typedef struct Kind {
  const char *name;
  const char *shape;   /* with one %d or three */
  const char *springs; /* beside k */
  double stretch;
  const char *pins;
  bool jitters;
} Kind;

static const Kind kinds[] = {
    {"cloth", "{'type': 'grid', 'nx': %d, 'ny': %d, 'plane': 'xz'}",
     "'shear': true, 'bending': true", 1, "[{'select': 'top_left'}, {'select': 'top_right'}]",
     false},
    {"taut", "{'type': 'grid', 'nx': %d, 'ny': %d, 'plane': 'xz'}",
     "'shear': true, 'bending': true", 1.02, "[{'select': 'top_left'}, {'select': 'top_right'}]",
     false},
    {"block", "{'type': 'block', 'nx': %d, 'ny': %d, 'nz': %d, 'neighbours': 26}", "'shear': false",
     1, "[{'select': 'left'}]", false},
    {"disc", "{'type': 'disc', 'rings': %d, 'plane': 'xz'}", "'bending': true", 1,
     "[{'select': {'nearest': [0.354, 0, 0.354]}}, {'select': {'nearest': [-0.354, 0, 0.354]}}]",
     true},
    {"ball", "{'type': 'ball', 'shells': %d, 'radius': 0.5}", "'bending': false", 1,
     "[{'select': {'box': {'min': [-1, 0.4, -1], 'max': [1, 1, 1]}}}]", true},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* Inner vertices only, so that the outline stays. */
static void jitter(HkMesh *mesh, int size) {
  int64_t n = hk_mesh_vertex_count(mesh), outer_count = 0;
  const int32_t *outer = hk_mesh_set(mesh, "boundary", &outer_count);
  double *x = hk_mesh_vertices(mesh), most = JITTER * 0.5 / size;
  uint64_t seed = 1;
  bool flat = true;
  for (int64_t q = 0; q < n; q++) flat &= x[3 * q + 1] == 0;
  /* Both shapes have their boundary last. */
  int64_t inner = outer_count > 0 ? outer[0] : n;
  for (int64_t q = 0; q < 3 * inner; q++) {
    double by = most * (2 * stats_random(&seed) - 1);
    if (!flat || q % 3 != 1) x[q] += by;
  }
}

static HkStatus make_irregular(HkScene *scene, int size, HkError *error) {
  HkBody *body = &scene->bodies[0];
  HkStatus status = hk_mesh_shape(&scene->context, &body->shape, &body->mesh, error);
  if (status < 0) return status;
  hk_method_clear(&body->shape);
  jitter(body->mesh, size);
  return HK_OK;
}

static HkStatus make_scene(const Kind *kind, int size, HkScene **scene, HkError *error) {
  char shape[256], text[1024];
  snprintf(shape, sizeof shape, kind->shape, size, size, size);
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': %s, 'springs': {'k': 10000, %s}, 'mass': {'total': 1}, "
           "'stretch': [%g, 1, %g]}], 'pins': %s, 'forces': ['gravity']}",
           shape, kind->springs, kind->stretch, kind->stretch, kind->pins);
  json_quotes(text);
  HkStatus status = hk_scene_parse(NULL, text, strlen(text), "bench", NULL, NULL, 0, scene, error);
  return status >= 0 && kind->jitters ? make_irregular(*scene, size, error) : status;
}

static bool make_peer(Problem *p, double h) {
  HkSpringView springs = hk_model_springs(p->model);
  int64_t pins = 0;
  const int32_t *pin = hk_model_pins(p->model, &pins);
  p->pinned = calloc((size_t)p->n, 1);
  if (!p->pinned) return false;
  for (int64_t q = 0; q < pins; q++) p->pinned[pin[q]] = 1;
  p->peer = (PeerProblem){.vertices = (int)p->n,
                          .springs = (int)springs.count,
                          .i = springs.i,
                          .j = springs.j,
                          .k = springs.k,
                          .l0 = springs.l0,
                          .mass = hk_model_masses(p->model),
                          .pinned = p->pinned,
                          .h = h,
                          .gravity = {0, -GRAVITY, 0}};
  return true;
}

bool problem_make(Problem *p, const char *kind, int size, double h) {
  HkError error = {0};
  HkStatus status = HK_ERROR_INVALID;
  *p = (Problem){0};
  snprintf(p->name, sizeof p->name, "%s %d", kind, size);
  for (int q = 0; q < KIND_COUNT; q++)
    if (strcmp(kinds[q].name, kind) == 0) status = make_scene(&kinds[q], size, &p->scene, &error);
  double start = seconds_now();
  if (status >= 0) status = hk_model_compile(p->scene, &p->model, &error);
  p->compile_seconds = seconds_now() - start;
  if (status >= 0) p->n = hk_model_info(p->model).vertices;
  if (status >= 0 && !make_peer(p, h)) status = HK_ERROR_MEMORY;
  if (status < 0) fprintf(stderr, "%s cannot be made: %s\n", p->name, error.text);
  return status >= 0;
}

void problem_destroy(Problem *p) {
  hk_model_destroy(&p->model);
  hk_scene_destroy(&p->scene);
  free(p->pinned);
  p->pinned = NULL;
}

bool problem_shake(const Problem *p, double part, double **x, double **v) {
  HkState *start = NULL;
  size_t bytes = 3 * (size_t)p->n * sizeof **x;
  double spacing = hk_model_springs(p->model).l0[0];
  uint64_t seed = 7;
  *x = malloc(bytes);
  *v = malloc(bytes);
  bool good = *x && *v && hk_state_create(p->model, &start, NULL) >= 0;
  if (good) memcpy(*x, hk_state_x(start), bytes);
  for (int64_t q = 0; good && q < 3 * p->n; q++) {
    bool held = p->pinned[q / 3];
    (*x)[q] += held ? 0 : part * spacing * (2 * stats_random(&seed) - 1);
    (*v)[q] = held ? 0 : part * (2 * stats_random(&seed) - 1);
  }
  hk_state_destroy(&start);
  return good;
}
