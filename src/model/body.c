/* One body: makes or reads its mesh, repairs, transforms and appends it to the model. */
#include "model/build.h"

#include "base/vec.h"
#include "scene/blame.h"
#include "scene/parts.h"
#include "scene/store.h"

#include <stdio.h>
#include <string.h>

const char *hk_body_name(const HkBody *body, int index, char *buffer, size_t size) {
  if (body->name) return body->name;
  snprintf(buffer, size, "body%d", index);
  return buffer;
}

static HkStatus copy_mesh(const HkContext *context, const HkMesh *from, HkMesh **to,
                          HkError *error) {
  HK_TRY(hk_mesh_create(context, to, error));
  HkStatus status =
      hk_mesh_reserve(*to, from->vertex_count, from->cell_count, from->corner_count, error);
  if (status >= 0) status = hk_mesh_add_vertices(*to, from->x, from->vertex_count, error);
  for (int64_t c = 0; status >= 0 && c < from->cell_count; c++) {
    HkCell cell = hk_mesh_cell(from, c);
    status = hk_mesh_add_cell(*to, cell.type, cell.vertices, cell.count, error);
  }
  for (int64_t s = 0; status >= 0 && s < from->set_count; s++)
    status = hk_mesh_add_set(*to, from->sets[s].name, from->sets[s].vertices, from->sets[s].count,
                             error);
  if (status < 0) hk_mesh_destroy(to);
  return status;
}

HkStatus hk_body_check_memory(const HkContext *context, const HkBody *body,
                              const HkMeshCounts *counts, bool made, HkError *error) {
  char what[80];
  HkContext c = hk_context_or_default(context);
  snprintf(what, sizeof what, "a model of %lld vertices", (long long)counts->vertices);
  return hk_memory_check(&c, hk_body_need(body, counts, made), what, NULL, error);
}

/* Checks the memory that a shape will need before it is built. */
static HkStatus make_shape(const HkContext *context, const HkBody *body, HkMesh **mesh,
                           HkError *error) {
  HkMeshCounts counts;
  HK_TRY(hk_shape_count(&body->shape, &counts, error));
  HK_TRY(hk_body_check_memory(context, body, &counts, false, error));
  return hk_mesh_shape(context, &body->shape, mesh, error);
}

static HkStatus get_mesh(const HkScene *scene, const HkBody *body, HkMesh **mesh, HkError *error) {
  int given = (body->shape.schema != NULL) + (body->mesh_file != NULL) + (body->mesh != NULL);
  if (given != 1)
    return hk_fail(error, HK_ERROR_INVALID, "give either a shape or a mesh%s",
                   given ? ", not both" : "");
  if (body->shape.schema) return make_shape(&scene->context, body, mesh, error);
  if (body->mesh) return copy_mesh(&scene->context, body->mesh, mesh, error);
  char path[4096];
  HK_TRY(hk_join_path(scene->folder, body->mesh_file, path, sizeof path, error));
  return hk_mesh_read(&scene->context, path, mesh, error);
}

/* Sets initial positions, stretched about the center of mass, and velocities of translation and
 * rotation. */
static void start(const HkMesh *mesh, const HkBody *body, const double *mass, double *x,
                  double *v) {
  double center[3] = {0, 0, 0}, total = 0;
  for (int64_t i = 0; i < mesh->vertex_count; i++) {
    hk_axpy(mass[i], mesh->x + 3 * i, center);
    total += mass[i];
  }
  for (int c = 0; c < 3; c++) center[c] /= total;
  bool stretched = body->stretch[0] != 1 || body->stretch[1] != 1 || body->stretch[2] != 1;
  for (int64_t i = 0; i < mesh->vertex_count; i++) {
    double r[3];
    memcpy(x + 3 * i, mesh->x + 3 * i, 3 * sizeof *x);
    hk_sub(x + 3 * i, center, r);
    for (int c = 0; c < 3 && stretched; c++) x[3 * i + c] = center[c] + (r[c] *= body->stretch[c]);
    hk_cross(body->spin, r, v + 3 * i);
    hk_axpy(1, body->velocity, v + 3 * i);
  }
}

static HkStatus append_vertices(HkModel *m, const HkMesh *mesh, const HkBody *body,
                                const HkWholeMesh *whole, HkError *error) {
  const HkContext *c = &m->context;
  int64_t n = m->n + mesh->vertex_count;
  int64_t wanted = n + 1; /* kernels load four numbers at the last vertex: HK_PAD */
  int64_t capacity[3] = {m->capacity.vertices, m->capacity.vertices, m->capacity.vertices};
  if (n > INT32_MAX / 3)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "%lld vertices are more than Hooke takes (%d)",
                   (long long)n, INT32_MAX / 3);
  HK_TRY(hk_grow(c, &m->x0, &capacity[0], wanted, 3 * sizeof *m->x0, "vertices", error));
  HK_TRY(hk_grow(c, &m->v0, &capacity[1], wanted, 3 * sizeof *m->v0, "vertices", error));
  HK_TRY(hk_grow(c, &m->mass, &capacity[2], wanted, sizeof *m->mass, "vertices", error));
  m->capacity.vertices = capacity[0];
  memset(m->mass + m->n, 0, (size_t)mesh->vertex_count * sizeof *m->mass);
  HK_TRY(hk_body_masses(mesh, body, whole, m->mass + m->n, error));
  start(mesh, body, m->mass + m->n, m->x0 + 3 * m->n, m->v0 + 3 * m->n);
  m->n = n;
  return HK_OK;
}

static HkStatus append_cells(HkModel *m, const HkMesh *mesh, int64_t first, HkError *error) {
  const HkContext *c = &m->context;
  int64_t cells = m->cell_count + mesh->cell_count, starts = m->capacity.cells;
  int64_t used = m->cell_count ? m->cell_start[m->cell_count] : 0;
  HK_TRY(hk_grow(c, &m->cell_type, &m->capacity.cells, cells + 1, sizeof *m->cell_type, "cells",
                 error));
  HK_TRY(hk_grow(c, &m->cell_start, &starts, cells + 1, sizeof *m->cell_start, "cells", error));
  HK_TRY(hk_grow(c, &m->cell_vertex, &m->capacity.corners, used + mesh->corner_count,
                 sizeof *m->cell_vertex, "cells", error));
  for (int64_t k = 0; k < mesh->corner_count; k++)
    m->cell_vertex[used + k] = (int32_t)(first + mesh->cell_vertex[k]);
  for (int64_t cell = 0; cell < mesh->cell_count; cell++) {
    m->cell_type[m->cell_count + cell] = mesh->cell_type[cell];
    m->cell_start[m->cell_count + cell] = used + mesh->cell_start[cell];
  }
  m->cell_start[cells] = used + mesh->corner_count;
  m->cell_count = cells;
  return HK_OK;
}

/* Frees all of a mesh but its sets and its vertex map, which selections need. */
static void keep_names(HkMesh *mesh) {
  const HkContext *c = &mesh->context;
  hk_free(c, &mesh->x);
  hk_free(c, &mesh->cell_type);
  hk_free(c, &mesh->cell_start);
  hk_free(c, &mesh->cell_vertex);
  mesh->cell_count = mesh->corner_count = 0;
}

double hk_mesh_furthest(const HkMesh *mesh) {
  double furthest = 0;
  for (int64_t c = 0; c < 3 * mesh->vertex_count; c++) furthest = fmax(furthest, fabs(mesh->x[c]));
  return furthest;
}

HkStatus hk_mesh_flatten(HkMesh *mesh, double size, const int64_t *number, HkError *error) {
  for (int64_t i = 0; i < mesh->vertex_count; i++) {
    double *z = &mesh->x[3 * i + 2];
    if (fabs(*z) > 1e-12 * size)
      return hk_fail(
          error, HK_ERROR_INVALID,
          "vertex %lld has z = %g m, but the scene has dimension 2; set dimension to 3 or "
          "transform the body into the plane z = 0",
          (long long)(number ? number[i] : i), *z);
    *z = 0;
  }
  return HK_OK;
}

HkStatus hk_model_append_mesh(HkModel *m, const HkScene *scene, const HkBody *body, HkMesh *mesh,
                              const HkWholeMesh *whole, HkError *error) {
  int64_t first = m->n;
  HK_TRY(append_vertices(m, mesh, body, whole, error));
  HK_TRY(append_cells(m, mesh, first, error));
  HK_TRY(hk_model_add_springs(m, mesh, body, scene->folder, first, whole, error));
  return hk_model_add_faces(m, mesh, first, error);
}

static HkStatus add_mesh(HkModel *m, const HkScene *scene, const HkBody *body, HkMesh *mesh,
                         HkError *error) {
  HkRepairCounts repaired;
  HkMeshCounts counts = hk_mesh_counts(mesh);
  HK_TRY(hk_body_check_memory(&m->context, body, &counts, true, error));
  HK_TRY(hk_fail_under(error, hk_mesh_transform(mesh, &body->transform, error), "transform"));
  HK_TRY(hk_mesh_repair(mesh, &body->repair, &repaired, error));
  if (mesh->vertex_count == 0) return hk_fail(error, HK_ERROR_INVALID, "there are no vertices");
  if (m->dimension == 2) HK_TRY(hk_mesh_flatten(mesh, hk_mesh_furthest(mesh), NULL, error));
  return hk_model_append_mesh(m, scene, body, mesh, NULL, error);
}

/* Keeps an error with a line in a mesh or springs file; adds the key in the scene to all others. */
HkStatus hk_body_blame(const HkScene *scene, int index, const HkError *inner, HkError *error) {
  const HkBody *body = &scene->bodies[index];
  char path[64];
  if (inner->line > 0) {
    if (error) *error = *inner;
    return inner->status;
  }
  const char *key = "";
  if (inner->file[0])
    key = body->mesh_file && strstr(inner->file, body->mesh_file) ? ".mesh" : ".springs.file";
  snprintf(path, sizeof path, "bodies[%d]%s", index, key);
  return hk_scene_blame(scene, path, inner, error);
}

/* Checks a body that was filled in C, by the schemas of its parts. */
HkStatus hk_body_check(const HkBody *body, HkError *error) {
  HK_TRY(hk_params_check(&hk_part_body, body, "", error));
  HK_TRY(hk_params_check(&hk_part_transform, &body->transform, "transform", error));
  HK_TRY(hk_params_check(&hk_part_springs, &body->springs, "springs", error));
  HK_TRY(hk_params_check(&hk_part_mass, &body->mass, "mass", error));
  HK_TRY(hk_params_check(&hk_part_contact, &body->contact, "contact", error));
  if (isnan(body->repair.weld))
    return hk_fail_key(error, HK_ERROR_INVALID, "repair.weld", "%g m is no distance; below 0: none",
                       body->repair.weld);
  return HK_OK;
}

HkStatus hk_model_append_range(HkModel *m, const HkScene *scene, int index, int64_t first,
                               HkMesh *mesh, HkError *error) {
  const HkBody *body = &scene->bodies[index];
  char buffer[32];
  const char *name = hk_body_name(body, index, buffer, sizeof buffer);
  keep_names(mesh);
  HkBodyRange *range = &m->bodies[m->body_count++];
  *range = (HkBodyRange){.first = first,
                         .count = m->n - first,
                         .first_number = first,
                         .total = m->n - first,
                         .contact = body->contact,
                         .names = mesh};
  size_t bytes = strlen(name) + 1;
  HK_TRY(hk_alloc(&m->context, &range->name, (int64_t)bytes, 1, "a name", error));
  memcpy(range->name, name, bytes);
  return HK_OK;
}

HkStatus hk_model_add_body(HkModel *m, const HkScene *scene, int index, HkError *error) {
  const HkBody *body = &scene->bodies[index];
  HkMesh *mesh = NULL;
  int64_t first = m->n;
  HkError inner = {0};
  HkStatus status = hk_body_check(body, &inner);
  if (status >= 0) status = get_mesh(scene, body, &mesh, &inner);
  if (status >= 0) mesh->first_number = scene->store->is_course_format;
  if (status >= 0) status = add_mesh(m, scene, body, mesh, &inner);
  if (status < 0) {
    hk_mesh_destroy(&mesh);
    return hk_body_blame(scene, index, &inner, error);
  }
  return hk_model_append_range(m, scene, index, first, mesh, error);
}
