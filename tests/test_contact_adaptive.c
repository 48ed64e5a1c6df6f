/* Contact in steps of changing length (time.tolerance). */
#include "contact/barrier.h"
#include "contact/crossing.h"
#include "step/sim.h"
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double H = 0.02;

static HkContacts *contacts_of(const World *w) {
  for (int f = 0; f < w->model->force_count; f++)
    if (w->model->forces[f].type->correct) return w->sim->work.states[f].state;
  return NULL;
}

static World cloth_on_ball(const char *integrator, const char *minimizer, double tolerance) {
  char text[2000];
  snprintf(text, sizeof text,
           "{'bodies': [{'name': 'cloth', 'shape': {'type': 'grid', 'nx': 9, 'ny': 9, 'width': 0.5,"
           " 'height': 0.5, 'plane': 'xz', 'centered': true}, 'transform': {'translate': [0.011, "
           "0.13, 0.007]}, 'springs': {'EA': 4, 'shear': true, 'EA_shear': 1.5, 'bending': true, "
           "'EA_bending': 0.1, 'damping': 0.01}, 'mass': {'area_density': 0.2}}],"
           "'obstacles': [{'type': 'ball', 'radius': 0.1}],"
           "'forces': ['gravity', {'type': 'contact', 'ground': true, 'height': -0.1}],"
           "'time': {'duration': 1, 'step': %g, 'frames_per_second': 50, 'tolerance': %g},"
           "'integrator': {'type': '%s'%s}}",
           H, tolerance, integrator, minimizer);
  return world_parse(text);
}

static const char newton[] =
    ", 'minimizer': {'type': 'newton', 'tolerance': 1e-6, 'linear': 'ldlt'}";

TEST(adaptive_steps_with_contact_vary_and_cross_nothing) {
  static const char *const names[] = {"backward_euler", "bdf2", "verlet", "symplectic_euler"};
  for (int k = 0; k < 4; k++) {
    World w = cloth_on_ball(names[k], k < 2 ? newton : "", 1e-4);
    int64_t least = INT64_MAX, most = 0, rejected = 0;
    for (int s = 0; s < 25; s++) {
      HkError error = {0};
      HkStatus status = hk_sim_step(w.sim, w.state, &error);
      CHECK(status == HK_OK);
      HkStepInfo info = hk_sim_step_info(w.sim);
      least = info.substeps < least ? info.substeps : least;
      most = info.substeps > most ? info.substeps : most;
      rejected += info.rejected;
      CHECK(hk_contacts_crossings(contacts_of(&w), w.state->x, NULL, 0) == 0);
    }
    CHECK(most >= 2 * least && rejected > 0);
    world_destroy(&w);
  }
}

TEST(adaptive_steps_with_contact_depend_on_the_state_alone) {
  World one = cloth_on_ball("bdf2", newton, 1e-3), two = cloth_on_ball("bdf2", newton, 1e-3);
  size_t bytes = 3 * (size_t)one.model->n * sizeof(double);
  for (int s = 0; s < 15; s++) {
    MUST(hk_sim_step(one.sim, one.state, error));
    MUST(hk_sim_step(two.sim, two.state, error));
    hk_sim_destroy(&two.sim);
    MUST(hk_sim_create(two.model, NULL, H, &two.sim, error));
  }
  CHECK(memcmp(one.state->x, two.state->x, bytes) == 0);
  CHECK(memcmp(one.state->v, two.state->v, bytes) == 0);
  world_destroy(&one);
  world_destroy(&two);
}

/* ---- One mass ---- */

static World mass(const char *integrator, double tolerance) {
  char text[800];
  snprintf(text, sizeof text,
           "{'bodies': [{'mesh': {'vertices': [[0, 0.02, 0]]}, 'mass': 0.3}],"
           "'forces': ['gravity', {'type': 'contact', 'ground': true}],"
           "'time': {'duration': 1, 'step': %g, 'frames_per_second': 50, 'tolerance': %g},"
           "'integrator': {'type': '%s'%s}}",
           H, tolerance, integrator, newton);
  return world_parse(text);
}

TEST(parts_of_a_step_have_the_barrier_of_the_whole_step) {
  const double GHAT = 1e-3;
  World w = mass("backward_euler", 1e-5);
  for (int s = 0; s < 200; s++) MUST(hk_sim_step(w.sim, w.state, error));
  double m = w.model->mass[0], k = 10 * m / (H * H), g = w.state->x[1] - 0.5e-3;
  CHECK_NEAR(-k * GHAT * hk_barrier_slope(g / GHAT), 9.81 * m, 1e-3 * 9.81 * m);
  world_destroy(&w);
}

/* The error at the time of the impact falls with the tolerance: estimates are honest. */
TEST(smaller_tolerances_have_smaller_errors_through_an_impact) {
  enum { STEPS = 4 }; /* to 0.08 s; the impact is at 0.063 s */
  double x[3];
  const double tolerance[] = {1e-5, 1e-6, 1e-9};
  for (int k = 0; k < 3; k++) {
    World w = mass("bdf2", tolerance[k]);
    for (int s = 0; s < STEPS; s++) CHECK(hk_sim_step(w.sim, w.state, NULL) >= 0);
    x[k] = w.state->x[1];
    world_destroy(&w);
  }
  CHECK(fabs(x[1] - x[2]) < 0.5 * fabs(x[0] - x[2]));
  CHECK(fabs(x[1] - x[2]) < 1e-3);
}
