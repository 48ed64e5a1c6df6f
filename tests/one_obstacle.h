/* Models of one body and one obstacle, for tests of obstacles. */
#ifndef HOOKE_TEST_ONE_OBSTACLE_H
#define HOOKE_TEST_ONE_OBSTACLE_H

#include "model/model.h"

typedef struct OneObstacle {
  HkScene *scene;
  HkModel *model;
} OneObstacle;

/* A rope of the name 'rope' and a list of obstacles in single quotes, which is line 2 of
 * scene.json; names of files start in folder. */
HkStatus one_obstacle_make(const char *list, const char *folder, OneObstacle *made, HkError *error);
/* The same with a file of this name and content. */
HkStatus one_obstacle_from(const char *list, const char *name, const char *content,
                           OneObstacle *made, HkError *error);
void one_obstacle_destroy(OneObstacle *made);
/* The features of the first obstacle. */
const HkObstacleFeatures *one_obstacle_features(const OneObstacle *made);
/* Writes a file into a new folder and returns the folder, valid until the next call. */
const char *one_obstacle_file(const char *name, const char *content);

#endif
