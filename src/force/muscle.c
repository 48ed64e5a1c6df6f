/* Muscles: springs whose rest length, and stiffness if wanted, follow a signal u(t):
 *
 *     l0(t) = l0 (1 + amplitude u(t)),   k(t) = k (1 + stiffness_amplitude u(t))
 *     u(t) = sin(2 pi (frequency t + phase / 360)), or piecewise linear through the rows 't u' of a
 * table
 *
 * l0 and k are those of the state. Muscles of several forces multiply. A step has the values of one
 * time, at which the integrator evaluates its forces (HkStepType.drive_time): the order of an
 * integrator is kept up to the second. Muscles do work on the masses.
 */
#include "force/chosen_springs.h"

#include "base/table.h"

typedef struct Params {
  HkSelect select;
  int springs;
  double amplitude, stiffness_amplitude;
  double frequency, phase;
  HkTable table;
} Params;

static const HkParam params[] = {
    HK_CHOSEN_SPRINGS(Params),
    HK_NUMBER(Params, amplitude, "1", 0.1, -HK_MAX, HK_MAX, "change of rest lengths at u = 1"),
    HK_NUMBER(Params, stiffness_amplitude, "1", 0, -HK_MAX, HK_MAX, "change of stiffness at u = 1"),
    HK_NUMBER(Params, frequency, "1/s", 1, 0, HK_MAX, "of the sine u"),
    HK_NUMBER(Params, phase, "degrees", 0, -HK_MAX, HK_MAX, "of the sine at time 0"),
    HK_TABLE(Params, table, "s, 1", 2, "rows t u in place of the sine, linear between"),
};

/* Rest lengths and stiffness must not become negative; the linear parts of a table are extreme at
 * its rows, and the sine at -1 and 1. */
static HkStatus check_factors(const Params *p, double u, const char *where, HkError *error) {
  const double amplitudes[] = {p->amplitude, p->stiffness_amplitude};
  static const char *const names[] = {"amplitude", "stiffness_amplitude"};
  for (int k = 0; k < 2; k++)
    if (!(1 + amplitudes[k] * u >= 0))
      return hk_fail_key(error, HK_ERROR_INVALID, names[k],
                         "with %g the factor 1 + %s u is negative where u = %g%s; give at most %g",
                         amplitudes[k], names[k], u, where, 1 / fabs(u));
  return HK_OK;
}

static HkStatus compile(HkModel *model, const void *chosen, void **data, HkError *error) {
  const Params *p = chosen;
  HK_TRY(hk_table_check(&p->table, 2, "table", error));
  for (int row = 0; row < p->table.rows; row++)
    HK_TRY(check_factors(p, p->table.values[2 * row + 1], " in the table", error));
  for (int sign = -1; sign <= 1 && p->table.rows == 0; sign += 2)
    HK_TRY(check_factors(p, sign, "", error));
  return hk_chosen_springs_create(model, &p->select, p->springs, data, error);
}

static double signal(const Params *p, double t) {
  double u = 0;
  if (p->table.rows > 0)
    hk_table_at(&p->table, 2, t, &u, NULL);
  else
    u = sin(2 * M_PI * (fmod(p->frequency * t, 1) + fmod(p->phase, 360) / 360));
  return u;
}

static bool drive(const HkForceArgs *a, HkSpringArrays *springs) {
  const Params *p = a->params;
  const HkChosenSprings *chosen = a->data;
  double u = signal(p, a->t);
  for (int64_t q = 0; q < chosen->count; q++) {
    int32_t s = chosen->spring[q];
    springs->l0[s] *= 1 + p->amplitude * u;
    springs->k[s] *= 1 + p->stiffness_amplitude * u;
  }
  return p->stiffness_amplitude != 0;
}

const HkForceType hk_force_muscle = {
    .schema = {.name = "muscle",
               .summary = "springs whose rest length or stiffness follows a signal",
               .formula =
                   "l0(t) = l0 (1 + amplitude u),  u = sin(2 pi (frequency t + phase / 360))",
               HK_PARAMS(Params, params)},
    .slot = HK_ENERGY_OTHER,
    .compile = compile,
    .destroy = hk_chosen_springs_destroy,
    .bytes = hk_chosen_springs_bytes,
    .changed_springs = hk_chosen_springs,
    .drive = drive,
};
