/* Something to draw on without a display: OpenGL ES 3 through EGL, by a graphics card or by Mesa's
 * software rasterizer. Every picture is drawn larger than it is wanted and made smaller, so that
 * edges are smooth. */
#ifndef HOOKE_CLI_CANVAS_H
#define HOOKE_CLI_CANVAS_H

#include "hooke/hooke.h"

typedef struct Canvas Canvas;

/* Pictures of width x height pixels; OpenGL's context is current from now on. */
HkStatus canvas_create(int width, int height, Canvas **canvas, HkError *error);
/* What is drawn from now on goes onto the canvas. */
void canvas_bind(const Canvas *canvas);
/* Pixels of the canvas, which are smaller than those of the picture. */
void canvas_size(const Canvas *canvas, int *width, int *height);
/* The picture, 4 bytes a pixel, row by row from the top. Fails where any call of OpenGL before did.
 */
HkStatus canvas_read(Canvas *canvas, unsigned char *rgba, HkError *error);
/* Fails where a call of OpenGL did; what: the work that was meant. */
HkStatus canvas_check(const char *what, HkError *error);
/* Who draws, such as "llvmpipe (LLVM 15.0.6, 256 bits)"; owned by the canvas. */
const char *canvas_device(const Canvas *canvas);
void canvas_destroy(Canvas **canvas);

#endif
