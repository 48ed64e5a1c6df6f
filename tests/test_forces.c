/* Every force of the registry: gradient of its energy, Jacobians, threads, refusals. A force that
 * has no settings below fails. */
#include "model_by_hand.h"
#include "test.h"

#include "base/vec.h"

/* Parameters that differ from the defaults; a row without a parameter only makes the variant.
 * Selections and tables are those of set_one. The variant also chooses the springs' damping and
 * tension. */
typedef struct Setting {
  const char *force;
  int variant;
  const char *param;
  double value[3];
} Setting;

static const Setting settings[] = {
    {"springs", 0, NULL, {0}},
    {"springs", 1, NULL, {0}},
    {"springs", 2, NULL, {0}},
    {"gravity", 0, "g", {3}},
    {"gravity", 1, "direction", {1, -2, 0.5}},
    {"wind", 0, NULL, {0}},
    {"wind", 1, "drag", {0.4}},
    {"wind", 1, "velocity", {3, -2, 1}},
    {"wind", 2, "per_mass", {0.7}},
    {"wind", 2, "drag", {0.2}},
    {"wind", 2, "gust", {0.8}},
    {"wind", 2, "gust_period", {1.5}},
    {"face_wind", 0, "velocity", {3, -2, 1}},
    {"face_wind", 0, "lift", {0}},
    {"face_wind", 1, "velocity", {1, 2, 4}},
    {"face_wind", 1, "drag", {0}},
    {"face_wind", 1, "lift", {1.3}},
    {"face_wind", 2, "velocity", {2, 0.5, 3}},
    {"face_wind", 2, "drag", {0.9}},
    {"face_wind", 2, "gust", {0.5}},
    {"face_wind", 2, "gust_period", {2}},
    {"face_wind", 2, "density", {2}},
    {"face_wind", 2, "turbulence", {0.6}},
    {"face_wind", 2, "wavelength", {3}},
    {"face_wind", 3, "velocity", {0, 0, 0}},
    {"face_wind", 4, "velocity", {0, 4, 0}},
    {"face_wind", 4, "turbulence", {1}},
    {"drag", 0, NULL, {0}},
    {"drag", 1, "linear", {0.6}},
    {"drag", 2, "quadratic", {0.5}},
    {"drag", 3, "linear", {0.3}},
    {"drag", 3, "per_mass", {0.2}},
    {"drag", 3, "quadratic", {0.7}},
    {"buoyancy", 0, "level", {0.8}},
    {"buoyancy", 0, "thickness", {0.9}},
    {"buoyancy", 1, "fluid_density", {800}},
    {"buoyancy", 1, "body_density", {300}},
    {"buoyancy", 1, "level", {1.1}},
    {"buoyancy", 1, "thickness", {0.4}},
    {"buoyancy", 1, "g", {2}},
    {"buoyancy", 2, "level", {0.5}},
    {"buoyancy", 2, "thickness", {30}},
    {"point_load", 0, "select", {0}},
    {"point_load", 0, "force", {2, -3, 1}},
    {"point_load", 1, "select", {0}},
    {"point_load", 1, "table", {0}},
    {"handle", 0, "select", {0}},
    {"handle", 0, "target", {0.5, 2, -1}},
    {"handle", 1, "select", {0}},
    {"handle", 1, "table", {0}},
    {"handle", 1, "k", {30}},
    {"handle", 1, "damping", {0.8}},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

static const double table[] = {0.2, 1, 2, 3, 0.9, -1, 0.5, 2, 1.7, 3, 0, 0.4};

static const char *const only_in_space[] = {"face_wind"};

static bool is_only_in_space(const char *name) {
  for (size_t q = 0; q < sizeof only_in_space / sizeof only_in_space[0]; q++)
    if (strcmp(only_in_space[q], name) == 0) return true;
  return false;
}

static int variant_count(const char *name) {
  int count = 0;
  for (int q = 0; q < SETTING_COUNT; q++)
    if (strcmp(settings[q].force, name) == 0 && settings[q].variant >= count)
      count = settings[q].variant + 1;
  return count;
}

static HkStatus set_one(HkMethod *method, const Setting *setting, HkError *error) {
  const HkParam *param = hk_param_find(method->schema, setting->param);
  HkSelect part = select_box(-10, -10, -10, 10000, 1.4, 10);
  if (param && param->kind == HK_PARAM_VECTOR)
    return hk_method_set_vector(method, setting->param, setting->value, error);
  if (param && param->kind == HK_PARAM_SELECT)
    return hk_method_set_select(method, setting->param, &part, error);
  if (param && param->kind == HK_PARAM_TABLE)
    return hk_method_set_table(method, setting->param, table, 3, error);
  return hk_method_set_number(method, setting->param, setting->value[0], error);
}

static HkStatus choose(HkMethod *method, const char *name, int variant, HkError *error) {
  HkStatus status = hk_method_choose(method, HK_FORCE, name, error);
  for (int q = 0; status >= 0 && q < SETTING_COUNT; q++)
    if (settings[q].param && strcmp(settings[q].force, name) == 0 && settings[q].variant == variant)
      status = set_one(method, &settings[q], error);
  if (status < 0) hk_method_clear(method);
  return status;
}

static HkStatus add_variant(HkModel *model, const char *name, int variant, HkError *error) {
  HkMethod method = {0};
  HK_TRY(choose(&method, name, variant, error));
  return model_add_force(model, &method, error);
}

/* The index of the force that was just added to a model with springs. */
static int added(const HkModel *model, const char *name) {
  return strcmp(name, "springs") == 0 ? 0 : model->force_count - 1;
}

/* ---- Finite differences ---- */

typedef struct State {
  double t, x[96], v[96];
} State;

static State random_state(const HkModel *m, uint64_t *seed) {
  State s = {.t = 1 + test_random(seed)};
  for (int64_t q = 0; q < 3 * m->n; q++) {
    bool flat = m->dimension == 2 && q % 3 == 2;
    double dx = 0.2 * test_random(seed), v = 2 * test_random(seed);
    s.x[q] = m->x0[q] + (flat ? 0 : dx);
    s.v[q] = flat ? 0 : v;
  }
  return s;
}

/* Compares one Jacobian with central differences of the force, coordinate by coordinate; y is x or
 * v of the state. */
static void check_columns(const HkModel *m, int index, State *s, double *y, const double *J,
                          const char *what) {
  int64_t size = 3 * m->n;
  double low[96], high[96], step = 1e-5, worst = 0;
  model_force(m, index, s->t, s->x, s->v, low);
  double scale = test_largest(J, size * size),
         tolerance = 1e-6 * scale + 1e-9 * test_largest(low, size);
  for (int64_t c = 0; c < size; c++) {
    double kept = y[c];
    y[c] = kept + step;
    model_force(m, index, s->t, s->x, s->v, high);
    y[c] = kept - step;
    model_force(m, index, s->t, s->x, s->v, low);
    y[c] = kept;
    for (int64_t r = 0; r < size; r++)
      worst = fmax(worst, fabs((high[r] - low[r]) / (2 * step) - J[r * size + c]));
  }
  if (!(worst <= tolerance))
    test_fail(__FILE__, __LINE__, "%s of %s in %dD is off by %g where it is %g", what,
              m->forces[index].method.schema->name, m->dimension, worst, scale);
}

static void check_jacobians(const HkModel *m, int index, State *s) {
  double *dfdx, *dfdv;
  model_jacobian(m, index, s->t, s->x, s->v, &dfdx, &dfdv);
  check_columns(m, index, s, s->x, dfdx, "df/dx");
  check_columns(m, index, s, s->v, dfdv, "df/dv");
  const HkForceType *type = m->forces[index].type;
  bool uses =
      type->uses_velocity && type->uses_velocity(&m->springs, m->forces[index].method.params);
  CHECK(uses == (test_largest(dfdv, 9 * m->n * m->n) > 0));
  free(dfdx);
  free(dfdv);
}

/* f = -dE/dx, at rest: damping is no gradient. */
static void check_gradient(const HkModel *m, int index, State *s) {
  double f[96], rest[96] = {0}, step = 1e-5, worst = 0;
  model_force(m, index, s->t, s->x, rest, f);
  double scale = test_largest(f, 3 * m->n);
  double tolerance = 1e-6 * scale + 1e-9 * fabs(model_energy(m, index, s->t, s->x, rest));
  for (int64_t c = 0; c < 3 * m->n; c++) {
    double kept = s->x[c];
    s->x[c] = kept + step;
    double high = model_energy(m, index, s->t, s->x, rest);
    s->x[c] = kept - step;
    double low = model_energy(m, index, s->t, s->x, rest);
    s->x[c] = kept;
    worst = fmax(worst, fabs((low - high) / (2 * step) - f[c]));
  }
  if (!(worst <= tolerance))
    test_fail(__FILE__, __LINE__, "force of %s in %dD differs from -dE/dx by %g where it is %g",
              m->forces[index].method.schema->name, m->dimension, worst, scale);
  CHECK(scale > 0);
}

static double energy_change(const HkModel *m, int index, double t, const double *x,
                            const double *to) {
  HkForceWork work = {.springs = &m->springs};
  if (hk_force_work_create(m, &work, NULL) < 0) return NAN;
  HkForceArgs a = hk_force_args(m, index, &work, t, x, NULL);
  double change = m->forces[index].type->energy_change(&a, to);
  hk_force_work_destroy(m, &work);
  return change;
}

/* The change of energy over a large way, forth and back, and over one that is lost in rounding. */
static void check_change(const HkModel *m, int index, State *s) {
  double to[96], f[96], rest[96] = {0}, work = 0;
  uint64_t seed = 21;
  if (!m->forces[index].type->energy_change) return;
  double before = model_energy(m, index, s->t, s->x, rest);
  for (int64_t c = 0; c < 3 * m->n; c++) to[c] = s->x[c] + 0.4 * test_random(&seed);
  double after = model_energy(m, index, s->t, to, rest);
  double tolerance = 1e-12 * (fabs(before) + fabs(after));
  CHECK_NEAR(energy_change(m, index, s->t, s->x, to), after - before, tolerance);
  CHECK_NEAR(energy_change(m, index, s->t, to, s->x), before - after, tolerance);
  model_force(m, index, s->t, s->x, rest, f);
  for (int64_t c = 0; c < 3 * m->n; c++) {
    to[c] = s->x[c] + 1e-13 * test_random(&seed);
    work -= f[c] * (to[c] - s->x[c]);
  }
  CHECK_NEAR(energy_change(m, index, s->t, s->x, to), work, 1e-9 * fabs(work));
}

typedef void CheckFn(const HkModel *model, int index, State *state);

/* One force in one variant on one model, at three states and times. */
static void check_variant(HkModel *m, const char *name, int variant, CheckFn *check) {
  HkError error = {0};
  uint64_t seed = 77 + (uint64_t)variant;
  HkStatus status = add_variant(m, name, variant, &error);
  if (m->dimension == 2 && is_only_in_space(name)) {
    CHECK(status == HK_ERROR_UNSUPPORTED && strstr(error.text, "dimension 2"));
    return;
  }
  if (status < 0) {
    test_fail(__FILE__, __LINE__, "%s: %s", name, error.text);
    return;
  }
  for (int q = 0; q < 3; q++) {
    State s = random_state(m, &seed);
    check(m, added(m, name), &s);
  }
}

/* Forces with tests of their own: 'library' is what a shared library makes of it, 'contact' needs
 * positions without intersections, and what 'strain_limit' does depends on iterates
 * (test_strain_limit); the others change springs and are no force by themselves (test_spring_laws).
 */
static bool is_tested_here(const HkSchema *schema) {
  static const char *const others[] = {"library", "contact",    "strain_limit",
                                       "muscle",  "plasticity", "tearing"};
  for (size_t q = 0; q < sizeof others / sizeof others[0]; q++)
    if (strcmp(schema->name, others[q]) == 0) return false;
  return true;
}

static void check_all(CheckFn *check, bool with_energy) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(HK_FORCE, q)); q++) {
    if (!is_tested_here(schema) || (with_energy && !hk_force_type(schema)->energy)) continue;
    for (int variant = 0; variant < variant_count(schema->name); variant++)
      for (int model = 0; model < 4; model++) {
        ByHand by = by_hand();
        by.seed = (uint64_t)(10 * variant + model);
        by.dimension = model == 3 ? 2 : 3;
        by.up = model == 2 ? 2 : 1;
        by.damping = variant > 0;
        by.tension = variant > 1;
        HkModel *m = model == 0 ? model_of_tets(by) : model_of_sheet(by, 3, 3);
        check_variant(m, schema->name, variant, check);
        model_by_hand_destroy(&m);
      }
  }
}

TEST(every_force_has_settings_in_this_test) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(HK_FORCE, q)); q++)
    if (is_tested_here(schema) && variant_count(schema->name) == 0)
      test_fail(__FILE__, __LINE__, "add rows for '%s' to the settings of this test", schema->name);
  for (int q = 0; q < SETTING_COUNT; q++)
    if (!hk_schema_find(HK_FORCE, settings[q].force))
      test_fail(__FILE__, __LINE__, "there is no force '%s'", settings[q].force);
}

TEST(every_force_with_energy_is_minus_its_gradient) {
  check_all(check_gradient, true);
}

TEST(every_change_of_energy_is_accurate_over_large_and_tiny_ways) {
  check_all(check_change, true);
}

TEST(every_force_has_exact_jacobians) {
  check_all(check_jacobians, false);
}

/* ---- Threads ---- */

TEST(every_force_is_the_same_for_every_thread_count) {
  const HkSchema *schema;
  ByHand by = by_hand();
  by.damping = by.tension = true;
  HkModel *m = model_of_sheet(by, 3000, 3);
  CHECK(m->n > HK_PARALLEL_MIN_ENTRIES);
  int64_t size = 3 * m->n;
  double *v = malloc((size_t)size * sizeof *v), *f = malloc((size_t)(4 * size) * sizeof *f);
  uint64_t seed = 5;
  for (int64_t q = 0; q < size; q++) v[q] = test_random(&seed);
  for (int q = 0; (schema = hk_schema_at(HK_FORCE, q)); q++) {
    int variant = variant_count(schema->name) - 1;
    if (!is_tested_here(schema)) continue;
    MUST(add_variant(m, schema->name, variant, error));
    double e[4];
    for (m->threads = 1; m->threads <= 3; m->threads++) {
      model_force(m, added(m, schema->name), 0.7, m->x0, v, f + m->threads * size);
      e[m->threads] = model_energy(m, added(m, schema->name), 0.7, m->x0, v);
    }
    CHECK(test_largest(f + size, size) > 0);
    for (int threads = 2; threads <= 3; threads++)
      if (memcmp(f + size, f + threads * size, (size_t)size * sizeof *f) != 0 || e[threads] != e[1])
        test_fail(__FILE__, __LINE__, "%s differs with %d threads", schema->name, threads);
  }
  free(v);
  free(f);
  model_by_hand_destroy(&m);
}

/* ---- All forces together ---- */

/* Every force that is a gradient at rest, in its first variant. */
static HkStatus add_all_with_energy(HkModel *m, HkError *error) {
  const HkSchema *schema;
  for (int q = 1; (schema = hk_schema_at(HK_FORCE, q)); q++)
    if (is_tested_here(schema) && hk_force_type(schema)->energy)
      HK_TRY(add_variant(m, schema->name, 0, error));
  return HK_OK;
}

static double energy_of_all(const HkModel *m, double t, const double *x, const double *v) {
  double sum = 0;
  for (int q = 0; q < m->force_count; q++) sum += model_energy(m, q, t, x, v);
  return sum;
}

TEST(the_sum_of_all_forces_is_minus_the_gradient_of_the_sum_of_their_energies) {
  HkModel *m = model_of_sheet(by_hand(), 3, 3);
  MUST(add_all_with_energy(m, error));
  CHECK(m->force_count >= 5);
  uint64_t seed = 9;
  State s = random_state(m, &seed);
  double f[96], rest[96] = {0}, step = 1e-5;
  model_forces(m, s.t, s.x, rest, f);
  for (int64_t c = 0; c < 3 * m->n; c++) {
    double kept = s.x[c];
    s.x[c] = kept + step;
    double high = energy_of_all(m, s.t, s.x, rest);
    s.x[c] = kept - step;
    double low = energy_of_all(m, s.t, s.x, rest);
    s.x[c] = kept;
    CHECK_NEAR((low - high) / (2 * step), f[c], 1e-6 * test_largest(f, 3 * m->n));
  }
  model_by_hand_destroy(&m);
}

TEST(reported_energies_sum_to_the_total) {
  ByHand by = by_hand();
  by.damping = true;
  HkModel *m = model_of_sheet(by, 3, 3);
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkStateInfo info;
  MUST(add_all_with_energy(m, error));
  MUST(hk_method_choose(&m->step, HK_STEP, "symplectic_euler", error));
  MUST(hk_sim_create(m, NULL, 1e-3, &sim, error));
  MUST(hk_state_create(m, &state, error));
  uint64_t seed = 4;
  double *x = hk_state_x(state), *v = hk_state_v(state), kinetic = 0;
  for (int64_t q = 0; q < 3 * m->n; q++) {
    x[q] += 0.1 * test_random(&seed);
    v[q] = test_random(&seed);
    kinetic += 0.5 * m->mass[q / 3] * v[q] * v[q];
  }
  hk_state_set_time(state, 0.6);
  hk_sim_state_info(sim, state, &info);
  double sum = energy_of_all(m, 0.6, x, v);
  CHECK_NEAR(info.kinetic, kinetic, 1e-12 * kinetic);
  CHECK_NEAR(info.spring, model_energy(m, 0, 0.6, x, v), 0);
  CHECK_NEAR(info.gravity, model_energy(m, 1, 0.6, x, v), 0);
  CHECK(info.other != 0);
  CHECK_NEAR(info.spring + info.gravity + info.other, sum, 1e-12 * fabs(sum));
  CHECK_NEAR(info.total, sum + kinetic, 1e-12 * (fabs(sum) + kinetic));
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  model_by_hand_destroy(&m);
}
