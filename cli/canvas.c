/* Offscreen canvas; see canvas.h.
 *
 * EGL has several platforms without a window. They are tried in this order: the devices that it
 * lists (NVIDIA's drivers), Mesa's surfaceless platform (a GPU with a Mesa driver, or its software
 * rasterizer), and the default display.
 *
 *     samples (2 width x 2 height, 4 samples a pixel) -> whole (2 width x 2 height) -> small
 *
 * The first step resolves the samples, the second takes the mean of 2 x 2 pixels.
 */
#include "canvas.h"

#include "text.h"

#define EGL_NO_X11 /* no display is needed */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdlib.h>
#include <string.h>

enum { FINER = 2, SAMPLES = 4, MAX_DEVICES = 16 };
static const double MOST_BYTES = 1.2e9;

/* A framebuffer with its colors and, where it has one, its depth. */
typedef struct Layer {
  GLuint frame, color, depth;
  int width, height;
} Layer;

struct Canvas {
  EGLDisplay display;
  EGLContext context;
  EGLSurface surface; /* one pixel, for drivers that require a surface */
  char device[128];
  Layer samples, whole, small;
  unsigned char *rows;
};

/* ---- EGL ------------------------------------------------------------------------------------- */

static bool has_extension(EGLDisplay display, const char *name) {
  const char *list = eglQueryString(display, EGL_EXTENSIONS);
  size_t length = strlen(name);
  for (const char *at = list; at && (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
  return false;
}

/* Creates a context without a surface if the driver supports that. */
static bool make_context(Canvas *c) {
  static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                  EGL_OPENGL_ES3_BIT, EGL_NONE};
  static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  static const EGLint one_pixel[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
  EGLConfig config;
  EGLint count = 0;
  if (!eglBindAPI(EGL_OPENGL_ES_API)) return false;
  if (!eglChooseConfig(c->display, wanted, &config, 1, &count) || count == 0) return false;
  c->context = eglCreateContext(c->display, config, EGL_NO_CONTEXT, version);
  if (c->context == EGL_NO_CONTEXT) return false;
  if (!has_extension(c->display, "EGL_KHR_surfaceless_context"))
    c->surface = eglCreatePbufferSurface(c->display, config, one_pixel);
  return eglMakeCurrent(c->display, c->surface, c->surface, c->context) == EGL_TRUE;
}

static void leave_display(Canvas *c) {
  if (c->display == EGL_NO_DISPLAY) return;
  eglMakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  if (c->surface != EGL_NO_SURFACE) eglDestroySurface(c->display, c->surface);
  if (c->context != EGL_NO_CONTEXT) eglDestroyContext(c->display, c->context);
  eglTerminate(c->display);
  eglReleaseThread();
  c->display = EGL_NO_DISPLAY;
  c->context = EGL_NO_CONTEXT;
  c->surface = EGL_NO_SURFACE;
}

static bool try_display(Canvas *c, EGLDisplay display) {
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL)) return false;
  c->display = display;
  if (make_context(c)) return true;
  leave_display(c);
  return false;
}

static EGLDisplay platform_display(EGLenum platform, void *native) {
  PFNEGLGETPLATFORMDISPLAYEXTPROC get =
      (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  return get ? get(platform, native, NULL) : EGL_NO_DISPLAY;
}

/* Tries the devices that EGL lists; software devices are left to the surfaceless platform. */
static bool try_devices(Canvas *c) {
  EGLDeviceEXT devices[MAX_DEVICES];
  EGLint count = 0;
  PFNEGLQUERYDEVICESEXTPROC query =
      (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
  PFNEGLQUERYDEVICESTRINGEXTPROC tell =
      (PFNEGLQUERYDEVICESTRINGEXTPROC)eglGetProcAddress("eglQueryDeviceStringEXT");
  if (!query || !tell || !query(MAX_DEVICES, devices, &count)) return false;
  for (int q = 0; q < count; q++) {
    const char *extensions = tell(devices[q], EGL_EXTENSIONS);
    if (extensions && strstr(extensions, "EGL_MESA_device_software")) continue;
    if (try_display(c, platform_display(EGL_PLATFORM_DEVICE_EXT, devices[q]))) return true;
  }
  return false;
}

static HkStatus open_display(Canvas *c, HkError *error) {
  setenv("EGL_LOG_LEVEL", "fatal", 0); /* hides warnings of Mesa while platforms are tried */
  if (has_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") && try_devices(c)) return HK_OK;
  if (has_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless") &&
      try_display(c, platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY)))
    return HK_OK;
  if (try_display(c, eglGetDisplay(EGL_DEFAULT_DISPLAY))) return HK_OK;
  return text_fail(
      error, HK_ERROR_IO,
      "EGL finds nothing to draw with OpenGL ES 3 (its error is 0x%x); Mesa's software "
      "rasterizer does without a GPU: apt-get install libegl-mesa0 "
      "libgl1-mesa-dri",
      (unsigned)eglGetError());
}

/* ---- Framebuffers ---------------------------------------------------------------------------- */

HkStatus canvas_check(const char *what, HkError *error) {
  GLenum first = glGetError();
  if (first == GL_NO_ERROR) return HK_OK;
  for (int q = 0; q < 100 && glGetError() != GL_NO_ERROR; q++) {
  } /* those that follow from it */
  return text_fail(error, first == GL_OUT_OF_MEMORY ? HK_ERROR_MEMORY : HK_ERROR_IO,
                   "OpenGL: %s failed with error 0x%x%s", what, (unsigned)first,
                   first == GL_OUT_OF_MEMORY ? ", out of memory; give a smaller --size" : "");
}

static GLuint make_store(GLenum format, int samples, int width, int height) {
  GLuint name;
  glGenRenderbuffers(1, &name);
  glBindRenderbuffer(GL_RENDERBUFFER, name);
  if (samples > 0)
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
  else
    glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
  return name;
}

static HkStatus make_layer(Layer *layer, int width, int height, int samples, bool depth,
                           HkError *error) {
  layer->width = width;
  layer->height = height;
  glGenFramebuffers(1, &layer->frame);
  glBindFramebuffer(GL_FRAMEBUFFER, layer->frame);
  layer->color = make_store(GL_RGBA8, samples, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, layer->color);
  if (depth) {
    layer->depth = make_store(GL_DEPTH_COMPONENT24, samples, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, layer->depth);
  }
  HkStatus status = canvas_check("making the canvas", error);
  if (status < 0) return status;
  GLenum state = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  if (state == GL_FRAMEBUFFER_COMPLETE) return HK_OK;
  return text_fail(error, HK_ERROR_IO, "OpenGL: a canvas of %d x %d pixels is not to be had (0x%x)",
                   width, height, (unsigned)state);
}

static void drop_layer(Layer *layer) {
  glDeleteFramebuffers(1, &layer->frame);
  glDeleteRenderbuffers(1, &layer->color);
  glDeleteRenderbuffers(1, &layer->depth);
}

/* Memory of the samples: color and depth. */
static double sample_bytes(int width, int height, int finer, int samples) {
  return 8.0 * width * height * finer * finer * (samples > 0 ? samples : 1);
}

static HkStatus make_layers(Canvas *c, int width, int height, HkError *error) {
  GLint most = 0, samples = 0, larger = width > height ? width : height;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
  glGetIntegerv(GL_MAX_SAMPLES, &samples);
  if (larger > most)
    return text_fail(error, HK_ERROR_INVALID,
                     "--size: %s draws pictures of up to %d pixels a side, not %d", c->device, most,
                     larger);
  int finer = larger <= most / FINER ? FINER : 1;
  samples = samples < SAMPLES ? 0 : SAMPLES;
  /* Large pictures are not supersampled: their samples would take gigabytes. */
  if (sample_bytes(width, height, finer, samples) > MOST_BYTES) finer = 1;
  if (sample_bytes(width, height, finer, samples) > MOST_BYTES) samples = 0;
  HkStatus status = make_layer(&c->samples, finer * width, finer * height, samples, true, error);
  if (status >= 0) status = make_layer(&c->whole, finer * width, finer * height, 0, false, error);
  if (status >= 0) status = make_layer(&c->small, width, height, 0, false, error);
  return status;
}

/* ---- The canvas ------------------------------------------------------------------------------ */

HkStatus canvas_create(int width, int height, Canvas **canvas, HkError *error) {
  Canvas *c = *canvas = calloc(1, sizeof *c);
  if (c) c->rows = malloc((size_t)width * (size_t)height * 4);
  if (!c || !c->rows) {
    canvas_destroy(canvas);
    return text_fail(error, HK_ERROR_MEMORY, "no memory for a picture of %d x %d pixels", width,
                     height);
  }
  HkStatus status = open_display(c, error);
  if (status >= 0) {
    const char *name = (const char *)glGetString(GL_RENDERER);
    snprintf(c->device, sizeof c->device, "%s", name ? name : "unknown");
    status = make_layers(c, width, height, error);
  }
  if (status < 0) canvas_destroy(canvas);
  return status;
}

void canvas_destroy(Canvas **canvas) {
  Canvas *c = *canvas;
  if (!c) return;
  if (c->context != EGL_NO_CONTEXT) {
    drop_layer(&c->samples);
    drop_layer(&c->whole);
    drop_layer(&c->small);
  }
  leave_display(c);
  free(c->rows);
  free(c);
  *canvas = NULL;
}

void canvas_bind(const Canvas *c) {
  glBindFramebuffer(GL_FRAMEBUFFER, c->samples.frame);
  glViewport(0, 0, c->samples.width, c->samples.height);
}

void canvas_size(const Canvas *c, int *width, int *height) {
  *width = c->samples.width;
  *height = c->samples.height;
}

const char *canvas_device(const Canvas *c) {
  return c->device;
}

static void copy_layer(const Layer *from, const Layer *to, GLenum filter) {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, from->frame);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to->frame);
  glBlitFramebuffer(0, 0, from->width, from->height, 0, 0, to->width, to->height,
                    GL_COLOR_BUFFER_BIT, filter);
}

HkStatus canvas_read(Canvas *c, unsigned char *rgba, HkError *error) {
  int width = c->small.width, height = c->small.height;
  size_t row = (size_t)width * 4;
  copy_layer(&c->samples, &c->whole, GL_NEAREST);
  copy_layer(&c->whole, &c->small, GL_LINEAR);
  glBindFramebuffer(GL_FRAMEBUFFER, c->small.frame);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, c->rows);
  HkStatus status = canvas_check("drawing", error);
  /* OpenGL counts rows from the bottom. */
  for (int y = 0; y < height && status >= 0; y++)
    memcpy(rgba + (size_t)y * row, c->rows + (size_t)(height - 1 - y) * row, row);
  return status;
}
