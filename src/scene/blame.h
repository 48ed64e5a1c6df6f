/* Errors that are found when a scene is compiled, with line and column of the scene file. */
#ifndef HK_SCENE_BLAME_H
#define HK_SCENE_BLAME_H

#include "base/status.h"

/* inner is what went wrong with the value at path (bodies[0], pins[2].select), or with the value of
 * inner->key in it. The error gets the whole path and, if the scene came from a text, the place.
 * Returns the status of inner. */
HkStatus hk_scene_blame(const HkScene *scene, const char *path, const HkError *inner,
                        HkError *error);

/* course.c: of the vertices that "b" of the small course format pins, the first that a mesh of this
 * many vertices does not have is an error. */
HkStatus hk_course_check_pins(const HkScene *scene, int64_t vertex_count, HkError *error);

#endif
