/* Forces: what pulls at the masses.
 *
 * f(x, v, t) = -dE/dx for those that have a potential energy E, anything for those that have none
 * (wind, drag). Each adds its part to an array of all vertices. Loops run over vertices, not over
 * springs or faces, so that no two threads write to one vertex and the result does not depend on
 * their number.
 */
#ifndef HK_FORCE_FORCE_H
#define HK_FORCE_FORCE_H

#include "force/spring_rows.h"
#include "force/weighted.h"
#include "hooke/extend.h"
#include "model/state.h"

struct HkContactRecord;
struct HkSpringChanges;

typedef struct HkChosenSprings HkChosenSprings;

/* What a force keeps for one simulation. */
typedef struct HkForceState {
  int64_t id;  /* of the compiled force */
  void *state; /* what create_state made, or NULL */
  void (*destroy)(const HkModel *model,
                  void *state); /* copy of the type's destroy: the type may be freed earlier */
  size_t (*bytes)(const void *state);
} HkForceState;

/* Memory that forces write while they are computed; one for each simulation. */
typedef struct HkForceWork {
  const HkSpringArrays *springs; /* in use: the model's, or those of a step (dampers.h) */
  HkForceState *states;          /* one a force of the model */
  int state_count;
  int64_t state_capacity;
  double *sums;         /* for hk_parallel_sum over vertices, springs or faces */
  double *scratch;      /* for a force's own use during one call */
  int64_t scratch_size; /* doubles of scratch */
  HkSpringRows *rows;
  const HkSpringRowsKernels *kernels;
  double whole_step; /* s: the step of which the adaptive step makes parts; 0: steps are whole */
  /* Of springs, by end_step (spring_changes.h); NULL: no force of the model changes any. */
  const struct HkSpringChanges *changes;
  /* Forces with `correct` have no part in the forces of a step: they correct it when it is made. */
  bool corrects;
} HkForceWork;

/* Variants of the second derivative of an energy. */
typedef enum HkCurvature {
  HK_CURVATURE_TRUE,
  HK_CURVATURE_PROJECTED, /* the nearest positive semidefinite matrix */
  HK_CURVATURE_BOUND      /* an upper bound for all positions */
} HkCurvature;

/* The configuration at which a force is evaluated. */
typedef struct HkForceArgs {
  const HkModel *model;
  const void *params; /* the force's parameter struct */
  const void *data;   /* what compile made, or NULL */
  void *state;        /* state of this simulation, from create_state, or NULL */
  /* In load, begin_step and end_step of a type that `remembers`, the memory of the force in the
   * HkState; otherwise NULL. To be written in end_step alone. */
  HkForceMemory *memory;
  double t;            /* s */
  const double *x, *v; /* m, m/s; v NULL: at rest: only the part that has a potential */
  HkCurvature
      curvature; /* requested of jacobian; forces may give the only Hessian that they have */
  HkForceWork work;
} HkForceArgs;

/* A step that an integrator has made without the forces that correct it. */
typedef struct HkStepEnd {
  double h;                /* s */
  const double *x, *v;     /* m, m/s, at the start */
  const uint8_t *pin_held; /* which pins hold */
  double *to, *v_to;       /* m, m/s, at the end; to be corrected */
  double speed;            /* m/s, of what pushes vertices without being one: obstacles */
  bool driven;             /* forces have moved vertices by constrained ones or by obstacles */
} HkStepEnd;

/* Receives 3x3 blocks of the Jacobians df_i/dx_j and df_i/dv_j (row by row); blocks add up. */
typedef struct HkJacobianSink HkJacobianSink;
struct HkJacobianSink {
  void (*dfdx)(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]);
  void (*dfdv)(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]);
  /* Returns `count` terms (weighted.h) for a force to set, and their curvatures if `curved`; NULL
   * after an error, which the sink keeps. A sink without it receives all blocks by dfdx. */
  HkWeightedTerm *(*terms)(HkJacobianSink *sink, int64_t count, bool curved,
                           HkWeightedCurvature **curvature);
};

/* Receives the derivatives of three numbers a vertex, such as forces, with respect to all that they
 * depend on: blocks as above, and columns. */
typedef struct HkColumnSink HkColumnSink;
struct HkColumnSink {
  HkJacobianSink blocks;
  /* df_i/dm_i */
  void (*mass)(HkColumnSink *sink, int32_t i, const double column[3]);
  /* df_i/dp of a parameter p, which is a number in the parameter struct of the force or in one of
   * its tables. */
  void (*number)(HkColumnSink *sink, int32_t i, const double *number, const double column[3]);
};

/* A force as a function of the position of one vertex, for methods that move single vertices
 * (vertex_block_descent, jacobi). */
typedef struct HkLocalForce {
  /* f += the force (N) with a potential on vertex i. */
  void (*add)(const HkForceArgs *a, int64_t i, double f[3]);
  /* H += scale d2E/dx_i2 (N/m). */
  void (*add_hessian)(const HkForceArgs *a, int64_t i, HkCurvature curvature, double scale,
                      double H[9]);
  /* E after vertex i has moved by p less E before (J). */
  double (*change)(const HkForceArgs *a, int64_t i, const double p[3]);
} HkLocalForce;

typedef enum HkEnergySlot { HK_ENERGY_SPRING, HK_ENERGY_GRAVITY, HK_ENERGY_OTHER } HkEnergySlot;

/* Forces that devices support. */
typedef enum HkDeviceForce {
  HK_DEVICE_FORCE_NONE, /* devices do not support it */
  HK_DEVICE_FORCE_SPRINGS,
  HK_DEVICE_FORCE_GRAVITY,
  HK_DEVICE_FORCE_WIND,
  HK_DEVICE_FORCE_FACE_WIND,
  HK_DEVICE_FORCE_DRAG,
  HK_DEVICE_FORCE_BUOYANCY,
  HK_DEVICE_FORCE_HANDLE,
  HK_DEVICE_FORCE_POINT_LOAD
} HkDeviceForce;

/* Derivatives of the step that has just been made, as far as they are not Jacobians of the forces
 * at its end. Outputs are the forces at the end and the numbers of the memory afterwards; inputs
 * are the positions at the end (for the memory alone), and the rest: positions at the start, the
 * numbers of the memory before, masses, springs and parameters. A product goes back, from outputs
 * to inputs, or forward, and adds to what is there. */
typedef struct HkStepProduct HkStepProduct;
struct HkStepProduct {
  bool back;
  bool forces, memory; /* outputs that take part */
  bool end, rest;      /* inputs that take part */
  double scale;        /* of the forces */
  double *f;           /* 3 n */
  double *x_end, *x_start;
  double *mass, *k, *l0;
  double *from_numbers, *to_numbers;
  const double *start;            /* m, 3 n: positions at the start */
  const HkForceMemory *from, *to; /* before and afterwards */
  /* The derivative that belongs to a number in the parameter struct of the force. */
  double *(*number)(const HkStepProduct *product, const double *number);
};

typedef struct HkForceType {
  HkSchema schema;
  HkDeviceForce on_device;
  HkEnergySlot slot; /* HkStateInfo field that its energy is added to */
  /* Its Hessian is made from the rows of spring_rows.h, which kernels and multigrid are built on,
   * not from the blocks of jacobian. */
  bool has_rows;
  /* True if the force depends on v with these parameters and springs; NULL: never. */
  bool (*uses_velocity)(const HkSpringArrays *springs, const void *params);
  /* Doubles of scratch that add needs; NULL: none. */
  int64_t (*scratch)(const HkModel *model, const void *data);
  /* Checks parameters, resolves selections; *data is released by destroy. NULL: nothing to do. */
  HkStatus (*compile)(HkModel *model, const void *params, void **data, HkError *error);
  void (*destroy)(const HkModel *model, void *data);
  size_t (*bytes)(const void *data); /* of them; NULL: there are none */
  /* Replaces compile for a type whose functions are known only then: sets force->type and
   * force->data. NULL: the type stays as it is. */
  HkStatus (*resolve)(HkModel *model, HkCompiledForce *force, HkError *error);

  /* Creates the state of one simulation, such as the contacts of an iterate; NULL: none. */
  HkStatus (*create_state)(const HkModel *model, const void *params, const void *data, void **state,
                           HkError *error);
  void (*destroy_state)(const HkModel *model, void *state);
  size_t (*state_bytes)(const void *state);
  /* The force keeps bytes in HkState from one step to the next: a->memory. */
  bool remembers;
  /* Takes over a->memory, before a step and before anything else is computed of a state that the
   * simulation may not have moved last; a->memory->size 0: the state has no memory, and the force
   * begins as in a new state. NULL: nothing. */
  HkStatus (*load)(const HkForceArgs *a, HkError *error);
  /* Called before the steps of a call, and before the first frame of a run: may move a state to
   * where the force allows it to be. A state that has been made by steps stays as it is. NULL:
   * nothing. */
  HkStatus (*prepare)(const HkForceArgs *a, HkState *state, HkError *error);
  /* Called before a step of length h (s) from (a->t, a->x, a->v), and after it with its end; NULL:
   * not called. A step that fails, is cancelled or is rejected has no end_step that counts: what
   * end_step writes into a->memory is discarded with the state. end_step and `correct` return
   * HK_NOT_CONVERGED where the step does not fulfill what the force demands. */
  HkStatus (*begin_step)(const HkForceArgs *a, double h, HkError *error);
  HkStatus (*end_step)(const HkForceArgs *a, double h, HkError *error);
  /* Before a minimizer evaluates anything at a new iterate a->x. Energy, force and Jacobian may
   * depend on what it finds there until the next call; NULL: nothing. */
  HkStatus (*begin_iterate)(const HkForceArgs *a, HkError *error);
  /* Before anything is computed of a state (a->t, a->x, a->v) outside of a step; h (s) is the
   * length of steps. What the last step has left belongs to its end alone; for another state the
   * force forgets it. NULL: nothing. */
  HkStatus (*begin_query)(const HkForceArgs *a, double h, HkError *error);
  /* Appends what touches at a->x to a record (contact/record.h); NULL: nothing ever does. */
  HkStatus (*contacts)(const HkForceArgs *a, struct HkContactRecord *record, HkError *error);
  /* Step filter: shortens the move of all vertices or of some from a->x to `to`, so that the force
   * allows the straight path between the two; true if it has changed `to`. NULL: every move is
   * allowed. */
  bool (*filter)(const HkForceArgs *a, double *to);
  /* Before a stage at the time a->t, from positions a->x: things of the force that move by
   * themselves, such as obstacles, are to arrive at their places of that time; NULL: it has none.
   */
  void (*begin_stage)(const HkForceArgs *a);
  /* The part of a move from a->x to `to`, 0 to 1, that is allowed while these things make the same
   * part of what is left of theirs; *why says what is in the way if it is below 1. NULL: 1. */
  double (*reach)(const HkForceArgs *a, const double *to, HkError *why);
  /* Moves these things by a part of what is left. */
  void (*advance)(const HkForceArgs *a, double part);
  /* Changes `to` where vertices are in the way of things that move by themselves, or of vertices
   * that move from a->x to `to`: they are pushed along. NULL: nothing is. */
  void (*carry)(const HkForceArgs *a, double *to);
  /* Corrects a step that was made without the force (a->work.corrects); a->t is its end. NULL: the
   * force has its part in the forces of every step. */
  HkStatus (*correct)(const HkForceArgs *a, HkStepEnd *end, HkError *error);
  /* f += what `correct` has done to momenta in the last step of the simulation, divided by its
   * length (N), if that step has ended at a->x; outside of steps. NULL: nothing. */
  void (*add_correction)(const HkForceArgs *a, double *f);
  /* With these parameters the force needs an integrator whose steps it corrects; *why says what
   * for. NULL: never. */
  bool (*must_correct)(const void *params, const char **why);
  /* The springs that the force changes, by `drive` or in end_step by work.changes; NULL: it changes
   * none. States of the model then have springs of their own. */
  const HkChosenSprings *(*changed_springs)(const void *data);
  /* Multiplies rest lengths and stiffness of these springs by factors of the time a->t; returns
   * whether it may have changed stiffness. NULL: there are no such factors. */
  bool (*drive)(const HkForceArgs *a, HkSpringArrays *springs);
  /* The energy (J) that the force has taken from springs since the start, after `load`; NULL: it
   * takes none. */
  double (*lost)(const HkForceArgs *a);
  const HkLocalForce *local; /* NULL: methods that move single vertices take it as linear */
  /* Potential energy (J); NULL: none. */
  double (*energy)(const HkForceArgs *a);
  bool quadratic; /* in x: the df/dx of jacobian is the same everywhere */
  /* Its stiffness has no bound in a step and may couple any vertices, as that of a barrier:
   * constant matrices (prefactor.h) leave it out, and minimizers that use one add its blocks at
   * each iterate. */
  bool unbounded;
  /* E(to) - E(x), accurate where the two are close; NULL: by subtraction. */
  double (*energy_change)(const HkForceArgs *a, const double *to);
  /* f += force (N), 3 a vertex. v may be NULL for a force that has an energy. NULL: the force is 0
   * and acts by hooks alone. */
  void (*add)(const HkForceArgs *a, double *f);
  /* f = force, in one pass; NULL: f is set to 0 first. */
  void (*set)(const HkForceArgs *a, double *f);
  /* g += the acceleration (m/s^2), the same for every vertex; NULL: the force is not of this
   * kind. */
  void (*accelerate)(const HkForceArgs *a, double g[3]);
  /* All blocks of df/dx and df/dv. With v NULL the forces that have an energy give at least their
   * df/dx. NULL: both are 0. */
  void (*jacobian)(const HkForceArgs *a, HkJacobianSink *sink);
  /* Blocks of a symmetric negative semidefinite approximation of df/dv for implicit steps; NULL:
   * the df/dv of jacobian is symmetric negative semidefinite. */
  void (*damping)(const HkForceArgs *a, HkJacobianSink *sink);

  /* ---- For derivatives of steps (adjoint/) ---- */

  /* The parameters by which the force can be differentiated, such as "k|target"; NULL: it cannot be
   * differentiated at all. */
  const char *differentiable;
  /* Returns the parameter with whose value it cannot; NULL, or no function: there is none. */
  const char *(*not_differentiable)(const void *params);
  /* Columns of the force with respect to them and to masses; NULL: there are none. Forces with
   * `accelerate` give the columns of that acceleration, at vertex 0. */
  void (*columns)(const HkForceArgs *a, HkColumnSink *sink);
  /* The derivatives of K w and C w for constant w, three numbers a vertex: K = -df/dx as
   * a->curvature says, C the damping matrix of `damping`. NULL: they are 0. */
  void (*stiffness_columns)(const HkForceArgs *a, const double *w, HkColumnSink *sink);
  void (*damping_columns)(const HkForceArgs *a, const double *w, HkColumnSink *sink);
  /* How many numbers a memory has derivatives by; NULL: none. */
  int64_t (*memory_numbers)(const HkForceMemory *memory);
  /* After a step that has ended at a->x: the force is as it was within the step, at its end, until
   * the next step begins. NULL: nothing. */
  void (*resume_step)(const HkForceArgs *a);
  /* Then: products with the derivatives of the step; NULL: there are none besides the Jacobians. */
  HkStatus (*step_product)(const HkForceArgs *a, const HkStepProduct *product, HkError *error);
} HkForceType;

const HkForceType *hk_force_type(const HkSchema *schema);

/* Copies and compiles the method into *force, which holds nothing after an error. The springs are
 * the first force of a model and no other. */
HkStatus hk_force_compile(HkModel *model, const HkMethod *method, HkCompiledForce *force,
                          HkError *error);
/* custom.c: compiles a force of the caller. */
HkStatus hk_force_compile_custom(HkModel *model, const HkForceFunctions *functions, void *user,
                                 HkCompiledForce *force, HkError *error);
/* custom.c: calls release(owner) once the force is destroyed and no simulation has state of it. */
void hk_force_custom_own(HkCompiledForce *force, void *owner, void (*release)(void *owner));
/* library.c: compiles a force of a shared library; path is relative to the working folder. */
HkStatus hk_force_compile_library(HkModel *model, const char *path, const char *name,
                                  const char *settings, HkCompiledForce *force, HkError *error);
/* custom.c: functions of a force whose user pointer is an array of 3 n forces (N). */
HkForceFunctions hk_force_array_functions(void);
bool hk_force_is_array(const HkCompiledForce *force);
void hk_force_release(const HkModel *model, HkCompiledForce *force);
/* True if any force of the model depends on v. */
bool hk_forces_use_velocity(const HkModel *model);

/* Memory for the forces of a model. */
HkStatus hk_force_work_create(const HkModel *model, HkForceWork *work, HkError *error);
/* Enlarges the scratch buffer if a force that was added later needs more. */
HkStatus hk_force_work_fit(const HkModel *model, HkForceWork *work, HkError *error);
size_t hk_force_work_bytes(const HkModel *model, const HkForceWork *work);
void hk_force_work_destroy(const HkModel *model, HkForceWork *work);

/* Returns a force's memory in a state to be read; it is empty if the state has none. */
HkForceMemory hk_force_memory_of(const HkState *state, const HkCompiledForce *force);
/* Whether the index-th force has an energy that is not linear in x, and gives its Hessian by
 * blocks (blocks.h). */
static inline bool hk_force_has_blocks(const HkModel *model, int index) {
  const HkForceType *type = model->forces[index].type;
  return type->energy && type->jacobian && !type->has_rows;
}
/* Whether the index-th force depends on v with its present parameters. */
bool hk_force_uses_velocity(const HkModel *model, const HkForceWork *work, int index);
/* The dfdx or dfdv of a sink that ignores those blocks. */
void hk_jacobian_skip(HkJacobianSink *sink, int32_t i, int32_t j, const double block[9]);
/* Gives the blocks df_a/dx_b = -w_a w_b K of every two of `count` vertices, at most 4, to a sink,
 * as a term if it takes terms; `curved` as for the other terms of the evaluation. */
void hk_jacobian_add_term(HkJacobianSink *sink, int count, const int32_t *vertex,
                          const double *weight, const double K[6], bool curved);
/* Gives a term to a sink that takes no terms, block by block; curvature: NULL if it has none. */
void hk_jacobian_expand(HkJacobianSink *sink, HkWeightedTerm *term, HkWeightedCurvature *curvature);

/* Has all forces take over their memory in a state. */
HkStatus hk_forces_load(const HkModel *model, const HkForceWork *work, const HkState *state,
                        HkError *error);
/* Has all forces prepare a state for steps. */
HkStatus hk_forces_prepare(const HkModel *model, const HkForceWork *work, HkState *state,
                           HkError *error);
/* Releases memory of forces that are not in the model. */
void hk_forces_drop_memory(const HkModel *model, HkState *state);
/* Calls the hooks of all forces that have them, at the state before a step by h (s) and after it.
 * begin_step has the forces take over their memory first; end_step has them write it, and returns
 * HK_NOT_CONVERGED if one of them did. */
HkStatus hk_forces_begin_step(const HkModel *model, const HkForceWork *work, const HkState *state,
                              double h, HkError *error);
HkStatus hk_forces_end_step(const HkModel *model, const HkForceWork *work, HkState *state, double h,
                            HkError *error);
/* Prepares all forces for questions about a state outside of a step. */
HkStatus hk_forces_begin_query(const HkModel *model, const HkForceWork *work, const HkState *state,
                               double h, HkError *error);
/* Whether a force of the model has contacts. */
bool hk_forces_have_contacts(const HkModel *model);
HkStatus hk_forces_begin_iterate(const HkModel *model, const HkForceWork *work, double t,
                                 const double *x, HkError *error);
/* Filters the move from x to `to` by all forces; true if it was changed. */
bool hk_forces_filter(const HkModel *model, const HkForceWork *work, double t, const double *x,
                      double *to);
/* Has all forces that can correct a step whose end is at the time t; HK_NOT_CONVERGED if one of
 * them could not. */
HkStatus hk_forces_correct(const HkModel *model, const HkForceWork *work, double t, HkStepEnd *end,
                           HkError *error);
/* The stage functions of all forces. */
void hk_forces_begin_stage(const HkModel *model, const HkForceWork *work, double t,
                           const double *x);
double hk_forces_reach(const HkModel *model, const HkForceWork *work, double t, const double *x,
                       const double *to, HkError *why);
void hk_forces_advance(const HkModel *model, const HkForceWork *work, double t, const double *x,
                       double part);
void hk_forces_carry(const HkModel *model, const HkForceWork *work, double t, const double *x,
                     double *to);
/* Whether a force of the model has a filter, and whether one has a filter or a hook. */
bool hk_forces_have_filter(const HkModel *model);
/* Whether a force of the model changes springs. */
bool hk_forces_change_springs(const HkModel *model);
/* Whether a force of the model takes energy from springs. */
bool hk_forces_lose(const HkModel *model);
/* Whether a force of the model can correct steps. */
bool hk_forces_have_correction(const HkModel *model);
bool hk_forces_have_hooks(const HkModel *model);

/* f = sum of all forces of the model at (t, x, v). */
void hk_forces_sum(const HkModel *model, const HkForceWork *work, double t, const double *x,
                   const double *v, double *f);

/* Returns whether there are forces other than springs and those with `accelerate`. */
bool hk_forces_have_rest(const HkModel *model);
/* Evaluates the forces other than springs: g = the sum of those with `accelerate`, f = the sum of
 * the others; returns false, and leaves f, if there are no others. */
bool hk_forces_rest(const HkModel *model, const HkForceWork *work, double t, const double *x,
                    const double *v, double *f, double g[3]);

/* Evaluates all forces that have an energy: g = the sum of those with `accelerate`, f = the sum of
 * -dE/dx of the others. */
void hk_forces_potential(const HkModel *model, const HkForceWork *work, double t, const double *x,
                         double *f, double g[3]);
/* Returns the change of the potential energy (J) of all forces from x to `to`. */
double hk_forces_energy_change(const HkModel *model, const HkForceWork *work, double t,
                               const double *x, const double *to);

/* Arguments for the index-th force of a model. */
HkForceArgs hk_force_args(const HkModel *model, int index, const HkForceWork *work, double t,
                          const double *x, const double *v);

/* Unit vector that points up (against gravity) in the model's axes. */
static inline void hk_model_up(const HkModel *model, double up[3]) {
  for (int c = 0; c < 3; c++) up[c] = c == model->up ? 1 : 0;
}

#endif
