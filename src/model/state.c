/* HkState: creating, copying, saving; see state.h. */
#include "model/state.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

/* A state for n vertices, of which so many are pinned. */
static HkStatus create(const HkContext *context, uint64_t fingerprint, int64_t n, int64_t pins,
                       HkState **state, HkError *error) {
  HkContext c = *context;
  *state = NULL;
  HK_TRY(hk_alloc(&c, state, 1, sizeof **state, "a state", error));
  HkState *s = *state;
  s->context = c;
  s->fingerprint = fingerprint;
  s->n = n;
  s->pin_count = pins;
  HkStatus status = hk_alloc_vector(&c, &s->x, n, "positions", error);
  if (status >= 0) status = hk_alloc_vector(&c, &s->v, n, "velocities", error);
  if (status >= 0) status = hk_alloc(&c, &s->pin_held, pins, sizeof *s->pin_held, "pins", error);
  if (status < 0) hk_state_destroy(state);
  return status;
}

HkStatus hk_state_create(const HkModel *model, HkState **state, HkError *error) {
  HK_TRY(create(&model->context, model->fingerprint, model->n, model->pin_count, state, error));
  HkState *s = *state;
  memcpy(s->x, model->x0, (size_t)s->n * 3 * sizeof *s->x);
  memcpy(s->v, model->v0, (size_t)s->n * 3 * sizeof *s->v);
  if (s->pin_count) memset(s->pin_held, HK_PIN_HELD, (size_t)s->pin_count);
  hk_pins_release(model, s, 0);
  hk_pins_place(model, s, 0, s->x, s->v);
  return HK_OK;
}

void hk_state_destroy(HkState **state) {
  HkState *s = *state;
  if (!s) return;
  HkContext c = s->context;
  if (s->holder) s->holder->leave(s->holder);
  hk_free(&c, &s->x);
  hk_free(&c, &s->v);
  hk_free(&c, &s->pin_held);
  hk_free(&c, &s->x_old);
  hk_free(&c, &s->v_old);
  hk_free(&c, state);
}

size_t hk_state_bytes(const HkState *s) {
  int vectors = 2 + (s->x_old != NULL) + (s->v_old != NULL);
  return sizeof *s + (size_t)vectors * hk_vector_bytes(s->n) +
         (size_t)s->pin_count * sizeof *s->pin_held;
}

HkStatus hk_state_need_history(HkState *s, HkError *error) {
  if (!s->x_old) HK_TRY(hk_alloc_vector(&s->context, &s->x_old, s->n, "x_old", error));
  if (!s->v_old) HK_TRY(hk_alloc_vector(&s->context, &s->v_old, s->n, "v_old", error));
  return HK_OK;
}

void hk_state_remember(HkState *s, double h) {
  memcpy(s->x_old, s->x, (size_t)s->n * 3 * sizeof *s->x);
  memcpy(s->v_old, s->v, (size_t)s->n * 3 * sizeof *s->v);
  s->h_old = h;
}

HkStatus hk_state_check(const HkState *s, const HkModel *model, HkError *error) {
  if (hk_state_fits(s, model)) return HK_OK;
  return hk_fail(error, HK_ERROR_INVALID, "the state belongs to another model");
}

HkStatus hk_state_copy(const HkState *from, HkState *to, HkError *error) {
  if (from == to) return HK_OK;
  if (from->fingerprint != to->fingerprint || from->n != to->n || from->pin_count != to->pin_count)
    return hk_fail(error, HK_ERROR_INVALID, "the two states belong to different models");
  hk_state_fetch(from);
  hk_state_own(to);
  if (from->h_old > 0) {
    HK_TRY(hk_state_need_history(to, error));
    memcpy(to->x_old, from->x_old, (size_t)from->n * 3 * sizeof *from->x);
    memcpy(to->v_old, from->v_old, (size_t)from->n * 3 * sizeof *from->v);
  }
  to->h_old = from->h_old;
  to->level = from->level;
  memcpy(to->x, from->x, (size_t)from->n * 3 * sizeof *from->x);
  memcpy(to->v, from->v, (size_t)from->n * 3 * sizeof *from->v);
  if (from->pin_count) memcpy(to->pin_held, from->pin_held, (size_t)from->pin_count);
  to->time = from->time;
  to->steps = from->steps;
  to->given_speed = from->given_speed;
  to->edits++;
  return HK_OK;
}

double *hk_state_x(HkState *s) {
  hk_state_own(s);
  s->lent = true;
  return s->x;
}

double *hk_state_v(HkState *s) {
  hk_state_own(s);
  s->lent = true;
  return s->v;
}

int64_t hk_state_vertex_count(const HkState *s) {
  return s->n;
}

double hk_state_time(const HkState *s) {
  return s->time;
}

void hk_state_set_time(HkState *s, double time) {
  s->h_old = 0; /* what was a step before is no more */
  s->time = time;
  s->edits++;
}

/* ---- As bytes: the head, then x, v, the old ones if there are any, and the pins ---- */

typedef struct Head {
  uint64_t fingerprint;
  int64_t n, pin_count, steps, level;
  double time, given_speed, h_old;
} Head;

static size_t packed_size(const HkState *s, bool history) {
  return sizeof(Head) + (size_t)s->n * (history ? 12 : 6) * sizeof(double) + (size_t)s->pin_count;
}

size_t hk_state_packed_size(const HkState *s) {
  return packed_size(s, s->h_old > 0);
}

static char *put(char *at, const void *from, size_t bytes) {
  if (bytes) memcpy(at, from, bytes);
  return at + bytes;
}

static const char *take(const char *at, void *to, size_t bytes) {
  if (bytes) memcpy(to, at, bytes);
  return at + bytes;
}

void hk_state_pack(const HkState *s, char *bytes) {
  Head head = {s->fingerprint, s->n,    s->pin_count,   s->steps,
               s->level,       s->time, s->given_speed, s->h_old};
  size_t array = (size_t)s->n * 3 * sizeof(double), old = s->h_old > 0 ? array : 0;
  hk_state_fetch(s);
  bytes = put(bytes, &head, sizeof head);
  bytes = put(bytes, s->x, array);
  bytes = put(bytes, s->v, array);
  bytes = put(bytes, s->x_old, old);
  bytes = put(bytes, s->v_old, old);
  put(bytes, s->pin_held, (size_t)s->pin_count);
}

/* Bytes from elsewhere: everything in them is looked at before it is believed. Counters leave as
 * much to be counted as there was. */
static bool is_sound(const Head *head, const char *bytes, size_t size) {
  if (!(head->n >= 0 && head->n <= INT32_MAX / 3 && head->pin_count >= 0 &&
        head->pin_count <= head->n && head->steps >= 0 && head->steps <= INT64_MAX / 2 &&
        isfinite(head->time) && isfinite(head->given_speed) && head->h_old >= 0 &&
        isfinite(head->h_old)))
    return false;
  HkState shape = {.n = head->n, .pin_count = head->pin_count};
  if (size != packed_size(&shape, head->h_old > 0)) return false;
  for (int64_t q = 1; q <= head->pin_count; q++)
    if ((unsigned char)bytes[size - (size_t)q] > HK_PIN_KEPT) return false;
  return true;
}

HkStatus hk_state_unpack(HkState *s, const char *bytes, size_t size, const char *name,
                         HkError *error) {
  Head head = {0};
  if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
  bool fits = head.fingerprint == s->fingerprint && head.n == s->n &&
              head.pin_count == s->pin_count && size == packed_size(s, head.h_old > 0) &&
              head.level >= 0 && head.level <= HK_STATE_DEEPEST;
  if (!fits)
    return hk_fail_at(error, HK_ERROR_FORMAT, name, 0, 0, "holds the state of another model");
  if (!is_sound(&head, bytes, size))
    return hk_fail_at(error, HK_ERROR_FORMAT, name, 0, 0,
                      "holds a state with counters, times or pins that cannot be");
  size_t array = (size_t)s->n * 3 * sizeof(double), old = head.h_old > 0 ? array : 0;
  hk_state_own(s);
  if (old) HK_TRY(hk_state_need_history(s, error));
  bytes = take(bytes + sizeof head, s->x, array);
  bytes = take(bytes, s->v, array);
  bytes = take(bytes, s->x_old, old);
  bytes = take(bytes, s->v_old, old);
  take(bytes, s->pin_held, (size_t)s->pin_count);
  s->steps = head.steps;
  s->level = (int)head.level;
  s->time = head.time;
  s->given_speed = head.given_speed;
  s->h_old = head.h_old;
  s->edits++;
  return HK_OK;
}

HkStatus hk_state_from_bytes(const HkContext *context, const char *bytes, size_t size,
                             HkState **state, HkError *error) {
  HkContext c = hk_context_or_default(context);
  Head head = {0};
  *state = NULL;
  if (bytes && size >= sizeof head) memcpy(&head, bytes, sizeof head);
  if (!bytes || size < sizeof head || !is_sound(&head, bytes, size))
    return hk_fail(error, HK_ERROR_FORMAT, "these %zu bytes are no state of Hooke", size);
  HK_TRY(create(&c, head.fingerprint, head.n, head.pin_count, state, error));
  HkStatus status = hk_state_unpack(*state, bytes, size, "the state", error);
  if (status < 0) hk_state_destroy(state);
  return status;
}
