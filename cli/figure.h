/* What of a model is drawn: its faces; springs as rods and masses as balls in bodies without faces;
 * pins. Geometry and colors of one frame after another, handed out in pieces, since a picture of
 * ten million vertices must not need another copy of them. */
#ifndef HOOKE_CLI_FIGURE_H
#define HOOKE_CLI_FIGURE_H

#include "colors.h"
#include "recording.h"

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

typedef struct Figure Figure;

/* springs: as rods also where there are faces. */
HkStatus figure_create(const HkScene *scene, const HkModel *model, ColorBy by, bool springs,
                       Figure **figure, HkError *error);
void figure_destroy(Figure **figure);
int64_t figure_vertices(const Figure *figure);

/* Takes a frame over: what follows is about it. Its numbers must stay where they are. */
void figure_pose(Figure *figure, const Frame *frame);
/* Counts the strains or speeds that are shown. */
void figure_spread(const Figure *figure, Spread *spread);
/* The colors end at this strain or speed; the picture is so many meters high, and rods and balls
 * have a size that goes with it. */
void figure_scale(Figure *figure, double end, double height);

/* Pieces: at most count from first on; how many there are, 0 past the last. */
int64_t figure_corners(const Figure *figure, int64_t first_face, int64_t faces, Corner *corners);
int64_t figure_rods(const Figure *figure, int64_t first, int64_t count, Rod *rods);
int64_t figure_balls(const Figure *figure, int64_t first, int64_t count, Ball *balls);

#endif
