/* Masses of the vertices of a body: given for each, as a total, or as a density lumped onto the
 * corners of the cells. */
#include "model/build.h"

#include "mesh/measure.h"

static const char *const measure_names[] = {"points", "lines", "faces", "solids"};

int hk_counts_dimension(const HkMeshCounts *counts) {
  return counts->solids > 0 ? 3 : counts->triangles + counts->quads > 0 ? 2 : counts->lines > 0;
}

bool hk_body_is_lumped(const HkBody *body) {
  const HkMass *m = &body->mass;
  return isnan(m->per_vertex) && isnan(m->length_density) && isnan(m->area_density) &&
         isnan(m->volume_density) && m->distribution == 1;
}

/* Computes share[v] from the cells of the highest dimension in the mesh. */
static bool lump_highest(const HkMesh *mesh, double *share) {
  for (int dimension = 3; dimension > 0; dimension--)
    if (hk_mesh_lump(mesh, dimension, share) > 0) return true;
  return false;
}

/* A window may have no cell of a dimension that the whole mesh has. */
static bool whole_has(const HkWholeMesh *whole, int dimension) {
  if (!whole) return false;
  const HkMeshCounts *c = &whole->counts;
  const int64_t cells[] = {0, c->lines, c->triangles + c->quads, c->solids};
  return cells[dimension] > 0;
}

static HkStatus by_density(const HkMesh *mesh, const HkWholeMesh *whole, int dimension,
                           double density, double *mass, HkError *error) {
  if (hk_mesh_lump(mesh, dimension, mass) == 0 && !whole_has(whole, dimension))
    return hk_fail_key(error, HK_ERROR_INVALID, "mass",
                       "the mesh has no %s to compute masses from; use mass.total",
                       measure_names[dimension]);
  for (int64_t i = 0; i < mesh->vertex_count; i++) mass[i] *= density;
  return HK_OK;
}

static HkStatus by_total(const HkMesh *mesh, const HkWholeMesh *whole, double total, bool lumped,
                         double *mass, HkError *error) {
  int64_t n = mesh->vertex_count;
  if (!lumped) {
    int64_t count = whole ? whole->counts.vertices : n;
    for (int64_t i = 0; i < n; i++) mass[i] = total / (double)count;
    return HK_OK;
  }
  if (whole && hk_counts_dimension(&whole->counts) > 0) {
    hk_mesh_lump(mesh, hk_counts_dimension(&whole->counts), mass);
    for (int64_t i = 0; i < n; i++) mass[i] *= total / whole->measure;
    return HK_OK;
  }
  if (!lump_highest(mesh, mass))
    return hk_fail_key(error, HK_ERROR_INVALID, "mass.distribution",
                       "the mesh has no cells to lump the mass by; use equal");
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += mass[i];
  for (int64_t i = 0; i < n; i++) mass[i] *= total / sum;
  return HK_OK;
}

/* Adds the masses of the rows 'vertex kg'. */
static HkStatus add_single(const HkMesh *mesh, const HkTable *added, double *mass, HkError *error) {
  int64_t count = mesh->vertex_map ? mesh->file_vertex_count : mesh->vertex_count;
  for (int row = 0; row < added->rows; row++) {
    double vertex = added->values[2 * row], more = added->values[2 * row + 1];
    if (!(vertex >= 0 && vertex < (double)count) || vertex != floor(vertex))
      return hk_fail(error, HK_ERROR_INVALID,
                     "mass.added[%d]: there is no vertex %g; they are 0 to %lld", row, vertex,
                     (long long)count - 1);
    int64_t at = mesh->vertex_map ? mesh->vertex_map[(int64_t)vertex] : (int64_t)vertex;
    if (at < 0)
      return hk_fail(error, HK_ERROR_INVALID, "mass.added[%d]: vertex %g was dropped by the repair",
                     row, vertex);
    mass[at] += more;
  }
  return HK_OK;
}

HkStatus hk_body_masses(const HkMesh *mesh, const HkBody *body, const HkWholeMesh *whole,
                        double *mass, HkError *error) {
  const HkMass *m = &body->mass;
  int given = !isnan(m->per_vertex) + !isnan(m->total) + !isnan(m->length_density) +
              !isnan(m->area_density) + !isnan(m->volume_density);
  if (given > 1)
    return hk_fail_key(error, HK_ERROR_INVALID, "mass",
                       "give only one of per_vertex, total, length_density, area_density, "
                       "volume_density");
  if (!isnan(m->per_vertex)) {
    for (int64_t i = 0; i < mesh->vertex_count; i++) mass[i] = m->per_vertex;
  } else if (!isnan(m->length_density)) {
    HK_TRY(by_density(mesh, whole, 1, m->length_density, mass, error));
  } else if (!isnan(m->area_density)) {
    HK_TRY(by_density(mesh, whole, 2, m->area_density, mass, error));
  } else if (!isnan(m->volume_density)) {
    HK_TRY(by_density(mesh, whole, 3, m->volume_density, mass, error));
  } else {
    double total = isnan(m->total) ? 1 : m->total;
    HK_TRY(by_total(mesh, whole, total, m->distribution == 1, mass, error));
  }
  HK_TRY(add_single(mesh, &m->added, mass, error));
  for (int64_t i = 0; i < mesh->vertex_count; i++)
    if (!(mass[i] > 0) || isinf(mass[i]))
      return hk_fail_key(
          error, HK_ERROR_INVALID, "mass",
          "vertex %lld would have %g kg, but a mass must be above 0%s",
          (long long)(whole ? whole->number[i] : i) + mesh->first_number, mass[i],
          mass[i] == 0 && given && isnan(m->per_vertex) && isnan(m->total)
              ? "; no cell with a size that this density counts touches it: use mass.total, or "
                "\"repair\": {\"unused\": true} where no cell uses it at all"
              : "");
  return HK_OK;
}
