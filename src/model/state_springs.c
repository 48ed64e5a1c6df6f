/* Springs that belong to a state and not to its model: stiffness, rest length, damping, and which
 * are broken. They change in time, by the caller or by a force, and are saved, copied and resumed
 * with the state. States whose springs are the model's, which most are, have no arrays. */
#include "model/state.h"

#include <math.h>
#include <string.h>

HkStatus hk_state_springs_need(HkState *state, int64_t count, HkError *error) {
  HkStateSprings *s = &state->springs;
  const HkContext *c = &state->context;
  if (s->count == count) return HK_OK;
  hk_state_springs_release(state);
  HkStatus status = hk_alloc(c, &s->k, count, sizeof *s->k, "springs of a state", error);
  if (status >= 0) status = hk_alloc(c, &s->l0, count, sizeof *s->l0, "springs of a state", error);
  if (status >= 0)
    status = hk_alloc(c, &s->damping, count, sizeof *s->damping, "springs of a state", error);
  if (status >= 0)
    status = hk_alloc(c, &s->broken, count, sizeof *s->broken, "springs of a state", error);
  s->count = count;
  if (status < 0) hk_state_springs_release(state);
  return status;
}

void hk_state_springs_release(HkState *state) {
  HkStateSprings *s = &state->springs;
  const HkContext *c = &state->context;
  hk_free(c, &s->k);
  hk_free(c, &s->l0);
  hk_free(c, &s->damping);
  hk_free(c, &s->broken);
  s->count = 0;
}

HkStatus hk_state_springs_copy(const HkState *from, HkState *to, HkError *error) {
  const HkStateSprings *s = &from->springs;
  HkStateSprings *t = &to->springs;
  size_t numbers = (size_t)s->count * sizeof *s->k;
  if (s->count == 0) {
    if (t->count) hk_state_springs_release(to);
    return HK_OK;
  }
  HK_TRY(hk_state_springs_need(to, s->count, error));
  memcpy(t->k, s->k, numbers);
  memcpy(t->l0, s->l0, numbers);
  memcpy(t->damping, s->damping, numbers);
  memcpy(t->broken, s->broken, (size_t)s->count);
  return HK_OK;
}

static HkStatus check_numbers(const double *values, int64_t count, const char *what,
                              HkError *error) {
  for (int64_t s = 0; values && s < count; s++)
    if (!(values[s] >= 0) || isinf(values[s]))
      return hk_fail(error, HK_ERROR_INVALID,
                     "spring %lld: %s = %g; it must be finite and at least 0", (long long)s, what,
                     values[s]);
  return HK_OK;
}

HkStatus hk_state_springs_check(const double *k, const double *l0, const double *damping,
                                const uint8_t *broken, int64_t count, HkError *error) {
  HK_TRY(check_numbers(k, count, "k", error));
  HK_TRY(check_numbers(l0, count, "l0", error));
  HK_TRY(check_numbers(damping, count, "damping", error));
  for (int64_t s = 0; broken && s < count; s++)
    if (broken[s] > 1)
      return hk_fail(error, HK_ERROR_INVALID, "spring %lld: broken = %d; give 0 or 1", (long long)s,
                     broken[s]);
  return HK_OK;
}

HkStatus hk_state_own_springs(HkState *state, const HkModel *model, HkError *error) {
  const HkSpringArrays *m = &model->springs;
  HkStateSprings *s = &state->springs;
  size_t numbers = (size_t)m->count * sizeof *m->k;
  if (s->count == m->count) return HK_OK;
  HK_TRY(hk_state_springs_need(state, m->count, error));
  memcpy(s->k, m->k, numbers);
  memcpy(s->l0, m->l0, numbers);
  if (m->damping) memcpy(s->damping, m->damping, numbers);
  return HK_OK;
}

HkStatus hk_state_set_springs(HkState *state, const HkModel *model, const double *k,
                              const double *l0, const double *damping, const uint8_t *broken,
                              HkError *error) {
  const HkSpringArrays *m = &model->springs;
  HkStateSprings *s = &state->springs;
  size_t numbers = (size_t)m->count * sizeof *m->k;
  HK_TRY(hk_state_check(state, model, error));
  HK_TRY(hk_state_springs_check(k, l0, damping, broken, m->count, error));
  if (damping && !m->damping)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the springs of this model are not damped, and those of a state cannot be "
                   "either; give the body's springs some damping, as little as you like");
  if (m->count == 0) return HK_OK;
  HK_TRY(hk_state_own_springs(state, model, error));
  if (k) memcpy(s->k, k, numbers);
  if (l0) memcpy(s->l0, l0, numbers);
  if (damping) memcpy(s->damping, damping, numbers);
  if (broken) memcpy(s->broken, broken, (size_t)m->count);
  state->edits++;
  return HK_OK;
}

void hk_state_reset_springs(HkState *state) {
  hk_state_springs_release(state);
  state->edits++;
}

HkSpringView hk_state_springs(const HkState *state, const HkModel *model) {
  HkSpringView view = hk_model_springs(model);
  const HkStateSprings *s = &state->springs;
  if (!hk_state_fits(state, model)) return (HkSpringView){0};
  if (s->count == 0) return view;
  view.k = s->k;
  view.l0 = s->l0;
  if (view.damping) view.damping = s->damping;
  view.broken = s->broken;
  return view;
}
