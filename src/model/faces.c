/* Triangles of a model, and the triangles around each vertex. */
#include "model/build.h"

#include "mesh/triangles.h"

HkStatus hk_model_add_faces(HkModel *m, const HkMesh *mesh, int64_t first, HkError *error) {
  HkTriangles all = {m->face, m->face_count, m->capacity.faces, first};
  HkStatus status = hk_mesh_triangles(mesh, &all, error);
  m->face = all.corner;
  m->face_count = all.count;
  m->capacity.faces = all.capacity;
  return status;
}

HkStatus hk_model_need_faces(HkModel *m, HkError *error) {
  if (m->face_start) return HK_OK;
  HK_TRY(hk_alloc(&m->context, &m->face_start, m->n + 1, sizeof *m->face_start, "faces", error));
  HkStatus status =
      hk_alloc(&m->context, &m->face_at, 3 * m->face_count, sizeof *m->face_at, "faces", error);
  if (status < 0) {
    hk_free(&m->context, &m->face_start);
    return status;
  }
  for (int64_t k = 0; k < 3 * m->face_count; k++) m->face_start[m->face[k] + 1]++;
  for (int64_t i = 0; i < m->n; i++) m->face_start[i + 1] += m->face_start[i];
  for (int64_t k = 0; k < 3 * m->face_count; k++) m->face_at[m->face_start[m->face[k]]++] = k;
  for (int64_t i = m->n; i > 0; i--) m->face_start[i] = m->face_start[i - 1];
  m->face_start[0] = 0;
  return HK_OK;
}
