/* From where a scene is seen: directions, a place that shows all of it, the matrix for drawing. */
#ifndef HOOKE_CLI_CAMERA_H
#define HOOKE_CLI_CAMERA_H

#include <stdbool.h>
#include <stdint.h>

/* The part of the picture that is to be filled: -1 .. 1 from left to right and from bottom to top.
 */
typedef struct Window {
  double left, right, bottom, top;
} Window;

typedef struct Camera {
  bool parallel;                     /* orthographic, as 2D scenes are seen */
  double right[3], up[3], toward[3]; /* axes of the picture; toward the viewer */
  double eye[3];                     /* m */
  double half_width, half_height;    /* of the picture, 1 m away; of all of it (m) if parallel */
  double nearest, furthest;          /* m from the eye: what is drawn */
} Camera;

/* What a command line says about it. */
typedef struct CameraWish {
  bool placed;               /* eye and target are given, not angles */
  double azimuth, elevation; /* degrees */
  double zoom;
  double eye[3], target[3]; /* m */
} CameraWish;

/* "AZIMUTH,ELEVATION[,ZOOM]" or "X,Y,Z/X,Y,Z", eye and target; NULL is the usual view. False where
 * it cannot be understood. */
bool camera_read(const char *text, int dimension, CameraWish *wish);

/* Turns the camera: at azimuth 0 it looks along the depth axis, x points right; elevation lifts it
 * towards the axis up (0, 1, 2). aspect: width / height of the picture. */
Camera camera_aim(const CameraWish *wish, int up, bool parallel, double aspect);

/* How far points reach in the camera's directions. */
typedef struct Extent {
  double side[4];         /* right, left, up, down */
  double front, back;     /* along toward */
  double low[3], high[3]; /* their box */
} Extent;

Extent extent_empty(void);
/* Takes count points x y z x y z ... in; those that are not finite are left out. */
void extent_add(Extent *extent, const Camera *camera, Window window, const float *x, int64_t count);

/* Moves the camera to where all that the extent has seen just fills the window; a camera that was
 * placed stays there. */
void camera_fit(Camera *camera, const CameraWish *wish, Window window, const Extent *extent);

/* Meters across the height of the picture at the middle of what is seen. */
double camera_height(const Camera *camera, const Extent *extent);

/* From meters to the cube of OpenGL, column by column. */
void camera_matrix(const Camera *camera, float matrix[16]);

#endif
