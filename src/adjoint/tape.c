/* HkTape: the steps of a motion, and the way back through them.
 *
 * A step is differentiated from the states before and after it. A tape keeps as many of them as its
 * memory holds; while it records, these are every s-th one, and s doubles, and every other one is
 * dropped, whenever half of the memory is full. On the way back, the steps between two kept states
 * are made again from the first of them, with the same bits, and the freed half of the memory holds
 * states between them by the binomial schedule (Griewank and Walther 2000): with m states, that at
 * the start included, and no step made again more than t times, it goes back through
 *
 *     beta(m, t) = (m + t)! / (m! t!)
 *
 * steps at most. Recording so needs no number of steps beforehand, and the states of 10,000 steps
 * that do not fit are made at most a few times again.
 */
#include "adjoint/adjoint.h"

#include <math.h>
#include <string.h>

/* A kept state; those of a tape are by rising step. */
typedef struct Slot {
  HkState *state;
  int64_t step;
} Slot;

struct HkTape {
  HkSim *sim;
  HkAdjoint *adjoint;
  HkControl *controls;
  int control_count;
  int64_t control_steps;
  int64_t count, stride;
  HkState *now;                    /* after the last step */
  HkState *moved, *before, *after; /* scratch, while it goes back or forward */
  const HkState *end;              /* the state at which it has arrived on the way back */
  Slot *slots; /* in use: 0 .. used - 1; the states behind them are free for use */
  int64_t used, made, most, capacity;
  size_t bytes; /* for states, as the caller has said */
  int64_t repeated;
  int64_t version;   /* of the model, when the tape was made */
  int64_t steps_old; /* of the start */
  double h;
  bool lost; /* the state after the last step could not be made again after an error */
};

HkTapeSettings hk_tape_settings_default(void) {
  return (HkTapeSettings){.bytes = (size_t)1 << 30};
}

/* ---- Slots ---- */

/* Copies a state without its springs, which no step changes: those of t->now are those of every
 * state, but for controls, which set them before each step. */
static HkStatus copy_plain(HkState *from, HkState *to, HkError *error) {
  HkStateSprings springs = from->springs;
  from->springs = (HkStateSprings){.count = 0};
  HkStatus status = hk_state_copy(from, to, error);
  from->springs = springs;
  return status;
}

/* Takes a state from a slot; `to` has its springs from the first time on. */
static HkStatus take(const HkTape *t, const Slot *slot, HkState *to, HkError *error) {
  HkStateSprings springs = to->springs;
  to->springs = (HkStateSprings){.count = 0};
  HkStatus status = hk_state_copy(slot->state, to, error);
  to->springs = springs;
  if (status < 0 || to->springs.count > 0) return status;
  return hk_state_springs_copy(t->now, to, error);
}

/* Keeps a copy of a state behind the used slots. */
static HkStatus keep(HkTape *t, HkState *state, int64_t step, HkError *error) {
  HK_ASSERT(t->used < t->most);
  HK_TRY(hk_grow(&t->sim->model->context, &t->slots, &t->capacity, t->used + 1, sizeof *t->slots,
                 "a tape", error));
  Slot *slot = &t->slots[t->used];
  if (t->used == t->made) {
    HK_TRY(hk_state_create(t->sim->model, &slot->state, error));
    t->made++;
  }
  HK_TRY(copy_plain(state, slot->state, error));
  slot->step = step;
  t->used++;
  return HK_OK;
}

/* Bytes of a state that is kept, which may get a history. */
static size_t state_bytes(const HkTape *t) {
  const HkModel *m = t->sim->model;
  size_t bytes = sizeof(HkState) + (t->sim->type->remembers ? 4 : 2) * hk_vector_bytes(m->n);
  return bytes + (size_t)m->pin_count + hk_state_memory_bytes(t->now);
  return bytes;
}

/* The number of states that the memory holds. */
static int64_t slots_for(const HkTape *t) {
  enum { SLOTS_MIN = 4, SLOTS_MAX = 1 << 24 };
  size_t bytes = state_bytes(t) + 2 * sizeof *t->slots; /* the list grows by half */
  double slots = floor((double)t->bytes / (double)bytes);
  return slots < SLOTS_MIN ? SLOTS_MIN : slots > SLOTS_MAX ? SLOTS_MAX : (int64_t)slots;
}

/* Drops every other state but the start. */
static void thin_out(HkTape *t) {
  int64_t kept = 0;
  t->stride *= 2;
  for (int64_t k = 0; k < t->used; k++) {
    if (t->slots[k].step % t->stride != 0) continue;
    Slot slot = t->slots[k];
    t->slots[k] = t->slots[kept];
    t->slots[kept++] = slot;
  }
  t->used = kept;
}

/* States have grown, as forces remember more: fewer of them are kept. */
static void notice_growth(HkTape *t) {
  int64_t most = slots_for(t);
  if (most >= t->most) return;
  t->most = most;
  while (t->used >= most) thin_out(t);
  for (; t->made > most; t->made--) hk_state_destroy(&t->slots[t->made - 1].state);
}

/* ---- Controls ---- */

static int64_t control_size(const HkTape *t, const HkControl *c) {
  const HkModel *m = t->sim->model;
  return c->kind == HK_CONTROL_FORCE ? 3 * m->n : m->springs.count;
}

/* Sets what changes before a step. */
static HkStatus apply(const HkTape *t, HkState *state, int64_t step, HkError *error) {
  const double *springs[3] = {NULL, NULL, NULL};
  bool any = false;
  for (int k = 0; k < t->control_count; k++) {
    const HkControl *c = &t->controls[k];
    int64_t size = control_size(t, c);
    const double *values = c->values + step * size;
    if (c->kind == HK_CONTROL_FORCE) {
      memcpy(c->array, values, (size_t)size * sizeof *values);
      continue;
    }
    springs[c->kind] = values;
    any = true;
  }
  if (!any) return HK_OK;
  return hk_state_set_springs(state, t->sim->model, springs[HK_CONTROL_K], springs[HK_CONTROL_L0],
                              springs[HK_CONTROL_DAMPING], NULL, error);
}

/* Where the derivatives of a control are gathered in each step. */
static double *gathered(const HkControl *c, const HkDerivatives *d) {
  double *const springs[] = {d->arrays.k, d->arrays.l0, d->arrays.damping};
  return c->kind == HK_CONTROL_FORCE ? d->force_arrays[c->force] : springs[c->kind];
}

/* What a step has added to the derivatives of what is controlled belongs to that step. */
static void collect(const HkTape *t, int64_t step, const HkDerivatives *d) {
  for (int k = 0; k < t->control_count; k++) {
    const HkControl *c = &t->controls[k];
    int64_t size = control_size(t, c);
    double *from = gathered(c, d);
    for (int64_t q = 0; q < size; q++) {
      if (c->gradient) c->gradient[step * size + q] += from[q];
      from[q] = 0;
    }
  }
}

static HkStatus check_control(const HkTape *t, const HkControl *c, int before, HkError *error) {
  const HkModel *m = t->sim->model;
  if ((int)c->kind < 0 || c->kind > HK_CONTROL_FORCE || !c->values)
    return hk_fail(error, HK_ERROR_INVALID, "a control needs a kind and values");
  for (int k = 0; k < before; k++)
    if (t->controls[k].kind == c->kind &&
        (c->kind != HK_CONTROL_FORCE || t->controls[k].force == c->force))
      return hk_fail(error, HK_ERROR_INVALID, "two controls change the same numbers");
  if (c->kind == HK_CONTROL_DAMPING && !m->springs.damping)
    return hk_fail(
        error, HK_ERROR_INVALID,
        "damping cannot change in a model without it; give its springs a damping above 0");
  if (c->kind != HK_CONTROL_FORCE) return HK_OK;
  bool known = c->force >= 0 && c->force < m->force_count && c->array;
  if (known && hk_force_is_array(&m->forces[c->force])) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID, "force %d of the model is not an array of the caller",
                 c->force);
}

/* ---- Creating ---- */

static HkStatus take_controls(HkTape *t, const HkTapeSettings *settings, HkError *error) {
  const HkContext *c = &t->sim->model->context;
  HK_TRY(hk_alloc(c, &t->controls, settings->control_count, sizeof *t->controls, "a tape", error));
  t->control_count = settings->control_count;
  t->control_steps = settings->control_steps;
  for (int k = 0; k < t->control_count; k++) {
    t->controls[k] = settings->controls[k];
    HK_TRY(check_control(t, &t->controls[k], k, error));
  }
  return HK_OK;
}

static HkStatus create(HkTape *t, const HkState *start, const HkTapeSettings *settings,
                       HkError *error) {
  const HkModel *m = t->sim->model;
  HK_TRY(hk_adjoint_create(t->sim, &settings->adjoint, &t->adjoint, error));
  HK_TRY(hk_state_check(start, m, error));
  HK_TRY(take_controls(t, settings, error));
  HkState **states[] = {&t->now, &t->moved, &t->before, &t->after};
  for (int k = 0; k < 4; k++) HK_TRY(hk_state_create(m, states[k], error));
  HK_TRY(hk_state_copy(start, t->now, error));
  t->bytes = settings->bytes;
  t->most = slots_for(t);
  t->stride = 1;
  t->version = hk_model_version(m);
  t->steps_old = start->steps;
  t->h = t->sim->h;
  return keep(t, t->now, 0, error);
}

HkStatus hk_tape_create(HkSim *sim, const HkState *start, const HkTapeSettings *settings,
                        HkTape **tape, HkError *error) {
  *tape = NULL;
  HkTapeSettings standard = hk_tape_settings_default();
  HK_TRY(hk_alloc(&sim->model->context, tape, 1, sizeof **tape, "a tape", error));
  (*tape)->sim = sim;
  HkStatus status = create(*tape, start, settings ? settings : &standard, error);
  if (status < 0) hk_tape_destroy(tape);
  return status;
}

void hk_tape_destroy(HkTape **tape) {
  HkTape *t = *tape;
  if (!t) return;
  HkContext c = t->sim->model->context;
  for (int64_t k = 0; k < t->made; k++) hk_state_destroy(&t->slots[k].state);
  hk_free(&c, &t->slots);
  hk_free(&c, &t->controls);
  HkState **states[] = {&t->now, &t->moved, &t->before, &t->after};
  for (int k = 0; k < 4; k++) hk_state_destroy(states[k]);
  hk_adjoint_destroy(&t->adjoint);
  hk_free(&c, tape);
}

int64_t hk_tape_count(const HkTape *t) {
  return t->count;
}

const HkState *hk_tape_state(const HkTape *t) {
  return t->now;
}

size_t hk_tape_bytes(const HkTape *t) {
  return sizeof *t + (size_t)t->capacity * sizeof *t->slots +
         (size_t)(t->made + 4) * state_bytes(t) +
         4 * (size_t)t->now->springs.count * HK_STATE_SPRING_BYTES;
}

int64_t hk_tape_repeated(const HkTape *t) {
  return t->repeated;
}

/* ---- Recording ---- */

static HkStatus check_unchanged(const HkTape *t, HkError *error) {
  if (t->lost)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the tape has ended with the step that failed; make a new tape");
  if (hk_model_version(t->sim->model) == t->version && t->sim->h == t->h) return HK_OK;
  return hk_fail(
      error, HK_ERROR_INVALID,
      "the model or the step of the simulation has changed since the tape was made; make "
      "a new tape");
}

/* Makes the step with a number. */
static HkStatus make_step(HkTape *t, HkState *state, int64_t step, HkError *error) {
  HK_TRY(apply(t, state, step, error));
  return hk_sim_step(t->sim, state, error);
}

/* Makes steps again, from a slot into t->moved. */
static HkStatus repeat(HkTape *t, const Slot *from, int64_t count, HkError *error) {
  HK_TRY(take(t, from, t->moved, error));
  for (int64_t k = 0; k < count; k++) {
    HkStatus status = make_step(t, t->moved, from->step + k, error);
    if (status < 0) return status;
    t->repeated++;
  }
  return HK_OK;
}

/* A step that fails may have moved the state, as one that blows up: makes it that of the last good
 * step again. */
static void step_failed(HkTape *t) {
  const Slot *last = &t->slots[t->used - 1];
  if (t->now->steps == t->steps_old + t->count) return;
  HkStatus status = repeat(t, last, t->count - last->step, NULL);
  HkState *good = t->moved;
  t->lost = status < 0;
  t->moved = t->now;
  t->now = good;
}

HkStatus hk_tape_steps(HkTape *t, int64_t count, HkError *error) {
  HkStatus worst = HK_OK;
  HK_TRY(check_unchanged(t, error));
  if (count < 0)
    return hk_fail(error, HK_ERROR_INVALID, "%lld steps are not possible", (long long)count);
  if (t->control_count && count > t->control_steps - t->count)
    return hk_fail(error, HK_ERROR_INVALID, "the controls have values for %lld steps only",
                   (long long)t->control_steps);
  for (int64_t k = 0; k < count; k++) {
    HkStatus status = make_step(t, t->now, t->count, error);
    if (status < 0) {
      step_failed(t);
      return status;
    }
    if (status > 0) worst = status;
    t->count++;
    notice_growth(t);
    if (t->used == t->most) thin_out(t);
    while (t->stride > 1 && t->used >= t->most / 2 + 1) thin_out(t);
    if (t->count % t->stride == 0) HK_TRY(keep(t, t->now, t->count, error));
  }
  return worst;
}

/* ---- Going back ---- */

/* Whether all numbers are finite: 0 times another one is not 0. */
static bool are_finite(const double *values, int64_t count) {
  enum { LANES = 8 };
  double sum[LANES] = {0}, all = 0;
  int64_t q = 0;
  for (; q + LANES <= count; q += LANES)
    for (int l = 0; l < LANES; l++) sum[l] += 0 * values[q + l];
  for (; q < count; q++) all += 0 * values[q];
  for (int l = 0; l < LANES; l++) all += sum[l];
  return all == 0;
}

/* The gradient of the loss by the state after `step` steps is added to d. */
static HkStatus add_loss(const HkTape *t, const HkState *state, int64_t step, HkLossFn *loss,
                         void *user, HkDerivatives *d, HkError *error) {
  double *const arrays[] = {d->arrays.x, d->arrays.v};
  if (loss) loss(user, step, state, arrays[0], arrays[1]);
  int64_t count = 3 * t->sim->model->n;
  for (int k = 0; k < 2 && loss; k++) {
    if (are_finite(arrays[k], count)) continue;
    for (int64_t c = 0; c < count; c++)
      if (!isfinite(arrays[k][c]))
        return hk_fail(error, HK_ERROR_INVALID,
                       "the gradient at step %lld is not finite: vertex %lld has %g by its %s",
                       (long long)step, (long long)(c / 3), arrays[k][c],
                       k ? "velocity" : "position");
  }
  return HK_OK;
}

/* Goes back through the step from `before` to t->end. */
static HkStatus step_back(HkTape *t, const HkState *before, int64_t step, HkDerivatives *d,
                          HkError *error) {
  HK_TRY(hk_cancel_check(&t->sim->cancel, error));
  if (t->control_count) {
    HK_TRY(hk_state_copy(before, t->moved, error));
    HK_TRY(apply(t, t->moved, step, error));
    before = t->moved;
  }
  HK_TRY(hk_adjoint_back(t->adjoint, before, t->end, d, error));
  if (t->control_count) {
    hk_adjoint_settle(t->adjoint);
    collect(t, step, d);
  }
  return HK_OK;
}

/* beta(states, times) of the head; 0 where times is below 0. */
static double reach_of(int64_t states, int64_t times) {
  double reach = times < 0 ? 0 : 1;
  for (int64_t k = 1; k <= times; k++) reach = reach * (double)(states + k) / (double)k;
  return reach; /* each partial product is a whole number, exact below 2^53 */
}

static void swap(HkState **a, HkState **b) {
  HkState *first = *a;
  *a = *b;
  *b = first;
}

/* How many of `length` steps lie before the next state to keep, with so many free slots. With a
 * part of at least beta(m, t - 2) steps before it and at most beta(m - 1, t) behind, the fewest
 * steps are made again. */
static int64_t split(int64_t length, int64_t slots) {
  int64_t states = slots + 1, times = 1;
  while (reach_of(states, times) < (double)length) times++;
  double least = reach_of(states, times - 2), behind = reach_of(states - 1, times);
  return (int64_t)fmax(fmax(least, (double)length - behind), 1);
}

/* Goes back from step `end` to the recorded slot `base`. Slots from `recorded` on are a stack of
 * states in between. */
static HkStatus back_to(HkTape *t, int64_t base, int64_t recorded, int64_t end, HkLossFn *loss,
                        void *user, HkDerivatives *d, HkError *error) {
  while (end > t->slots[base].step) {
    const Slot *last = &t->slots[t->used > recorded ? t->used - 1 : base];
    int64_t length = end - last->step, free = t->most - t->used;
    if (length > 1 && free > 0) {
      int64_t part = split(length, free);
      int64_t step = last->step + part;
      HK_TRY(repeat(t, last, part, error));
      HK_TRY(keep(t, t->moved, step, error));
      continue;
    }
    /* A recorded state without springs of its own stays as it is and needs no copy. */
    bool kept = length == 1 && t->used == recorded && t->now->springs.count == 0;
    if (length == 1 && !kept) HK_TRY(take(t, last, t->before, error));
    if (length > 1) {
      HK_TRY(repeat(t, last, length - 1, error));
      HK_TRY(hk_state_copy(t->moved, t->before, error));
    }
    end--;
    const HkState *reached = kept ? last->state : t->before;
    HK_TRY(step_back(t, reached, end, d, error));
    t->end = reached;
    if (!kept) swap(&t->before, &t->after);
    HK_TRY(add_loss(t, t->end, end, loss, user, d, error));
    if (length == 1 && t->used > recorded) t->used--;
  }
  return HK_OK;
}

static HkStatus go_back(HkTape *t, HkLossFn *loss, void *user, HkDerivatives *d, HkError *error) {
  int64_t recorded = t->used, end = t->count;
  t->end = t->now;
  HK_TRY(add_loss(t, t->now, end, loss, user, d, error));
  for (int64_t k = recorded - 1; k >= 0; k--) {
    HkStatus status = back_to(t, k, recorded, end, loss, user, d, error);
    t->used = recorded;
    if (status < 0) return status;
    if (t->slots[k].step < end) end = t->slots[k].step;
  }
  return HK_OK;
}

/* Derivatives of steps that are far from solved mean little. */
static void warn(const HkTape *t, const HkAdjointInfo *info) {
  const double RELATIVE_ERROR_MAX = 0.01;
  if (info->unsolved > 0)
    hk_log(
        &t->sim->model->context, HK_LOG_WARNING,
        "%lld of %lld linear systems of derivatives are not solved: the largest relative residual "
        "is %.1e. %lld steps have not led to a minimum; lower the tolerance of the minimizer, take "
        "smaller steps, or project the Hessian",
        (long long)info->unsolved, (long long)info->steps, info->residual,
        (long long)info->indefinite);
  if (info->relative_error <= RELATIVE_ERROR_MAX) return;
  hk_log(
      &t->sim->model->context, HK_LOG_WARNING,
      "the steps are not solved well enough for their derivatives: about %.2g of the gradient is "
      "uncertain; lower the tolerance of the minimizer",
      info->relative_error);
}

static HkStatus begin_pass(HkTape *t, const HkDerivatives *d, HkError *error) {
  HK_TRY(check_unchanged(t, error));
  HK_TRY(hk_derivatives_check(d, t->sim->model, error));
  hk_cancel_begin(&t->sim->cancel);
  hk_adjoint_restart(t->adjoint);
  return HK_OK;
}

HkStatus hk_tape_backward(HkTape *t, HkLossFn *loss, void *user, HkDerivatives *d,
                          HkAdjointInfo *info, HkError *error) {
  HK_TRY(begin_pass(t, d, error));
  hk_derivatives_zero(d);
  HkStatus status = go_back(t, loss, user, d, error);
  hk_adjoint_settle(t->adjoint);
  HkAdjointInfo done = hk_adjoint_info(t->adjoint);
  if (info) *info = done;
  if (status < 0) return status;
  warn(t, &done);
  return done.unsolved > 0 ? HK_NOT_CONVERGED : HK_OK;
}

/* ---- Going forward ---- */

HkStatus hk_tape_tangent(HkTape *t, HkTangentFn *visit, void *user, HkDerivatives *d,
                         HkAdjointInfo *info, HkError *error) {
  HK_TRY(begin_pass(t, d, error));
  if (t->control_count)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "directions of a tape with controls are not supported; use hk_tape_backward");
  hk_derivatives_zero_history(d);
  HK_TRY(take(t, &t->slots[0], t->before, error));
  for (int64_t step = 0; step <= t->count; step++) {
    if (visit) visit(user, step, t->before, d->arrays.x, d->arrays.v);
    if (step == t->count) break;
    HK_TRY(hk_cancel_check(&t->sim->cancel, error));
    HK_TRY(hk_state_copy(t->before, t->after, error));
    HkStatus status = hk_sim_step(t->sim, t->after, error);
    if (status < 0) return status;
    HK_TRY(hk_adjoint_tangent(t->adjoint, t->before, t->after, d, error));
    swap(&t->before, &t->after);
  }
  t->repeated += t->count;
  HkAdjointInfo done = hk_adjoint_info(t->adjoint);
  if (info) *info = done;
  warn(t, &done);
  return done.unsolved > 0 ? HK_NOT_CONVERGED : HK_OK;
}
