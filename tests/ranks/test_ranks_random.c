/* Random scenes on ranks: they are made, moved and refused as by one process. */
#include "ranks.h"

#include "base/ranks.h"
#include "model/part.h"
#include "random_scene.h"

enum { STEPS = 4 };

/* A case fails on all ranks or on none, so that all shrink it alike. */
static void fail_together(Draw *draw, bool failed, const char *what, const char *detail) {
  double any = failed;
  hk_ranks_most(test_ranks(), &any, 1);
  if (any > 0) draw_fail(draw, "%s: %s", what, failed ? detail : "another rank");
}

static HkStatus begin(const char *text, HkRanks *ranks, RanksWorld *w, HkError *error) {
  HkContext context = hk_context_default();
  context.threads = 1;
  context.ranks = ranks;
  context.device = ranks ? HK_PETSC : HK_CPU;
  *w = (RanksWorld){0};
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), "random", NULL, NULL, 0, &w->scene, error);
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  return status;
}

static HkStatus go_on(RanksWorld *w, HkError *error) {
  HkStatus status = hk_state_create(w->model, &w->state, error);
  if (status >= 0) status = hk_sim_create(w->model, NULL, 0, &w->sim, error);
  return status;
}

/* Whether positions and velocities of owned vertices have other bits than those of the whole. */
static bool differs(const RanksWorld *part, const RanksWorld *whole) {
  HkPartView view;
  bool other = !hk_model_part(part->model, &view);
  const double *x = hk_state_positions(part->state), *v = hk_state_velocities(part->state);
  const double *X = hk_state_positions(whole->state), *V = hk_state_velocities(whole->state);
  for (int64_t i = 0; i < hk_state_vertex_count(part->state) && !other; i++) {
    int64_t at = 3 * view.number[i];
    if (!view.ghost[i])
      other = memcmp(x + 3 * i, X + at, 3 * sizeof *x) || memcmp(v + 3 * i, V + at, 3 * sizeof *v);
  }
  return other;
}

/* Makes both worlds; returns whether both can be stepped. Compiling ends alike; only what ranks do
 * not support may be refused by them alone. */
static bool make_both(Draw *draw, RanksWorld *part, RanksWorld *whole) {
  HkError a = {0}, b = {0};
  HkStatus is = begin(draw_text(draw), test_ranks(), part, &a);
  HkStatus expected = begin(draw_text(draw), NULL, whole, &b);
  fail_together(draw, is != expected && is != HK_ERROR_UNSUPPORTED, "compiled", a.text);
  fail_together(draw, is < 0 && strlen(a.text) < 10, "no message", a.text);
  if (is < 0 || expected < 0) return false;
  is = go_on(part, &a);
  expected = go_on(whole, &b);
  bool either = is == HK_ERROR_UNSUPPORTED || expected == HK_ERROR_UNSUPPORTED;
  fail_together(draw, is != expected && !either, "made", a.text);
  return is >= 0 && expected >= 0;
}

static void explicit_steps_have_the_bits_of_one_process(Draw *draw) {
  static const char *const integrators[] = {"symplectic_euler", "verlet"};
  RanksWorld part, whole;
  HkError error = {0};
  draw_scene(draw, &(RandomSceneOptions){.fixed_step = true,
                                         .integrator = integrators[draw_int(draw, 0, 1)]});
  if (make_both(draw, &part, &whole)) {
    HkStatus is = HK_OK, expected = HK_OK;
    for (int k = 0; k < STEPS && is >= 0 && expected >= 0; k++) {
      is = hk_sim_step(part.sim, part.state, &error);
      expected = hk_sim_step(whole.sim, whole.state, NULL);
      fail_together(draw, is != expected, "stepped", error.text);
      if (is >= 0 && expected >= 0) fail_together(draw, differs(&part, &whole), "bits", "");
    }
  }
  ranks_world_destroy(&part);
  ranks_world_destroy(&whole);
}

/* Ends a step that takes long, by the number of calls, which is the same on all ranks. */
static bool is_too_long(void *user) {
  enum { CALLS_MAX = 1000 };
  return ++*(int64_t *)user > CALLS_MAX;
}

/* Implicit steps end, alike on all ranks, with finite numbers or an error. */
static void implicit_steps_end_alike_on_all_ranks(Draw *draw) {
  static const char *const integrators[] = {"backward_euler", "bdf2", "linear_implicit_euler"};
  RanksWorld part, whole;
  HkError error = {0};
  draw_scene(draw, &(RandomSceneOptions){.fixed_step = true,
                                         .integrator = integrators[draw_int(draw, 0, 2)]});
  if (make_both(draw, &part, &whole)) {
    HkStatus is = HK_OK;
    int64_t calls = 0;
    hk_sim_set_cancel(part.sim, is_too_long, &calls);
    for (int k = 0; k < STEPS && is >= 0; k++) {
      is = hk_sim_step(part.sim, part.state, &error);
      double agreed = is;
      hk_ranks_most(test_ranks(), &agreed, 1);
      fail_together(draw, agreed != (double)is, "status", hk_status_name(is));
    }
    const double *x = hk_state_positions(part.state);
    bool finite = true;
    for (int64_t c = 0; c < 3 * hk_state_vertex_count(part.state); c++) finite &= isfinite(x[c]);
    fail_together(draw, is >= 0 && !finite, "numbers", "");
  }
  ranks_world_destroy(&part);
  ranks_world_destroy(&whole);
}

TEST(explicit_steps_of_random_scenes_have_the_bits_of_one_process) {
  property_check(explicit_steps_have_the_bits_of_one_process, 150);
}

TEST(implicit_steps_of_random_scenes_end_alike_on_all_ranks) {
  property_check(implicit_steps_end_alike_on_all_ranks, 60);
}
