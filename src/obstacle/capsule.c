/* A capsule: all that is at most a radius away from a segment; two vertices and one edge. */
#include "obstacle/features.h"

#include <string.h>

typedef struct Capsule {
  double from[3], to[3], radius;
} Capsule;

static const HkParam params[] = {
    HK_VECTOR(Capsule, from, "m", 0, 0, 0, "center of one end"),
    HK_VECTOR(Capsule, to, "m", 0, 1, 0, "center of the other end"),
    HK_NUMBER(Capsule, radius, "m", 0.1, 0, HK_MAX, "radius, above 0"),
};

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  static const int32_t edge[2] = {0, 1};
  const Capsule *p = chosen;
  double x[6], axis[3];
  (void)folder;
  (void)data;
  HK_TRY(hk_obstacle_check_radius(p->radius, error));
  HK_TRY(hk_obstacle_check_ends(p->from, p->to, axis, error));
  memcpy(x, p->from, sizeof p->from);
  memcpy(x + 3, p->to, sizeof p->to);
  return hk_obstacle_features_from_points(context, x, 2, edge, 1, p->radius, features, error);
}

const HkObstacleType hk_obstacle_capsule = {
    .schema = {.name = "capsule",
               .summary = "a rod with round ends",
               .formula = "distance(x, segment from .. to) <= radius",
               HK_PARAMS(Capsule, params)},
    .create = create,
};
