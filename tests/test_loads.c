/* Forces on chosen vertices: point_load and handle. */
#include "model_by_hand.h"
#include "test.h"

static const double rows[] = {1, 0, 0, 0, 3, 4, -2, 6, 4, 4, 0, 0};

/* A force on the mass at (1, 0, 0), or on both, with a vector or the rows above. */
static HkStatus add_load(HkModel *m, const char *name, bool both, const char *vector_name,
                         const double *vector, HkError *error) {
  HkMethod method = {0};
  HkSelect one = select_box(0.9, -1, -1, 1.1, 1, 1), all = {.kind = HK_SELECT_ALL};
  HkStatus status = hk_method_choose(&method, HK_FORCE, name, error);
  if (status >= 0) status = hk_method_set_select(&method, "select", both ? &all : &one, error);
  if (status >= 0 && vector)
    status = hk_method_set_vector(&method, vector_name, vector, error);
  else if (status >= 0)
    status = hk_method_set_table(&method, "table", rows, 3, error);
  if (status >= 0) return model_add_force(m, &method, error);
  hk_method_clear(&method);
  return status;
}

static HkModel *two_masses(void) {
  return model_of_spring((double[]){1, 0, 0}, 100, 1);
}

TEST(point_load_pulls_at_the_chosen_vertices_alone) {
  for (int both = 0; both < 2; both++) {
    HkModel *m = two_masses();
    double load[3] = {2, -3, 5}, v[6] = {0}, f[6];
    MUST(add_load(m, "point_load", both, "force", load, error));
    model_force(m, 1, 0, m->x0, v, f);
    for (int q = 0; q < 6; q++) CHECK_NEAR(f[q], q >= 3 || both ? load[q % 3] : 0, 0);
    CHECK_NEAR(model_energy(m, 1, 0, m->x0, v), -2, 0);
    model_by_hand_destroy(&m);
  }
}

static void check_load(const HkModel *m, double t, double x, double y, double z) {
  double v[6] = {0}, f[6];
  model_force(m, 1, t, m->x0, v, f);
  CHECK_NEAR(f[3], x, 1e-14);
  CHECK_NEAR(f[4], y, 1e-14);
  CHECK_NEAR(f[5], z, 1e-14);
  CHECK_NEAR(model_energy(m, 1, t, m->x0, v), -x, 1e-14);
}

TEST(point_load_follows_its_table) {
  HkModel *m = two_masses();
  MUST(add_load(m, "point_load", false, NULL, NULL, error));
  check_load(m, 0, 0, 0, 0);
  check_load(m, 2, 2, -1, 3);
  check_load(m, 3, 4, -2, 6);
  check_load(m, 3.5, 4, -1, 3);
  check_load(m, 9, 4, 0, 0);
  model_by_hand_destroy(&m);
}

TEST(handle_pulls_to_its_target_with_k) {
  HkModel *m = two_masses();
  double target[3] = {2, 1, 0}, v[6] = {0}, f[6];
  MUST(add_load(m, "handle", false, "target", target, error));
  model_force(m, 1, 0, m->x0, v, f);
  CHECK_NEAR(f[0], 0, 0);
  CHECK_NEAR(f[3], 100, 0);
  CHECK_NEAR(f[4], 100, 0);
  CHECK_NEAR(model_energy(m, 1, 0, m->x0, v), 0.5 * 100 * 2, 1e-12);
  model_by_hand_destroy(&m);
}

TEST(handle_with_damping_brings_a_mass_to_the_end_of_its_table) {
  HkModel *m = two_masses();
  m->springs.k[0] = 0;
  MUST(add_load(m, "handle", false, NULL, NULL, error));
  MUST(hk_method_set_number(&m->forces[1].method, "damping", 20, error));
  double x[6], v[6] = {0};
  memcpy(x, m->x0, sizeof x);
  model_move(m, 0, 1e-3, 10000, x, v);
  CHECK_NEAR(x[3], 4, 1e-9);
  CHECK_NEAR(x[4], 0, 1e-9);
  CHECK_NEAR(x[5], 0, 1e-9);
  CHECK_NEAR(x[0], 0, 0);
  model_by_hand_destroy(&m);
}

TEST(handle_without_damping_swings_about_its_target) {
  HkModel *m = two_masses();
  m->springs.k[0] = 0;
  MUST(add_load(m, "handle", false, "target", (double[]){3, 0, 0}, error));
  double x[6] = {0, 0, 0, 1, 0, 0}, v[6] = {0}, half_period = acos(-1.0) / sqrt(100);
  model_move(m, 0, half_period / 20000, 20000, x, v);
  CHECK_NEAR(x[3], 5, 1e-3);
  model_by_hand_destroy(&m);
}

static HkStatus add_wrong(HkModel *m, const char *name, const HkSelect *select, const double *table,
                          HkError *error) {
  HkMethod method = {0};
  HkStatus status = hk_method_choose(&method, HK_FORCE, name, error);
  if (status >= 0 && select) status = hk_method_set_select(&method, "select", select, error);
  if (status >= 0 && table) status = hk_method_set_table(&method, "table", table, 2, error);
  if (status >= 0) return model_add_force(m, &method, error);
  hk_method_clear(&method);
  return status;
}

TEST(loads_without_vertices_or_rising_times_are_refused) {
  static const char *const names[] = {"point_load", "handle"};
  double back[] = {2, 0, 0, 0, 1, 0, 0, 0};
  HkSelect nowhere = select_box(50, 50, 50, 60, 60, 60), all = {.kind = HK_SELECT_ALL};
  for (int q = 0; q < 2; q++) {
    HkModel *m = two_masses();
    FAILS(add_wrong(m, names[q], NULL, NULL, error), HK_ERROR_INVALID, "select");
    FAILS(add_wrong(m, names[q], &nowhere, NULL, error), HK_ERROR_INVALID, "no vert");
    FAILS(add_wrong(m, names[q], &all, back, error), HK_ERROR_INVALID, "table: row 1");
    CHECK(m->force_count == 1);
    model_by_hand_destroy(&m);
  }
}
