/* Random sequences of live changes: after any of them a new simulation of the same model takes the
 * same step from a copy of the state, and a change that fails changes nothing.
 *
 * hooke.h promises that states go on from where they are and that simulations make anew what
 * depends on a change; with the model and the settings, a state is all that a step depends on. The
 * steps are therefore equal bit for bit.
 */
#include "random_scene.h"

#include "world.h"

enum { CHANGES_MAX = 8, VERTICES = 4 /* which every scene has */ };

typedef struct Live {
  Draw *draw;
  World w;
  HkSpringView springs;
} Live;

static size_t bytes_of(const HkState *state) {
  return (size_t)hk_state_vertex_count(state) * 3 * sizeof(double);
}

static bool same_bits(HkState *a, HkState *b) {
  return memcmp(hk_state_x(a), hk_state_x(b), bytes_of(a)) == 0 &&
         memcmp(hk_state_v(a), hk_state_v(b), bytes_of(a)) == 0 &&
         hk_state_time(a) == hk_state_time(b);
}

static HkStatus begin(const char *text, World *w, HkError *error) {
  HkContext context = hk_context_default();
  context.threads = 1;
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), "random", NULL, NULL, 0, &w->scene, error);
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  if (status >= 0) status = hk_sim_create(w->model, NULL, 0, &w->sim, error);
  if (status >= 0) status = hk_state_create(w->model, &w->state, error);
  return status;
}

/* ---- Changes: each draws its numbers, notes the call and makes it ---- */

static HkStatus scale_stiffness(Live *l, HkError *error) {
  double factor = draw_chance(l->draw, 10) ? -1 : draw_decades(l->draw, -2, 1);
  draw_note(l->draw, "hk_model_scale_stiffness(%g)", factor);
  return hk_model_scale_stiffness(l->w.model, factor, error);
}

static HkStatus set_stiffness(Live *l, HkError *error) {
  double k = draw_chance(l->draw, 10) ? NAN : draw_decades(l->draw, 0, 5);
  draw_note(l->draw, "hk_model_set_stiffness(%g)", k);
  return hk_model_set_stiffness(l->w.model, k, error);
}

static HkStatus set_masses(Live *l, HkError *error) {
  int64_t n = hk_state_vertex_count(l->w.state);
  double *mass = malloc((size_t)n * sizeof *mass), m = draw_decades(l->draw, -3, 1);
  if (!mass) abort();
  for (int64_t i = 0; i < n; i++) mass[i] = m * (double)(1 + i % 3);
  bool wrong = draw_chance(l->draw, 10);
  if (wrong) mass[n - 1] = 0;
  draw_note(l->draw, "hk_model_set_masses(%g x 1, 2, 3, 1 ...%s)", m, wrong ? ", 0" : "");
  HkStatus status = hk_model_set_masses(l->w.model, mass, error);
  free(mass);
  return status;
}

/* A force that is drawn as JSON, which is the end of the note. */
static HkStatus drawn_force(Live *l, HkMethod *force, HkError *error) {
  size_t before = strlen(draw_text(l->draw));
  draw_force(l->draw, false, true);
  const char *text = draw_text(l->draw) + before;
  return hk_method_parse(force, HK_FORCE, text, strlen(text), "force", error);
}

static HkStatus add_force(Live *l, HkError *error) {
  HkMethod force = {0};
  draw_note(l->draw, "hk_model_add_force ");
  HkStatus status = drawn_force(l, &force, error);
  if (status >= 0) status = hk_model_add_force(l->w.model, &force, NULL, error);
  hk_method_clear(&force);
  return status;
}

static HkStatus set_force(Live *l, HkError *error) {
  HkMethod force = {0};
  int index = draw_int(l->draw, 0, hk_model_force_count(l->w.model));
  draw_note(l->draw, "hk_model_set_force %d ", index);
  HkStatus status = drawn_force(l, &force, error);
  if (status >= 0) status = hk_model_set_force(l->w.model, index, &force, error);
  hk_method_clear(&force);
  return status;
}

static HkStatus remove_force(Live *l, HkError *error) {
  int index = draw_int(l->draw, 0, hk_model_force_count(l->w.model));
  draw_note(l->draw, "hk_model_remove_force(%d)", index);
  return hk_model_remove_force(l->w.model, index, error);
}

static HkStatus set_motion(Live *l, HkError *error) {
  HkMethod motion = {0};
  int pin = draw_int(l->draw, 0, 2);
  draw_note(l->draw, "hk_model_set_motion %d ", pin);
  size_t before = strlen(draw_text(l->draw));
  draw_motion(l->draw);
  const char *text = draw_text(l->draw) + before;
  HkStatus status = hk_method_parse(&motion, HK_MOTION, text, strlen(text), "motion", error);
  if (status >= 0) status = hk_model_set_motion(l->w.model, pin, &motion, error);
  hk_method_clear(&motion);
  return status;
}

static HkStatus set_springs(Live *l, HkError *error) {
  HkSpringView s = hk_model_springs(l->w.model);
  size_t count = (size_t)s.count + 1;
  double *k = malloc(count * sizeof *k), *l0 = malloc(count * sizeof *l0);
  uint8_t *broken = calloc(count, 1);
  if (!k || !l0 || !broken) abort();
  double factor = draw_decades(l->draw, -2, 1), scale = draw_number(l->draw, 0.8, 1.2);
  bool has_k = draw_chance(l->draw, 50), has_l0 = draw_chance(l->draw, 50);
  bool has_broken = draw_chance(l->draw, 50), wrong = draw_chance(l->draw, 10);
  for (int64_t e = 0; e < s.count; e++) {
    k[e] = wrong && e == s.count - 1 ? -1 : factor * s.k[e];
    l0[e] = scale * s.l0[e];
    broken[e] = e % 3 == 0;
  }
  draw_note(l->draw, "hk_state_set_springs(k x %g%s%s%s)", has_k ? factor : 1,
            wrong && has_k ? ", -1" : "", has_l0 ? ", l0 scaled" : "",
            has_broken ? ", each third broken" : "");
  HkStatus status =
      hk_state_set_springs(l->w.state, l->w.model, has_k ? k : NULL, has_l0 ? l0 : NULL, NULL,
                           has_broken ? broken : NULL, error);
  free(k);
  free(l0);
  free(broken);
  return status;
}

static HkStatus reset_springs(Live *l, HkError *error) {
  (void)error;
  draw_note(l->draw, "hk_state_reset_springs()");
  hk_state_reset_springs(l->w.state);
  return HK_OK;
}

static HkStatus release_pin(Live *l, HkError *error) {
  int32_t vertex = draw_int(l->draw, 0, VERTICES - 1);
  draw_note(l->draw, "hk_state_release_pin(%d)", vertex);
  return hk_state_release_pin(l->w.state, l->w.model, vertex, error);
}

static HkStatus hold_pin(Live *l, HkError *error) {
  int32_t vertex = draw_int(l->draw, 0, VERTICES - 1);
  draw_note(l->draw, "hk_state_hold_pin(%d)", vertex);
  return hk_state_hold_pin(l->w.state, l->w.model, vertex, error);
}

static HkStatus set_h(Live *l, HkError *error) {
  double h = draw_chance(l->draw, 10) ? 0 : draw_decades(l->draw, -4, -2);
  draw_note(l->draw, "hk_sim_set_h(%g)", h);
  return hk_sim_set_h(l->w.sim, h, error);
}

static HkStatus (*const changes[])(Live *, HkError *) = {
    set_h,      scale_stiffness, set_stiffness, set_masses,    add_force,   set_force,
    set_motion, remove_force,    set_springs,   reset_springs, release_pin, hold_pin};
enum { CHANGE_KINDS = sizeof changes / sizeof changes[0] };

/* ---- Steps ---- */

/* A simulation that has never known another model takes the same step, or refuses the model as the
 * old one does. */
static HkStatus compared_step(Live *l, HkError *error) {
  HkSim *fresh = NULL;
  HkState *copy = NULL;
  HkError other = {0};
  HkStatus status = hk_sim_create(l->w.model, NULL, hk_sim_h(l->w.sim), &fresh, &other);
  if (status == HK_ERROR_UNSUPPORTED) {
    status = hk_sim_step(l->w.sim, l->w.state, error);
    if (status != other.status || strcmp(error->text, other.text) != 0)
      draw_fail(l->draw, "old %s \"%s\", no new one: \"%s\"", hk_status_name(status), error->text,
                other.text);
    return status;
  }
  if (status >= 0) status = hk_state_create(l->w.model, &copy, &other);
  if (status >= 0) status = hk_state_copy(l->w.state, copy, &other);
  if (status < 0) {
    draw_fail(l->draw, "no new simulation: %s", other.text);
  } else {
    HkStatus also = hk_sim_step(fresh, copy, &other);
    status = hk_sim_step(l->w.sim, l->w.state, error);
    /* The bound of blow-ups belongs to the simulation: it knows the energies of steps before. */
    bool blew_up = status == HK_ERROR_BLOWUP || also == HK_ERROR_BLOWUP;
    if (blew_up)
      status = HK_ERROR_BLOWUP;
    else if (status != also || strcmp(error->text, other.text) != 0)
      draw_fail(l->draw, "old %s \"%s\", new %s \"%s\"", hk_status_name(status), error->text,
                hk_status_name(also), other.text);
    else if (!same_bits(l->w.state, copy))
      draw_fail(l->draw, "the new simulation takes another step");
  }
  hk_state_destroy(&copy);
  hk_sim_destroy(&fresh);
  return status;
}

/* All that a reader of the interface sees of model and state: forces, energies, bytes. */
typedef struct Sight {
  int forces;
  double h, *f;
  HkStateInfo info;
  size_t size;
  char *packed;
} Sight;

static Sight sight_of(const Live *l) {
  const World *w = &l->w;
  Sight s = {.forces = hk_model_force_count(w->model), .h = hk_sim_h(w->sim)};
  s.f = malloc(bytes_of(w->state));
  s.size = hk_state_packed_size(w->state);
  s.packed = malloc(s.size);
  if (!s.f || !s.packed) abort();
  hk_sim_forces(w->sim, w->state, s.f);
  hk_sim_state_info(w->sim, w->state, &s.info);
  hk_state_pack(w->state, s.packed);
  return s;
}

static bool same_sight(const Live *l, const Sight *a, const Sight *b) {
  return a->forces == b->forces && a->h == b->h && a->size == b->size &&
         memcmp(a->f, b->f, bytes_of(l->w.state)) == 0 &&
         memcmp(a->packed, b->packed, a->size) == 0 &&
         memcmp(&a->info, &b->info, sizeof a->info) == 0;
}

static void sight_clear(Sight *s) {
  free(s->f);
  free(s->packed);
}

static int refused_changes, made_changes;

static void change_once(Live *l) {
  HkError error = {0};
  Sight before = sight_of(l);
  draw_note(l->draw, "\n      ");
  HkStatus status = changes[draw_below(l->draw, CHANGE_KINDS)](l, &error);
  if (status < 0) {
    Sight after = sight_of(l);
    refused_changes++;
    draw_note(l->draw, " -> %s", hk_status_name(status));
    if (error.status != status || strlen(error.text) < 10)
      draw_fail(l->draw, "%s with the words \"%s\"", hk_status_name(status), error.text);
    if (!same_sight(l, &before, &after))
      draw_fail(l->draw, "a refused change has changed something");
    sight_clear(&after);
  } else
    made_changes++;
  sight_clear(&before);
}

static void changed_simulations_step_as_new_ones(Draw *draw) {
  Live l = {.draw = draw};
  HkError error = {0};
  draw_scene(draw, &(RandomSceneOptions){.live = true, .fixed_step = true});
  HkStatus status = begin(draw_text(draw), &l.w, &error);
  for (DrawList list = {.max = CHANGES_MAX}; status >= 0 && draw_more(draw, &list);) {
    change_once(&l);
    if (draw_chance(draw, 60)) {
      draw_note(draw, "\n      hk_sim_step()");
      status = compared_step(&l, &error);
    }
  }
  world_destroy(&l.w);
}

TEST(simulations_step_as_new_ones_after_random_live_changes) {
  refused_changes = made_changes = 0;
  property_check(changed_simulations_step_as_new_ones, 2000);
  CHECK(made_changes > 0 && refused_changes > 0);
}
