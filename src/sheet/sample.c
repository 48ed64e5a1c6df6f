/* A sample of a sheet, and what follows from it for the whole; see sample.h.
 *
 * The scene is written as text and read again with a smaller grid, so that all that a scene can say
 * of masses, springs, pins and forces has the meaning that it has elsewhere. The sample is then
 * searched for irregularities: vertices of one class must have one mass and be fixed or free
 * together, springs of one direction must be equal and none may be missing.
 */
#include "sheet/sample.h"

#include "backend/device_model.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLE_SIDE = 33 }; /* vertices: the largest stable step is that of large sheets to 0.3 % */

/* di and dj of the directions of device_sheet.h. */
static const int DI[HK_SHEET_DIRECTIONS] = {1, 0, 1, 1, 2, 0};
static const int DJ[HK_SHEET_DIRECTIONS] = {0, 1, 1, -1, 0, 2};

/* ---- The scene ---- */

static HkStatus refuse(HkError *error, const char *key, const char *what) {
  return hk_fail_key(error, HK_ERROR_UNSUPPORTED, key, "a sheet does not support %s", what);
}

static HkStatus check_body(const HkBody *b, HkError *error) {
  const HkSprings *s = &b->springs;
  for (int c = 0; c < 3; c++) {
    if (b->stretch[c] != 1) return refuse(error, "bodies[0].stretch", "a stretched start");
    if (b->spin[c] != 0) return refuse(error, "bodies[0].spin", "a spin at the start");
  }
  if (s->file || s->table.rows > 0)
    return refuse(error, "bodies[0].springs", "single springs of a file or table");
  if (s->damping != 0) return refuse(error, "bodies[0].springs.damping", "damped springs");
  if (s->tension_only)
    return refuse(error, "bodies[0].springs.tension_only", "tension-only springs");
  if (b->mass.added.rows > 0) return refuse(error, "bodies[0].mass.added", "masses of vertices");
  return HK_OK;
}

static HkStatus check_scene(const HkScene *scene, HkError *error) {
  if (scene->body_count != 1 || !scene->bodies[0].shape.schema ||
      strcmp(scene->bodies[0].shape.schema->name, "grid") != 0)
    return hk_fail_key(error, HK_ERROR_UNSUPPORTED, "bodies",
                       "a sheet is one body with the shape grid");
  if (!scene->step.schema || strcmp(scene->step.schema->name, "symplectic_euler") != 0)
    return hk_fail_key(error, HK_ERROR_UNSUPPORTED, "integrator",
                       "a sheet supports symplectic_euler alone");
  if (scene->obstacle_count > 0) return refuse(error, "obstacles", "obstacles");
  if (!isnan(scene->time.tolerance)) return refuse(error, "time.tolerance", "adaptive steps");
  for (int p = 0; p < scene->pin_count; p++) {
    const HkPin *pin = &scene->pins[p];
    if (pin->select.kind != HK_SELECT_SET || pin->motion.schema || pin->release < INFINITY)
      return hk_fail_key(error, HK_ERROR_UNSUPPORTED, "pins",
                         "pin %d: pins of a sheet select a named set of its grid, such as "
                         "top_left, and are fixed for ever",
                         p);
  }
  return check_body(&scene->bodies[0], error);
}

/* Returns a number, integer, boolean or choice of a shape. */
static double number_of(const HkMethod *shape, const char *name) {
  const HkParam *p = hk_param_find(shape->schema, name);
  const char *at = (const char *)shape->params + p->offset;
  if (p->kind == HK_PARAM_NUMBER) return *(const double *)(const void *)at;
  if (p->kind == HK_PARAM_BOOLEAN) return *(const bool *)(const void *)at;
  return *(const int *)(const void *)at;
}

/* Sizes of the sheet and of its sample. */
typedef struct Sizes {
  int32_t nx, ny, sx, sy;
} Sizes;

/* Returns the total mass of the sample of a sheet whose total is given. */
static double sample_mass(const HkMass *mass, const Sizes *z) {
  double total = isnan(mass->total) ? 1 : mass->total;
  if (mass->distribution == HK_MASS_LUMPED)
    return total * ((z->sx - 1) / (double)(z->nx - 1)) * ((z->sy - 1) / (double)(z->ny - 1));
  return total * (z->sx / (double)z->nx) * (z->sy / (double)z->ny);
}

static HkStatus parse_sample(const HkScene *scene, const Sizes *z, HkScene **sample,
                             HkError *error) {
  const HkBody *b = &scene->bodies[0];
  const HkMass *m = &b->mass;
  char *text, sets[6][80];
  const char *all[6];
  int count = 5;
  HkContext context = scene->context;
  context.device = HK_CPU;
  context.log = NULL;
  HK_TRY(hk_scene_format(scene, &text, error));
  snprintf(sets[0], sizeof sets[0], "bodies[0].shape.nx=%d", z->sx);
  snprintf(sets[1], sizeof sets[1], "bodies[0].shape.ny=%d", z->sy);
  snprintf(sets[2], sizeof sets[2], "bodies[0].shape.width=%.17g",
           number_of(&b->shape, "width") * ((z->sx - 1) / (double)(z->nx - 1)));
  snprintf(sets[3], sizeof sets[3], "bodies[0].shape.height=%.17g",
           number_of(&b->shape, "height") * ((z->sy - 1) / (double)(z->ny - 1)));
  snprintf(sets[4], sizeof sets[4], "bodies[0].shape.centered=false");
  if (isnan(m->per_vertex) && isnan(m->length_density) && isnan(m->area_density) &&
      isnan(m->volume_density))
    snprintf(sets[count++], sizeof sets[0], "bodies[0].mass.total=%.17g", sample_mass(m, z));
  for (int q = 0; q < count; q++) all[q] = sets[q];
  HkStatus status = hk_scene_parse(&context, text, strlen(text), "the sample of a sheet",
                                   scene->folder, all, count, sample, error);
  hk_text_destroy(&text);
  if (status >= 0) (*sample)->probe_count = 0; /* their vertices may be outside of the sample */
  return status;
}

/* ---- The sample ---- */

static HkStatus irregular(HkError *error, const char *what) {
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "%s of a sheet have to be the same everywhere but at its edges: use a grid of "
                 "quads, and named sets that are edges or corners",
                 what);
}

/* Sets masses and pins of the classes. */
static HkStatus find_classes(const HkModel *m, const Sizes *z, HkDeviceSheetModel *s,
                             HkError *error) {
  bool seen[HK_SHEET_CLASSES] = {false};
  int64_t pin = 0;
  for (int c = 0; c < HK_SHEET_CLASSES; c++) s->mass[c] = 1;
  for (int64_t v = 0; v < m->n; v++) {
    int64_t i = v % z->sx, j = v / z->sx;
    int c = (int)(3 * ((j > 0) + (j == z->sy - 1)) + (i > 0) + (i == z->sx - 1));
    bool fixed = pin < m->pin_count && m->pin_vertex[pin] == v;
    pin += fixed;
    if (!seen[c]) {
      seen[c] = true;
      s->mass[c] = m->mass[v];
      s->fixed[c] = fixed;
      if (!fixed) memcpy(s->velocity, m->v0 + 3 * v, sizeof s->velocity);
    }
    if (fabs(m->mass[v] - s->mass[c]) > 1e-9 * s->mass[c]) return irregular(error, "masses");
    if (fixed != s->fixed[c]) return irregular(error, "pins");
  }
  return HK_OK;
}

/* Returns the direction of a spring from vertex a to b, or -1. */
static int direction_of(int32_t a, int32_t b, const Sizes *z) {
  int di = b % z->sx - a % z->sx, dj = b / z->sx - a / z->sx;
  for (int d = 0; d < HK_SHEET_DIRECTIONS; d++)
    if ((di == DI[d] && dj == DJ[d]) || (di == -DI[d] && dj == -DJ[d])) return d;
  return -1;
}

static HkStatus find_springs(const HkModel *m, const Sizes *z, HkDeviceSheetModel *s,
                             HkError *error) {
  const HkSpringArrays *all = &m->springs;
  int64_t counts[HK_SHEET_DIRECTIONS] = {0};
  for (int64_t q = 0; q < all->count; q++) {
    int d = direction_of(all->i[q], all->j[q], z);
    if (d < 0) return irregular(error, "springs");
    if (counts[d]++ == 0) {
      s->k[d] = all->k[q];
      s->l0[d] = all->l0[q];
    }
    if (fabs(all->k[q] - s->k[d]) > 1e-9 * s->k[d] || fabs(all->l0[q] - s->l0[d]) > 1e-9 * s->l0[d])
      return irregular(error, "springs");
  }
  for (int d = 0; d < HK_SHEET_DIRECTIONS; d++) {
    int64_t full = (int64_t)(z->sx - DI[d]) * (z->sy - (DJ[d] < 0 ? -DJ[d] : DJ[d]));
    if (counts[d] > 0 && counts[d] != full) return irregular(error, "springs");
  }
  return HK_OK;
}

/* Sets where the sheet starts. */
static void find_place(const HkModel *m, const Sizes *z, bool centered, HkDeviceSheetModel *s) {
  const double *first = m->x0, *right = m->x0 + 3 * (int64_t)(z->sx - 1);
  const double *top = m->x0 + 3 * (int64_t)z->sx * (z->sy - 1);
  for (int c = 0; c < 3; c++) {
    s->along[c] = (right[c] - first[c]) / (z->sx - 1);
    s->across[c] = (top[c] - first[c]) / (z->sy - 1);
    s->corner[c] = first[c];
    if (centered) s->corner[c] -= 0.5 * ((z->nx - 1) * s->along[c] + (z->ny - 1) * s->across[c]);
  }
}

static HkStatus examine(const HkModel *m, const Sizes *z, bool centered, HkDeviceSheetModel *s,
                        HkError *error) {
  if (m->n != (int64_t)z->sx * z->sy)
    return refuse(error, "bodies[0].repair", "a grid whose vertices are welded");
  HK_TRY(hk_device_check_forces(m, error));
  if (!hk_device_is_plain(m)) return refuse(error, "forces", "face_wind, handle and point_load");
  HK_TRY(find_classes(m, z, s, error));
  HK_TRY(find_springs(m, z, s, error));
  find_place(m, z, centered, s);
  s->nx = z->nx;
  s->ny = z->ny;
  s->medium_parts = hk_device_medium_parts(m);
  s->flat = m->dimension == 2;
  return HK_OK;
}

HkStatus hk_sheet_sample(const HkScene *scene, HkModel **sample, HkDeviceSheetModel *sheet,
                         HkError *error) {
  HkScene *small = NULL;
  HK_TRY(check_scene(scene, error));
  const HkMethod *shape = &scene->bodies[0].shape;
  Sizes z = {.nx = (int32_t)number_of(shape, "nx"), .ny = (int32_t)number_of(shape, "ny")};
  z.sx = z.nx < SAMPLE_SIDE ? z.nx : SAMPLE_SIDE;
  z.sy = z.ny < SAMPLE_SIDE ? z.ny : SAMPLE_SIDE;
  *sheet = (HkDeviceSheetModel){0};
  HK_TRY(parse_sample(scene, &z, &small, error));
  HkStatus status = hk_model_compile(small, sample, error);
  hk_scene_destroy(&small);
  if (status < 0) return status;
  status = examine(*sample, &z, number_of(shape, "centered") != 0, sheet, error);
  if (status < 0) hk_model_destroy(sample);
  return status;
}
