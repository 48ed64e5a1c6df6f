/* The simulated problems; see problems.h. */
#include "problems.h"

#include "measure/stopwatch.h"
#include "methods.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GRAVITY = 9.81; /* m/s^2, the default of the force */

/* Largest random displacement of vertices of irregular meshes, in spacings. */
static const double JITTER = 0.25;

typedef struct Kind {
  const char *name;
  const char *shape;   /* a format with one %d or three */
  const char *springs; /* parameters besides k */
  const char *pins;
  enum { AS_IT_IS, JITTERED, RENUMBERED } change;
} Kind;

static const Kind kinds[] = {
    {"cloth", "{'type': 'grid', 'nx': %d, 'ny': %d, 'plane': 'xz'}",
     "'shear': true, 'bending': true", "[{'select': 'top_left'}, {'select': 'top_right'}]",
     AS_IT_IS},
    {"mixed", "{'type': 'grid', 'nx': %d, 'ny': %d, 'plane': 'xz'}",
     "'shear': true, 'bending': true", "[{'select': 'top_left'}, {'select': 'top_right'}]",
     RENUMBERED},
    {"block", "{'type': 'block', 'nx': %d, 'ny': %d, 'nz': %d, 'neighbours': 26}", "'shear': false",
     "[{'select': 'left'}]", AS_IT_IS},
    {"disc", "{'type': 'disc', 'rings': %d, 'plane': 'xz'}", "'bending': true",
     "[{'select': {'nearest': [0.354, 0, 0.354]}}, {'select': {'nearest': [-0.354, 0, 0.354]}}]",
     JITTERED},
    {"ball", "{'type': 'ball', 'shells': %d, 'radius': 0.5}", "'bending': false",
     "[{'select': {'box': {'min': [-1, 0.4, -1], 'max': [1, 1, 1]}}}]", JITTERED},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* Displaces inner vertices only, so that the outline stays. */
static void jitter(HkMesh *mesh, int size) {
  int64_t n = hk_mesh_vertex_count(mesh), outer_count = 0;
  const int32_t *outer = hk_mesh_set(mesh, "boundary", &outer_count);
  double *x = hk_mesh_vertices(mesh), most = JITTER * 0.5 / size;
  uint64_t seed = 1;
  bool flat = true;
  for (int64_t q = 0; q < n; q++) flat &= x[3 * q + 1] == 0;
  /* Both shapes have their boundary vertices last. */
  int64_t inner = outer_count > 0 ? outer[0] : n;
  for (int64_t q = 0; q < 3 * inner; q++) {
    double by = most * (2 * random_number(&seed) - 1);
    if (!flat || q % 3 != 1) x[q] += by;
  }
}

/* Shuffles each run of 64 consecutive vertices. */
static void mix(int32_t *place, int64_t n) {
  enum { WINDOW = 64 };
  uint64_t seed = 5;
  for (int64_t q = 0; q < n; q++) place[q] = (int32_t)q;
  for (int64_t q = 0; q < n; q++) {
    int64_t left = WINDOW - q % WINDOW, other = q + (int64_t)((double)left * random_number(&seed));
    if (other >= n) continue;
    int32_t kept = place[q];
    place[q] = place[other];
    place[other] = kept;
  }
}

static HkStatus copy_cells(const HkMesh *from, const int32_t *place, HkMesh *to, HkError *error) {
  HkStatus status = HK_OK;
  for (int64_t q = 0; q < hk_mesh_cell_count(from) && status >= 0; q++) {
    HkCell cell = hk_mesh_cell(from, q);
    int32_t corners[4];
    for (int k = 0; k < cell.count && k < 4; k++) corners[k] = place[cell.vertices[k]];
    status = hk_mesh_add_cell(to, cell.type, corners, cell.count, error);
  }
  for (int q = 0; q < hk_mesh_set_count(from) && status >= 0; q++) {
    int64_t count = 0;
    const char *name = hk_mesh_set_name(from, q);
    const int32_t *set = hk_mesh_set(from, name, &count);
    for (int64_t k = 0; k < count && status >= 0; k++)
      status = hk_mesh_add_set(to, name, &place[set[k]], 1, error);
  }
  return status;
}

/* Makes a mesh of the same quads with the vertices renumbered. */
static HkStatus renumber(HkMesh **mesh, int32_t **place, HkError *error) {
  HkMesh *mixed = NULL;
  int64_t n = hk_mesh_vertex_count(*mesh);
  double *x = malloc(3 * (size_t)n * sizeof *x);
  *place = malloc((size_t)n * sizeof **place);
  HkStatus status = x && *place ? hk_mesh_create(NULL, &mixed, error) : HK_ERROR_MEMORY;
  if (status >= 0) {
    mix(*place, n);
    for (int64_t q = 0; q < n; q++)
      memcpy(x + 3 * (int64_t)(*place)[q], hk_mesh_vertices(*mesh) + 3 * q, 3 * sizeof *x);
    status = hk_mesh_add_vertices(mixed, x, n, error);
  }
  if (status >= 0) status = copy_cells(*mesh, *place, mixed, error);
  free(x);
  hk_mesh_destroy(mesh);
  *mesh = mixed;
  return status;
}

static HkStatus change_shape(const Kind *kind, int size, Problem *p, HkError *error) {
  HkBody *body = &p->scene->bodies[0];
  HkStatus status = hk_mesh_shape(&p->scene->context, &body->shape, &body->mesh, error);
  if (status < 0) return status;
  hk_method_clear(&body->shape);
  if (kind->change == JITTERED) jitter(body->mesh, size);
  return kind->change == RENUMBERED ? renumber(&body->mesh, &p->place, error) : HK_OK;
}

static HkStatus make_scene(const Kind *kind, int size, Problem *p, HkError *error) {
  char shape[256], text[1024];
  snprintf(shape, sizeof shape, kind->shape, size, size, size);
  snprintf(text, sizeof text,
           "{'bodies': [{'shape': %s, 'springs': {'k': 10000, %s}, 'mass': {'total': 1}}], 'pins': "
           "%s, 'forces': ['gravity']}",
           shape, kind->springs, kind->pins);
  json_quotes(text);
  HkStatus status =
      hk_scene_parse(NULL, text, strlen(text), "bench", NULL, NULL, 0, &p->scene, error);
  return status >= 0 && kind->change != AS_IT_IS ? change_shape(kind, size, p, error) : status;
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
    if (strcmp(kinds[q].name, kind) == 0) status = make_scene(&kinds[q], size, p, &error);
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
  free(p->place);
  p->pinned = NULL;
  p->place = NULL;
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
    (*x)[q] += held ? 0 : part * spacing * (2 * random_number(&seed) - 1);
    (*v)[q] = held ? 0 : part * (2 * random_number(&seed) - 1);
  }
  hk_state_destroy(&start);
  return good;
}
