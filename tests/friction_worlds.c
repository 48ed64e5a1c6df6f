/* The scenes of friction_worlds.h. */
#include "friction_worlds.h"

#include "model/state.h"

#include <math.h>
#include <stdio.h>

static const double DEGREE = 3.14159265358979323846 / 180;
enum { SHEET = 49, MESH_CELLS = 13 };

void set_gravity(World *w, double x, double y) {
  HkMethod gravity = {0};
  double direction[3] = {x, y, 0};
  MUST(hk_method_choose(&gravity, HK_FORCE, "gravity", error));
  MUST(hk_method_set_vector(&gravity, "direction", direction, error));
  MUST(hk_model_set_force(w->model, 1, &gravity, error));
  hk_method_clear(&gravity);
}

/* A square of 3 m in the plane xz, as a file. */
static void write_mesh(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) return;
  for (int i = 0; i <= MESH_CELLS; i++)
    for (int k = 0; k <= MESH_CELLS; k++)
      fprintf(file, "v %.6f 0 %.6f\n", 3.0 * i / MESH_CELLS - 1.5, 3.0 * k / MESH_CELLS - 1.5);
  for (int i = 0; i < MESH_CELLS; i++)
    for (int k = 0; k < MESH_CELLS; k++) {
      int a = 1 + i * (MESH_CELLS + 1) + k, b = a + MESH_CELLS + 1;
      fprintf(file, "f %d %d %d\nf %d %d %d\n", a, a + 1, b, b, a + 1, b + 1);
    }
  fclose(file);
}

static const char sheet[] =
    "{'name': '%s', 'shape': {'type': 'grid', 'nx': %d, 'ny': %d, 'width': %g, 'height': %g, "
    "'plane': 'xz', 'centered': true}, 'transform': {'axis': [0, 0, 1], 'angle': %.17g, "
    "'translate': [%.17g, %.17g, 0]}, 'springs': {'EA': 50, 'shear': true, 'bending': true}, "
    "'mass': {'area_density': 0.2}}";

World incline_make(const InclineCase *c) {
  const double LIFT = 0.0018; /* of the sheet over the surface: m */
  char text[4096], bodies[2048], surface[2048] = "", path[1024];
  double s = sin(c->angle * DEGREE), q = cos(c->angle * DEGREE);
  int at =
      snprintf(bodies, sizeof bodies, sheet, "free", 7, 7, 0.3, 0.3, c->angle, -s * LIFT, q * LIFT);
  if (c->surface == SURFACE_SHEET) {
    at += snprintf(bodies + at, sizeof bodies - (size_t)at, ",");
    snprintf(bodies + at, sizeof bodies - (size_t)at, sheet, "fixed", MESH_CELLS + 1,
             MESH_CELLS + 1, 3.0, 3.0, c->angle, 0.0, 0.0);
    snprintf(surface, sizeof surface, "'pins': [{'select': {'all': true, 'body': 'fixed'}}],");
  } else if (c->surface == SURFACE_MESH) {
    snprintf(path, sizeof path, "%s/incline.obj", test_folder());
    write_mesh(path);
    snprintf(surface, sizeof surface,
             "'obstacles': [{'type': 'mesh', 'file': '%s', 'axis': [0, 0, 1], 'angle': %.17g, "
             "'radius': 5e-4}],",
             path, c->angle);
  } else {
    snprintf(surface, sizeof surface,
             "'obstacles': [{'type': 'plane', 'normal': [%.17g, %.17g, "
             "0], 'point': [%.17g, %.17g, 0]}],",
             -s, q, -s * 5e-4, q * 5e-4);
  }
  snprintf(text, sizeof text,
           "{'bodies': [%s], %s 'forces': [{'type': 'gravity', 'direction': [%.17g, %.17g, 0]}, "
           "{'type': 'contact', 'self': false, %s}], 'time': {'duration': 100, 'step': %.17g, "
           "'frames_per_second': 100}, 'integrator': %s}",
           bodies, surface, s, -q, c->friction, c->h, c->integrator);
  World w = world_parse(text);
  if (!w.sim) return w;
  world_steps(&w, (int64_t)(0.5 / c->h));
  set_gravity(&w, 0, -1);
  for (int64_t v = 0; v < SHEET && c->speed != 0; v++) {
    w.state->v[3 * v] = -c->speed * q;
    w.state->v[3 * v + 1] = -c->speed * s;
    w.state->v[3 * v + 2] = 0;
  }
  if (c->speed != 0) w.state->h_old = 0;
  return w;
}

static double down(double angle, const double d[3]) {
  return -d[0] * cos(angle * DEGREE) - d[1] * sin(angle * DEGREE);
}

double incline_speed(const World *w, double angle) {
  double sum = 0, mass = 0;
  for (int64_t v = 0; v < SHEET; v++) {
    sum += w->model->mass[v] * down(angle, w->state->v + 3 * v);
    mass += w->model->mass[v];
  }
  return sum / mass;
}

double incline_travel(const World *w, double angle, const double *x) {
  double sum = 0, mass = 0;
  for (int64_t v = 0; v < SHEET; v++) {
    double d[3];
    for (int c = 0; c < 3; c++) d[c] = w->state->x[3 * v + c] - x[3 * v + c];
    sum += w->model->mass[v] * down(angle, d);
    mass += w->model->mass[v];
  }
  return sum / mass;
}

double incline_drift(const World *w, const double *x) {
  double most = 0;
  for (int64_t v = 0; v < SHEET; v++) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
      double d = w->state->x[3 * v + c] - x[3 * v + c];
      sum += d * d;
    }
    most = fmax(most, sqrt(sum));
  }
  return most;
}
