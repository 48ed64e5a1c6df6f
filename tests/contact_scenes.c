/* The scenes of contact_scenes.h. */
#include "contact_scenes.h"

#include "base/schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Text {
  char *text;
  size_t length, capacity;
} Text;

__attribute__((format(printf, 2, 3))) static void put(Text *t, const char *format, ...) {
  va_list values;
  va_start(values, format);
  int count = vsnprintf(NULL, 0, format, values);
  va_end(values);
  if (t->length + (size_t)count + 1 > t->capacity) {
    t->capacity = 2 * (t->length + (size_t)count + 1);
    t->text = realloc(t->text, t->capacity);
    if (!t->text) abort();
  }
  va_start(values, format);
  vsnprintf(t->text + t->length, (size_t)count + 1, format, values);
  va_end(values);
  t->length += (size_t)count;
}

/* Thickness and distance (m) of contact. */
static const double SMALL = 2e-3, PI = 3.14159265358979323846;
static const char CLOTH[] =
    "'springs': {'EA': 50, 'shear': true, 'bending': true, 'EA_bending': 0.5, 'damping': 0.01},"
    "'mass': {'area_density': 0.2}";

/* A sheet of (8 size + 1)^2 vertices about the origin. */
static void put_sheet(Text *t, const char *name, int size, const char *plane, double width,
                      const char *transform) {
  put(t,
      "{'name': '%s', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'width': %g, 'height': %g, "
      "'plane': '%s', 'centered': true}, 'transform': {%s}, %s}",
      name, 8 * size + 1, 8 * size + 1, width, width, plane, transform, CLOTH);
}

/* ---- Cloth ---- */

static void cloth_on_ball(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "cloth", c->size, "xz", 1, "'axis': [0, 1, 0], 'angle': 20");
  put(t, "], 'obstacles': [{'type': 'ball', 'center': [0.03, -0.27, 0.02], 'radius': 0.25}]");
}

static void five_sheets(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  for (int k = 0; k < 5; k++) {
    char transform[100], name[10];
    snprintf(transform, sizeof transform, "'axis': [0, 1, 0], 'angle': %d, 'translate': [0, %g, 0]",
             17 * k, 0.01 + 0.02 * k);
    snprintf(name, sizeof name, "sheet%d", k);
    if (k > 0) put(t, ",");
    put_sheet(t, name, (c->size + 1) / 2, "xz", 0.4, transform);
  }
  put(t, "]");
}

/* A soft sheet that hangs from a disc in its middle: its folds meet. */
static void drape(Text *t, const ContactCase *c) {
  int side = 16 * c->size + 1;
  put(t,
      "'bodies': [{'name': 'cloth', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'plane': 'xz', "
      "'cells': 'triangles', 'centered': true}, 'transform': {'translate': [0.013, 0, 0.007]}, "
      "'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, 'EA_bending': 0.02}, "
      "'mass': {'area_density': 0.2}}], 'pins': [{'select': {'sphere': {'center': [0, 0, 0], "
      "'radius': 0.1}}}]",
      side, side);
}

/* Each end is turned by 270 degrees against the other one. */
static void towel(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "towel", c->size, "xy", 0.6, "'angle': 0");
  put(t, "], 'pins': [");
  for (int side = 0; side < 2; side++)
    put(t,
        "%s{'select': '%s', 'motion': {'type': 'rotation', 'axis': [1, 0, 0], 'center': [0, 0, 0],"
        " 'speed': %d, 'angle': 270}}",
        side ? "," : "", side ? "right" : "left", side ? 540 : -540);
  put(t, "]");
}

/* A strip that stands on its edge falls onto a box and folds up on itself. */
static void folds_on_box(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "cloth", c->size, "xy", 0.5, "'axis': [1, 0, 0.3], 'angle': 7");
  put(t, "], 'obstacles': [{'type': 'box', 'center': [0.05, -0.36, 0], 'size': [0.2, 0.1, 0.1], "
         "'axis': [0, 1, 0.2], 'angle': 30}]");
}

static void two_balls(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "cloth", c->size, "xy", 0.6, "'angle': 0");
  put(t, "], 'pins': [{'select': 'top'}], 'obstacles': [");
  for (int side = 0; side < 2; side++)
    put(t,
        "%s{'type': 'ball', 'center': [%g, 0, %g], 'radius': 0.1, 'motion': {'type': 'keyframes', "
        "'table': [[0, 0, 0, 0], [0.1, 0, 0, %g], [0.2, 0.2, 0.05, %g], [0.3, 0, 0, 0]]}}",
        side ? "," : "", side ? 0.02 : -0.02, side ? 0.2 : -0.2, side ? -0.0995 : 0.0995,
        side ? -0.0995 : 0.0995);
  put(t, "]");
}

static void needles(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "cloth", c->size, "xz", 0.6, "'angle': 0");
  put(t, "], 'obstacles': [");
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double x = -0.21 + 0.137 * i, z = -0.2 + 0.131 * j;
      put(t, "%s{'type': 'capsule', 'from': [%g, -0.4, %g], 'to': [%g, -0.01, %g], 'radius': 5e-4}",
          i + j > 0 ? "," : "", x, z, x + 0.01, z - 0.01);
    }
  put(t, "]");
}

/* A box that turns at 10 revolutions a second catches the cloth. */
static void mixer(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "cloth", c->size, "xz", 0.6, "'translate': [0, 0.14, 0]");
  put(t, "], 'obstacles': [{'type': 'box', 'size': [0.25, 0.05, 0.3], 'motion': {'type': "
         "'rotation', 'axis': [0, 0, 1], 'speed': 3600}}]");
}

/* A belt starts to move under two sheets, which slide on it and on each other. */
static void belt(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_sheet(t, "lower", (c->size + 1) / 2, "xz", 0.4, "'translate': [0, 0.004, 0]");
  put(t, ",");
  put_sheet(t, "upper", c->size, "xz", 0.3, "'angle': 3, 'translate': [0.01, 0.02, 0.02]");
  put(t, "], 'obstacles': [{'type': 'box', 'center': [1, -0.1, 0], 'size': [4, 0.2, 1], 'motion': "
         "{'type': 'keyframes', 'table': [[0, 0, 0, 0], [0.05, 0, 0, 0], [0.55, -1, 0, 0]]}}]");
}

/* ---- Solids ---- */

static void solid_on_cloth(Text *t, const ContactCase *c) {
  put(t,
      "'bodies': [{'name': 'solid', 'shape': {'type': 'tet_block', 'nx': %d, 'ny': %d, 'nz': %d, "
      "'size': [0.15, 0.15, 0.15], 'centered': true}, 'transform': {'axis': [1, 1, 0], 'angle': "
      "40, 'translate': [0, 0.16, 0]}, 'springs': {'EA': 200, 'damping': 0.1}, 'mass': 0.5},",
      c->size + 2, c->size + 2, c->size + 2);
  put_sheet(t, "cloth", c->size, "xz", 0.6, "'angle': 0");
  put(t, "], 'pins': [{'select': {'set': 'boundary', 'body': 'cloth'}}]");
}

static void put_bullet(Text *t, double y) {
  put(t,
      "{'name': 'bullet', 'shape': {'type': 'tet_block', 'nx': 2, 'ny': 2, 'nz': 2, 'size': [0.02, "
      "0.02, 0.02], 'centered': true}, 'transform': {'axis': [1, 0.3, 0], 'angle': 30, "
      "'translate': [0.01, %g, 0.02]}, 'springs': {'k': 1e6}, 'mass': 0.02, 'velocity': [0, -1000, "
      "0]}",
      y);
}

static void bullet_on_cloth(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_bullet(t, 0.5);
  put(t, ",");
  put_sheet(t, "cloth", c->size, "xz", 0.6, "'angle': 0");
  put(t, "], 'pins': [{'select': {'set': 'boundary', 'body': 'cloth'}}]");
}

static void bullet_on_ground(Text *t, const ContactCase *c) {
  (void)c;
  put(t, "'bodies': [");
  put_bullet(t, 0.5);
  put(t, "]");
}

static void net_and_jelly(Text *t, const ContactCase *c) {
  put(t,
      "'bodies': [{'name': 'jelly', 'shape': {'type': 'ball', 'radius': 0.12, 'shells': %d}, "
      "'transform': {'translate': [0.01, 0.13, 0.02]}, 'springs': {'EA': 50, 'damping': 0.05}, "
      "'mass': 0.5, 'velocity': [0, -3, 0]},"
      "{'name': 'net', 'shape': {'type': 'net', 'n': %d, 'side': 0.3}, 'springs': {'EA': 500}, "
      "'mass': 0.1}], 'pins': [{'select': {'set': 'boundary', 'body': 'net'}}]",
      c->size + 1, 5 * c->size);
}

/* ---- Ropes ---- */

/* A long trefoil, which is an overhand knot: a polynomial curve. */
static void knot_point(double s, double x[3]) {
  const double SCALE = 0.05;
  x[0] = SCALE * (s * s * s - 3 * s);
  x[1] = SCALE * (s * s * s * s - 4 * s * s);
  x[2] = SCALE * 0.2 * (s * s * s * s * s - 10 * s);
}

static double distance_of(const double a[3], const double b[3]) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
              (a[2] - b[2]) * (a[2] - b[2]));
}

/* Vertices at equal distances along the knot, as JSON; returns the length of the rope (m). */
static double put_knot(Text *t, int count) {
  enum { FINE = 4000 };
  const double END = 2.15;
  double length = 0, at[3], next[3];
  knot_point(-END, at);
  for (int k = 1; k <= FINE; k++, memcpy(at, next, sizeof at)) {
    knot_point(END * (2.0 * k / FINE - 1), next);
    length += distance_of(at, next);
  }
  double done = 0;
  int placed = 1;
  knot_point(-END, at);
  put(t, "[%.6f,%.6f,%.6f]", at[0], at[1], at[2]);
  for (int k = 1; k <= FINE && placed < count; k++, memcpy(at, next, sizeof at)) {
    knot_point(END * (2.0 * k / FINE - 1), next);
    done += distance_of(at, next);
    if (done < length * placed / (count - 1) && k < FINE) continue;
    put(t, ",[%.6f,%.6f,%.6f]", next[0], next[1], next[2]);
    placed++;
  }
  return length;
}

static void put_lines(Text *t, int count, bool closed) {
  put(t, "], 'lines': [");
  for (int k = 0; k + 1 < count; k++) put(t, "%s[%d,%d]", k ? "," : "", k, k + 1);
  if (closed) put(t, ",[%d,0]", count - 1);
  put(t, "]");
}

static void knot(Text *t, const ContactCase *c) {
  const double SPEED = 2, SHARE = 0.7;
  int count = 100 * c->size + 1;
  put(t, "'bodies': [{'name': 'rope', 'mesh': {'vertices': [");
  double length = put_knot(t, count);
  put_lines(t, count, false);
  put(t, "}, 'springs': {'EA': 100, 'bending': true, 'EA_bending': 0.1, 'damping': 0.01}, 'mass': "
         "{'length_density': 0.02}}], 'pins': [");
  for (int side = 0; side < 2; side++) {
    double pull = (side ? 0.5 : -0.5) * SHARE * length;
    put(t,
        "%s{'select': {'indices': [%d]}, 'motion': {'type': 'keyframes', 'table': [[0, 0, 0, 0], "
        "[%g, 0, 0, %g]]}}",
        side ? "," : "", side ? count - 1 : 0, fabs(pull) / SPEED, pull);
  }
  put(t, "]");
}

/* Two rings, one through the other, which fly apart with 20 m/s. */
static void links(Text *t, const ContactCase *c) {
  const double RADIUS = 0.1;
  int count = 24 * c->size;
  put(t, "'bodies': [");
  for (int ring = 0; ring < 2; ring++) {
    put(t, "%s{'name': 'ring%d', 'mesh': {'vertices': [", ring ? "," : "", ring);
    for (int k = 0; k < count; k++) {
      double a = 2 * PI * k / count, x = RADIUS * cos(a), y = RADIUS * sin(a);
      put(t, "%s[%.6f,%.6f,%.6f]", k ? "," : "", ring ? x + RADIUS : x, ring ? 0 : y, ring ? y : 0);
    }
    put_lines(t, count, true);
    put(t,
        "}, 'springs': {'EA': 100, 'bending': true}, 'mass': {'length_density': 0.02}, "
        "'velocity': [%d, 3, 1]}",
        ring ? 10 : -10);
  }
  put(t, "]");
}

static void put_chain(Text *t, const char *name, const ContactCase *c, double y, double z) {
  put(t,
      "{'name': '%s', 'shape': {'type': 'chain', 'n': %d, 'start': [-0.5, %g, %g], 'end': [0.5, "
      "%g, %g]}, 'springs': {'EA': 100}, 'mass': 0.1}",
      name, 10 * c->size + 1, y, z, y, z);
}

/* A rope falls onto a fixed one that is parallel to it: the edges have no direction across. */
static void parallel_ropes(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_chain(t, "upper", c, 0.02, 0);
  put(t, ",");
  put_chain(t, "lower", c, 0, 0);
  put(t, "], 'pins': [{'select': {'all': true, 'body': 'lower'}}]");
}

static void rope_on_capsule(Text *t, const ContactCase *c) {
  put(t, "'bodies': [");
  put_chain(t, "rope", c, 0.02, 1e-4);
  put(t, "], 'obstacles': [{'type': 'capsule', 'from': [-1, 0, 0], 'to': [1, 0, 0], 'radius': "
         "0.01}]");
}

/* A block of 1000 kg lands on a sheet that lies on the ground. */
static void anvil(Text *t, const ContactCase *c) {
  put(t,
      "'bodies': [{'name': 'anvil', 'shape': {'type': 'tet_block', 'nx': %d, 'ny': 2, 'nz': %d, "
      "'size': [0.2, 0.1, 0.2], 'centered': true}, 'transform': {'axis': [1, 0, 1], 'angle': 5, "
      "'translate': [0.01, 0.09, 0.02]}, 'springs': {'k': 1e7}, 'mass': 1000, 'velocity': [1, -2, "
      "0]},",
      c->size + 2, c->size + 2);
  put_sheet(t, "cloth", c->size, "xz", 0.5, "'translate': [0, 0.005, 0]");
  put(t, "]");
}

/* Loose masses and two ropes fall onto a sheet and onto each other. */
static void rain(Text *t, const ContactCase *c) {
  put(t, "'bodies': [{'name': 'drops', 'mesh': {'vertices': [");
  for (int k = 0; k < 20 * c->size; k++)
    put(t, "%s[%g,%g,%g]", k ? "," : "", 0.2 * sin(3.7 * k), 0.1 + 0.011 * k, 0.2 * cos(2.3 * k));
  put(t, "]}, 'mass': {'per_vertex': 0.01}, 'velocity': [0, -10, 0]},");
  for (int rope = 0; rope < 2; rope++)
    put(t,
        "{'name': 'rope%d', 'shape': {'type': 'chain', 'n': %d, 'start': [%g, %g, %g], 'end': "
        "[%g, %g, %g]}, 'springs': {'EA': 100}, 'mass': 0.05, 'velocity': [0, -5, 0]},",
        rope, 10 * c->size, rope ? -0.2 : 0.0, 0.03 + 0.03 * rope, rope ? 0.0 : -0.2,
        rope ? 0.2 : 0.0, 0.03 + 0.03 * rope, rope ? 0.01 : 0.2);
  put_sheet(t, "cloth", c->size, "xz", 0.6, "'angle': 0");
  put(t, "], 'pins': [{'select': {'set': 'boundary', 'body': 'cloth'}}]");
}

/* A triangle of no thickness comes to touch another one with a corner after 1 ms. At gaps of 1e-8 m
 * and less the difference of the closest points has few digits left for the normal; contact keeps
 * such triangles apart by a thousandth of its distance, and refuses them nearer at the start. */
static void bare_triangles(Text *t, const ContactCase *c) {
  (void)c;
  put(t, "'bodies': [{'name': 'fixed', 'mesh': {'vertices': [[-0.2866113822483187, "
         "-0.4882258801541794, -0.2991477987774354], [-0.28957567369807874, 0.5974489312866436, "
         "-0.09592029872113296], [0.5685340162528754, -0.01039040073223048, 0.4082414872792805]], "
         "'triangles': [[0, 1, 2]]}, 'mass': 1, 'springs': {'k': 100}}, {'name': 'free', 'mesh': "
         "{'vertices': [[0.013947911344244834, 0.02935292501146229, 0.015616067443651025], "
         "[-0.006378774306315078, 0.12030741502907245, 0.0805322179464325], [0.05621319947196338, "
         "-0.002511756536715322, 0.12741180747570308]], 'triangles': [[0, 1, 2]]}, 'transform': "
         "{'translate': [-7.454765384584128e-4, -1.1354993109225757e-3, 4.948798293549842e-4]}, "
         "'mass': 1, 'springs': {'k': 100}, 'velocity': [0.7454765384584128, 1.1354993109225757, "
         "-0.4948798293549842]}], 'pins': [{'select': {'all': true, 'body': 'fixed'}}]");
}

/* ---- Two dimensions ---- */

static void chain_on_body(Text *t, const ContactCase *c) {
  put(t,
      "'dimension': 2, 'bodies': [{'name': 'chain', 'shape': {'type': 'chain', 'n': %d, 'start': "
      "[-0.3, 0.15, 0], 'end': [0.35, 0.25, 0]}, 'springs': {'EA': 100}, 'mass': 0.1, 'velocity': "
      "[0, -2, 0]}, {'name': 'box', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'width': 0.2, "
      "'height': 0.2, 'centered': true}, 'transform': {'angle': 15}, 'springs': {'EA': 200, "
      "'shear': true}, 'mass': 0.5}]",
      30 * c->size, 3 * c->size + 1, 3 * c->size + 1);
}

/* ---- All ---- */

typedef struct Scene {
  const char *name;
  void (*put)(Text *t, const ContactCase *c);
  double duration;       /* s */
  double ground;         /* m; INFINITY: none */
  const char *held, *by; /* the body `by` holds the body `held`: it stays above */
  bool linked;           /* the first two bodies are linked rings */
  bool bare;             /* no thickness, and starts without displacements */
  double friction;       /* coefficient */
} Scene;

static const Scene scenes[] = {
    {"cloth on ball", cloth_on_ball, 0.5, -0.4, NULL, NULL, false, false, 0},
    {"five sheets", five_sheets, 0.4, 0, NULL, NULL, false, false, 0},
    {"drape", drape, 0.6, INFINITY, NULL, NULL, false, false, 0},
    {"towel", towel, 0.6, INFINITY, NULL, NULL, false, false, 0},
    {"folds on box", folds_on_box, 0.6, -0.45, NULL, NULL, false, false, 0},
    {"two balls", two_balls, 0.4, INFINITY, NULL, NULL, false, false, 0},
    {"needles", needles, 0.4, -0.3, NULL, NULL, false, false, 0},
    {"mixer", mixer, 0.3, INFINITY, NULL, NULL, false, false, 0},
    {"solid on cloth", solid_on_cloth, 0.4, INFINITY, "solid", "cloth", false, false, 0},
    {"bullet on cloth", bullet_on_cloth, 0.2, INFINITY, "bullet", "cloth", false, false, 0},
    {"bullet on ground", bullet_on_ground, 0.2, 0, NULL, NULL, false, false, 0},
    {"net and jelly", net_and_jelly, 0.3, INFINITY, NULL, NULL, false, false, 0},
    {"knot", knot, 0.5, INFINITY, NULL, NULL, false, false, 0},
    {"links", links, 0.3, INFINITY, NULL, NULL, true, false, 0},
    {"parallel ropes", parallel_ropes, 0.3, INFINITY, NULL, NULL, false, false, 0},
    {"rope on capsule", rope_on_capsule, 0.3, INFINITY, NULL, NULL, false, false, 0},
    {"anvil", anvil, 0.2, 0, NULL, NULL, false, false, 0},
    {"rain", rain, 0.2, INFINITY, "drops", "cloth", false, false, 0},
    {"bare triangles", bare_triangles, 0.1, INFINITY, NULL, NULL, false, true, 0},
    {"chain on body", chain_on_body, 0.4, -0.2, NULL, NULL, false, false, 0},
    {"belt", belt, 0.3, INFINITY, NULL, NULL, false, false, 0.4},
};

static double thickness_of(const ContactCase *c) {
  if (scenes[c->scene].bare) return 0;
  return c->thickness > 0 ? c->thickness : SMALL;
}

int contact_scene_count(void) {
  return (int)(sizeof scenes / sizeof *scenes);
}

const char *contact_scene_name(int scene) {
  return scenes[scene].name;
}

double contact_scene_duration(int scene) {
  return scenes[scene].duration;
}

ContactFacts contact_scene_facts(const ContactCase *c) {
  const Scene *s = &scenes[c->scene];
  return (ContactFacts){.thickness = thickness_of(c),
                        .displacement = s->bare ? 0 : 0.5 * SMALL,
                        .ground = s->ground,
                        .held = s->held,
                        .by = s->by,
                        .linked = s->linked};
}

char *contact_scene_text(const ContactCase *c) {
  const Scene *s = &scenes[c->scene];
  Text t = {0};
  put(&t, "{");
  s->put(&t, c);
  put(&t, ", 'forces': ['gravity', {'type': 'contact', 'distance': %g, 'thickness': %g",
      c->distance > 0 ? c->distance : SMALL, thickness_of(c));
  if (s->ground < INFINITY) put(&t, ", 'ground': true, 'height': %g", s->ground);
  double friction = c->friction > 0 ? c->friction : s->friction;
  if (friction > 0) put(&t, ", 'friction': %g", friction);
  put(&t,
      "}], 'time': {'duration': %g, 'step': %.17g, 'frames_per_second': %.17g}, 'integrator': "
      "{'type': '%s'",
      s->duration, c->h, 1 / c->h, c->integrator);
  const HkSchema *schema = hk_schema_find(HK_STEP, c->integrator);
  if (schema && hk_param_find(schema, "minimizer"))
    put(&t, c->minimizer ? ", 'minimizer': %s" : ", 'minimizer': {'type': 'newton', 'linear': %s}",
        c->minimizer ? c->minimizer : c->linear);
  if (schema && hk_param_find(schema, "linear")) put(&t, ", 'linear': %s", c->linear);
  put(&t, "}}");
  for (size_t q = 0; q < t.length; q++)
    if (t.text[q] == '\'') t.text[q] = '"';
  return t.text;
}
