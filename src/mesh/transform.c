/* Scales, rotates and moves a mesh: x <- R (scale x) + translate, with R the rotation by an angle
 * about an axis through the origin. */
#include "base/vec.h"
#include "mesh/mesh.h"

#include <string.h>

static const double RADIANS = 0x1.921fb54442d18p+1 / 180; /* of a degree */

static bool is_finite(const double x[3]) {
  return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

HkStatus hk_mesh_transform(HkMesh *mesh, const HkTransform *t, HkError *error) {
  double axis[3], R[9];
  if (!hk_unit(t->axis, axis) && t->angle != 0)
    return hk_fail_key(error, HK_ERROR_INVALID, "axis", "a rotation needs an axis that is not 0");
  for (int c = 0; c < 3; c++)
    if (t->scale[c] == 0)
      return hk_fail_key(error, HK_ERROR_INVALID, "scale", "a factor of 0 flattens the mesh");
  hk_mat_rotation(axis, t->angle * RADIANS, R);
  for (int64_t i = 0; i < mesh->vertex_count; i++) {
    double *x = mesh->x + 3 * i, scaled[3];
    for (int c = 0; c < 3; c++) scaled[c] = t->scale[c] * x[c];
    memcpy(x, t->translate, sizeof t->translate);
    hk_mat_add_product(R, scaled, x);
    if (!is_finite(x))
      return hk_fail_key(error, HK_ERROR_INVALID, is_finite(scaled) ? "translate" : "scale",
                         "vertex %lld is moved out of all bounds", (long long)i);
  }
  return HK_OK;
}
