/* The registry of obstacles. */
#include "obstacle/obstacle.h"

#define HK_OBSTACLE_TYPE(name) extern const HkObstacleType hk_obstacle_##name;
#include "obstacle/obstacle.def"
#undef HK_OBSTACLE_TYPE

static const HkObstacleType *const obstacles[] = {
#define HK_OBSTACLE_TYPE(name) &hk_obstacle_##name,
#include "obstacle/obstacle.def"
#undef HK_OBSTACLE_TYPE
};

enum { OBSTACLE_COUNT = sizeof obstacles / sizeof obstacles[0] };

const HkSchema *hk_obstacle_schema(int index) {
  return index >= 0 && index < OBSTACLE_COUNT ? &obstacles[index]->schema : NULL;
}

const HkObstacleType *hk_obstacle_type(const HkSchema *schema) {
  for (int k = 0; k < OBSTACLE_COUNT; k++)
    if (&obstacles[k]->schema == schema) return obstacles[k];
  return NULL;
}
