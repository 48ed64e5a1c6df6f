/* The drawn parts of a model; see figure.h. */
#include "figure.h"

#include "coil.h"
#include "describe.h"
#include "surface.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the picture's height, and of the mean length of the springs, whichever is less. */
static const double ROD = 0.0028, ROD_OF_LENGTH = 0.10;
static const double BALL = 0.0085, BALL_OF_LENGTH = 0.22;
static const double PIN = 0.0055, PIN_OF_LENGTH = 0.24;
/* A few springs are drawn as coils, and their masses larger. */
enum { FEW_SPRINGS = 8 };
static const double COIL = 0.030, COIL_OF_LENGTH = 0.12, FEW_BALL = 0.026;

enum { KIND_SHEAR = 1, KIND_BENDING = 2 };

/* With more pins only those at the border of a pinned patch are drawn, as small dots. */
enum { MANY_PINS = 60 };
static const double SMALL_PIN = 0.6;

struct Figure {
  const HkModel *model;
  ColorBy by;
  int64_t n, rod_count, ball_count, pin_count, held_count;
  Surface surface;
  HkSpringView springs;
  const double *mass;
  const int32_t *pin;
  double mean_mass;               /* of the balls */
  double mean_length, rod_length; /* of all springs, of those that are drawn */
  int32_t *rod;                   /* indices of the springs that are drawn */
  int32_t *ball;                  /* indices of the vertices that are drawn */
  uint8_t *body;                  /* palette index of the body of each vertex */
  double *release;                /* s, of each pin */
  uint8_t *marked;                /* whether a pin is drawn */
  int32_t *held;                  /* pins that are held at the time of the frame and are drawn */
  float *value;                   /* of a vertex: strain or speed */
  /* The frame: */
  const Frame *frame;
  double end, rod_radius, ball_radius, pin_radius, coil_radius;
  double thickness; /* m, of ropes and nets in contact; 0: there is no contact */
  bool coils, on_faces;
  bool thick; /* rods and balls are drawn with the thickness of contact */
};

/* ---- Creating -------------------------------------------------------------------------------- */

/* Allocates zeros; at least one byte, so that NULL is an error. */
static void *allocate(int64_t count, size_t size) {
  return calloc((size_t)count + 1, size);
}

/* Marks the vertices of bodies that have faces, and sets the palette index of each vertex. */
static void look_at_bodies(Figure *f, const HkModel *model, uint8_t *faced) {
  int64_t first, count;
  for (int b = 0; hk_model_body(model, b, &first, &count); b++) {
    bool any = false;
    for (int64_t q = first; q < first + count && !any; q++) any = surface_has(&f->surface, q);
    memset(f->body + first, b % PALETTE_BODIES, (size_t)count);
    memset(faced + first, any, (size_t)count);
  }
}

/* Chooses the springs that are drawn; bending springs are not. */
static void choose_rods(Figure *f, const uint8_t *faced, bool all) {
  const HkSpringView *s = &f->springs;
  double length = 0, drawn_length = 0, count = 0;
  for (int64_t q = 0; q < s->count; q++) {
    if (s->kind[q] == KIND_BENDING) continue;
    length += s->l0[q];
    count++;
    if (!all && faced[s->i[q]]) continue;
    drawn_length += s->l0[q];
    f->rod[f->rod_count++] = (int32_t)q;
  }
  f->mean_length = count > 0 ? length / count : 0;
  f->rod_length = f->rod_count > 0 ? drawn_length / (double)f->rod_count : 0;
}

static void choose_balls(Figure *f, const uint8_t *faced) {
  for (int64_t q = 0; q < f->n; q++) {
    if (faced[q]) continue;
    f->mean_mass += f->mass[q];
    f->ball[f->ball_count++] = (int32_t)q;
  }
  if (f->ball_count > 0) f->mean_mass /= (double)f->ball_count;
}

/* Finds the release time of each pin. */
static HkStatus find_releases(Figure *f, const HkScene *scene, const HkModel *model,
                              HkError *error) {
  for (int p = 0; p < scene->pin_count; p++) {
    int32_t *vertices;
    int64_t count, at = 0;
    HkStatus status = hk_model_select(model, &scene->pins[p].select, &vertices, &count, error);
    if (status < 0) return status;
    for (int64_t q = 0; q < count; q++) {
      while (at < f->pin_count && f->pin[at] < vertices[q]) at++;
      if (at < f->pin_count && f->pin[at] == vertices[q]) f->release[at] = scene->pins[p].release;
    }
    hk_selection_destroy(model, &vertices);
  }
  return HK_OK;
}

/* Marks pins with a neighbor that is free, or is released earlier; all pins if there are none. */
static bool mark_pins(Figure *f) {
  const HkSpringView *s = &f->springs;
  double *until = allocate(f->n, sizeof *until); /* release time of each vertex */
  uint8_t *border = allocate(f->n, 1);
  bool few = f->pin_count <= MANY_PINS, any = false;
  if (!until || !border) {
    free(until);
    free(border);
    return false;
  }
  for (int64_t q = 0; q < f->n; q++) until[q] = -INFINITY;
  for (int64_t q = 0; q < f->pin_count; q++) until[f->pin[q]] = f->release[q];
  for (int64_t q = 0; q < s->count; q++) {
    if (s->kind[q] == KIND_SHEAR || s->kind[q] == KIND_BENDING) continue;
    if (until[s->i[q]] > until[s->j[q]]) border[s->i[q]] = 1;
    if (until[s->j[q]] > until[s->i[q]]) border[s->j[q]] = 1;
    if (until[s->i[q]] != until[s->j[q]]) any = true;
  }
  for (int64_t q = 0; q < f->pin_count; q++) f->marked[q] = few || !any || border[f->pin[q]];
  free(until);
  free(border);
  return true;
}

static bool allocate_arrays(Figure *f) {
  f->rod = allocate(f->springs.count, sizeof *f->rod);
  f->ball = allocate(f->n, sizeof *f->ball);
  f->body = allocate(f->n, sizeof *f->body);
  f->release = allocate(f->pin_count, sizeof *f->release);
  f->marked = allocate(f->pin_count, sizeof *f->marked);
  f->held = allocate(f->pin_count, sizeof *f->held);
  f->value = allocate(f->n, sizeof *f->value);
  return f->rod && f->ball && f->body && f->release && f->marked && f->held && f->value;
}

static HkStatus no_memory(const Figure *f, HkError *error) {
  return text_fail(error, HK_ERROR_MEMORY, "no memory for drawing %s vertices", text_count(f->n).c);
}

static HkStatus fill(Figure *f, const HkScene *scene, const HkModel *model, bool springs,
                     HkError *error) {
  uint8_t *faced = allocate(f->n, 1);
  if (!faced || !allocate_arrays(f)) {
    free(faced);
    return no_memory(f, error);
  }
  look_at_bodies(f, model, faced);
  choose_rods(f, faced, springs);
  choose_balls(f, faced);
  free(faced);
  f->on_faces = springs && f->surface.face_count > 0;
  f->coils = f->rod_count <= FEW_SPRINGS && f->surface.face_count == 0;
  HkStatus status = find_releases(f, scene, model, error);
  return status < 0 || mark_pins(f) ? status : no_memory(f, error);
}

static double find_thickness(const HkScene *scene) {
  for (int q = 0; q < scene->force_count; q++)
    if (strcmp(scene->forces[q].schema->name, "contact") == 0)
      return describe_number(&scene->forces[q], "thickness");
  return 0;
}

HkStatus figure_create(const HkScene *scene, const HkModel *model, ColorBy by, bool springs,
                       Figure **figure, HkError *error) {
  Figure *f = *figure = calloc(1, sizeof *f);
  if (!f) return text_fail(error, HK_ERROR_MEMORY, "no memory for drawing");
  f->model = model;
  f->by = by;
  f->n = hk_model_info(model).vertices;
  f->pin = hk_model_pins(model, &f->pin_count);
  f->springs = hk_model_springs(model);
  f->mass = hk_model_masses(model);
  f->thickness = find_thickness(scene);
  HkStatus status = surface_create(model, &f->surface, error);
  if (status >= 0) status = fill(f, scene, model, springs, error);
  if (status < 0) figure_destroy(figure);
  return status;
}

int64_t figure_vertices(const Figure *f) {
  return f->n;
}

void figure_destroy(Figure **figure) {
  Figure *f = *figure;
  if (!f) return;
  surface_destroy(&f->surface);
  free(f->rod);
  free(f->ball);
  free(f->body);
  free(f->release);
  free(f->marked);
  free(f->held);
  free(f->value);
  free(f);
  *figure = NULL;
}

/* ---- A frame --------------------------------------------------------------------------------- */

static double strain_of(const Figure *f, int64_t spring) {
  const float *a = f->frame->x + 3 * (int64_t)f->springs.i[spring];
  const float *b = f->frame->x + 3 * (int64_t)f->springs.j[spring];
  double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2], l0 = f->springs.l0[spring];
  return l0 > 0 ? sqrt(x * x + y * y + z * z) / l0 - 1 : 0;
}

void figure_pose(Figure *f, const Frame *frame) {
  f->frame = frame;
  f->held_count = 0;
  for (int64_t q = 0; q < f->pin_count; q++)
    if (f->marked[q] && f->release[q] > frame->time) f->held[f->held_count++] = f->pin[q];
  surface_pose(&f->surface, frame->x);
  if (f->by == COLOR_STRAIN) hk_model_strains_single(f->model, frame->x, f->value);
  if (f->by == COLOR_SPEED) memcpy(f->value, frame->speed, (size_t)f->n * sizeof *f->value);
}

void figure_spread(const Figure *f, Spread *spread) {
  if (f->by == COLOR_NONE) return;
  for (int64_t q = 0; q < f->n; q++)
    if (f->by == COLOR_SPEED || surface_has(&f->surface, q)) spread_add(spread, f->value[q]);
  for (int64_t q = 0; q < f->rod_count && f->by == COLOR_STRAIN; q++)
    spread_add(spread, strain_of(f, f->rod[q]));
}

static double lesser(double height, double part, double length, double part_of_length) {
  return length > 0 ? fmin(height * part, length * part_of_length) : height * part;
}

void figure_scale(Figure *f, double end, double height) {
  f->end = end;
  f->rod_radius = lesser(height, ROD, f->rod_length, ROD_OF_LENGTH);
  f->ball_radius = lesser(height, BALL, f->rod_length, BALL_OF_LENGTH);
  f->pin_radius = lesser(height, PIN, f->mean_length, PIN_OF_LENGTH);
  f->coil_radius = lesser(height, COIL, f->rod_length, COIL_OF_LENGTH);
  if (f->by == COLOR_STRAIN) f->ball_radius *= 0.6; /* strain is shown by the springs */
  if (f->coils) f->ball_radius = lesser(height, FEW_BALL, f->rod_length, BALL_OF_LENGTH);
  if (f->ball_count > 0) f->pin_radius = 1.1 * f->ball_radius; /* a mass is in it */
  if (f->pin_count > MANY_PINS) f->pin_radius *= SMALL_PIN;
  f->thick = !f->on_faces && f->thickness / 2 > f->rod_radius;
  if (f->thick) f->rod_radius = f->thickness / 2;
  if (f->thick) f->pin_radius = fmax(f->pin_radius, 1.2 * f->rod_radius);
  if (f->on_faces) f->rod_radius *= 0.5;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

static float palette(int index) {
  return (float)(-1 - index);
}

/* Returns the position of a value on the color map. */
static float mapped(const Figure *f, double value) {
  double t = f->by == COLOR_STRAIN ? 0.5 + 0.5 * value / f->end : value / f->end;
  return (float)fmin(fmax(t, 0), 1);
}

/* Returns the number of items from first on, at most count. */
static int64_t left(int64_t all, int64_t first, int64_t count) {
  int64_t rest = all - first;
  return rest < 0 ? 0 : rest < count ? rest : count;
}

int64_t figure_corners(const Figure *f, int64_t first, int64_t faces, Corner *corners) {
  int64_t count = left(f->surface.face_count, first, faces);
  for (int64_t q = 0; q < 3 * count; q++) {
    int64_t vertex = f->surface.face[3 * first + q];
    memcpy(corners[q].x, f->frame->x + 3 * vertex, sizeof corners[q].x);
    surface_normal(&f->surface, 3 * first + q, corners[q].normal);
    corners[q].value = f->by == COLOR_NONE ? palette(f->body[vertex]) : mapped(f, f->value[vertex]);
  }
  return 3 * count;
}

int64_t figure_rods(const Figure *f, int64_t first, int64_t count, Rod *rods) {
  int parts = f->coils ? COIL_PARTS : 1;
  count = left(f->rod_count * parts, first, count);
  for (int64_t q = 0; q < count; q++) {
    int64_t spring = f->rod[(first + q) / parts], i = f->springs.i[spring],
            j = f->springs.j[spring];
    const float *a = f->frame->x + 3 * i, *b = f->frame->x + 3 * j;
    Rod *rod = &rods[q];
    rod->radius = rod->same_radius = (float)f->rod_radius;
    memcpy(rod->a, a, sizeof rod->a);
    memcpy(rod->b, b, sizeof rod->b);
    if (f->coils) coil_point(a, b, f->coil_radius, (int)((first + q) % parts), rod->a);
    if (f->coils) coil_point(a, b, f->coil_radius, (int)((first + q) % parts) + 1, rod->b);
    rod->value[0] = f->by == COLOR_NONE    ? palette(f->thick ? f->body[i] : PALETTE_LINE)
                    : f->by == COLOR_SPEED ? mapped(f, f->value[i])
                                           : mapped(f, strain_of(f, spring));
    rod->value[1] = f->by == COLOR_SPEED ? mapped(f, f->value[j]) : rod->value[0];
  }
  return count;
}

/* Returns the ball of a vertex, with a volume in proportion to its mass. */
static Ball mass_at(const Figure *f, int64_t vertex) {
  double size = f->mean_mass > 0 ? cbrt(f->mass[vertex] / f->mean_mass) : 1;
  Ball ball = {.radius =
                   (float)(f->thick ? f->rod_radius : f->ball_radius * fmin(fmax(size, 0.5), 3))};
  memcpy(ball.x, f->frame->x + 3 * vertex, sizeof ball.x);
  ball.value = f->by == COLOR_SPEED  ? mapped(f, f->value[vertex])
               : f->by == COLOR_NONE ? palette(f->body[vertex])
                                     : palette(PALETTE_MASS);
  return ball;
}

static Ball pin_at(const Figure *f, int64_t vertex) {
  Ball ball = {.radius = (float)f->pin_radius, .value = palette(PALETTE_PIN)};
  memcpy(ball.x, f->frame->x + 3 * vertex, sizeof ball.x);
  return ball;
}

int64_t figure_balls(const Figure *f, int64_t first, int64_t count, Ball *balls) {
  count = left(f->ball_count + f->held_count, first, count);
  for (int64_t q = 0; q < count; q++) {
    int64_t at = first + q;
    balls[q] =
        at < f->ball_count ? mass_at(f, f->ball[at]) : pin_at(f, f->held[at - f->ball_count]);
  }
  return count;
}
