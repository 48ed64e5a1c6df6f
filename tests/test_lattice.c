/* The 20^3 lattice, k = 1000 N/m, h = 1e-4 s, 5 s: symplectic methods keep the energy within 1 %.
 * Sanitizers make it slow, so that their builds do fewer steps. */
#include "world.h"

#include <pthread.h>

#if TEST_SANITIZED
enum { STEPS = 1000 };
#else
enum { STEPS = 50000 };
#endif

typedef struct Case {
  const char *integrator;
  World world;
  double most; /* relative error of the energy */
} Case;

static void *simulate(void *user) {
  Case *c = user;
  double before = world_info(&c->world).total;
  for (int q = 0; q < STEPS / 100; q++) {
    world_steps(&c->world, 100);
    c->most = fmax(c->most, fabs(world_info(&c->world).total / before - 1));
  }
  return NULL;
}

TEST(symplectic_methods_keep_the_energy_of_a_lattice_within_one_percent) {
  Case cases[] = {{.integrator = "symplectic_euler"}, {.integrator = "verlet"}};
  pthread_t threads[2];
  for (int q = 0; q < 2; q++) {
    cases[q].world =
        world_make("{'bodies': [{'shape': {'type': 'block', 'nx': 20, 'ny': 20, 'nz': 20, "
                   "'neighbours': 6}, 'stretch': [1.1, 1, 0.95], 'springs': {'k': 1000}, "
                   "'mass': {'per_vertex': 0.01}}], 'outputs': []}",
                   cases[q].integrator, 1e-4, 1);
    pthread_create(&threads[q], NULL, simulate, &cases[q]);
  }
  for (int q = 0; q < 2; q++) {
    pthread_join(threads[q], NULL);
    printf("    %s: energy within %.2e over %g s\n", cases[q].integrator, cases[q].most,
           hk_state_time(cases[q].world.state));
    CHECK_NEAR(cases[q].most, 0, 0.01);
    world_destroy(&cases[q].world);
  }
}
