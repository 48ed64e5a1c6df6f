/* Positions and velocities in single precision, for many steps in one call.
 *
 * hk_single_load converts a state to floats, steps work on the floats, hk_single_store converts
 * them to doubles. Each float is a double, so that converting in between changes nothing: single
 * steps and many steps in one call give the same bits. Floats have 24 bits: 1000 m from the origin
 * the spacing of coordinates is 0.06 mm, so a model that is far from the origin compared to its
 * size is stored relative to its center at the start.
 *
 * If nearly all springs are regular the coordinates are in three planes, x x x ... y y y ... z z z
 * ..., so that the lanes of a vector are consecutive in memory; else in records of four floats, x y
 * z and padding, which are loaded whole. Vertices are padded to whole groups.
 */
#ifndef HK_STEP_SINGLE_H
#define HK_STEP_SINGLE_H

#include "step/sim.h"

typedef struct HkSingleKernels HkSingleKernels;

typedef struct HkSingle {
  const HkSingleKernels *kernels;
  HkSpringRows *rows;
  int64_t size; /* vertices with padding; also the distance between two planes */
  bool planes;
  double origin[3]; /* m */
  float *x, *v, *mass;
  float *next;            /* v+ where springs are damped; NULL: it is written over v */
  float *half;            /* velocities predicted for the middle of a step; NULL: not needed */
  int64_t masses_version; /* of the model */
  void *blocks[5];
  size_t bytes;
} HkSingle;

HkStatus hk_single_create(const HkModel *model, HkIsa isa, bool half, HkSingle **single,
                          HkError *error);
void hk_single_destroy(const HkModel *model, HkSingle **single);

void hk_single_load_masses(HkSingle *single, const HkModel *model);
void hk_single_load(const HkSingle *single, const HkModel *model, const HkState *state);
/* Copies floats to a state; held pins stay as they are in the state. */
void hk_single_store(const HkSingle *single, const HkModel *model, HkState *state);
/* Copies the predicted velocities to doubles. */
void hk_single_store_half(const HkSingle *single, const HkModel *model, double *half);
/* Copies the held pins of a state to floats. */
void hk_single_load_pins(const HkSingle *single, const HkModel *model, const HkState *state);

/* Returns the index of coordinate c of a vertex. */
static inline int64_t hk_single_at(const HkSingle *s, int64_t vertex, int c) {
  return s->planes ? c * s->size + vertex : 4 * vertex + c;
}

/* ---- Kernels: kernels/kick_single.c ---- */

/* Arguments of both kernels, as HkKickArgs and HkDriftArgs of kick.h. */
typedef struct HkSingleArgs {
  const HkSpringRows *rows;
  int64_t stride; /* of planes */
  bool planes;
  const float *x, *v, *w;
  const double *f; /* N, 3 a vertex; NULL: there are none */
  const float *mass;
  float g[3], h[3];
  float *out;
  float drift;
  double origin[3];
  const float *from;      /* the velocities to drift with */
  float *moved, *settled; /* new x and v */
} HkSingleArgs;

struct HkSingleKernels {
  /* For the groups begin .. end - 1 of the rows. */
  void (*kick)(const HkSingleArgs *a, int64_t begin, int64_t end);
  /* For the vertices begin .. end - 1, multiples of the group; returns their kinetic energy (J). */
  double (*drift)(const HkSingleArgs *a, int64_t begin, int64_t end);
};

#endif
