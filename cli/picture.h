/* Pictures of one motion, all seen by the same camera and in the same colors. Those that will be
 * drawn are measured first. */
#ifndef HOOKE_CLI_PICTURE_H
#define HOOKE_CLI_PICTURE_H

#include "camera.h"
#include "figure.h"
#include "frames.h"

typedef struct PictureOptions {
  int width, height; /* pixels */
  ColorBy by;
  double end;          /* of the scale of colors; 0: what the frames have */
  bool springs, clock; /* springs also on faces; the time in a corner */
  CameraOptions camera;
} PictureOptions;

typedef struct Picture Picture;

/* Creates a picture; it uses only the scene and the model of the frames. */
HkStatus picture_create(const Frames *frames, const PictureOptions *options, Picture **picture,
                        HkError *error);
void picture_destroy(Picture **picture);
/* Takes a frame into account. */
void picture_measure(Picture *picture, const Frame *frame);
/* All frames are measured: places the camera and scales the colors. */
void picture_settle(Picture *picture);
/* One frame, 4 bytes a pixel, row by row from the top. */
HkStatus picture_draw(Picture *picture, const Frame *frame, unsigned char *rgba, HkError *error);
/* Who draws. */
const char *picture_device(const Picture *picture);

#endif
