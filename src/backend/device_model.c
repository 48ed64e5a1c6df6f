/* HkModel in the form that a device needs; see device_model.h. */
#include "backend/device_model.h"

#include "backend/gpu/media.h"
#include "force/chosen.h"

#include <string.h>

typedef struct Work {
  const HkModel *model;
  HkDeviceModel *device;
  HkDeviceArrays *arrays;
  bool multigrid;
} Work;

static bool any_pin_moves(const HkModel *m) {
  for (int q = 0; q < m->motion_count; q++)
    if (!m->motions[q].type->rests) return true;
  return false;
}

static HkStatus list_pins(const Work *w, HkError *error) {
  const HkModel *m = w->model;
  HkDeviceArrays *a = w->arrays;
  const HkContext *c = &m->context;
  HK_TRY(hk_alloc(c, &a->pin_place, m->pin_count, sizeof *a->pin_place, "pins", error));
  HK_TRY(hk_alloc(c, &a->pin_motion, m->pin_count, sizeof *a->pin_motion, "pins", error));
  HK_TRY(hk_alloc(c, &a->pin_x0, 3 * m->pin_count, sizeof *a->pin_x0, "pins", error));
  for (int64_t q = 0; q < m->pin_count; q++) {
    a->pin_place[q] = a->layout->place[m->pin_vertex[q]];
    a->pin_motion[q] = m->pin_motion[q];
    memcpy(a->pin_x0 + 3 * q, m->x0 + 3 * (int64_t)m->pin_vertex[q], 3 * sizeof *a->pin_x0);
  }
  HkDeviceModel *d = w->device;
  d->pin_count = m->pin_count;
  d->pin_place = a->pin_place;
  d->pin_motion = a->pin_motion;
  d->pin_x0 = a->pin_x0;
  d->motion_count = m->motion_count;
  d->pins_move = any_pin_moves(m);
  return HK_OK;
}

/* ---- Masses and faces ---- */

/* What loops over threads fill. */
typedef struct Arrays {
  const HkModel *model;
  HkDeviceArrays *arrays;
  int32_t *number; /* of each face of the model */
} Arrays;

/* Faces are numbered in the order of their corner with the lowest place, and at such a corner in
 * the order of the model. */

/* Returns whether the corner that face_at[e] names is the one by which its face is numbered. */
static bool is_lowest(const Arrays *f, int64_t e) {
  const int32_t *place = f->arrays->layout->place;
  int64_t corner = f->model->face_at[e], first = corner / 3 * 3;
  int32_t own = place[f->model->face[corner]];
  for (int64_t other = first; other < first + 3; other++) {
    int32_t there = place[f->model->face[other]];
    if (there < own || (there == own && other < corner)) return false;
  }
  return true;
}

/* face_start[q + 1] becomes the number of faces that the corner at place q numbers. */
static void count_faces_range(void *user, int64_t begin, int64_t end) {
  const Arrays *f = user;
  const HkModel *m = f->model;
  for (int64_t q = begin; q < end; q++) {
    int64_t vertex = f->arrays->layout->order[q];
    int32_t count = 0;
    for (int64_t e = m->face_start[vertex]; e < m->face_start[vertex + 1]; e++)
      count += is_lowest(f, e);
    f->arrays->face_start[q + 1] = count;
  }
}

static void number_faces_range(void *user, int64_t begin, int64_t end) {
  const Arrays *f = user;
  const HkModel *m = f->model;
  const HkDeviceArrays *a = f->arrays;
  for (int64_t q = begin; q < end; q++) {
    int64_t vertex = a->layout->order[q];
    int32_t next = a->face_start[q];
    for (int64_t e = m->face_start[vertex]; e < m->face_start[vertex + 1]; e++) {
      if (!is_lowest(f, e)) continue;
      int64_t face = m->face_at[e] / 3;
      for (int c = 0; c < 3; c++)
        a->face[3 * (int64_t)next + c] = a->layout->place[m->face[3 * face + c]];
      f->number[face] = next++;
    }
  }
}

static void list_faces_range(void *user, int64_t begin, int64_t end) {
  const Arrays *f = user;
  const HkModel *m = f->model;
  for (int64_t q = begin; q < end; q++) {
    int64_t vertex = f->arrays->layout->order[q], first = m->face_start[vertex];
    int32_t *to = f->arrays->face_at + f->arrays->face_start[q];
    for (int64_t e = first; e < m->face_start[vertex + 1]; e++)
      to[e - first] = f->number[m->face_at[e] / 3];
  }
}

static void number_faces(const HkModel *m, HkDeviceArrays *a, int32_t *number) {
  Arrays f = {m, a, number};
  if (m->face_count == 0) return;
  hk_parallel_for(m->threads, m->n, count_faces_range, &f);
  for (int64_t q = 0; q < m->n; q++) a->face_start[q + 1] += a->face_start[q];
  hk_parallel_for(m->threads, m->n, number_faces_range, &f);
  a->face_start[0] = 0;
  for (int64_t q = 0; q < m->n; q++) {
    int64_t vertex = a->layout->order[q];
    a->face_start[q + 1] =
        a->face_start[q] + (int32_t)(m->face_start[vertex + 1] - m->face_start[vertex]);
  }
  hk_parallel_for(m->threads, m->n, list_faces_range, &f);
}

static HkStatus list_faces(const Work *w, HkError *error) {
  const HkModel *m = w->model;
  HkDeviceArrays *a = w->arrays;
  const HkContext *c = &m->context;
  int32_t *number = NULL;
  if (!hk_device_has_air(m)) return HK_OK;
  if (m->face_count > INT32_MAX / 3)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a device supports at most %d faces, this model has %lld", INT32_MAX / 3,
                   (long long)m->face_count);
  HK_TRY(hk_alloc(c, &a->face, 3 * m->face_count, sizeof *a->face, "faces", error));
  HK_TRY(hk_alloc(c, &a->face_start, m->n + 1, sizeof *a->face_start, "faces", error));
  HK_TRY(hk_alloc(c, &a->face_at, 3 * m->face_count, sizeof *a->face_at, "faces", error));
  HK_TRY(hk_alloc(c, &number, m->face_count, sizeof *number, "faces", error));
  number_faces(m, a, number);
  hk_free(c, &number);
  w->device->face_count = m->face_count;
  w->device->face = a->face;
  w->device->face_start = a->face_start;
  w->device->face_at = a->face_at;
  return HK_OK;
}

/* ---- Grips ---- */

static const HkChosen *grip_of(const HkModel *m, int force) {
  HkDeviceForce kind = m->forces[force].type->on_device;
  bool grips = kind == HK_DEVICE_FORCE_HANDLE || kind == HK_DEVICE_FORCE_POINT_LOAD;
  return grips ? m->forces[force].data : NULL;
}

/* Lists the vertices of all grips by rising number, each with its grips: a merge of the sorted
 * lists of the grips. */
static void merge_grips(const Work *w, int64_t *at) {
  const HkModel *m = w->model;
  HkDeviceArrays *a = w->arrays;
  int64_t count = 0, entries = 0;
  for (;;) {
    int32_t next = INT32_MAX;
    for (int q = 0; q < m->force_count; q++) {
      const HkChosen *chosen = grip_of(m, q);
      if (chosen && at[q] < chosen->count && chosen->vertices[at[q]] < next)
        next = chosen->vertices[at[q]];
    }
    if (next == INT32_MAX) break;
    a->gripped[count] = a->layout->place[next];
    for (int q = 0, grip = 0; q < m->force_count; q++) {
      const HkChosen *chosen = grip_of(m, q);
      if (!chosen) continue;
      if (at[q] < chosen->count && chosen->vertices[at[q]] == next) {
        a->grip[entries++] = grip;
        at[q]++;
      }
      grip++;
    }
    a->grip_start[++count] = (int32_t)entries;
  }
  w->device->gripped = count;
}

static HkStatus list_grips(const Work *w, HkError *error) {
  const HkModel *m = w->model;
  HkDeviceArrays *a = w->arrays;
  const HkContext *c = &m->context;
  int64_t entries = 0, *at = NULL;
  for (int q = 0; q < m->force_count; q++) {
    const HkChosen *chosen = grip_of(m, q);
    if (!chosen) continue;
    entries += chosen->count;
    w->device->grip_count++;
  }
  if (entries == 0) return HK_OK;
  HK_TRY(hk_alloc(c, &a->gripped, entries, sizeof *a->gripped, "grips", error));
  HK_TRY(hk_alloc(c, &a->grip_start, entries + 1, sizeof *a->grip_start, "grips", error));
  HK_TRY(hk_alloc(c, &a->grip, entries, sizeof *a->grip, "grips", error));
  HK_TRY(hk_alloc(c, &at, m->force_count, sizeof *at, "grips", error));
  merge_grips(w, at);
  hk_free(c, &at);
  w->device->gripped_place = a->gripped;
  w->device->grip_start = a->grip_start;
  w->device->grip = a->grip;
  return HK_OK;
}

/* ---- The whole model ---- */

bool hk_device_is_plain(const HkModel *m) {
  for (int q = 0; q < m->force_count; q++)
    if (grip_of(m, q)) return false;
  return !hk_device_has_air(m) && !any_pin_moves(m);
}

static void mass_range(void *user, int64_t begin, int64_t end) {
  const Arrays *f = user;
  const HkDeviceArrays *a = f->arrays;
  for (int64_t q = begin; q < end; q++) a->mass[q] = f->model->mass[a->layout->order[q]];
}

static HkStatus fill(const Work *w, const HkGpuLayoutOptions *options, HkError *error) {
  const HkModel *m = w->model;
  HkDeviceArrays *a = w->arrays;
  HK_TRY(hk_device_check_forces(m, error));
  HK_TRY(hk_gpu_layout_create(m, options, &a->layout, error));
  HK_TRY(hk_alloc_unset(&m->context, &a->mass, m->n, sizeof *a->mass, "masses", error));
  hk_parallel_for(m->threads, m->n, mass_range, &(Arrays){m, a, NULL});
  w->device->layout = a->layout;
  w->device->color_count = a->layout->color_count;
  w->device->color_start = a->layout->color_start;
  w->device->mass = a->mass;
  w->device->flat = m->dimension == 2;
  w->device->medium_parts = hk_device_medium_parts(m);
  w->device->total_mass = m->total_mass;
  if (w->multigrid)
    HK_TRY(hk_gpu_hierarchy_create(m, a->layout->place, &a->hierarchy, error));
  else
    hk_model_origin(m, w->device->origin);
  w->device->hierarchy = a->hierarchy;
  HK_TRY(list_pins(w, error));
  HK_TRY(list_faces(w, error));
  return list_grips(w, error);
}

HkStatus hk_device_model_create(const HkModel *m, const HkGpuLayoutOptions *options, bool multigrid,
                                HkDeviceModel *device, HkDeviceArrays *arrays, HkError *error) {
  *device = (HkDeviceModel){0};
  *arrays = (HkDeviceArrays){0};
  HkStatus status = fill(&(Work){m, device, arrays, multigrid}, options, error);
  if (status < 0) hk_device_model_destroy(m, arrays);
  return status;
}

void hk_device_model_destroy(const HkModel *m, HkDeviceArrays *a) {
  void *all[] = {&a->mass,       &a->pin_x0,  &a->pin_place, &a->pin_motion, &a->face,
                 &a->face_start, &a->face_at, &a->gripped,   &a->grip_start, &a->grip};
  hk_gpu_layout_destroy(&a->layout);
  hk_gpu_hierarchy_destroy(&a->hierarchy);
  for (size_t q = 0; q < sizeof all / sizeof all[0]; q++) hk_free(&m->context, all[q]);
}
