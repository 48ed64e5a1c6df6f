/* Common functions of shapes; see lattice.h. */
#include "mesh/shapes/lattice.h"

enum { PLANE_XY, PLANE_XZ, PLANE_YZ };

void hk_plane_point(int plane, double u, double v, double x[3]) {
  x[0] = plane == PLANE_YZ ? 0 : u;
  x[1] = plane == PLANE_XY ? v : plane == PLANE_YZ ? u : 0;
  x[2] = plane == PLANE_XY ? 0 : v;
}

HkStatus hk_plane_add_face(HkMesh *mesh, int plane, const int32_t *corners, int count,
                           HkError *error) {
  int32_t turned[4];
  for (int q = 0; q < count; q++) {
    /* x cross z is -y: faces of this plane have the opposite orientation. */
    bool back = plane == PLANE_XZ && q > 0;
    turned[q] = corners[back ? count - q : q];
  }
  return hk_mesh_add_cell(mesh, hk_face_type(count), turned, count, error);
}

HkStatus hk_plane_add_patch(HkMesh *mesh, int plane, int cells, const int32_t q[4], bool odd,
                            HkError *error) {
  if (cells == 0) return hk_plane_add_face(mesh, plane, q, 4, error);
  const int32_t even_first[] = {q[0], q[1], q[2]}, even_second[] = {q[0], q[2], q[3]};
  const int32_t odd_first[] = {q[0], q[1], q[3]}, odd_second[] = {q[1], q[2], q[3]};
  HK_TRY(hk_plane_add_face(mesh, plane, odd ? odd_first : even_first, 3, error));
  return hk_plane_add_face(mesh, plane, odd ? odd_second : even_second, 3, error);
}

HkStatus hk_lattice_count(const int n[3], int64_t *count, HkError *error) {
  const int64_t most = INT32_MAX / 3;
  *count = n[0];
  for (int c = 1; c < 3 && *count <= most; c++) *count *= n[c];
  if (*count <= most) return HK_OK;
  if (n[2] == 1)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "%d x %d vertices are more than Hooke takes (%lld); ask for fewer", n[0], n[1],
                   (long long)most);
  return hk_fail(error, HK_ERROR_UNSUPPORTED,
                 "%d x %d x %d vertices are more than Hooke takes (%lld); ask for fewer", n[0],
                 n[1], n[2], (long long)most);
}

HkStatus hk_lattice_add_vertices(HkMesh *mesh, const HkWindow *w, const double size[3],
                                 bool centered, HkError *error) {
  for (int c = 0; c < 3; c++)
    if (!(size[c] >= HK_LENGTH_MIN && size[c] <= HK_LENGTH_MAX))
      return hk_fail_key(error, HK_ERROR_INVALID, "size",
                         "%g m along %c is out of range, expected a number from %g to %g m",
                         size[c], "xyz"[c], HK_LENGTH_MIN, HK_LENGTH_MAX);
  for (int k = w->begin[2]; k < w->end[2]; k++)
    for (int j = w->begin[1]; j < w->end[1]; j++)
      for (int i = w->begin[0]; i < w->end[0]; i++) {
        double x[3] = {hk_lattice_coordinate(i, w->n[0], size[0], centered),
                       hk_lattice_coordinate(j, w->n[1], size[1], centered),
                       hk_lattice_coordinate(k, w->n[2], size[2], centered)};
        HK_TRY(hk_mesh_add_vertices(mesh, x, 1, error));
      }
  return HK_OK;
}

HkStatus hk_window_add_set(HkMesh *mesh, const char *name, const HkWindow *w, const int first[3],
                           const int last[3], HkError *error) {
  int low[3], high[3];
  for (int c = 0; c < 3; c++) {
    low[c] = first[c] > w->begin[c] ? first[c] : w->begin[c];
    high[c] = last[c] < w->end[c] ? last[c] : w->end[c] - 1;
  }
  HK_TRY(hk_mesh_add_set(mesh, name, NULL, 0, error)); /* it exists, even if it is empty */
  for (int k = low[2]; k <= high[2]; k++)
    for (int j = low[1]; j <= high[1]; j++)
      for (int i = low[0]; i <= high[0]; i++) {
        int32_t q = hk_window_index(w, i, j, k);
        HK_TRY(hk_mesh_add_set(mesh, name, &q, 1, error));
      }
  return HK_OK;
}

static HkStatus add_sides(HkMesh *mesh, const HkWindow *w, HkError *error) {
  static const char *const low[] = {"left", "bottom", "back"};
  static const char *const high[] = {"right", "top", "front"};
  const int *n = w->n;
  for (int c = 0; c < 3; c++) {
    if (n[c] == 1) continue;
    int first[3] = {0, 0, 0}, last[3] = {n[0] - 1, n[1] - 1, n[2] - 1};
    last[c] = 0;
    HK_TRY(hk_window_add_set(mesh, low[c], w, first, last, error));
    first[c] = last[c] = n[c] - 1;
    HK_TRY(hk_window_add_set(mesh, high[c], w, first, last, error));
  }
  return HK_OK;
}

static HkStatus add_corners(HkMesh *mesh, const HkWindow *w, HkError *error) {
  for (int corner = 0; corner < 8; corner++) {
    int at[3];
    bool twice = false;
    for (int c = 0; c < 3; c++) {
      bool end = corner >> c & 1;
      at[c] = end ? w->n[c] - 1 : 0;
      if (end && w->n[c] == 1) twice = true;
    }
    if (!twice) HK_TRY(hk_window_add_set(mesh, "corners", w, at, at, error));
  }
  return HK_OK;
}

/* Adds the set of the boundary row by row, in time that grows with its own size only. */
static HkStatus add_boundary(HkMesh *mesh, const HkWindow *w, HkError *error) {
  const int *n = w->n;
  for (int k = w->begin[2]; k < w->end[2]; k++)
    for (int j = w->begin[1]; j < w->end[1]; j++) {
      bool all = j == 0 || j == n[1] - 1 || (n[2] > 1 && (k == 0 || k == n[2] - 1));
      for (int end = 0; end < (all ? 1 : 2); end++) {
        int first = end ? n[0] - 1 : 0, last = all || end ? n[0] - 1 : 0;
        HK_TRY(hk_window_add_set(mesh, "boundary", w, (int[]){first, j, k}, (int[]){last, j, k},
                                 error));
      }
    }
  return HK_OK;
}

HkStatus hk_lattice_add_sets(HkMesh *mesh, const HkWindow *w, HkError *error) {
  const int *n = w->n;
  HK_TRY(add_sides(mesh, w, error));
  HK_TRY(add_corners(mesh, w, error));
  HK_TRY(add_boundary(mesh, w, error));
  const int middle[3] = {(n[0] - 1) / 2, (n[1] - 1) / 2, (n[2] - 1) / 2};
  return hk_window_add_set(mesh, "center", w, middle, middle, error);
}

HkStatus hk_mesh_add_range_set(HkMesh *mesh, const char *name, int64_t first, int64_t count,
                               HkError *error) {
  for (int64_t q = first; q < first + count; q++) {
    int32_t vertex = (int32_t)q;
    HK_TRY(hk_mesh_add_set(mesh, name, &vertex, 1, error));
  }
  return HK_OK;
}

HkStatus hk_mesh_add_extreme_set(HkMesh *mesh, const char *name, int axis, int sign,
                                 HkError *error) {
  const double *x = mesh->x + axis;
  double low = x[0], high = x[0];
  for (int64_t q = 1; q < mesh->vertex_count; q++) {
    low = fmin(low, x[3 * q]);
    high = fmax(high, x[3 * q]);
  }
  double tolerance = 1e-9 * (high - low);
  for (int64_t q = 0; q < mesh->vertex_count; q++) {
    bool inside = sign > 0 ? x[3 * q] >= high - tolerance : x[3 * q] <= low + tolerance;
    if (inside) HK_TRY(hk_mesh_add_range_set(mesh, name, q, 1, error));
  }
  return HK_OK;
}
