/* An offscreen canvas: OpenGL ES 3 through EGL, on a GPU or by Mesa's software rasterizer. Pictures
 * are supersampled, so that edges are smooth. */
#ifndef HOOKE_CLI_CANVAS_H
#define HOOKE_CLI_CANVAS_H

#include "hooke/hooke.h"

typedef struct Canvas Canvas;

/* Creates a canvas for pictures of width x height pixels and makes its OpenGL context current. */
HkStatus canvas_create(int width, int height, Canvas **canvas, HkError *error);
/* Makes the canvas the target of all later drawing. */
void canvas_bind(const Canvas *canvas);
/* *width and *height become the size of the canvas in samples, of which a pixel of the picture has
 * several. */
void canvas_size(const Canvas *canvas, int *width, int *height);
/* Reads the picture, 4 bytes a pixel, row by row from the top. Returns an error if an earlier call
 * of OpenGL failed. */
HkStatus canvas_read(Canvas *canvas, unsigned char *rgba, HkError *error);
/* Returns an error if a call of OpenGL failed; `what` names the work in the message. */
HkStatus canvas_check(const char *what, HkError *error);
/* Returns the name of the renderer, such as "llvmpipe (LLVM 15.0.6, 256 bits)"; the canvas owns it.
 */
const char *canvas_device(const Canvas *canvas);
void canvas_destroy(Canvas **canvas);

#endif
