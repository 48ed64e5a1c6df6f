/* HkState: all that a step depends on besides the model and the settings. */
#ifndef HK_MODEL_STATE_H
#define HK_MODEL_STATE_H

#include "model/model.h"

/* State of a pin: released; held until its release time; held by the caller, whatever that time is.
 */
enum { HK_PIN_FREE, HK_PIN_HELD, HK_PIN_KEPT };

enum { HK_STATE_DEPTH_MAX = 20 };

/* A device that has made the last steps of a state and holds it. */
typedef struct HkStateHolder HkStateHolder;
struct HkStateHolder {
  void (*fetch)(HkStateHolder *holder); /* copies x and v to the host if the device holds them */
  void (*leave)(
      HkStateHolder *holder); /* releases the device's copy: the host's x and v are valid */
};

/* Springs that differ from those of the model. */
typedef struct HkStateSprings {
  int64_t count;   /* 0: they are the model's */
  double *k, *l0;  /* N/m, m */
  double *damping; /* N s/m */
  uint8_t *broken; /* 1: exerts no force */
} HkStateSprings;

/* What a force keeps in a state from one step to the next: state_memory.c. */
typedef struct HkForceMemory {
  char *bytes;
  int64_t size, capacity;
  uint64_t key;             /* of the force: force.c */
  const HkContext *context; /* of the state */
} HkForceMemory;

struct HkState {
  HkContext context;
  uint64_t fingerprint; /* of the model it belongs to */
  int64_t n, pin_count;
  double time;           /* s */
  int64_t steps;         /* done since time 0 */
  double *x, *v;         /* 3 a vertex */
  uint8_t *pin_held;     /* HK_PIN_*: 0 once the pin is released */
  double *x_old, *v_old; /* 3 a vertex, one step before; NULL unless a two-step method needs them */
  double h_old;          /* s, the step from there to here; 0: there is none */
  int level;             /* of the adaptive step, at most HK_STATE_DEPTH_MAX: step/adaptive.c */
  HkStateHolder *holder; /* NULL: x and v are here */
  int64_t edits;         /* number of changes by calls other than steps: energy_watch.c */
  bool borrows;          /* x and v belong to a batch */
  bool lent;             /* hk_state_x or hk_state_v has given out a pointer to write through */
  double given_speed;    /* m/s, largest speed at the start or due to pins and loads: blowup.c */
  HkStateSprings springs;
  HkForceMemory *memory; /* of forces, by rising key; NULL: no force has any */
  int memory_count;
  int64_t memory_capacity;
};

/* Returns whether a state belongs to a model: their arrays then have the same lengths. */
static inline bool hk_state_fits(const HkState *state, const HkModel *model) {
  return state->fingerprint == model->fingerprint && state->n == model->n &&
         state->pin_count == model->pin_count &&
         (state->springs.count == 0 || state->springs.count == model->springs.count);
}
/* Returns an error if a state does not belong to a model. */
HkStatus hk_state_check(const HkState *state, const HkModel *model, HkError *error);

/* state_springs.c: springs that belong to a state. */
enum { HK_STATE_SPRING_BYTES = 3 * sizeof(double) + 1 };
/* Allocates the arrays, once. */
HkStatus hk_state_springs_need(HkState *state, int64_t count, HkError *error);
/* Gives the state springs of its own, those of the model, unless it has some. */
HkStatus hk_state_own_springs(HkState *state, const HkModel *model, HkError *error);
void hk_state_springs_release(HkState *state);
HkStatus hk_state_springs_copy(const HkState *from, HkState *to, HkError *error);
/* An error unless all numbers are finite and at least 0. Arrays may be NULL. */
HkStatus hk_state_springs_check(const double *k, const double *l0, const double *damping,
                                const uint8_t *broken, int64_t count, HkError *error);

/* state_memory.c: memory of forces. Pointers to memories are valid until another one is added. */
/* Returns the memory with a key, or NULL. */
const HkForceMemory *hk_state_memory(const HkState *state, uint64_t key);
/* Finds the memory with a key, or adds an empty one. */
HkStatus hk_state_need_memory(HkState *state, uint64_t key, HkForceMemory **memory, HkError *error);
void hk_state_remove_memory(HkState *state, int index);
/* Makes capacity for size bytes; those that are there stay. */
HkStatus hk_force_memory_reserve(HkForceMemory *memory, int64_t size, HkError *error);
/* Replaces the memory by a copy of size bytes. */
HkStatus hk_force_memory_write(HkForceMemory *memory, const void *bytes, int64_t size,
                               HkError *error);
void hk_state_memory_release(HkState *state);
size_t hk_state_memory_bytes(const HkState *state);
/* Allocates what hk_state_memory_copy needs, which cannot fail then. */
HkStatus hk_state_memory_reserve(const HkState *from, HkState *to, HkError *error);
void hk_state_memory_copy(const HkState *from, HkState *to);
/* The packed memories; 0 bytes if all are empty. */
size_t hk_state_memory_packed_size(const HkState *state);
void hk_state_memory_pack(const HkState *state, char *bytes);
/* Checks packed memories, which may come from a damaged file. */
bool hk_state_memory_is_sound(const char *bytes, size_t size);
/* Reads packed memories that are sound; size 0: there are none. */
HkStatus hk_state_memory_unpack(HkState *state, const char *bytes, size_t size, HkError *error);

/* Copies x and v to the host if a device holds them; required before they are read. */
static inline void hk_state_fetch(const HkState *state) {
  if (state->holder) state->holder->fetch(state->holder);
}
/* Copies x and v to the host and releases the device's copy; required before they are written. */
static inline void hk_state_own(HkState *state) {
  hk_state_fetch(state);
  if (state->holder) state->holder->leave(state->holder);
}

/* Allocates x_old and v_old, once. */
HkStatus hk_state_need_history(HkState *state, HkError *error);
/* Stores x, v and h as the history, before a step of length h ends. */
void hk_state_remember(HkState *state, double h);

/* Computes position, velocity and acceleration of a pin's motion at time t; a may be NULL. */
void hk_pin_at(const HkModel *model, int64_t pin, double t, double x[3], double v[3], double a[3]);
/* Raises given_speed by the energy that springs get when a pin jumps to `place`. */
void hk_pin_jump(const HkModel *model, HkState *state, int64_t pin, const double place[3]);
/* Moves the held pins to the positions of their motions at time t. */
void hk_pins_place(const HkModel *model, const HkState *state, double t, double *x, double *v);
/* Whether held pins have positions and velocities of their motions at the time of the state. */
bool hk_pins_are_placed(const HkModel *model, const HkState *state);
/* Releases the pins whose release time is at most t. */
void hk_pins_release(const HkModel *model, HkState *state, double t);

/* R = the reaction of each pin (N), where f are all other forces (N). */
void hk_pins_reactions(const HkModel *model, const HkState *state, const double *f, double *R);

/* Reads the bytes of hk_state_pack into a state of the same model. */
HkStatus hk_state_unpack(HkState *state, const char *bytes, size_t size, const char *name,
                         HkError *error);

#endif
