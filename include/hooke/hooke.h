/* Hooke: mass-spring systems. The core of the public interface: models, states and simulations,
 *
 *     file --> HkScene --> HkModel --> HkSim + HkState --> frames, energies, pictures
 *             (editable)  (constant)   (one step at a time)
 *
 * with what they are made from: hooke/base.h (errors, context), hooke/schema.h (methods and their
 * parameters), hooke/scene.h (meshes, scenes). By themselves stand hooke/adjoint.h
 * (derivatives of motions), hooke/fit.h (numbers that minimize a loss), hooke/run.h (runs into
 * files, pages), hooke/batch.h (many worlds of one model), hooke/sheet.h (regular cloth of billions
 * of vertices on a GPU), hooke/extend.h (forces and solvers of the caller) and hooke/device.h
 * (arrays on a GPU).
 *
 * SI units everywhere: m, kg, s, N, J. Vectors are three doubles, arrays of vectors x y z x y z ...
 *
 * Whatever can fail returns an HkStatus and explains itself in an HkError that the caller owns
 * (NULL if the text is not wanted). Whatever is created is destroyed by its hk_*_destroy, which
 * takes the address of the pointer and sets it to NULL. Meshes, models, states, simulations and
 * runs take their memory from an HkContext, the small editable parts of a scene from the C library.
 * There is no global state: objects that do not point to each other may be used by different
 * threads at once, with the same bits as one after the other. One number belongs to the process,
 * not to Hooke: while a simulation factorizes or solves with CHOLMOD, the number of threads of
 * OpenBLAS is 1, also for other callers of OpenBLAS. The worker threads of loops are shared by all.
 *
 * What callers promise: pointers are valid, and not NULL unless a comment allows it; arrays hold as
 * many entries as their count says, and may be NULL where it is 0. All else is checked: numbers,
 * counts, indices, states of another model, structs filled in C. What returns an HkStatus answers
 * HK_ERROR_INVALID and changes nothing; what returns a pointer answers NULL; what can do neither
 * says in its comment what it leaves.
 */
#ifndef HOOKE_HOOKE_H
#define HOOKE_HOOKE_H

#include "hooke/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Model: the compiled system, constant ---------------------------------------------------- */

/* The compiled system; opaque. Constant but for live changes (below), and may then be shared by
 * threads. */
typedef struct HkModel HkModel;

/* Where a spring comes from. */
typedef enum HkSpringKind {
  HK_SPRING_EDGE,    /* an edge of a cell */
  HK_SPRING_SHEAR,   /* a diagonal of a quad */
  HK_SPRING_BENDING, /* opposite vertices across an edge */
  HK_SPRING_LISTED   /* a row of a file or of a table */
} HkSpringKind;

/* Springs as arrays; owned by the model. */
typedef struct HkSpringView {
  int64_t count;
  const int32_t *i, *j;   /* end vertices, i < j */
  const double *k, *l0;   /* N/m, m */
  const double *damping;  /* N s/m, or NULL if there is none */
  const uint8_t *kind;    /* HkSpringKind */
  const uint8_t *tension; /* 1: tension only, or NULL if there is none */
  const uint8_t *broken;  /* 1: pulls at nothing, or NULL if there is none */
} HkSpringView;

/* Counts, sizes and ranges of a model. */
typedef struct HkModelInfo {
  int64_t vertices, springs, faces, pinned;
  int bodies, dimension;
  double mass;                   /* kg, in all */
  double mass_min, mass_max;     /* kg, of one vertex */
  double k_min, k_max;           /* N/m */
  double length_min, length_max; /* m, rest lengths */
  double box_min[3], box_max[3]; /* m, at the start */
  size_t bytes;                  /* memory of the model */
  size_t state_bytes;            /* memory of a new state; hk_state_bytes returns that of any */
  int threads;                   /* that work on it */
  const char *vectors;           /* their instruction set: "avx512", "avx2" or "portable" */
} HkModelInfo;

/* How a body or an obstacle touches others, as the force contact takes it. */
typedef struct HkContactInfo {
  const char *name;                  /* owned by the model */
  bool touches, self;                /* touches anything; touches itself */
  double thickness;                  /* m; of an obstacle twice its radius */
  double edge_min, edge_mean;        /* m, of the edges of a body at the start; NAN: it has none */
  int64_t points, edges, triangles;  /* that it touches with; a plane or grid has none */
  double friction, friction_kinetic; /* coefficients, its own or those of the force */
} HkContactInfo;

/* Compiles a scene: meshes are read, springs and masses made, everything checked. */
HK_API HkStatus hk_model_compile(const HkScene *scene, HkModel **model, HkError *error);
/* Counts, sizes and ranges; walks over the whole model. Collective on ranks, where counts and
 * ranges are those of the whole model, bytes those of the caller's part. */
HK_API HkModelInfo hk_model_info(const HkModel *model);
/* The springs, one for two vertices, sorted by i and then j; the arrays are owned by the model. */
HK_API HkSpringView hk_model_springs(const HkModel *model);
/* Name of the index-th body, or NULL, and its vertices first .. first + count - 1. */
HK_API const char *hk_model_body(const HkModel *model, int index, int64_t *first, int64_t *count);
/* Name of the index-th obstacle, or NULL; owned by the model. */
HK_API const char *hk_model_obstacle(const HkModel *model, int index);
/* Name of the index-th vertex set of a body, or NULL, and how many vertices it holds. */
HK_API const char *hk_model_set_name(const HkModel *model, int body, int index, int64_t *count);
/* Name of the index-th probe, or NULL, and its vertices; both owned by the model. */
HK_API const char *hk_model_probe(const HkModel *model, int index, const int32_t **vertices,
                                  int64_t *count);
/* Masses (kg), one a vertex; owned by the model. */
HK_API const double *hk_model_masses(const HkModel *model);
/* Strain of each vertex at the positions x (m, three numbers a vertex): the mean of (l - l0) / l0
 * over its springs with l0 > 0 that are no bending springs; 0 where it has none. Pictures, the page
 * and reports take their colors from it. */
HK_API void hk_model_strains(const HkModel *model, const double *x, double *strain);
/* Strain of each vertex as by hk_model_strains, of positions in single precision. */
HK_API void hk_model_strains_single(const HkModel *model, const float *x, float *strain);
/* The integrator of the scene, which simulations use where none is given; owned by the model. Copy
 * it with hk_method_copy to change it, as hk_method_set_linear_solver does. */
HK_API const HkMethod *hk_model_method(const HkModel *model);
/* The pinned vertices, each once, in rising order; owned by the model. */
HK_API const int32_t *hk_model_pins(const HkModel *model, int64_t *count);
/* Triangles for drawing and for the wind, three vertices a face; owned by the model. */
HK_API const int32_t *hk_model_faces(const HkModel *model, int64_t *count);
/* How the index-th body touches, after the bodies each obstacle, and at last the ground if there is
 * one; false past the last, and where the model has no force contact. */
HK_API bool hk_model_contact(const HkModel *model, int index, HkContactInfo *info);
/* Returns whether the two with these indices of hk_model_contact touch each other, and the
 * coefficients of friction between them; NAN where there is no such index. */
HK_API bool hk_model_friction(const HkModel *model, int first, int second, double *friction,
                              double *friction_kinetic);
/* The vertices of a selection, in rising order; *vertices is freed with hk_selection_destroy. */
HK_API HkStatus hk_model_select(const HkModel *model, const HkSelect *select, int32_t **vertices,
                                int64_t *count, HkError *error);
/* Releases the vertices of hk_model_select and sets the pointer to NULL. */
HK_API void hk_selection_destroy(const HkModel *model, int32_t **vertices);

/* The surface of an obstacle for drawing, where it is at time 0. */
typedef struct HkSurface {
  int64_t vertex_count, triangle_count;
  double *x, *normal; /* m; unit vectors: three numbers a vertex. Faces with an edge between them do
                         not share vertices */
  int32_t *triangle;  /* three vertices a triangle, against the clock as seen from outside */
  uint8_t *shade;     /* of each triangle: 0, or 1 for the dark squares of a plane */
  bool endless;       /* a part of a plane; a camera need not show all of it */
} HkSurface;

/* Number of obstacles: those of the scene in its order, then the ground of the force contact. */
HK_API int hk_model_obstacle_count(const HkModel *model);
/* Name of an obstacle, or NULL; owned by the model. */
HK_API const char *hk_model_obstacle_name(const HkModel *model, int obstacle);
/* Makes the surface of an obstacle; it is freed with hk_surface_destroy. */
HK_API HkStatus hk_model_obstacle_surface(const HkModel *model, int obstacle, HkSurface *surface,
                                          HkError *error);
/* Releases the arrays of a surface. */
HK_API void hk_surface_destroy(const HkModel *model, HkSurface *surface);
/* The pose of an obstacle at a time (s): x = R x0 + T, R by rows; the identity and 0 if there is no
 * such obstacle. */
HK_API void hk_model_obstacle_pose(const HkModel *model, int obstacle, double time, double R[9],
                                   double T[3]);
/* Releases a model, after its simulations, and sets the pointer to NULL. */
HK_API void hk_model_destroy(HkModel **model);

/* ---- State: time, positions, velocities ------------------------------------------------------ */

/* Where a system is; opaque but for its arrays. */
typedef struct HkState HkState;

/* The start of a model; the state keeps no pointer to it. */
HK_API HkStatus hk_state_create(const HkModel *model, HkState **state, HkError *error);
/* Copies from into to; an error unless both come from the same model. */
HK_API HkStatus hk_state_copy(const HkState *from, HkState *to, HkError *error);
/* Positions (m), three doubles a vertex, writable between steps; owned by the state. */
HK_API double *hk_state_x(HkState *state);
/* Velocities (m/s), three doubles a vertex, writable between steps; owned by the state. */
HK_API double *hk_state_v(HkState *state);
/* Positions (m) and velocities (m/s) to read, three doubles a vertex; owned by the state. */
HK_API const double *hk_state_positions(const HkState *state);
HK_API const double *hk_state_velocities(const HkState *state);
/* Number of vertices. */
HK_API int64_t hk_state_vertex_count(const HkState *state);
/* Time (s). */
HK_API double hk_state_time(const HkState *state);
/* Sets the time (s), finite, which motions and time-dependent forces follow. bdf2, which remembers
 * the step before, starts anew from here: to be called, with the same time if it stays, after
 * positions or velocities were written between its steps. */
HK_API void hk_state_set_time(HkState *state, double time);
/* Gives a state springs of its own from now on: stiffness k (N/m), rest length l0 (m), damping (N
 * s/m) and which are broken (1), one number a spring in the order of hk_model_springs; NULL leaves
 * an array as it is. The numbers are copied; they are saved, copied and resumed with the state, and
 * may be set again between steps. Steps in single precision and on devices refuse such a state. */
HK_API HkStatus hk_state_set_springs(HkState *state, const HkModel *model, const double *k,
                                     const double *l0, const double *damping, const uint8_t *broken,
                                     HkError *error);
/* The springs of the model count again. */
HK_API void hk_state_reset_springs(HkState *state);
/* The springs that count for a state, owned by it or by its model; valid until they are set again;
 * none for a state of another model. */
HK_API HkSpringView hk_state_springs(const HkState *state, const HkModel *model);
/* Writes a state to a file (versioned, checksummed, to a temporary name that is then renamed). */
HK_API HkStatus hk_state_save(const HkState *state, const char *path, HkError *error);
/* Reads what hk_state_save wrote into a state of the same model. */
HK_API HkStatus hk_state_load(HkState *state, const char *path, HkError *error);
/* How many bytes hk_state_pack writes. */
HK_API size_t hk_state_packed_size(const HkState *state);
/* The state as bytes, in the byte order of the machine: to keep, or to send to another process. */
HK_API void hk_state_pack(const HkState *state, char *bytes);
/* Makes a state from what hk_state_pack wrote. It fits the model that it came from, and those that
 * are compiled from the same scene. */
HK_API HkStatus hk_state_from_bytes(const HkContext *context, const char *bytes, size_t size,
                                    HkState **state, HkError *error);
/* Memory of the state: of a new one, and as much again once an integrator has left the step before
 * in it. */
HK_API size_t hk_state_bytes(const HkState *state);
/* Releases a state and sets the pointer to NULL. */
HK_API void hk_state_destroy(HkState **state);

/* Energies (J), momenta and extremes of a state. */
typedef struct HkStateInfo {
  double time;
  double kinetic, spring, gravity, other, total;
  double momentum[3];            /* kg m/s */
  double angular_momentum[3];    /* kg m^2/s, about the origin */
  double strain_min, strain_max; /* (l - l0) / l0 over springs with l0 > 0 */
  double speed_max;              /* m/s */
  double
      dissipated; /* J: taken from springs by the forces plasticity and tearing since the start */
} HkStateInfo;

/* ---- Simulation: one step at a time ---------------------------------------------------------- */

/* An integrator with its workspace; opaque. One for each thread that steps. */
typedef struct HkSim HkSim;

/* Prepares to move a model with an integrator (NULL: the scene's) at step h (s; 0: the scene's, or
 * one picked by stability where that has none). */
HK_API HkStatus hk_sim_create(const HkModel *model, const HkMethod *step, double h, HkSim **sim,
                              HkError *error);
/* Moves the state by one step; HK_ERROR_BLOWUP when it is no longer finite or beyond the bound,
 * HK_NOT_CONVERGED (no error) when an implicit step was made but not solved to its tolerance,
 * HK_ERROR_CANCELLED when the callback of hk_sim_set_cancel ended it. */
HK_API HkStatus hk_sim_step(HkSim *sim, HkState *state, HkError *error);
/* Moves the state by count steps as that many calls of hk_sim_step do, bit for bit, and faster
 * where the integrator keeps the state in another form between steps. It stops at the first error.
 */
HK_API HkStatus hk_sim_steps(HkSim *sim, HkState *state, int64_t count, HkError *error);
/* The integrator with all that is nested in it: what was not given is as Hooke has picked it for
 * this model. Owned by the simulation. */
HK_API const HkMethod *hk_sim_method(const HkSim *sim);
/* Who makes its steps: HkContext.device of the model, or what was picked where that is HK_AUTO. */
HK_API HkDeviceKind hk_sim_device(const HkSim *sim);
/* The step (s). */
HK_API double hk_sim_h(const HkSim *sim);
/* Changes the step (s), above 0. */
HK_API HkStatus hk_sim_set_h(HkSim *sim, double h, HkError *error);
/* Largest stable step (s) of the integrator for small motions near a state, where forces are
 * linear; INFINITY if there is no largest one, 0 if none is stable. */
HK_API HkStatus hk_sim_stable_step(HkSim *sim, const HkState *state, double *h, HkError *error);
/* What holds of the steps of an integrator where hk_sim_stable_step returns INFINITY, as a sentence
 * without its full stop; "" for explicit ones. Owned by the library. */
HK_API const char *hk_method_stability(const HkMethod *step);

/* Why the solver of an implicit step stopped (docs/theory.md, section 6). The first four answers
 * meet the equations of the step to the tolerance or to rounding; with the last two hk_sim_step
 * returns HK_NOT_CONVERGED. */
typedef enum HkStop {
  HK_STOP_NONE,       /* there was nothing to solve: the integrator is explicit */
  HK_STOP_CONVERGED,  /* gradient <= tolerance at a minimum: the Hessian is positive definite and
                       * the Newton direction is shorter than tolerance times the motion */
  HK_STOP_ROUNDING,   /* the gradient is at the rounding of the coordinates, as at rest */
  HK_STOP_STATIONARY, /* gradient <= tolerance, but x is not known to be a minimum: the Hessian is
                       * indefinite or nearly singular (buckling, a flat valley, several minima), or
                       * the minimizer does not compute it */
  HK_STOP_ITERATIONS, /* the maximum number of iterations is reached */
  HK_STOP_STALLED,    /* no step length along the search direction lowers the energy */
  HK_STOP_LIMITS      /* springs are beyond their strain_limit at the end of the step */
} HkStop;

/* How a step was solved. */
typedef struct HkStepInfo {
  int substeps, rejected; /* of an adaptive step: parts that were kept and thrown away */
  int iterations;         /* of the minimizer; 1 for a linearly implicit integrator */
  int linear_iterations;  /* of the linear solver, all together; a direct solve counts as one */
  int evaluations;        /* of the gradient */
  int projections;        /* how often the Hessian was not positive definite and was projected */
  double gradient; /* the relative gradient m = |M^-1 dg/dx|_M / |x - x_n|_M, without unit, with
                    * |d|_M = sqrt(sum m_i |d_i|^2): the unbalanced force would change the step by
                    * this part of its own motion; 0 for explicit integrators, and where nothing
                    * moves but for rounding; INFINITY where the minimizer found no way to move */
  double residual; /* of the last linear solve, |b - A x| / |b| */
  HkStop reason;
} HkStepInfo;

/* Name of a reason to stop, such as "converged"; static text. */
HK_API const char *hk_stop_name(HkStop reason);
/* How the last step was solved. */
HK_API HkStepInfo hk_sim_step_info(const HkSim *sim);

/* One iteration of a minimizer. */
typedef struct HkIteration {
  int iteration;   /* 0: the starting guess */
  double change;   /* kg m^2: g(x) - g(start), the energy that an implicit step minimizes */
  double gradient; /* as in HkStepInfo */
  double seconds;  /* since the start, without what this call takes */
  const double *x; /* m, three a vertex: the iterate */
} HkIteration;

/* Returns whether to go on; false ends the iterations of this step with x as it is. */
typedef bool HkTraceFn(void *user, const HkIteration *iteration);
/* Calls trace after every iteration of the minimizer from now on; NULL: nothing. */
HK_API HkStatus hk_sim_set_trace(HkSim *sim, HkTraceFn *trace, void *user, HkError *error);

/* Returns whether to end the step that is being made. Called many times in a step, by the thread
 * that makes it: it must be fast, and may read what another thread or a signal handler has set, as
 * an atomic value. It must not use the simulation, nor the state. */
typedef bool HkCancelFn(void *user);
/* Calls cancel before each step, at each iteration of minimizers and linear solvers and at each
 * part of an adaptive step; NULL removes the callback. Once it returns true, hk_sim_step and
 * hk_sim_steps return HK_ERROR_CANCELLED with the state at the end of the last whole step, from
 * which the same simulation, or another one, continues with the same bits. Not interrupted are the
 * analysis of a factorization (in the first step, and when other pins hold), a factorization by
 * CHOLMOD, and steps that a device has begun. */
HK_API void hk_sim_set_cancel(HkSim *sim, HkCancelFn *cancel, void *user);

/* Energies and momenta of a state; all NAN for a state of another model. */
HK_API void hk_sim_state_info(HkSim *sim, const HkState *state, HkStateInfo *report);
/* All forces on all vertices (N) at a state, into three doubles a vertex of the simulation's model;
 * all NAN for a state of another model. Forces of contact are those of hk_sim_contacts. */
HK_API void hk_sim_forces(HkSim *sim, const HkState *state, double *f);
/* What holds each pinned vertex on its motion (N) at a state, R = m a - f with a the acceleration
 * of the motion, into three doubles a vertex in the order of hk_model_pins; 0 for released ones,
 * NAN for a state of another model. */
HK_API void hk_sim_reactions(HkSim *sim, const HkState *state, double *R);
/* The gradient dE/dx (N) of the potential energy E at a state, into three doubles a vertex: minus
 * the force at rest of all forces that have a potential (springs without damping, gravity,
 * buoyancy, point_load, handle). Pinned vertices count as free. All NAN for a state of another
 * model. */
HK_API void hk_sim_energy_gradient(HkSim *sim, const HkState *state, double *gradient);

/* What a side of a contact belongs to. */
typedef enum HkContactKind {
  HK_CONTACT_BODY,     /* index: of hk_model_body */
  HK_CONTACT_OBSTACLE, /* index: of hk_model_obstacle */
  HK_CONTACT_GROUND    /* index: 0 */
} HkContactKind;

typedef struct HkContactSide {
  HkContactKind kind;
  int32_t index;
} HkContactSide;

/* Two things that touch: their gap is below the distance of the force `contact`, or an impulse has
 * kept them apart in the last step. Side 0 is always a body. The force on it is normal_force *
 * normal + friction, that on side 1 the opposite. */
typedef struct HkContact {
  HkContactSide side[2];
  /* Vertices of the model; -1: of an obstacle, or none. The first `split` of the four belong to
   * side 0. With the weights w the closest points are sum w x over the vertices of side 0, and
   * -sum w x over those of side 1. */
  int32_t vertex[4], split;
  double weight[4];
  double point[3];     /* m, in the middle of the gap */
  double normal[3];    /* unit vector from side 1 to side 0; where several contacts share the force,
                        * near edges inside of a flat part of an obstacle, the direction of its own */
  double gap;          /* m, between the surfaces */
  double normal_force; /* N, at least 0 */
  double friction[3];  /* N, on side 0 */
  double energy;       /* J */
} HkContact;

/* What an obstacle or the ground exerts on all that touches it, as pins do with what they hold: the
 * reactions of things at rest bear their weight. */
typedef struct HkContactReaction {
  double force[3];  /* N */
  double torque[3]; /* N m, about the origin */
} HkContactReaction;

/* The contacts of a state. */
typedef struct HkContactView {
  int64_t count;
  const HkContact *contact;
  const double *force; /* N, three a vertex: of all contacts; NULL: the model has no contact */
  int obstacle_count;
  const HkContactReaction *obstacle; /* in the order of hk_model_obstacle */
  HkContactReaction ground;
  double least_gap;     /* m; INFINITY: nothing touches */
  double energy;        /* J: the part of contact in HkStateInfo.other */
  double friction_work; /* J, that friction has taken since the start */
  int64_t searches;     /* for close pairs, by this simulation; depends on its past */
} HkContactView;

/* The contacts at a state, with the stiffness of the step that led there: with backward_euler and
 * bdf2 the forces are those that have acted in that step. The stiffness is known to the simulation
 * that has made the step, until it is asked about another state; else the one is taken with which
 * the next step will begin. With integrators whose steps contact corrects, forces are the impulses
 * of the step that led to the state divided by its length; they are known to the simulation that
 * has made the step, and 0 to others. The arrays belong to the simulation, and are valid until its
 * next call. Where a gap is closed, an error that lists what intersects. */
HK_API HkStatus hk_sim_contacts(HkSim *sim, const HkState *state, HkContactView *view,
                                HkError *error);

/* A square sparse matrix as triplets: value[q] stands at row[q], column[q], counted from 0. Sorted
 * by row and then column, each place once; values may be 0. */
typedef struct HkTriplets {
  int64_t size;  /* rows, and columns */
  int64_t count; /* entries */
  int32_t *row, *column;
  double *value;
} HkTriplets;

/* The stiffness matrix K = df/dx = -d2E/dx2 (N/m) of all forces that have a potential, at a state:
 * 3 n x 3 n for n vertices, symmetric, coordinate c of vertex i at 3 i + c. It is the true
 * derivative: compressed springs are not projected, so that -K may be indefinite. Rows and columns
 * of pinned vertices, and of z in two dimensions, are included as if they were free; the caller
 * removes them. The mass matrix is diagonal, with hk_model_masses(model)[i] at 3 i + c. *K belongs
 * to the caller, may outlive the simulation, and is destroyed by hk_triplets_destroy. */
HK_API HkStatus hk_sim_stiffness(HkSim *sim, const HkState *state, HkTriplets **K, HkError *error);
/* Releases a matrix and sets the pointer to NULL. */
HK_API void hk_triplets_destroy(HkTriplets **matrix);
/* Memory that it holds now. Factorizations and the like come with the first step, and stay. */
HK_API size_t hk_sim_bytes(const HkSim *sim);
/* Releases a simulation and sets the pointer to NULL. */
HK_API void hk_sim_destroy(HkSim **sim);

/* ---- Live changes: between steps, for interactive use ------------------------------------------
 *
 * A model may be changed between steps by the one thread that uses it and its simulations. States
 * stay valid and go on from where they are; simulations notice at their next step and make anew
 * only what depends on the change. A change that fails changes nothing. The step is changed by
 * hk_sim_set_h; for another integrator make another simulation of the same model and go on with the
 * same state.
 */

/* Makes every spring factor (above 0) times as stiff. */
HK_API HkStatus hk_model_scale_stiffness(HkModel *model, double factor, HkError *error);
/* Gives every spring the stiffness k (N/m). */
HK_API HkStatus hk_model_set_stiffness(HkModel *model, double k, HkError *error);

/* Gives every vertex its mass (kg, above 0): hk_model_masses reads them. */
HK_API HkStatus hk_model_set_masses(HkModel *model, const double *mass, HkError *error);

/* Number of forces: the springs are force 0, then come those of the scene in its order. */
HK_API int hk_model_force_count(const HkModel *model);
/* The index-th force with its parameters, or NULL; owned by the model. */
HK_API const HkMethod *hk_model_force(const HkModel *model, int index);
/* Appends a force, which is copied; its number is put into *index unless that is NULL. */
HK_API HkStatus hk_model_add_force(HkModel *model, const HkMethod *force, int *index,
                                   HkError *error);
/* Puts a force, which is copied, in the place of another one: a new gravity, a wind that turns, a
 * handle that is dragged on. Not of the springs. */
HK_API HkStatus hk_model_set_force(HkModel *model, int index, const HkMethod *force,
                                   HkError *error);
/* Removes a force but for the springs; those behind it move up by one. */
HK_API HkStatus hk_model_remove_force(HkModel *model, int index, HkError *error);

/* Gives a pin of the scene (from 0) another motion, which is copied; NULL: fixed. Its vertices are
 * where the motion has them from the next step on, at once. The release stays. */
HK_API HkStatus hk_model_set_motion(HkModel *model, int pin, const HkMethod *motion,
                                    HkError *error);
/* Gives an obstacle of the scene (from 0) another motion, which is copied; NULL: fixed. It should
 * be where it was at the time of the next step: contact refuses a step that begins with an
 * intersection. */
HK_API HkStatus hk_model_set_obstacle_motion(HkModel *model, int obstacle, const HkMethod *motion,
                                             HkError *error);
/* Lets a pinned vertex go; it keeps its velocity. */
HK_API HkStatus hk_state_release_pin(HkState *state, const HkModel *model, int32_t vertex,
                                     HkError *error);
/* Holds a pinned vertex again, where its motion has it now, also after its release. */
HK_API HkStatus hk_state_hold_pin(HkState *state, const HkModel *model, int32_t vertex,
                                  HkError *error);

/* The vertex nearest to a point, or -1 if there is none, and its distance (m). */
HK_API int32_t hk_state_nearest(const HkState *state, const double point[3], double *distance);
/* Of the vertices within a radius (m) of a ray the first one along it, else the one nearest to the
 * ray, in front of its origin; -1 if there is none. *along (m, unless NULL) is how far from the
 * origin. The direction may have any length but 0. */
HK_API int32_t hk_state_nearest_to_ray(const HkState *state, const double origin[3],
                                       const double direction[3], double radius, double *along);

#ifdef __cplusplus
}
#endif
#endif
