/* A ball: one vertex with a radius around it. */
#include "obstacle/features.h"

typedef struct Ball {
  double center[3], radius;
} Ball;

static const HkParam params[] = {
    HK_VECTOR(Ball, center, "m", 0, 0, 0, "center"),
    HK_NUMBER(Ball, radius, "m", 0.5, 0, HK_MAX, "radius, above 0"),
};

static HkStatus create(const HkContext *context, const char *folder, const void *chosen,
                       HkObstacleFeatures *features, void **data, HkError *error) {
  const Ball *p = chosen;
  (void)folder;
  (void)data;
  HK_TRY(hk_obstacle_check_radius(p->radius, error));
  return hk_obstacle_features_from_points(context, p->center, 1, NULL, 0, p->radius, features,
                                          error);
}

const HkObstacleType hk_obstacle_ball = {
    .schema = {.name = "ball",
               .summary = "a solid ball",
               .formula = "|x - center| <= radius",
               HK_PARAMS(Ball, params)},
    .create = create,
};
