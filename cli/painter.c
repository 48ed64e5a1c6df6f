/* Draws with OpenGL ES 3; see painter.h. Errors of its calls are found by canvas_read. */
#include "painter.h"

#include "shaders.h"
#include "text.h"

#include <GLES3/gl3.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of objects, each with its own shader program. */
typedef enum Kind { FACES, RODS, BALLS, BACKGROUND, PLANE, BLUR, KIND_COUNT } Kind;

static const Shader *const shaders[KIND_COUNT] = {&shader_faces,      &shader_rods,  &shader_balls,
                                                  &shader_background, &shader_plane, &shader_blur};

struct Painter {
  GLuint program[KIND_COUNT], array[KIND_COUNT], buffer[KIND_COUNT];
  GLuint view;                   /* the uniform block */
  GLuint ramp;                   /* texture of colors */
  GLuint mask[2], mask_frame[2]; /* the mask of the shadow, and a second one for the blur */
};

/* ---- Programs -------------------------------------------------------------------------------- */

static HkStatus compile(GLenum type, const char *text, const char *name, GLuint *shader,
                        HkError *error) {
  const char *texts[] = {shader_common, text};
  char log[512] = "";
  GLint good = 0;
  *shader = glCreateShader(type);
  glShaderSource(*shader, 2, texts, NULL);
  glCompileShader(*shader);
  glGetShaderiv(*shader, GL_COMPILE_STATUS, &good);
  if (good) return HK_OK;
  glGetShaderInfoLog(*shader, sizeof log, NULL, log);
  return text_fail(error, HK_ERROR_IO, "OpenGL: the %s shader of %s is refused: %s",
                   type == GL_VERTEX_SHADER ? "vertex" : "fragment", name, log);
}

static HkStatus link_program(GLuint program, const char *name, HkError *error) {
  char log[512] = "";
  GLint good = 0;
  glLinkProgram(program);
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (!good) {
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    return text_fail(error, HK_ERROR_IO, "OpenGL: the program of %s is refused: %s", name, log);
  }
  GLuint block = glGetUniformBlockIndex(program, "View");
  if (block != GL_INVALID_INDEX) glUniformBlockBinding(program, block, 0);
  return HK_OK;
}

static HkStatus make_program(const Shader *shader, GLuint *program, HkError *error) {
  GLuint vertex = 0, fragment = 0;
  *program = glCreateProgram();
  HkStatus status = compile(GL_VERTEX_SHADER, shader->vertex, shader->name, &vertex, error);
  if (status >= 0)
    status = compile(GL_FRAGMENT_SHADER, shader->fragment, shader->name, &fragment, error);
  if (status >= 0) {
    glAttachShader(*program, vertex);
    glAttachShader(*program, fragment);
    status = link_program(*program, shader->name, error);
  }
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  return status;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Sets one attribute of the bound buffer; each: 1 if it advances with each instance. */
static void attribute(GLuint index, int numbers, size_t stride, size_t offset, GLuint each) {
  glEnableVertexAttribArray(index);
  const void *place; /* an offset, which OpenGL expects as a pointer */
  uintptr_t number = offset;
  memcpy(&place, &number, sizeof place);
  glVertexAttribPointer(index, numbers, GL_FLOAT, GL_FALSE, (GLsizei)stride, place);
  glVertexAttribDivisor(index, each);
}

static void make_arrays(Painter *p) {
  glGenVertexArrays(KIND_COUNT, p->array);
  glGenBuffers(KIND_COUNT, p->buffer);
  for (int q = 0; q < KIND_COUNT; q++) {
    glBindVertexArray(p->array[q]);
    glBindBuffer(GL_ARRAY_BUFFER, p->buffer[q]);
    if (q == FACES) {
      attribute(ATTRIBUTE_A, 3, sizeof(Corner), offsetof(Corner, x), 0);
      attribute(ATTRIBUTE_B, 3, sizeof(Corner), offsetof(Corner, normal), 0);
      attribute(ATTRIBUTE_VALUE, 1, sizeof(Corner), offsetof(Corner, value), 0);
    } else if (q == RODS) {
      attribute(ATTRIBUTE_A, 4, sizeof(Rod), offsetof(Rod, a), 1);
      attribute(ATTRIBUTE_B, 4, sizeof(Rod), offsetof(Rod, b), 1);
      attribute(ATTRIBUTE_VALUE, 2, sizeof(Rod), offsetof(Rod, value), 1);
    } else if (q == BALLS) {
      attribute(ATTRIBUTE_A, 4, sizeof(Ball), offsetof(Ball, x), 1);
      attribute(ATTRIBUTE_VALUE, 1, sizeof(Ball), offsetof(Ball, value), 1);
    }
  }
}

/* ---- Textures -------------------------------------------------------------------------------- */

static void make_texture(GLuint *texture, GLenum inner, GLenum format, int width, int height,
                         const unsigned char *bytes) {
  glGenTextures(1, texture);
  glBindTexture(GL_TEXTURE_2D, *texture);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, (GLint)inner, width, height, 0, format, GL_UNSIGNED_BYTE, bytes);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

static void make_masks(Painter *p) {
  glGenFramebuffers(2, p->mask_frame);
  for (int q = 0; q < 2; q++) {
    make_texture(&p->mask[q], GL_R8, GL_RED, SHADOW_PIXELS, SHADOW_PIXELS, NULL);
    glBindFramebuffer(GL_FRAMEBUFFER, p->mask_frame[q]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, p->mask[q], 0);
  }
}

/* ---- The painter ----------------------------------------------------------------------------- */

HkStatus painter_create(const unsigned char *ramp, Painter **painter, HkError *error) {
  Painter *p = *painter = calloc(1, sizeof *p);
  if (!p) return text_fail(error, HK_ERROR_MEMORY, "no memory for drawing");
  HkStatus status = HK_OK;
  for (int q = 0; q < KIND_COUNT && status >= 0; q++)
    status = make_program(shaders[q], &p->program[q], error);
  if (status >= 0) {
    make_arrays(p);
    make_texture(&p->ramp, GL_RGBA8, GL_RGBA, RAMP_WIDTH, RAMP_HEIGHT, ramp);
    make_masks(p);
    glGenBuffers(1, &p->view);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, p->view);
    status = canvas_check("preparing to draw", error);
  }
  if (status < 0) painter_destroy(painter);
  return status;
}

void painter_destroy(Painter **painter) {
  Painter *p = *painter;
  if (!p) return;
  for (int q = 0; q < KIND_COUNT; q++) glDeleteProgram(p->program[q]);
  glDeleteVertexArrays(KIND_COUNT, p->array);
  glDeleteBuffers(KIND_COUNT, p->buffer);
  glDeleteBuffers(1, &p->view);
  glDeleteTextures(1, &p->ramp);
  glDeleteTextures(2, p->mask);
  glDeleteFramebuffers(2, p->mask_frame);
  free(p);
  *painter = NULL;
}

void painter_look(Painter *p, const View *view) {
  glBindBuffer(GL_UNIFORM_BUFFER, p->view);
  glBufferData(GL_UNIFORM_BUFFER, sizeof *view, view, GL_DYNAMIC_DRAW);
}

static void take_up(const Painter *p, Kind kind, GLuint texture) {
  glUseProgram(p->program[kind]);
  glBindVertexArray(p->array[kind]);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, texture);
}

void painter_begin(Painter *p, const Canvas *canvas) {
  canvas_bind(canvas);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDepthMask(GL_TRUE);
  glClearColor(1, 1, 1, 1);
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  take_up(p, BACKGROUND, 0);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LEQUAL);
}

/* ---- Faces, rods and balls
 * ---------------------------------------------------------------------------------- */

static void send(const Painter *p, Kind kind, const void *bytes, size_t size) {
  take_up(p, kind, p->ramp);
  glBindBuffer(GL_ARRAY_BUFFER, p->buffer[kind]);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, bytes, GL_STREAM_DRAW);
}

void painter_faces(Painter *p, const Corner *corners, int64_t count) {
  send(p, FACES, corners, (size_t)count * sizeof *corners);
  glDrawArrays(GL_TRIANGLES, 0, (GLsizei)count);
}

void painter_rods(Painter *p, const Rod *rods, int64_t count) {
  send(p, RODS, rods, (size_t)count * sizeof *rods);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)count);
}

void painter_balls(Painter *p, const Ball *balls, int64_t count) {
  send(p, BALLS, balls, (size_t)count * sizeof *balls);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, (GLsizei)count);
}

/* ---- Shadow and water ------------------------------------------------------------------------ */

void painter_begin_shadow(Painter *p) {
  glBindFramebuffer(GL_FRAMEBUFFER, p->mask_frame[0]);
  glViewport(0, 0, SHADOW_PIXELS, SHADOW_PIXELS);
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glClearColor(0, 0, 0, 0);
  glClear(GL_COLOR_BUFFER_BIT);
}

void painter_end_shadow(Painter *p, double softness) {
  for (int q = 0; q < 2; q++) {
    glBindFramebuffer(GL_FRAMEBUFFER, p->mask_frame[1 - q]);
    take_up(p, BLUR, p->mask[q]);
    glUniform2f(glGetUniformLocation(p->program[BLUR], "reach"), q == 0 ? (float)softness : 0,
                q == 1 ? (float)softness : 0);
    glDrawArrays(GL_TRIANGLES, 0, 3);
  }
}

void painter_plane(Painter *p, const Plane *plane, PlaneKind kind) {
  GLuint program = p->program[PLANE];
  take_up(p, PLANE, p->mask[0]);
  glUniform3fv(glGetUniformLocation(program, "middle"), 1, plane->middle);
  glUniform3fv(glGetUniformLocation(program, "across"), 1, plane->across);
  glUniform3fv(glGetUniformLocation(program, "along"), 1, plane->along);
  glUniform1i(glGetUniformLocation(program, "kind"), kind == PLANE_WATER);
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ZERO, GL_ONE);
  glDepthMask(GL_FALSE);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glDepthMask(GL_TRUE);
  glDisable(GL_BLEND);
}
