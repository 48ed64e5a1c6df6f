/* HkScene -> HkModel. All validation happens here, once. */
#include "base/file.h"
#include "base/vec.h"
#include "force/force.h"
#include "model/build.h"
#include "model/part.h"
#include "scene/blame.h"
#include "scene/parts.h"
#include "scene/store.h"

#include <stdio.h>
#include <string.h>

/* ---- Adjacency ----------------------------------------------------------------------------------
 */

/* Springs are sorted by i and then j, so that filling in their order leaves each vertex's
 * neighbors sorted. */
static HkStatus make_adjacency(HkModel *m, HkError *error) {
  const HkContext *c = &m->context;
  int64_t entries = 2 * m->springs.count;
  HK_TRY(hk_alloc(c, &m->adj_start, m->n + 1, sizeof *m->adj_start, "neighbors", error));
  HK_TRY(hk_alloc(c, &m->adj_vertex, entries, sizeof *m->adj_vertex, "neighbors", error));
  HK_TRY(hk_alloc(c, &m->adj_spring, entries, sizeof *m->adj_spring, "neighbors", error));
  for (int64_t s = 0; s < m->springs.count; s++) {
    m->adj_start[m->springs.i[s] + 1]++;
    m->adj_start[m->springs.j[s] + 1]++;
  }
  for (int64_t i = 0; i < m->n; i++) m->adj_start[i + 1] += m->adj_start[i];
  for (int64_t s = 0; s < m->springs.count; s++) {
    for (int e = 0; e < 2; e++) {
      int32_t at = e ? m->springs.j[s] : m->springs.i[s],
              other = e ? m->springs.i[s] : m->springs.j[s];
      int64_t slot = m->adj_start[at]++;
      m->adj_vertex[slot] = other;
      m->adj_spring[slot] = (int32_t)s;
    }
  }
  for (int64_t i = m->n; i > 0; i--) m->adj_start[i] = m->adj_start[i - 1];
  m->adj_start[0] = 0;
  return HK_OK;
}

static HkStatus blame(const HkScene *scene, const char *list, int index, const HkError *inner,
                      HkError *error) {
  char path[64];
  snprintf(path, sizeof path, "%s[%d]", list, index);
  return hk_scene_blame(scene, path, inner, error);
}

/* ---- Pins ---- */

static HkStatus compile_motion(HkModel *m, const HkPin *pin, HkError *error) {
  HkCompiledMotion *motion = &m->motions[m->motion_count++];
  HK_TRY(hk_motion_compile(m, &pin->motion, motion, error));
  motion->release = pin->release;
  if (isnan(pin->release) || pin->release < 0)
    return hk_fail_key(error, HK_ERROR_INVALID, "release", "%g s is not a time", pin->release);
  return HK_OK;
}

/* owner[v] becomes the motion of vertex v. */
static HkStatus claim_vertices(HkModel *m, const HkPin *pin, int32_t *owner, HkError *error) {
  int32_t *vertices;
  int64_t count;
  HK_TRY(hk_model_select(m, &pin->select, &vertices, &count, error));
  HkStatus status = HK_OK;
  for (int64_t k = 0; k < count && status >= 0; k++) {
    int32_t v = vertices[k];
    if (owner[v] >= 0)
      status = hk_fail(error, HK_ERROR_INVALID, "vertex %lld is pinned already by pins[%d]",
                       (long long)(m->part ? m->part->number[v] : v), owner[v]);
    else
      m->pin_count++;
    owner[v] = m->motion_count - 1;
  }
  hk_selection_destroy(m, &vertices);
  return status;
}

static HkStatus compile_pins(HkModel *m, const HkScene *scene, HkError *error) {
  const HkContext *c = &m->context;
  if (scene->pin_count == 0) return HK_OK;
  if (scene->store->is_course_format) HK_TRY(hk_course_check_pins(scene, hk_model_total(m), error));
  int32_t *owner = NULL;
  HkStatus status = hk_alloc(c, &m->motions, scene->pin_count, sizeof *m->motions, "pins", error);
  if (status >= 0) status = hk_alloc(c, &owner, m->n, sizeof *owner, "pins", error);
  for (int64_t i = 0; i < m->n && status >= 0; i++) owner[i] = -1;
  status = hk_model_agree(m, status, error);
  for (int p = 0; p < scene->pin_count && status >= 0; p++) {
    HkError inner = {0};
    status = hk_model_agree(m, compile_motion(m, &scene->pins[p], &inner), &inner);
    if (status >= 0) status = claim_vertices(m, &scene->pins[p], owner, &inner);
    status = hk_model_agree(m, status, &inner);
    if (status < 0 && inner.line > 0 && error) *error = inner; /* in a file of the motion */
    if (status < 0 && inner.line == 0) blame(scene, "pins", p, &inner, error);
  }
  if (status >= 0)
    status = hk_alloc(c, &m->pin_vertex, m->pin_count, sizeof *m->pin_vertex, "pins", error);
  if (status >= 0)
    status = hk_alloc(c, &m->pin_motion, m->pin_count, sizeof *m->pin_motion, "pins", error);
  for (int64_t i = 0, at = 0; status >= 0 && i < m->n; i++) {
    if (owner[i] < 0) continue;
    m->pin_vertex[at] = (int32_t)i;
    m->pin_motion[at++] = owner[i];
  }
  hk_free(c, &owner);
  return status;
}

/* ---- Forces and probes ---- */

static HkStatus compile_force(HkModel *m, const HkMethod *method, HkError *error) {
  HK_TRY(hk_force_compile(m, method, &m->forces[m->force_count], error));
  m->force_count++;
  return HK_OK;
}

static HkStatus compile_forces(HkModel *m, const HkScene *scene, HkError *error) {
  HkMethod springs = {0};
  HkStatus status =
      hk_alloc(&m->context, &m->forces, scene->force_count + 1, sizeof *m->forces, "forces", error);
  if (status >= 0) status = hk_method_choose(&springs, HK_FORCE, "springs", error);
  if (status >= 0) status = compile_force(m, &springs, error);
  hk_method_clear(&springs);
  status = hk_model_agree(m, status, error);
  for (int f = 0; f < scene->force_count && status >= 0; f++) {
    HkError inner = {0};
    status = hk_model_agree(m, compile_force(m, &scene->forces[f], &inner), &inner);
    if (status < 0) blame(scene, "forces", f, &inner, error);
  }
  m->velocity_dependent = hk_forces_use_velocity(m);
  return status;
}

static HkStatus name_probe(const HkModel *m, const char *name, HkCompiledProbe *probe,
                           HkError *error) {
  size_t bytes = strlen(name) + 1;
  HK_TRY(hk_alloc(&m->context, &probe->name, (int64_t)bytes, 1, "a name", error));
  memcpy(probe->name, name, bytes);
  return HK_OK;
}

static HkStatus compile_probes(HkModel *m, const HkScene *scene, HkError *error) {
  HkStatus allocated =
      hk_alloc(&m->context, &m->probes, scene->probe_count, sizeof *m->probes, "probes", error);
  HK_TRY(hk_model_agree(m, allocated, error));
  for (int k = 0; k < scene->probe_count; k++) {
    HkCompiledProbe *probe = &m->probes[m->probe_count++];
    char buffer[32];
    snprintf(buffer, sizeof buffer, "probe%d", k);
    const char *name = scene->probes[k].name ? scene->probes[k].name : buffer;
    HkError inner = {0};
    HkStatus status =
        hk_model_select(m, &scene->probes[k].select, &probe->vertices, &probe->count, &inner);
    if (status < 0) return blame(scene, "probes", k, &inner, error);
    HK_TRY(hk_model_agree(m, name_probe(m, name, probe, error), error));
  }
  return HK_OK;
}

/* ---- All together ---- */

static uint64_t fingerprint(const HkModel *m) {
  size_t n = (size_t)m->n, springs = (size_t)m->springs.count, pins = (size_t)m->pin_count;
  uint64_t h = hk_hash(HK_HASH_START, &m->dimension, sizeof m->dimension);
  h = hk_hash(h, m->x0, 3 * n * sizeof *m->x0);
  h = hk_hash(h, m->mass, n * sizeof *m->mass);
  h = hk_hash(h, m->springs.i, springs * sizeof *m->springs.i);
  h = hk_hash(h, m->springs.j, springs * sizeof *m->springs.j);
  h = hk_hash(h, m->springs.k, springs * sizeof *m->springs.k);
  h = hk_hash(h, m->springs.l0, springs * sizeof *m->springs.l0);
  if (m->springs.damping) h = hk_hash(h, m->springs.damping, springs * sizeof *m->springs.damping);
  if (m->springs.tension) h = hk_hash(h, m->springs.tension, springs * sizeof *m->springs.tension);
  h = hk_hash(h, m->pin_vertex, pins * sizeof *m->pin_vertex);
  h = hk_hash(h, m->pin_motion, pins * sizeof *m->pin_motion);
  return hk_obstacles_hash(m, h);
}

/* Counts springs and pins of the whole model, and returns the fingerprint of a model in parts: the
 * sum of the hashes of all vertices and springs, by their numbers, which is the same for any number
 * of ranks. Masses are left out: where they are shares of a total, rounding differs with the parts.
 */
static uint64_t part_fingerprint(const HkModel *m) {
  HkPart *p = m->part;
  const HkSpringArrays *s = &m->springs;
  uint64_t sum = 0;
  for (int64_t i = 0; i < m->n; i++) {
    if (p->ghost[i]) continue;
    uint64_t h = hk_hash(HK_HASH_START, &p->number[i], sizeof p->number[i]);
    sum += hk_hash(h, m->x0 + 3 * i, 3 * sizeof *m->x0);
  }
  for (int64_t k = 0; k < s->count; k++) {
    if (p->ghost[s->i[k]]) continue;
    const int64_t ends[] = {p->number[s->i[k]], p->number[s->j[k]]};
    const double values[] = {s->k[k], s->l0[k], s->damping ? s->damping[k] : 0,
                             s->tension ? s->tension[k] : 0};
    sum += hk_hash(hk_hash(HK_HASH_START, ends, sizeof ends), values, sizeof values);
    p->all_springs++;
  }
  for (int64_t q = 0; q < m->pin_count; q++) {
    if (p->ghost[m->pin_vertex[q]]) continue;
    const int64_t pin[] = {p->number[m->pin_vertex[q]], m->pin_motion[q]};
    sum += hk_hash(HK_HASH_START, pin, sizeof pin);
    p->all_pins++;
  }
  int64_t all[] = {(int64_t)sum, p->all_springs, p->all_pins};
  hk_ranks_sum_int64(p->ranks, all, 3);
  p->all_springs = all[1];
  p->all_pins = all[2];
  return hk_obstacles_hash(m, hk_hash((uint64_t)all[0], &m->dimension, sizeof m->dimension));
}

static HkStatus check_settings(const HkScene *scene, HkError *error) {
  if (scene->dimension != 2 && scene->dimension != 3)
    return hk_fail_key(error, HK_ERROR_INVALID, "dimension", "%d is neither 2 nor 3",
                       scene->dimension);
  if ((int)scene->up < HK_AXIS_X || scene->up > HK_AXIS_Z)
    return hk_fail_key(error, HK_ERROR_INVALID, "up", "there is no axis %d; 0 is x, 1 is y, 2 is z",
                       (int)scene->up);
  if ((int)scene->up >= scene->dimension)
    return hk_fail_key(error, HK_ERROR_INVALID, "up",
                       "a scene of dimension 2 has no z; use \"x\" or \"y\"");
  if (scene->body_count == 0)
    return hk_fail(error, HK_ERROR_INVALID, "there are no bodies, so there is nothing to simulate");
  if (!(scene->time.frames_per_second > 0) || !(scene->time.duration >= 0) ||
      !(scene->time.step >= 0))
    return hk_fail_key(error, HK_ERROR_INVALID, "time",
                       "duration, step and frames_per_second make no sense");
  return hk_params_check(&hk_part_time, &scene->time, "time", error);
}

void hk_model_warn_gravities(const HkModel *m) {
  double g[3] = {0, 0, 0};
  int count = 0;
  for (int f = 0; f < m->force_count; f++) {
    const HkForceType *type = m->forces[f].type;
    if (type->slot != HK_ENERGY_GRAVITY || !type->accelerate) continue;
    HkForceArgs a = hk_force_args(m, f, &(HkForceWork){.springs = &m->springs}, 0, NULL, NULL);
    type->accelerate(&a, g);
    count++;
  }
  if (count < 2) return;
  for (int c = 0; c < 3; c++) g[c] += 0.0; /* -0 prints as 0 */
  hk_log(&m->context, HK_LOG_WARNING,
         "there are %d gravity forces, which add up to an acceleration of %g m/s^2, (%g, %g, %g); "
         "if that is not intended, keep one of them and set its g",
         count, hk_norm(g), g[0], g[1], g[2]);
}

/* Warns of input that is valid but rarely intended. */
static void warn_oddities(const HkModel *m, const HkScene *scene) {
  int64_t counts[2] = {0, 0};               /* vertices without springs, vertices without pins */
  if (m->part && m->part->gathered) return; /* rank 0 has warned of the whole model */
  for (int64_t i = 0; i < m->n; i++) {
    counts[0] += m->adj_start[i] == m->adj_start[i + 1] && !hk_model_is_ghost(m, i);
    counts[1] += !hk_model_is_ghost(m, i);
  }
  for (int64_t p = 0; p < m->pin_count; p++) counts[1] -= !hk_model_is_ghost(m, m->pin_vertex[p]);
  if (m->part) hk_ranks_sum_int64(m->part->ranks, counts, 2);
  if (m->part && m->part->ranks->rank > 0) return; /* one rank warns for all */
  if (counts[0])
    hk_log(&m->context, HK_LOG_WARNING, "%lld of %lld vertices have no spring",
           (long long)counts[0], (long long)hk_model_total(m));
  if (counts[1] == 0)
    hk_log(&m->context, HK_LOG_WARNING, "every vertex is pinned, so none is free to move");
  for (int k = 0; k < scene->output_count; k++)
    if (m->probe_count == 0 && strcmp(scene->outputs[k].schema->name, "probes") == 0)
      hk_log(&m->context, HK_LOG_WARNING,
             "the output 'probes' is asked for, but there is no probe");
  bool touches = false;
  for (int f = 0; f < m->force_count; f++) touches |= m->forces[f].type->filter != NULL;
  if (m->obstacle_count > 0 && !touches)
    hk_log(&m->context, HK_LOG_WARNING,
           "there are obstacles, but no force 'contact': bodies pass through them");
  hk_model_warn_gravities(m);
}

static HkStatus keep_folder(HkModel *m, const char *folder, HkError *error) {
  if (!folder || !folder[0]) return HK_OK;
  size_t bytes = strlen(folder) + 1;
  HK_TRY(hk_alloc(&m->context, &m->folder, (int64_t)bytes, 1, "a path", error));
  memcpy(m->folder, folder, bytes);
  return HK_OK;
}

static HkStatus add_bodies(HkModel *m, const HkScene *scene, HkError *error) {
  HK_TRY(hk_alloc(&m->context, &m->bodies, scene->body_count, sizeof *m->bodies, "bodies", error));
  for (int b = 0; b < scene->body_count; b++) HK_TRY(hk_model_add_body(m, scene, b, error));
  if (m->dimension == 2)
    for (int64_t i = 0; i < m->n; i++) m->v0[3 * i + 2] = 0;
  for (int64_t i = 0; i < m->n; i++) m->total_mass += m->mass[i];
  return HK_OK;
}

static HkStatus compile(HkModel *m, const HkScene *scene, HkError *error) {
  HK_TRY(keep_folder(m, scene->folder, error));
  HK_TRY(m->context.ranks ? hk_model_add_part(m, scene, error) : add_bodies(m, scene, error));
  /* Ranks agree before each step that calls collective functions. */
  HK_TRY(hk_model_agree(m, make_adjacency(m, error), error));
  HK_TRY(hk_model_agree(m, compile_pins(m, scene, error), error));
  HK_TRY(hk_model_agree(m, hk_model_add_obstacles(m, scene, error), error));
  HK_TRY(hk_model_agree(m, hk_model_add_pairs(m, scene, error), error));
  HK_TRY(compile_forces(m, scene, error));
  HK_TRY(compile_probes(m, scene, error));
  HK_TRY(hk_model_agree(m, hk_method_copy(&scene->step, &m->step, error), error));
  warn_oddities(m, scene);
  m->fingerprint = m->part ? part_fingerprint(m) : fingerprint(m);
  hk_part_release_source(m);
  return HK_OK;
}

static HkStatus check_device(const HkContext *c, HkError *error) {
  if ((c->device == HK_PETSC) == (c->ranks != NULL)) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID,
                 c->ranks ? "the context has ranks; its device must be HK_PETSC"
                          : "the device HK_PETSC needs ranks; open them with hk_ranks_open");
}

HkStatus hk_model_compile(const HkScene *scene, HkModel **model, HkError *error) {
  HkContext c = scene->context;
  *model = NULL;
  HkError wrong = {0};
  HK_TRY(check_device(&c, error));
  if (check_settings(scene, &wrong) < 0) return hk_scene_blame(scene, "", &wrong, error);
  HkStatus status = hk_alloc(&c, model, 1, sizeof **model, "a model", error);
  if (c.ranks) status = hk_ranks_agree(c.ranks, status, error);
  if (status < 0) {
    hk_free(&c, model);
    return status;
  }
  HkModel *m = *model;
  m->context = c;
  /* Ranks share the cores of a machine: one thread each unless the caller asks for more. */
  m->threads = c.threads > 0 ? c.threads : c.ranks ? 1 : hk_thread_count();
  m->dimension = scene->dimension;
  m->up = scene->up;
  m->time = scene->time;
  m->pin_method = scene->pin_method;
  status = compile(m, scene, error);
  if (c.ranks) status = hk_ranks_agree(c.ranks, status, error);
  if (status < 0) hk_model_destroy(model);
  return status;
}

static void destroy_parts(HkModel *m) {
  const HkContext *c = &m->context;
  bool shares = m->origin != NULL; /* bodies and probes */
  for (int k = 0; k < m->body_count && !shares; k++) {
    hk_free(c, &m->bodies[k].name);
    hk_mesh_destroy(&m->bodies[k].names);
  }
  for (int k = 0; k < m->motion_count; k++) hk_method_clear(&m->motions[k].method);
  for (int f = 0; f < m->force_count; f++) hk_force_release(m, &m->forces[f]);
  hk_obstacles_release(m);
  for (int k = 0; k < m->probe_count && !shares; k++) {
    hk_free(c, &m->probes[k].name);
    hk_free(c, &m->probes[k].vertices);
  }
  hk_method_clear(&m->step);
}

/* Returns whether a copy has the array of a field, given by its address, in common with its origin.
 */
static bool is_shared(const HkModel *m, const void *field) {
  if (!m->origin) return false;
  const void *mine, *others;
  memcpy(&mine, field, sizeof mine);
  memcpy(&others, (const char *)m->origin + ((const char *)field - (const char *)m), sizeof others);
  return mine == others;
}

void hk_model_destroy(HkModel **model) {
  HkModel *m = *model;
  if (!m) return;
  HkContext c = m->context;
  destroy_parts(m);
  hk_part_destroy(m);
  void *arrays[] = {&m->bodies,       &m->motions,
                    &m->forces,       &m->probes,
                    &m->x0,           &m->v0,
                    &m->mass,         &m->springs.i,
                    &m->springs.j,    &m->springs.k,
                    &m->springs.l0,   &m->springs.damping,
                    &m->springs.kind, &m->springs.tension,
                    &m->adj_start,    &m->adj_vertex,
                    &m->adj_spring,   &m->cell_type,
                    &m->cell_start,   &m->cell_vertex,
                    &m->face,         &m->face_start,
                    &m->face_at,      &m->pin_vertex,
                    &m->pin_motion,   &m->folder,
                    &m->pairs};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
    if (!is_shared(m, arrays[k])) hk_free(&c, arrays[k]);
  hk_free(&c, model);
}
