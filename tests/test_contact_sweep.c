/* The scenes of contact_sweep, small and for a few steps: nothing crosses, escapes or fails, and a
 * step depends on nothing but its state: a new simulation makes the same one, bit for bit. */
#include "all_pairs.h"
#include "contact_run.h"
#include "model/state.h"
#include "world.h"

#if TEST_SANITIZED
enum { STEPS = 6 };
#else
enum { STEPS = 12 };
#endif
static const double SECONDS = 60, H = 1.0 / 60;
static const char DIRECT[] = "'ldlt'"; /* which every build has */

static void check_with_friction(const char *name, const char *integrator, double h, uint64_t seed,
                                double friction) {
  int scene = 0;
  while (scene < contact_scene_count() && strcmp(contact_scene_name(scene), name) != 0) scene++;
  CHECK(scene < contact_scene_count());
  ContactCase c = {.scene = scene,
                   .size = 1,
                   .h = h,
                   .integrator = integrator,
                   .linear = DIRECT,
                   .threads = 1,
                   .seed = seed,
                   .friction = friction,
                   .steps = STEPS,
                   .renews = true,
                   .seconds = SECONDS};
  ContactResult r;
  contact_run(&c, &r);
  if (!contact_failed(&r) && !r.late && r.steps == STEPS) return;
  test_fail(name, 0,
            "%s, h = %g s, start %llu: %lld steps, %lld crossings, %lld escapes, %lld differences, "
            "least gap %g m, by hand %g m%s%s",
            integrator, h, (unsigned long long)seed, (long long)r.steps, (long long)r.crossings,
            (long long)r.escapes, (long long)r.differences, r.least_gap, r.least_by_hand,
            r.error[0] ? ": " : "", r.error);
}

static void check_scene(const char *name, const char *integrator, double h, uint64_t seed) {
  check_with_friction(name, integrator, h, seed, 0);
}

#define SCENE(function, name)                                                                      \
  TEST(nothing_crosses_in_##function) {                                                            \
    check_scene(name, "backward_euler", H, 1);                                                     \
  }

SCENE(cloth_on_ball, "cloth on ball")
SCENE(drape, "drape")
SCENE(towel, "towel")
SCENE(folds_on_box, "folds on box")
SCENE(two_balls, "two balls")
SCENE(needles, "needles")
SCENE(solid_on_cloth, "solid on cloth")
SCENE(bullet_on_cloth, "bullet on cloth")
SCENE(bullet_on_ground, "bullet on ground")
SCENE(net_and_jelly, "net and jelly")
SCENE(knot, "knot")
SCENE(links, "links")
SCENE(anvil, "anvil")
SCENE(rain, "rain")
SCENE(chain_on_body, "chain on body")
SCENE(mixer, "mixer")
SCENE(parallel_ropes, "parallel ropes")
SCENE(rope_on_capsule, "rope on capsule")
SCENE(belt, "belt")

TEST(nothing_crosses_with_integrators_of_second_order) {
  check_scene("bullet on cloth", "bdf2", H, 2);
  check_scene("links", "bdf2", H, 2);
  check_scene("chain on body", "bdf2", H, 2);
  check_scene("chain on body", "trapezoidal", H, 2);
}

TEST(nothing_crosses_with_friction) {
  check_with_friction("cloth on ball", "backward_euler", H, 1, 0.4);
  check_with_friction("folds on box", "bdf2", H, 1, 0.4);
  check_with_friction("two balls", "backward_euler", H, 1, 1);
  check_with_friction("mixer", "backward_euler", H, 1, 0.5);
  check_with_friction("knot", "backward_euler", H, 1, 0.3);
  check_with_friction("anvil", "backward_euler", H, 1, 0.5);
  check_with_friction("rain", "backward_euler", H, 1, 0.5);
  check_with_friction("chain on body", "bdf2", H, 1, 0.5);
}

TEST(nothing_crosses_with_large_steps) {
  const double LARGE = 1.0 / 24;
  check_scene("cloth on ball", "backward_euler", LARGE, 3);
  check_scene("bullet on cloth", "backward_euler", LARGE, 3);
  check_scene("knot", "backward_euler", LARGE, 3);
}

/* The cycle is positive definite with contact on all levels: otherwise conjugate gradients end at
 * once, and the step with them. */
TEST(steps_with_multigrid_converge_where_sheets_land_on_each_other) {
  static const char *const names[] = {"five sheets", "cloth on ball"};
  for (int k = 0; k < 2; k++) {
    int scene = 0;
    while (strcmp(contact_scene_name(scene), names[k]) != 0) scene++;
    ContactCase c = {.scene = scene,
                     .size = k + 1,
                     .h = H,
                     .integrator = "backward_euler",
                     .linear = "{'type': 'pcg', 'preconditioner': 'multigrid'}",
                     .threads = 1,
                     .seed = 1,
                     .steps = 2 * STEPS,
                     .seconds = SECONDS};
    ContactResult r;
    contact_run(&c, &r);
    CHECK(!contact_failed(&r));
    CHECK(r.steps == 2 * STEPS && r.unconverged == 0);
  }
}

/* ---- The checks themselves ---- */

TEST(all_pairs_see_what_crosses_and_how_far_the_rest_is_apart) {
  const double THICKNESS = 0.01, APART = 0.3;
  static const char two_triangles[] =
      "{'bodies': [{'mesh': {'vertices': [[0,0,0],[1,0,0],[0,0,1]], 'triangles': [[0,1,2]]}},"
      "{'mesh': {'vertices': [[0.2,0.3,0.2],[0.3,1,0.2],[0.2,1,0.3]], 'triangles': [[0,1,2]]}}],"
      "'obstacles': [{'type': 'ball', 'center': [0, -0.7, 0], 'radius': 0.1, 'motion': {'type': "
      "'keyframes', 'table': [[0, 0, 0, 0], [1, 0, 0.4, 0]]}}], 'time': {'step': 0.01}}";
  World w = world_parse(two_triangles);
  AllPairs pairs;
  if (!w.model) return;
  all_pairs_create(&pairs, w.model, THICKNESS);
  CHECK_NEAR(all_pairs_least_gap(&pairs, w.state->x, 0), APART - THICKNESS, 1e-12);
  CHECK_NEAR(all_pairs_least_gap(&pairs, w.state->x, 1), 0.2 - 0.5 * THICKNESS, 1e-12);
  for (int v = 3; v < 6; v++) w.state->x[3 * v + 1] -= APART;
  CHECK_NEAR(all_pairs_least_gap(&pairs, w.state->x, 0), -THICKNESS, 1e-12);
  all_pairs_destroy(&pairs);
  world_destroy(&w);
}

TEST(linking_number_tells_linked_rings_from_others) {
  enum { N = 16 };
  const double STEP = 2 * 3.14159265358979323846 / N;
  double a[3 * N], b[3 * N];
  for (int shift = 1; shift <= 3; shift += 2)
    for (int way = -1; way <= 1; way += 2) {
      for (int k = 0; k < N; k++) {
        memcpy(a + 3 * k, (double[]){cos(k * STEP), sin(k * STEP), 0}, 3 * sizeof *a);
        memcpy(b + 3 * k, (double[]){shift + cos(k * STEP), 0.1, way * sin(k * STEP)},
               3 * sizeof *b);
      }
      CHECK_NEAR(fabs(linking_number(a, N, b, N)), shift == 1, 1e-9);
    }
}
