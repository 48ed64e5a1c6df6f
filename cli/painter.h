/* Draws faces, rods, balls, shadows and water with OpenGL ES 3 on a canvas. */
#ifndef HOOKE_CLI_PAINTER_H
#define HOOKE_CLI_PAINTER_H

#include "canvas.h"
#include "figure.h"

/* The view, in the layout of the shaders; see shader_common. */
typedef struct View {
  float matrix[16];
  float right[4], up[4], toward[4];
  float eye[4];     /* m; w is 1 for a parallel projection */
  float picture[4]; /* width and height in pixels; pixels of a meter at a distance of 1 m; 1: only a
                       mask */
  float key[4], sky[4];
} View;

/* A horizontal plane: its center, and the vectors from there to its edges (m). */
typedef struct Plane {
  float middle[3], across[3], along[3];
} Plane;

typedef enum PlaneKind { PLANE_SHADOW, PLANE_WATER } PlaneKind;

enum { SHADOW_PIXELS = 256 };

typedef struct Painter Painter;

/* Creates a painter for the current OpenGL context, which a canvas provides. ramp: the colors of
 * color_ramp. */
HkStatus painter_create(const unsigned char *ramp, Painter **painter, HkError *error);
void painter_destroy(Painter **painter);

/* Begins a picture: clears it and draws the background. */
void painter_begin(Painter *painter, const Canvas *canvas);
/* Draws into the mask of a shadow, seen from above, until the next painter_begin. */
void painter_begin_shadow(Painter *painter);
/* Makes the edges of the shadow soft, over a part of its width. */
void painter_end_shadow(Painter *painter, double softness);
/* Sets the view for all later drawing. */
void painter_look(Painter *painter, const View *view);
void painter_faces(Painter *painter, const Corner *corners, int64_t count);
void painter_rods(Painter *painter, const Rod *rods, int64_t count);
void painter_balls(Painter *painter, const Ball *balls, int64_t count);
/* Draws a plane. A shadow is behind all that is drawn later; water is blended over what is behind
 * it. */
void painter_plane(Painter *painter, const Plane *plane, PlaneKind kind);

#endif
