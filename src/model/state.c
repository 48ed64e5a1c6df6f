/* HkState: creating, copying, saving; see state.h. */
#include "model/state.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

/* Creates a state for n vertices and `pins` pins. */
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
  if (!s->borrows) hk_free(&c, &s->x);
  if (!s->borrows) hk_free(&c, &s->v);
  hk_free(&c, &s->pin_held);
  hk_free(&c, &s->x_old);
  hk_free(&c, &s->v_old);
  hk_state_springs_release(s);
  hk_state_memory_release(s);
  hk_free(&c, state);
}

size_t hk_state_bytes(const HkState *s) {
  int vectors = (s->borrows ? 0 : 2) + (s->x_old != NULL) + (s->v_old != NULL);
  return sizeof *s + (size_t)vectors * hk_vector_bytes(s->n) +
         (size_t)s->pin_count * sizeof *s->pin_held +
         (size_t)s->springs.count * HK_STATE_SPRING_BYTES + hk_state_memory_bytes(s);
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
  HK_TRY(hk_state_memory_reserve(from, to, error));
  HK_TRY(hk_state_springs_copy(from, to, error));
  hk_state_memory_copy(from, to);
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

const double *hk_state_positions(const HkState *s) {
  hk_state_fetch(s);
  return s->x;
}

const double *hk_state_velocities(const HkState *s) {
  hk_state_fetch(s);
  return s->v;
}

int64_t hk_state_vertex_count(const HkState *s) {
  return s->n;
}

double hk_state_time(const HkState *s) {
  return s->time;
}

void hk_state_set_time(HkState *s, double time) {
  s->h_old = 0; /* the history of the previous step is no longer valid */
  s->time = time;
  s->edits++;
}

/* ---- As bytes: the head, x, v, the old ones if there are any, the pins; then springs, if they are
 * not those of the model or if memory of forces follows, with their number first, which is 0 if
 * they are those of the model; then memory of forces, if there is any ---- */

typedef struct Head {
  uint64_t fingerprint;
  int64_t n, pin_count, steps, level;
  double time, given_speed, h_old;
} Head;

/* Bytes of a packed state without its springs and memory. */
static size_t packed_size(int64_t n, int64_t pins, bool history) {
  return sizeof(Head) + (size_t)n * (history ? 12 : 6) * sizeof(double) + (size_t)pins;
}

static size_t springs_size(int64_t springs) {
  return sizeof springs + (size_t)springs * HK_STATE_SPRING_BYTES;
}

size_t hk_state_packed_size(const HkState *s) {
  size_t base = packed_size(s->n, s->pin_count, s->h_old > 0);
  size_t memory = hk_state_memory_packed_size(s);
  bool plain = s->springs.count == 0 && memory == 0;
  return plain ? base : base + springs_size(s->springs.count) + memory;
}

static char *put(char *at, const void *from, size_t bytes) {
  if (bytes) memcpy(at, from, bytes);
  return at + bytes;
}

static const char *read_bytes(const char *at, void *to, size_t bytes) {
  if (bytes) memcpy(to, at, bytes);
  return at + bytes;
}

void hk_state_pack(const HkState *s, char *bytes) {
  Head head = {s->fingerprint, s->n,    s->pin_count,   s->steps,
               s->level,       s->time, s->given_speed, s->h_old};
  const HkStateSprings *springs = &s->springs;
  size_t array = (size_t)s->n * 3 * sizeof(double), old = s->h_old > 0 ? array : 0;
  size_t numbers = (size_t)springs->count * sizeof(double);
  hk_state_fetch(s);
  bytes = put(bytes, &head, sizeof head);
  bytes = put(bytes, s->x, array);
  bytes = put(bytes, s->v, array);
  bytes = put(bytes, s->x_old, old);
  bytes = put(bytes, s->v_old, old);
  bytes = put(bytes, s->pin_held, (size_t)s->pin_count);
  if (springs->count == 0 && hk_state_memory_packed_size(s) == 0) return;
  bytes = put(bytes, &springs->count, sizeof springs->count);
  bytes = put(bytes, springs->k, numbers);
  bytes = put(bytes, springs->l0, numbers);
  bytes = put(bytes, springs->damping, numbers);
  bytes = put(bytes, springs->broken, (size_t)springs->count);
  hk_state_memory_pack(s, bytes);
}

/* What follows the pins of a packed state. */
typedef struct Rest {
  int64_t springs;    /* number */
  const char *memory; /* packed memory of forces */
  size_t memory_size; /* 0: there is none */
} Rest;

/* Finds springs and memory in a packed state; false if its size is invalid. */
static bool find_rest(const Head *head, const char *bytes, size_t size, Rest *rest) {
  size_t base = packed_size(head->n, head->pin_count, head->h_old > 0);
  int64_t count = 0;
  *rest = (Rest){0};
  if (size == base) return true;
  if (size < base + sizeof count) return false;
  memcpy(&count, bytes + base, sizeof count);
  if (count < 0 || count > (int64_t)(size / HK_STATE_SPRING_BYTES)) return false;
  size_t end = base + springs_size(count);
  if (size < end) return false;
  *rest = (Rest){count, bytes + end, size - end};
  return size == end ? count > 0 : hk_state_memory_is_sound(rest->memory, rest->memory_size);
}

/* Checks counters and flags of a packed state, which may come from a damaged file; counters must be
 * far from overflow. */
static bool is_sound(const Head *head, const char *bytes, size_t size) {
  if (!(head->n >= 0 && head->n <= INT32_MAX / 3 && head->pin_count >= 0 &&
        head->pin_count <= head->n && head->steps >= 0 && head->steps <= INT64_MAX / 2 &&
        isfinite(head->time) && isfinite(head->given_speed) && head->h_old >= 0 &&
        isfinite(head->h_old)))
    return false;
  Rest rest;
  if (!find_rest(head, bytes, size, &rest)) return false;
  size_t base = packed_size(head->n, head->pin_count, head->h_old > 0);
  for (int64_t p = 1; p <= head->pin_count; p++)
    if ((unsigned char)bytes[base - (size_t)p] > HK_PIN_KEPT) return false;
  return true;
}

static HkStatus unpack_springs(HkState *s, const char *bytes, int64_t count, const char *name,
                               HkError *error) {
  size_t numbers = (size_t)count * sizeof(double);
  if (count == 0) {
    hk_state_springs_release(s);
    return HK_OK;
  }
  HK_TRY(hk_state_springs_need(s, count, error));
  HkStateSprings *springs = &s->springs;
  bytes = read_bytes(bytes + sizeof count, springs->k, numbers);
  bytes = read_bytes(bytes, springs->l0, numbers);
  bytes = read_bytes(bytes, springs->damping, numbers);
  read_bytes(bytes, springs->broken, (size_t)count);
  if (hk_state_springs_check(springs->k, springs->l0, springs->damping, springs->broken, count,
                             error) >= 0)
    return HK_OK;
  hk_state_springs_release(s);
  return hk_fail_at(error, HK_ERROR_FORMAT, name, 0, 0, "holds springs that cannot be");
}

HkStatus hk_state_unpack(HkState *s, const char *bytes, size_t size, const char *name,
                         HkError *error) {
  Head head = {0};
  Rest rest;
  if (size >= sizeof head) memcpy(&head, bytes, sizeof head);
  bool fits = size >= sizeof head && head.fingerprint == s->fingerprint && head.n == s->n &&
              head.pin_count == s->pin_count && find_rest(&head, bytes, size, &rest) &&
              head.level >= 0 && head.level <= HK_STATE_DEPTH_MAX;
  if (!fits)
    return hk_fail_at(error, HK_ERROR_FORMAT, name, 0, 0, "holds the state of another model");
  if (!is_sound(&head, bytes, size))
    return hk_fail_at(error, HK_ERROR_FORMAT, name, 0, 0,
                      "holds a state with counters, times or pins that cannot be");
  size_t array = (size_t)s->n * 3 * sizeof(double), old = head.h_old > 0 ? array : 0;
  hk_state_own(s);
  if (old) HK_TRY(hk_state_need_history(s, error));
  const char *at = bytes + packed_size(s->n, s->pin_count, old > 0);
  HK_TRY(unpack_springs(s, at, rest.springs, name, error));
  HK_TRY(hk_state_memory_unpack(s, rest.memory, rest.memory_size, error));
  bytes = read_bytes(bytes + sizeof head, s->x, array);
  bytes = read_bytes(bytes, s->v, array);
  bytes = read_bytes(bytes, s->x_old, old);
  bytes = read_bytes(bytes, s->v_old, old);
  read_bytes(bytes, s->pin_held, (size_t)s->pin_count);
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
