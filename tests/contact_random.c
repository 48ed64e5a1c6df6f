/* Small random scenes in contact; see contact_random.h. */
#include "contact_random.h"

#include "model_by_hand.h"

#include <stdarg.h>

enum { TEXT_MAX = 20000 };

typedef struct Scene {
  uint64_t seed;
  int size; /* vertices along an edge of a sheet */
  double k, mass, decades, speed, h;
  char text[TEXT_MAX];
  int used;
} Scene;

__attribute__((format(printf, 2, 3))) static void put(Scene *s, const char *format, ...) {
  va_list values;
  va_start(values, format);
  s->used += vsnprintf(s->text + s->used, (size_t)(TEXT_MAX - s->used), format, values);
  va_end(values);
}

static double between(Scene *s, double low, double high) {
  return low + (high - low) * 0.5 * (1 + test_random(&s->seed));
}

/* Masses of `count` vertices, and what follows the shape of a body. */
static void put_matter(Scene *s, int count, double speed) {
  put(s, "'springs': {'k': %.17g, 'shear': true}, 'velocity': [%g, %g, %g], ", s->k,
      between(s, -0.1, 0.1) * speed, -speed, between(s, -0.1, 0.1) * speed);
  put(s, "'mass': {'per_vertex': %.17g, 'added': [", s->mass);
  for (int i = 0; i < count; i++)
    put(s, "%s[%d, %.17g]", i ? ", " : "", i, s->mass * pow(10, between(s, 0, s->decades)));
  put(s, "]}}");
}

/* A sheet of 0.2 m across y, turned by a few degrees. */
static void put_sheet(Scene *s, const char *name, double height, double speed) {
  put(s,
      "{'name': '%s', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'width': 0.2, 'height': 0.2, "
      "'plane': 'xz', 'centered': true}, 'transform': {'axis': [%g, %g, %g], 'angle': %g, "
      "'translate': [%g, %.17g, %g]}, ",
      name, s->size, s->size, between(s, -0.02, 0.02), 1.0, between(s, -0.02, 0.02),
      between(s, -40, 40), between(s, -0.02, 0.02), height, between(s, -0.02, 0.02));
  put_matter(s, s->size * s->size, speed);
}

static void sheet_on_ball(Scene *s) {
  put(s, "'bodies': [");
  put_sheet(s, "sheet", 0, s->speed);
  put(s, "], 'obstacles': [{'type': 'ball', 'center': [%g, -0.106, %g], 'radius': 0.1}], ",
      between(s, -0.05, 0.05), between(s, -0.05, 0.05));
}

static void two_sheets(Scene *s) {
  put(s, "'bodies': [");
  put_sheet(s, "lower", 0, -0.5 * s->speed);
  put(s, ", ");
  put_sheet(s, "upper", 0.012, 0.5 * s->speed);
  put(s, "], ");
}

static void sheet_on_ground(Scene *s) {
  put(s, "'bodies': [");
  put_sheet(s, "sheet", 0.01, s->speed);
  put(s, "], ");
}

static void sheet_on_box(Scene *s) {
  put(s, "'bodies': [");
  put_sheet(s, "sheet", 0, s->speed);
  put(s,
      "], 'obstacles': [{'type': 'box', 'center': [0.01, -0.058, 0.02], 'size': [0.1, 0.1, 0.1], "
      "'axis': [0, 1, 0], 'angle': %g}], ",
      between(s, 0, 90));
}

static void block_on_sheet(Scene *s) {
  put(s, "'bodies': [");
  put(s,
      "{'name': 'block', 'shape': {'type': 'tet_block', 'nx': 2, 'ny': 2, 'nz': 2, 'size': [0.06, "
      "0.06, 0.06], 'centered': true}, 'transform': {'axis': [%g, 1, %g], 'angle': %g, "
      "'translate': [0.01, 0.045, -0.01]}, ",
      between(s, -0.1, 0.1), between(s, -0.1, 0.1), between(s, 0, 90));
  put_matter(s, 8, s->speed);
  put(s, ", ");
  put_sheet(s, "sheet", 0, 0);
  put(s, "], 'pins': [{'select': {'set': 'corners', 'body': 'sheet'}}], ");
}

static void masses_on_plane(Scene *s) {
  enum { COUNT = 9 };
  put(s, "'bodies': [{'name': 'masses', 'mesh': {'vertices': [");
  for (int i = 0; i < COUNT; i++)
    put(s, "%s[%g, %g, %g]", i ? ", " : "", 0.05 * (i % 3), between(s, 0.004, 0.02),
        0.05 * (i / 3)); /* NOLINT(bugprone-integer-division) */
  put(s, "]}, ");
  put_matter(s, COUNT, s->speed);
  put(s, "], 'obstacles': [{'type': 'plane', 'normal': [0.1, 1, 0.05]}], ");
}

static void chain_in_plane(Scene *s) {
  int count = 3 * s->size;
  put(s,
      "'dimension': 2, 'bodies': [{'name': 'chain', 'shape': {'type': 'chain', 'n': %d, "
      "'start': [-0.1, 0.004, 0], 'end': [0.1, %g, 0]}, ",
      count, between(s, 0.004, 0.02));
  put_matter(s, count, s->speed);
  put(s,
      "], 'obstacles': [{'type': 'box', 'center': [0.02, -0.053, 0], 'size': [0.1, 0.1, 0.1]}], ");
}

static void two_ropes(Scene *s) {
  int count = 2 * s->size;
  put(s, "'bodies': [");
  for (int k = 0; k < 2; k++) {
    put(s,
        "%s{'name': 'rope%d', 'shape': {'type': 'chain', 'n': %d, 'start': [%g, %g, %g], 'end': "
        "[%g, %g, %g]}, ",
        k ? ", " : "", k, count, k ? -0.1 : between(s, -0.02, 0.02), k ? 0.006 : 0.0,
        k ? between(s, -0.02, 0.02) : -0.1, k ? 0.1 : between(s, -0.02, 0.02), k ? 0.006 : 0.0,
        k ? between(s, -0.02, 0.02) : 0.1);
    put_matter(s, count, k ? s->speed : 0);
  }
  put(s, "], 'pins': [{'select': {'indices': [0], 'body': 'rope0'}}], ");
}

static const struct {
  const char *name;
  void (*make)(Scene *s);
} kinds[CONTACT_KINDS] = {
    [CONTACT_SHEET_ON_BALL] = {"sheet on ball", sheet_on_ball},
    [CONTACT_TWO_SHEETS] = {"two sheets", two_sheets},
    [CONTACT_SHEET_ON_GROUND] = {"sheet on ground", sheet_on_ground},
    [CONTACT_SHEET_ON_BOX] = {"sheet on box", sheet_on_box},
    [CONTACT_BLOCK_ON_SHEET] = {"block on sheet", block_on_sheet},
    [CONTACT_MASSES_ON_PLANE] = {"masses on plane", masses_on_plane},
    [CONTACT_CHAIN_IN_PLANE] = {"chain in a plane", chain_in_plane},
    [CONTACT_TWO_ROPES] = {"two ropes", two_ropes},
};

const char *contact_random_name(int kind) {
  return kinds[kind].name;
}

World contact_random(int kind, uint64_t seed, const char *minimizer, int threads, double *h) {
  static Scene scene;
  Scene *s = &scene;
  *s = (Scene){.seed = 1000003 * seed + 17 * (uint64_t)kind};
  s->size = 3 + (int)between(s, 0, 2);
  s->k = pow(10, between(s, 0, 5));
  s->mass = pow(10, between(s, -5, -3));
  s->decades = between(s, 0, 4);
  s->speed = pow(10, between(s, -2, 0.5));
  s->h = 1 / (24 * pow(10, between(s, 0, 1)));
  put(s, "{");
  kinds[kind].make(s);
  put(s, "'forces': ['gravity', {'type': 'contact', 'thickness': %g, 'distance': %g%s}], ",
      CONTACT_RANDOM_SIZE, CONTACT_RANDOM_SIZE,
      kind == CONTACT_SHEET_ON_GROUND ? ", 'ground': true" : "");
  put(s, "'time': {'duration': 1, 'step': %.17g, 'frames_per_second': %.17g}, ", s->h, 1 / s->h);
  put(s, "'integrator': {'type': 'backward_euler', 'minimizer': %s}}", minimizer);
  if (h) *h = s->h;
  return world_make(s->text, NULL, s->h, threads);
}
