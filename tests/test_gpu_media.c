/* The arithmetic of media in implicit steps on a device (backend/gpu/media_implicit.h), in double
 * precision and without a device: against the forces of the host and against its own properties. */
#define HK_REAL double
#include "backend/device_model.h"
#include "backend/gpu/media_implicit.h"
#include "world.h"

static uint64_t seed = 1;

/* From -1 to 1. */
static double any(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(seed >> 11) / (double)(1ull << 52) - 1;
}

static HkGpuVector any_vector(double size) {
  return hk_gpu_vector(size * any(), size * any(), size * any());
}

static HkGpuMoment moment_of(const World *w, double t) {
  HkGpuMoment moment;
  const double origin[3] = {0, 0, 0};
  double row[HK_GPU_MOMENT_REALS];
  hk_device_moment(w->model, origin, t, row, NULL);
  memcpy(&moment, row, sizeof moment);
  return moment;
}

/* The arguments of the last force of the model. */
static HkForceArgs last_force(const World *w, double t, const double *x, const double *v) {
  const HkCompiledForce *force = &w->model->forces[w->model->force_count - 1];
  return (HkForceArgs){.model = w->model,
                       .params = force->method.params,
                       .data = force->data,
                       .t = t,
                       .x = x,
                       .v = v};
}

/* ---- Wind on faces ---- */

typedef struct Taken {
  HkJacobianSink sink;
  double block[9]; /* of the first corner with itself */
} Taken;

static void take_first(HkJacobianSink *sink, int32_t i, int32_t j, const double B[9]) {
  Taken *taken = (Taken *)sink;
  for (int q = 0; q < 9 && i == 0 && j == 0; q++) taken->block[q] += B[q];
}

static double furthest(const HkGpuBlock *P, const double B[9]) {
  double all[9] = {P->xx, P->xy, P->xz, P->xy, P->yy, P->yz, P->xz, P->yz, P->zz}, most = 0;
  for (int q = 0; q < 9; q++) most = fmax(most, fabs(all[q] + 3 * B[q])); /* df/dv = -P / 3 */
  return most;
}

/* Any triangle, at any angle to the wind; with lift alone the projection has most to do. */
TEST(damping_of_wind_on_a_face_is_that_of_the_host) {
  static const char *const airs[] = {"'lift': 0.8", "'lift': 3, 'drag': 0.1", "'lift': 0",
                                     "'turbulence': 0.5, 'gust': 0.3, 'lift': 2, 'drag': 0"};
  for (int k = 0; k < 4; k++) {
    char text[500];
    snprintf(
        text, sizeof text,
        "{'bodies': [{'mesh': {'vertices': [[0, 0, 0], [1, 0, 0], [0, 1, 0]], 'triangles': [[0, "
        "1, 2]]}, 'springs': {'k': 1}}], 'forces': [{'type': 'face_wind', 'velocity': [0, 0, "
        "2], %s}]}",
        airs[k]);
    World w = world_parse(text);
    if (!w.model) return;
    for (int q = 0; q < 300; q++) {
      double x[9], v[9], t = any();
      HkGpuVector corner[3], velocity[3];
      for (int c = 0; c < 9; c++) x[c] = any(), v[c] = q % 3 ? any() : 0;
      if (q % 10 == 0) x[5] = x[8] = x[2]; /* straight across the wind, or almost */
      for (int c = 0; c < 3; c++) {
        corner[c] = hk_gpu_vector(x[3 * c], x[3 * c + 1], x[3 * c + 2]);
        velocity[c] = hk_gpu_vector(v[3 * c], v[3 * c + 1], v[3 * c + 2]);
      }
      HkGpuMoment moment = moment_of(&w, t);
      HkGpuBlock P = hk_gpu_face_damping(&moment.air, 1, corner, velocity);
      HkForceArgs a = last_force(&w, t, x, v);
      Taken taken = {.sink = {.dfdx = hk_jacobian_skip, .dfdv = take_first}};
      w.model->forces[w.model->force_count - 1].type->damping(&a, &taken.sink);
      CHECK(furthest(&P, taken.block) < 1e-12);
    }
    world_destroy(&w);
  }
}

/* ---- Fluids ---- */

static HkGpuMedium one_fluid(double thickness) {
  HkGpuMedium p = {.up = {0, 1, 0}, .fluids = 1};
  p.fluid[0] = (HkGpuFluid){.level = 0.3, .thickness = thickness, .lift = 19.62};
  return p;
}

TEST(energy_of_a_fluid_changes_as_on_the_host) {
  World w =
      world_parse("{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 4}, 'springs': {'k': "
                  "1}, 'mass': {'total': 3}}], 'forces': [{'type': 'buoyancy', 'level': 0.1, "
                  "'thickness': 0.3}]}");
  if (!w.model) return;
  HkGpuMoment moment = moment_of(&w, 0);
  for (int round = 0; round < 20; round++) {
    double x[60], to[60], sums[100], h = 0.1, sum = 0;
    for (int q = 0; q < 60; q++) x[q] = any(), to[q] = x[q] + (round % 2 ? 1 : 1e-6) * any();
    for (int q = 0; q < 20; q++) {
      HkGpuVector at = hk_gpu_vector(x[3 * q], x[3 * q + 1], x[3 * q + 2]), r = {0, 0, 0};
      HkGpuVector moved = hk_gpu_sub(hk_gpu_vector(to[3 * q], to[3 * q + 1], to[3 * q + 2]), at);
      HkGpuBlock S = {0};
      double mass = w.model->mass[q];
      hk_gpu_buoyancy(&moment.medium, mass, h, at, &r, &S);
      sum += hk_gpu_buoyancy_change(&moment.medium, mass, h, at, moved) - hk_gpu_dot(r, moved);
    }
    HkForceArgs a = last_force(&w, 0, x, NULL);
    a.work.sums = sums;
    double change = w.model->forces[w.model->force_count - 1].type->energy_change(&a, to);
    CHECK_NEAR(sum, h * h * change, 1e-12 * (round % 2 ? 1 : 1e-5));
  }
  world_destroy(&w);
}

/* The parabola is above the energy everywhere, and meets it at the depth of x mirrored in the
 * middle of the layer, so there is no lower one. */
TEST(form_of_a_fluid_lies_above_its_energy_and_touches_it_twice) {
  const double h = 0.1, mass = 2;
  for (int q = 0; q < 2000; q++) {
    HkGpuMedium p = one_fluid(q % 2 ? 0.2 : 1e-3);
    HkGpuVector x = any_vector(1), moved = any_vector(q % 3 ? 1 : 0.01), r = {0, 0, 0};
    HkGpuBlock S = {0};
    hk_gpu_buoyancy(&p, mass, h, x, &r, &S);
    double above = S.yy * moved.y * moved.y / 2,
           bent = hk_gpu_buoyancy_change(&p, mass, h, x, moved);
    CHECK(bent >= 0 && bent <= above + 1e-15);
    moved.y = 2 * (p.fluid[0].level - x.y);
    above = S.yy * moved.y * moved.y / 2;
    CHECK_NEAR(hk_gpu_buoyancy_change(&p, mass, h, x, moved), above, 1e-13);
  }
}

/* ---- Derivatives ---- */

TEST(derivatives_of_media_are_their_differences) {
  const double e = 1e-6, h = 0.1, mass = 2;
  const int parts = HK_GPU_QUADRATIC_DRAG | HK_GPU_BUOYANCY;
  for (int q = 0; q < 500; q++) {
    HkGpuMedium p = one_fluid(0.5);
    p.quadratic = 0.7;
    HkGpuVector x = any_vector(1), ahead = any_vector(1), v = any_vector(2), u = any_vector(1);
    HkGpuVector product = {0, 0, 0}, one = {0, 0, 0}, two = {0, 0, 0}, there = x;
    HkGpuBlock S = {0}, C = {0};
    double depth = hk_gpu_relative_depth(&p.fluid[0], x.y);
    if (fmin(fabs(depth), fabs(depth - 1)) < 1e-4) continue; /* it bends at once there */
    hk_gpu_axpy(e, u, &there);
    hk_gpu_medium_gradient(&p, parts, mass, h, x, ahead, v, &one, &S);
    hk_gpu_medium_gradient(&p, parts, mass, h, there, ahead, v, &two, &S);
    hk_gpu_medium_product(&p, parts, mass, h, x, v, u, &product);
    hk_gpu_axpy(-1 / e, hk_gpu_sub(one, two), &product);
    CHECK(hk_gpu_dot(product, product) < 1e-14);
    /* f(v + e u) = f(v) - e C u + ... */
    HkGpuVector faster = v, f = hk_gpu_quadratic_drag(&p, 1, v, &C);
    hk_gpu_axpy(e, u, &faster);
    HkGpuVector change = hk_gpu_sub(hk_gpu_quadratic_drag(&p, 1, faster, &S), f);
    hk_gpu_axpy(e, hk_gpu_times(&C, u), &change);
    CHECK(hk_gpu_dot(change, change) < 1e-20);
  }
}

TEST(media_at_rest_do_not_resist) {
  HkGpuMedium p = {.quadratic = 5};
  HkGpuBlock C = {0};
  HkGpuVector f = hk_gpu_quadratic_drag(&p, 0.1, hk_gpu_vector(0, 0, 0), &C);
  CHECK(f.x == 0 && f.y == 0 && f.z == 0 && C.xx == 0 && C.yy == 0 && C.xy == 0);
}

/* The slope of the form at x is that of g, and y is where it ends. */
TEST(form_of_a_vertex_has_the_slope_of_what_it_stands_for) {
  HkGpuVector x = any_vector(1), anchor = any_vector(1), r = any_vector(1), u = any_vector(1);
  HkGpuVector slope = {0, 0, 0}, expected = r;
  HkGpuBlock S = {0}, H = {0};
  hk_gpu_add_outer(3, u, &S);
  HkGpuVector y = hk_gpu_majorizer_minimum(2, anchor, x, r, &S);
  hk_gpu_add_majorizer(2, y, &S, x, &slope, &H);
  hk_gpu_axpy(2, hk_gpu_sub(anchor, x), &expected);
  CHECK_NEAR(slope.x, expected.x, 1e-14);
  CHECK_NEAR(slope.y, expected.y, 1e-14);
  CHECK_NEAR(slope.z, expected.z, 1e-14);
  CHECK_NEAR(H.xx, 2 + 3 * u.x * u.x, 1e-14);
}
