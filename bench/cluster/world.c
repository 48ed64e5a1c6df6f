/* The models that are measured, and their relation to velocity Verlet; see cluster.h. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the shape and its springs; false: there is no such shape. */
static bool write_body(const Options *o, int length, char *text, size_t size) {
  if (strcmp(o->shape, "block") == 0)
    snprintf(text, size,
             "\"shape\": {\"type\": \"block\", \"nx\": %d, \"ny\": %d, \"nz\": %d, \"size\": [%d, "
             "%d, %d]}, \"springs\": {\"k\": %.17g}",
             length, o->size, o->size, length - 1, o->size - 1, o->size - 1, o->k);
  else if (strcmp(o->shape, "cloth") == 0)
    snprintf(text, size,
             "\"shape\": {\"type\": \"grid\", \"nx\": %d, \"ny\": %d, \"width\": %d, \"height\": "
             "%d}, \"springs\": {\"k\": %.17g, \"shear\": true, \"bending\": true}",
             length, o->size, length - 1, o->size - 1, o->k);
  else
    return false;
  return true;
}

/* Springs of the whole model: those of a part whose first vertex it owns. */
static int64_t count_springs(const HkModel *model, HkRanks *ranks) {
  HkSpringView springs = hk_model_springs(model);
  HkPartView part;
  if (!hk_model_part(model, &part)) return springs.count;
  int64_t count = 0;
  for (int64_t s = 0; s < springs.count; s++) count += !part.ghost[springs.i[s]];
  hk_ranks_sum_int64(ranks, &count, 1);
  return count;
}

World world_make(const Options *o, HkRanks *ranks) {
  World w = {.h = o->h};
  HkError error = {0};
  HkContext context = hk_context_default();
  char body[500], text[1000];
  bool solid = strcmp(o->shape, "block") == 0;
  int length = o->size * (o->weak && ranks ? hk_ranks_count(ranks) : 1);
  double masses = (double)length * o->size * (solid ? o->size : 1);
  context.threads = 1;
  context.ranks = ranks;
  context.device = ranks ? HK_PETSC : HK_CPU;
  if (!write_body(o, length, body, sizeof body)) {
    fprintf(stderr, "there is no shape '%s'; choose block or cloth\n", o->shape);
    exit(2);
  }
  snprintf(text, sizeof text,
           "{\"time\": {\"step\": %.17g}, \"bodies\": [{%s, \"mass\": {\"total\": %.17g}}], "
           "\"integrator\": \"%s\"}",
           o->h, body, masses, o->integrator);
  check(hk_scene_parse(&context, text, strlen(text), "scene", NULL, NULL, 0, &w.scene, &error),
        &error);
  check(hk_model_compile(w.scene, &w.model, &error), &error);
  check(hk_state_create(w.model, &w.state, &error), &error);
  check(hk_sim_create(w.model, NULL, 0, &w.sim, &error), &error);
  w.springs = count_springs(w.model, ranks);
  return w;
}

void world_destroy(World *w) {
  hk_sim_destroy(&w->sim);
  hk_state_destroy(&w->state);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
}

/* ---- Motion ---- */

/* A number from -0.5 to 0.5 that looks random (splitmix64). */
static double noise(uint64_t key) {
  key += 0x9e3779b97f4a7c15u;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
  key ^= key >> 31;
  return (double)(key >> 11) / 9007199254740992.0 - 0.5;
}

void world_move(World *w) {
  const double SPEED = 0.1; /* m/s: vertices move by thousandths of their distance */
  HkPartView part;
  bool parts = hk_model_part(w->model, &part);
  double *v = hk_state_v(w->state);
  for (int64_t i = 0; i < hk_state_vertex_count(w->state); i++)
    for (int c = 0; c < 3; c++)
      v[3 * i + c] = SPEED * noise((uint64_t)(3 * (parts ? part.number[i] : i) + c));
}

static bool is_verlet(const World *w) {
  return strcmp(hk_model_method(w->model)->schema->name, "verlet") == 0;
}

/* Verlet drifts, kicks and drifts: it computes forces half a step after its positions. At the start
 * the springs are at rest, so that velocities half a step earlier are those at the start. */
void world_stagger(World *w, bool begin) {
  double *x = hk_state_x(w->state);
  const double *v = hk_state_velocities(w->state);
  if (!is_verlet(w)) return;
  for (int64_t q = 0; q < 3 * hk_state_vertex_count(w->state); q++)
    x[q] += (begin ? -0.5 : 0.5) * w->h * v[q];
}

void world_energies(World *w, double *spring, double *kinetic) {
  int64_t n = hk_state_vertex_count(w->state);
  double *f = malloc((size_t)n * 3 * sizeof *f), *v = hk_state_v(w->state);
  const double *mass = hk_model_masses(w->model);
  HkStateInfo info;
  if (!f) exit(1);
  hk_sim_forces(w->sim, w->state, f);
  for (int64_t q = 0; q < 3 * n; q++) v[q] += 0.5 * w->h * f[q] / mass[q / 3];
  hk_sim_state_info(w->sim, w->state, &info);
  for (int64_t q = 0; q < 3 * n; q++) v[q] -= 0.5 * w->h * f[q] / mass[q / 3];
  free(f);
  *spring = info.spring;
  *kinetic = info.kinetic;
}
