/* The drawn parts of a model: its faces; springs as rods and masses as balls in bodies without
 * faces; pins. Geometry and colors of a frame are returned in pieces, so that a picture of ten
 * million vertices needs no second copy of them. */
#ifndef HOOKE_CLI_FIGURE_H
#define HOOKE_CLI_FIGURE_H

#include "colors.h"
#include "recording.h"

#include <stddef.h>

/* A corner of a face. Values: see shaders.c. */
typedef struct Corner {
  float x[3], normal[3], value;
} Corner;

/* A straight rod, or a part of a coil. */
typedef struct Rod {
  float a[3], radius, b[3], same_radius, value[2];
} Rod;

typedef struct Ball {
  float x[3], radius, value;
} Ball;

/* Shaders read a point and its radius as four floats (painter.c). */
_Static_assert(offsetof(Rod, radius) == offsetof(Rod, a) + 3 * sizeof(float), "a and radius");
_Static_assert(offsetof(Rod, same_radius) == offsetof(Rod, b) + 3 * sizeof(float), "b and radius");
_Static_assert(offsetof(Ball, radius) == offsetof(Ball, x) + 3 * sizeof(float), "x and radius");

typedef struct Figure Figure;

/* Creates a figure; springs: draws springs as rods also in bodies with faces. */
HkStatus figure_create(const HkScene *scene, const HkModel *model, ColorBy by, bool springs,
                       Figure **figure, HkError *error);
void figure_destroy(Figure **figure);
int64_t figure_vertices(const Figure *figure);

/* Sets the current frame, whose arrays must stay valid while it is drawn. */
void figure_pose(Figure *figure, const Frame *frame);
/* Adds the strains or speeds of the frame to a histogram. */
void figure_spread(const Figure *figure, Spread *spread);
/* Sets the strain or speed at the end of the color scale, and the height of the picture in m, from
 * which the sizes of rods and balls follow. */
void figure_scale(Figure *figure, double end, double height);

/* Write at most count corners, rods or balls from first on; return how many, 0 past the last. */
int64_t figure_corners(const Figure *figure, int64_t first_face, int64_t faces, Corner *corners);
int64_t figure_rods(const Figure *figure, int64_t first, int64_t count, Rod *rods);
int64_t figure_balls(const Figure *figure, int64_t first, int64_t count, Ball *balls);

#endif
