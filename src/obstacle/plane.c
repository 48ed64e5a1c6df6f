/* A half space: all that lies below a plane.
 *
 *     d(x) = n . (x - point),   grad d = n,   H = 0,   n = normal / |normal|
 */
#include "base/memory.h"
#include "base/vec.h"
#include "obstacle/surface.h"

#include <string.h>

typedef struct Plane {
  double point[3], normal[3];
} Plane;

/* What distances are computed from. */
typedef struct Face {
  double point[3], n[3];
} Face;

static const HkParam params[] = {
    HK_VECTOR(Plane, point, "m", 0, 0, 0, "a point of the plane"),
    HK_VECTOR(Plane, normal, "", 0, 1, 0, "direction that points outwards, of any length but 0"),
};

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  const Plane *p = chosen;
  Face *face;
  (void)folder;
  (void)features;
  double n[3];
  if (!hk_unit(p->normal, n))
    return hk_fail_key(error, HK_ERROR_INVALID, "normal", "0 0 0 points nowhere, give a direction");
  HK_TRY(hk_alloc(context, &face, 1, sizeof *face, "an obstacle", error));
  memcpy(face->point, p->point, sizeof face->point);
  memcpy(face->n, n, sizeof n);
  *data = face;
  return HK_OK;
}

static void destroy(const HkContext *context, void *data) {
  hk_free(context, &data);
}

static size_t count_bytes(const void *data) {
  return data ? sizeof(Face) : 0;
}

static double distance(const void *chosen, const void *data, const double x[3], double n[3],
                       double H[9]) {
  const Face *face = data;
  double r[3];
  (void)chosen;
  hk_sub(x, face->point, r);
  memcpy(n, face->n, sizeof face->n);
  if (H) memset(H, 0, 9 * sizeof *H);
  return hk_dot(face->n, r);
}

static void draw(const void *data, const double low[3], const double high[3],
                 HkSurfaceBuilder *builder) {
  const Face *face = data;
  hk_surface_add_plane(builder, face->point, face->n, low, high);
}

const HkObstacleType hk_obstacle_plane = {
    .schema = {.name = "plane",
               .summary = "all that lies below a plane, such as the ground",
               .formula = "d = n . (x - point), n = normal / |normal|",
               HK_PARAMS(Plane, params)},
    .create = create,
    .destroy = destroy,
    .bytes = count_bytes,
    .distance = distance,
    .flat = true,
    .draw = draw,
};
