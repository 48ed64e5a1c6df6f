/* Pictures of one motion, all with the same camera and color scale, for which all frames are
 * measured first. */
#ifndef HOOKE_CLI_PICTURE_H
#define HOOKE_CLI_PICTURE_H

#include "camera.h"
#include "figure.h"
#include "frames.h"

typedef struct PictureOptions {
  int width, height; /* pixels */
  ColorBy by;
  double end;          /* end of the color scale; 0: from the values of the frames */
  bool springs, clock; /* draw springs also where there are faces; write the time */
  CameraOptions camera;
} PictureOptions;

typedef struct Picture Picture;

/* Creates a picture; it uses only the scene and the model of the frames. */
HkStatus picture_create(const Frames *frames, const PictureOptions *options, Picture **picture,
                        HkError *error);
void picture_destroy(Picture **picture);
/* Adds a frame to extent and color scale. */
void picture_measure(Picture *picture, const Frame *frame);
/* Places the camera and sets the color scale, after all frames are measured. */
void picture_settle(Picture *picture);
/* Draws one frame, 4 bytes a pixel, row by row from the top. */
HkStatus picture_draw(Picture *picture, const Frame *frame, unsigned char *rgba, HkError *error);
/* Returns the name of the renderer. */
const char *picture_device(const Picture *picture);

#endif
