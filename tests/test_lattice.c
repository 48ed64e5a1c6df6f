/* The 20^3 lattice, k = 1000 N/m, h = 1e-4 s, 5 s: symplectic methods keep the energy within 1 %.
 * Sanitizers make it slow, so that their builds do fewer steps. */
#include "world.h"

#if TEST_SANITIZED
enum { STEPS = 1000 };
#else
enum { STEPS = 50000 };
#endif

static void check_lattice(const char *integrator) {
  World w = world_make(
      "{\"bodies\": [{\"shape\": {\"type\": \"block\", \"nx\": 20, \"ny\": 20, \"nz\": 20, "
      "\"neighbours\": \"6\"}, \"stretch\": [1.1, 1, 0.95], \"springs\": {\"k\": 1000}, "
      "\"mass\": {\"per_vertex\": 0.01}}], \"outputs\": []}",
      integrator, 1e-4, 0);
  if (!w.state) return;
  double before = world_report(&w).total, most = 0;
  for (int q = 0; q < STEPS / 100; q++) {
    world_steps(&w, 100);
    most = fmax(most, fabs(world_report(&w).total / before - 1));
  }
  printf("    %s: energy within %.2e over %g s\n", integrator, most, hk_state_time(w.state));
  CHECK_NEAR(most, 0, 0.01);
  world_destroy(&w);
}

TEST(symplectic_euler_keeps_the_energy_of_a_lattice_within_one_percent) {
  check_lattice("symplectic_euler");
}

TEST(verlet_keeps_the_energy_of_a_lattice_within_one_percent) {
  check_lattice("verlet");
}
