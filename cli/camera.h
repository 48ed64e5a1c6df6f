/* The camera: its axes, a position that shows the whole scene, the projection matrix. */
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
  double half_width, half_height;    /* of the picture (m), at a distance of 1 m unless parallel */
  double nearest, furthest;          /* m from the eye: what is drawn */
} Camera;

/* The camera of the command line. */
typedef struct CameraOptions {
  bool placed;               /* eye and target are given, not angles */
  double azimuth, elevation; /* degrees */
  double zoom;
  double eye[3], target[3]; /* m */
} CameraOptions;

/* "AZIMUTH,ELEVATION[,ZOOM]" or "X,Y,Z/X,Y,Z", eye and target; NULL is the default view. Returns
 * false if the text is invalid. */
bool camera_read(const char *text, int dimension, CameraOptions *options);

/* Turns the camera: at azimuth 0 it looks along the depth axis, x points right; elevation lifts it
 * towards the axis up (0, 1, 2). aspect: width / height of the picture. */
Camera camera_aim(const CameraOptions *options, int up, bool parallel, double aspect);

/* Extent of points along the camera's axes. */
typedef struct Extent {
  double side[4];         /* right, left, up, down */
  double front, back;     /* along toward */
  double low[3], high[3]; /* their box */
} Extent;

Extent extent_empty(void);
/* Adds count points x y z x y z ...; skips those that are not finite. */
void extent_add(Extent *extent, const Camera *camera, Window window, const float *x, int64_t count);

/* Moves the camera so that the extent just fills the window; a camera with a given eye stays. */
void camera_fit(Camera *camera, const CameraOptions *options, Window window, const Extent *extent);

/* Returns the height of the picture in m at the center of the extent. */
double camera_height(const Camera *camera, const Extent *extent);

/* Computes the matrix from positions in m to clip space of OpenGL, stored by columns. */
void camera_matrix(const Camera *camera, float matrix[16]);

#endif
