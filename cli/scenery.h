/* The drawn obstacles of a model, where they are at the time of a frame. */
#ifndef HOOKE_CLI_SCENERY_H
#define HOOKE_CLI_SCENERY_H

#include "camera.h"
#include "figure.h"

typedef struct Scenery Scenery;

HkStatus scenery_create(const HkModel *model, Scenery **scenery, HkError *error);
void scenery_destroy(Scenery **scenery);
/* Places the obstacles where they are at a time (s). */
void scenery_pose(Scenery *scenery, double time);
/* Adds the obstacles to the extent of a picture; planes, which have no end, are left out. */
void scenery_extend(const Scenery *scenery, const Camera *camera, Window window, Extent *extent);
/* Writes the corners of at most so many triangles from first on; returns how many corners, 0 past
 * the last. endless: of planes, otherwise of all other obstacles. */
int64_t scenery_corners(const Scenery *scenery, bool endless, int64_t first, int64_t triangles,
                        Corner *corners);
/* Returns the height (m) of the highest plane across the axis up (0, 1, 2), or NAN. */
double scenery_ground(const Scenery *scenery, int up);

#endif
