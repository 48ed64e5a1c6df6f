/* Hooke: derivatives of motions.
 *
 *     HkSim + HkState --> HkTape, records steps --> hk_tape_backward --> HkDerivatives
 *
 * A loss L is any function of the positions and velocities at any steps of a motion. The tape goes
 * back through the steps and finds dL/dp for all numbers p that the motion depends on, at the cost
 * of about one linear solve a step (adjoint mode); or it goes forward with a direction of change of
 * these numbers and finds how positions and velocities follow (tangent mode). Docs:
 * docs/gradients.md.
 *
 * Tapes work on the CPU in double precision, for fixed steps. What they do not support is refused
 * by its name when they are made: contact in steps that it corrects (all but backward_euler and
 * bdf2), devices, single precision, forces of the caller but arrays and those with an energy, a
 * Hessian and nothing else.
 */
#ifndef HOOKE_ADJOINT_H
#define HOOKE_ADJOINT_H

#include "hooke/hooke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Derivatives: one number for each number of a model ---------------------------------------
 */

/* The gradient of a loss, or a direction; opaque but for its arrays. It has the unit of the loss
 * over that of the number, or that of the number. */
typedef struct HkDerivatives HkDerivatives;

/* Owned by the HkDerivatives; all may be read and written. */
typedef struct HkDerivativeArrays {
  double *x, *v;   /* positions and velocities, three a vertex */
  double *mass;    /* one a vertex */
  double *k, *l0;  /* one a spring, in the order of hk_model_springs; broken ones have 0 */
  double *damping; /* one a spring; NAN if no spring is damped */
  double *places;  /* where pins are at time 0, three a pin in the order of hk_model_pins: their
                    * motions begin there */
} HkDerivativeArrays;

/* Makes derivatives of a model, all 0; the model has to outlive them. Once its forces or motions
 * get other tables, or become more or fewer, they are refused. */
HK_API HkStatus hk_derivatives_create(const HkModel *model, HkDerivatives **derivatives,
                                      HkError *error);
HK_API HkDerivativeArrays hk_derivatives_arrays(HkDerivatives *derivatives);
/* The derivatives by the parameters of the index-th force, with the same schema: numbers, vectors
 * and tables are derivatives, and NAN where a parameter is not differentiable. NULL for the springs
 * and for arrays. Owned by the derivatives; its numbers may be written. */
HK_API const HkMethod *hk_derivatives_force(const HkDerivatives *derivatives, int index);
/* The derivatives by an array of forces (hk_model_add_force_array), three numbers a vertex; NULL if
 * the index-th force is none. */
HK_API double *hk_derivatives_force_array(const HkDerivatives *derivatives, int index);
/* The derivatives by the parameters of the motion of the index-th pin of the scene, as
 * hk_derivatives_force; NULL if there is no such pin. */
HK_API const HkMethod *hk_derivatives_motion(const HkDerivatives *derivatives, int pin);
/* Sets all derivatives to 0. */
HK_API void hk_derivatives_zero(HkDerivatives *derivatives);
/* Releases them and sets the pointer to NULL. */
HK_API void hk_derivatives_destroy(HkDerivatives **derivatives);

/* ---- One step ---------------------------------------------------------------------------------
 */

/* What differentiates the steps of a simulation; opaque. */
typedef struct HkAdjoint HkAdjoint;

/* How derivatives were computed, summed over steps. */
typedef struct HkAdjointInfo {
  int64_t steps;
  int64_t linear_iterations; /* of implicit steps; a direct solve counts as one */
  int64_t indefinite;        /* steps that are not known to have led to a minimum */
  int64_t unsolved;          /* steps whose linear system was not solved to the accuracy */
  double residual;           /* |b - A x| / |b| of these systems, the largest */
  /* Of steps that minimize and are not solved to rounding, with g their gradient and l the solution
   * of the adjoint system: what solving them would change the loss by, sum |l . g|, and the same as
   * a part of what their motion changes it by, sum |l . M (x+ - x)|. */
  double loss_error, relative_error;
} HkAdjointInfo;

typedef struct HkAdjointSettings {
  double accuracy; /* relative residual of linear systems; 0: 1e-8 */
  /* Linear systems of steps that minimize have the projected Hessian in place of the true one. They
   * are then positive definite also where cloth buckles, or where a step is far from solved, and
   * the gradients are approximate: those of a step that a last Newton iteration with the projected
   * Hessian has ended. */
  bool projected;
} HkAdjointSettings;

/* Prepares to differentiate the steps of a simulation, which has to outlive it; settings NULL: all
 * 0. A live change of the model ends it: steps after that are refused. */
HK_API HkStatus hk_adjoint_create(HkSim *sim, const HkAdjointSettings *settings,
                                  HkAdjoint **adjoint, HkError *error);
/* Goes back through the step that has led from `before` to `after`: d->x and d->v hold the gradient
 * of a loss with respect to `after`, and become that with respect to `before`; all other
 * derivatives are added to. bdf2 also needs the same d from step to step, which keeps what the step
 * before gets. Returns HK_NOT_CONVERGED (no error) where a linear system is not solved. */
HK_API HkStatus hk_adjoint_step(HkAdjoint *adjoint, const HkState *before, const HkState *after,
                                HkDerivatives *d, HkError *error);
/* Goes forward through that step: d->x and d->v are a direction of change of `before` and become
 * that of `after`, all others are the directions of the parameters. Returns as hk_adjoint_step. */
HK_API HkStatus hk_adjoint_tangent(HkAdjoint *adjoint, const HkState *before, const HkState *after,
                                   HkDerivatives *d, HkError *error);
HK_API HkAdjointInfo hk_adjoint_info(const HkAdjoint *adjoint);
/* Releases it and sets the pointer to NULL. */
HK_API void hk_adjoint_destroy(HkAdjoint **adjoint);

/* ---- Tapes: many steps ------------------------------------------------------------------------
 */

/* The steps of a motion; opaque. */
typedef struct HkTape HkTape;

/* What changes from step to step. */
typedef enum HkControlKind {
  HK_CONTROL_K,       /* stiffness of all springs, N/m */
  HK_CONTROL_L0,      /* rest lengths of all springs, m */
  HK_CONTROL_DAMPING, /* damping of all springs, N s/m */
  HK_CONTROL_FORCE    /* an array of forces of the model, N */
} HkControlKind;

/* Values for each step of a tape, one after the other: one a spring, or three a vertex. */
typedef struct HkControl {
  HkControlKind kind;
  /* Of HK_CONTROL_FORCE: the array that the model reads; the caller's. It has the values of one of
   * the steps after any call of the tape. */
  double *array;
  int force;            /* of HK_CONTROL_FORCE: its number among the forces of the model */
  const double *values; /* the caller's; constant while the tape is in use */
  double *gradient;     /* as long as values: += dL/dvalues in hk_tape_backward; NULL: not needed */
} HkControl;

typedef struct HkTapeSettings {
  /* Memory for states that are kept, at least four; steps between them are made again. Four more
   * states, and the workspace of the adjoint, come on top. */
  size_t bytes;
  HkAdjointSettings adjoint;
  const HkControl *controls;
  int control_count;
  int64_t control_steps; /* steps for which the controls have values */
} HkTapeSettings;

/* 1 GB and no controls. */
HK_API HkTapeSettings hk_tape_settings_default(void);
/* Makes an empty tape that begins at a copy of a state. The simulation has to outlive it, and its
 * model and settings must not change while it is in use. */
HK_API HkStatus hk_tape_create(HkSim *sim, const HkState *start, const HkTapeSettings *settings,
                               HkTape **tape, HkError *error);
/* Makes and records steps; HK_NOT_CONVERGED where one did not converge, as hk_sim_step. After an
 * error, a blow-up too, the tape ends with the last good step, and can be used. */
HK_API HkStatus hk_tape_steps(HkTape *tape, int64_t count, HkError *error);
/* The number of steps, and the state after the last one; owned by the tape. */
HK_API int64_t hk_tape_count(const HkTape *tape);
HK_API const HkState *hk_tape_state(const HkTape *tape);

/* Adds the derivatives of the loss with respect to the state after `step` steps (0: the start) to x
 * and v, three numbers a vertex. */
typedef void HkLossFn(void *user, int64_t step, const HkState *state, double *x, double *v);
/* Goes back to the start. `loss` is called for each state from the last to the first; d, whose
 * content is discarded, becomes the gradient of the loss: d->x and d->v with respect to the start,
 * and so on. States that were not kept are made again, with the same bits. The tape can go back
 * again, or go on with more steps. info may be NULL. Returns HK_NOT_CONVERGED (no error) where
 * linear systems were not solved to the accuracy. */
HK_API HkStatus hk_tape_backward(HkTape *tape, HkLossFn *loss, void *user, HkDerivatives *d,
                                 HkAdjointInfo *info, HkError *error);
/* Shows how the state after `step` steps follows a direction; called from the first to the last. */
typedef void HkTangentFn(void *user, int64_t step, const HkState *state, const double *x,
                         const double *v);
/* Goes forward from the start with the direction d of all numbers; afterwards d->x and d->v are the
 * direction of the last state. Controls do not change. */
HK_API HkStatus hk_tape_tangent(HkTape *tape, HkTangentFn *visit, void *user, HkDerivatives *d,
                                HkAdjointInfo *info, HkError *error);
/* Memory that the tape holds now, and steps that it has made again so far. */
HK_API size_t hk_tape_bytes(const HkTape *tape);
HK_API int64_t hk_tape_repeated(const HkTape *tape);
/* Releases a tape and sets the pointer to NULL. */
HK_API void hk_tape_destroy(HkTape **tape);

#ifdef __cplusplus
}
#endif
#endif
