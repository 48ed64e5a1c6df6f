/* What programs add to Hooke without a change of it: forces, linear solvers, libraries of forces.
 */
#ifndef HOOKE_EXTEND_H
#define HOOKE_EXTEND_H

#include "hooke/hooke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Forces of the caller -----------------------------------------------------------------------
 *
 * A force that a program computes itself: an energy with its gradient and Hessian, or a force
 * without a potential. It takes part in every integrator, minimizer and linear solver as the
 * built-in ones do; devices refuse it. Callbacks are called by the thread that steps.
 */

/* Where a force is evaluated. */
typedef struct HkForceAt {
  int64_t vertices;
  double t;            /* s */
  const double *x, *v; /* m, m/s, three a vertex; v is NULL where only the part of the force that
                        * has a potential is asked for */
  bool projected; /* a positive semidefinite Hessian is asked for; otherwise the true one, by which
                   * a minimizer finds out whether it is at a minimum */
  void *state;    /* what create_state made for this simulation, or NULL */
} HkForceAt;

/* Receives blocks of 3 x 3 numbers; opaque. */
typedef struct HkForceBlockSink HkForceBlockSink;
/* Adds a block, row by row, at vertices i and j, which may be any two of the model, also one that
 * no spring connects; blocks at the same vertices add up. An index that is out of range is an error
 * of the step. */
HK_API void hk_force_add_block(HkForceBlockSink *sink, int32_t i, int32_t j, const double block[9]);

/* What a force consists of; the fields that are NULL are left out. Start from
 * hk_force_functions_default. */
typedef struct HkForceFunctions {
  size_t size;        /* bytes of this struct, as the caller knows it */
  const char *name;   /* for messages and reports; copied */
  bool uses_velocity; /* the force depends on v */
  /* Potential energy E (J); NULL: the force has none, and implicit steps take it as constant. */
  double (*energy)(void *user, const HkForceAt *at);
  /* f += the force (N), three numbers a vertex. Must be given. -dE/dx where there is an energy, and
   * whatever depends on v if v is not NULL. */
  void (*add)(void *user, const HkForceAt *at, double *f);
  /* All blocks of the Hessian d2E/dx_i dx_j (N/m), which is symmetric; at->projected says which
   * one. NULL: 0. */
  void (*hessian)(void *user, const HkForceAt *at, HkForceBlockSink *sink);
  /* Blocks of a symmetric, positive semidefinite C near -df_i/dv_j (N s/m), by which implicit steps
   * damp; NULL: 0. */
  void (*damping)(void *user, const HkForceAt *at, HkForceBlockSink *sink);
  /* State of one simulation; an error ends its creation, or the step. */
  HkStatus (*create_state)(void *user, void **state, HkError *error);
  void (*destroy_state)(void *user, void *state);
  /* Before a step by h (s) from at, and after it at its end; an error of end_step leaves the state
   * at the end of the step. */
  HkStatus (*begin_step)(void *user, const HkForceAt *at, double h, HkError *error);
  HkStatus (*end_step)(void *user, const HkForceAt *at, double h, HkError *error);
  /* The memory of the force: what outlives a step and belongs to the HkState, not to the
   * simulation. It is copied, saved and resumed with the state. A force finds its memory by its
   * name and its number among all forces that the model ever had; that of a removed or replaced
   * force goes to no other one and is released in the next step. Either both functions are given,
   * or neither.
   *
   * After each step and its end_step: writes the bytes into `bytes` if they are at most capacity,
   * which is 0 or more, and returns how many they are. If they are more, save is called again with
   * enough capacity. */
  size_t (*save)(void *user, const HkForceAt *at, void *bytes, size_t capacity);
  /* Before each step and its begin_step, and before energies, forces and matrices of a state: takes
   * over what save has written for the state at->t, at->x, at->v, aligned as malloc aligns. With a
   * size of 0 the state has nothing of this force, which then starts from its beginning. Steps that
   * are cancelled or rejected are not saved: the next load gives the bytes from before them. */
  HkStatus (*load)(void *user, const HkForceAt *at, const void *bytes, size_t size, HkError *error);
  /* Before a minimizer evaluates anything at a new iterate. */
  HkStatus (*begin_iterate)(void *user, const HkForceAt *at, HkError *error);
  /* Shortens the move of all vertices or of some from at->x to `to`, so that the straight path
   * between the two is allowed; returns whether it has changed `to`. */
  bool (*filter)(void *user, const HkForceAt *at, double *to);
  /* Releases user, once the force is removed or the model destroyed and no simulation has state of
   * it, or at once after an error. */
  void (*destroy)(void *user);
} HkForceFunctions;

/* No function, and the size of the struct. */
HK_API HkForceFunctions hk_force_functions_default(void);
/* Appends a force of the caller, which is then removed by hk_model_remove_force; its number is put
 * into *index unless that is NULL. */
HK_API HkStatus hk_model_add_custom_force(HkModel *model, const HkForceFunctions *functions,
                                          void *user, int *index, HkError *error);
/* Appends a force that is an array of the caller (N, three numbers a vertex), which is read each
 * time forces are evaluated, and must outlive the model or the force. Implicit steps take it as
 * constant. */
HK_API HkStatus hk_model_add_force_array(HkModel *model, const double *force, int *index,
                                         HkError *error);

/* ---- Libraries of forces ------------------------------------------------------------------------
 *
 * A shared library with forces, which scenes name by {"type": "library", "file": "magnet.so",
 * "name": "magnet", "settings": "strength=3"} and programs add by hk_model_add_library_force. It
 * exports the function hooke_force_library and needs no symbol of Hooke: create receives the
 * functions of Hooke in an HkForceHost. docs/extending.md has an example.
 */

/* Version of the structs that Hooke and a library of forces exchange: HkForceLibrary,
 * HkLibraryForce, HkForceHost, HkForceFunctions, HkForceAt, HkSelect and HkError. Hooke refuses a
 * library of another version. */
#define HK_FORCE_LIBRARY_VERSION 2

/* What Hooke offers to a library of forces; valid while the library is loaded. Functions of the
 * model may be called in create only. */
typedef struct HkForceHost {
  int version; /* HK_FORCE_LIBRARY_VERSION of Hooke */
  size_t size; /* bytes of this struct */
  /* As hk_force_add_block. */
  void (*add_block)(HkForceBlockSink *sink, int32_t i, int32_t j, const double block[9]);
  /* Writes a message, such as "strength: 'x' is not a number", into an error and returns status. */
  HkStatus (*fail)(HkError *error, HkStatus status, const char *message);
  /* Number of vertices, their positions (m) at the start, three numbers a vertex, and masses (kg).
   * The model owns the arrays. */
  int64_t (*vertex_count)(const HkModel *model);
  const double *(*positions)(const HkModel *model);
  const double *(*masses)(const HkModel *model);
  /* As hk_model_faces, hk_model_select and hk_selection_destroy. */
  const int32_t *(*faces)(const HkModel *model, int64_t *count);
  HkStatus (*select)(const HkModel *model, const HkSelect *select, int32_t **vertices,
                     int64_t *count, HkError *error);
  void (*destroy_selection)(const HkModel *model, int32_t **vertices);
} HkForceHost;

/* One force of a library. */
typedef struct HkLibraryForce {
  const char *name;    /* by which scenes and programs choose it */
  const char *summary; /* what it does, in one line; may be NULL */
  /* Creates the force for a model. *functions is hk_force_functions_default() and *user is NULL;
   * create fills both, and functions->destroy later releases user. settings is the text of the
   * scene, in a form that the library defines, or NULL. Several threads may call create at once.
   * After an error, which host->fail describes, create has released all that it made. */
  HkStatus (*create)(const HkForceHost *host, const HkModel *model, const char *settings,
                     HkForceFunctions *functions, void **user, HkError *error);
} HkLibraryForce;

/* The forces of a library. */
typedef struct HkForceLibrary {
  int version; /* HK_FORCE_LIBRARY_VERSION that the library was compiled with */
  size_t size; /* bytes of this struct */
  int count;   /* of forces */
  const HkLibraryForce *forces;
} HkForceLibrary;

#if defined(__GNUC__)
#define HK_FORCE_LIBRARY_EXPORT __attribute__((visibility("default")))
#else
#define HK_FORCE_LIBRARY_EXPORT
#endif
/* The one function that a library of forces defines and exports; Hooke itself has none of that
 * name. The struct that it returns is constant and stays valid while the library is loaded. */
HK_FORCE_LIBRARY_EXPORT const HkForceLibrary *hooke_force_library(void);

/* Appends a force of a shared library; its number is put into *index unless that is NULL. path is
 * the file, relative to the working folder; settings may be NULL. The library stays loaded until
 * the force is removed or the model is destroyed and no simulation has state of it. The library's
 * code runs in this process with all its rights: HkContext.libraries, which scenes need, does not
 * matter here, since the program itself names the file. */
HK_API HkStatus hk_model_add_library_force(HkModel *model, const char *path, const char *name,
                                           const char *settings, int *index, HkError *error);

/* ---- Elements of the caller ---------------------------------------------------------------------
 *
 * A force that is a sum of energies of 1 to 4 vertices each: a bending energy across edges, an
 * angle between threads, a volume. Its functions see one element; Hooke does the rest: loops over
 * threads, assembly, projection of the Hessian.
 */

/* Energy, gradient and Hessian of one element. They may be called by several threads at once. x
 * holds three numbers a vertex of the element (m). */
typedef struct HkElementFunctions {
  size_t size;      /* bytes of this struct, as the caller knows it */
  const char *name; /* for messages and reports; copied */
  int vertices;     /* of an element: 1 to 4 */
  size_t record;    /* bytes that an element has beside its vertices: stiffness, rest angle ... */
  /* E (J) */
  double (*energy)(void *user, const void *record, const double *x);
  /* gradient[3 a + c] = dE/dx of coordinate c of vertex a (N); it is 0 before. */
  void (*gradient)(void *user, const void *record, const double *x, double *gradient);
  /* hessian = d2E/dx2 (N/m), row by row, the true one; it is 0 before. */
  void (*hessian)(void *user, const void *record, const double *x, double *hessian);
  void (*destroy)(void *user); /* releases user with the force, or at once after an error */
} HkElementFunctions;

/* No function, and the size of the struct. */
HK_API HkElementFunctions hk_element_functions_default(void);
/* Appends a force of count elements, with the vertices and the record of each one after the other;
 * all is copied. Removed by hk_model_remove_force; its number is put into *index unless that is
 * NULL. */
HK_API HkStatus hk_model_add_elements(HkModel *model, const HkElementFunctions *functions,
                                      void *user, const int32_t *vertices, const void *records,
                                      int64_t count, int *index, HkError *error);

/* ---- Linear solvers of the caller ---------------------------------------------------------------
 *
 * A solver of A x = b for the systems of implicit steps, in the place of a built-in one: a
 * factorization for special hardware, a multigrid of one's own. A is symmetric, mostly positive
 * definite, with three rows a vertex. Rows and columns of pinned vertices hold a positive diagonal
 * alone. Hooke checks the answers: it computes the residual, and a system that was not solved shows
 * in what the step reports.
 */

/* The matrix of a linear system. */
typedef struct HkLinearSystem {
  int64_t size; /* of rows */
  /* The entries of row r are row_start[r] .. row_start[r + 1] - 1, with rising columns, both
   * triangles; some may be 0. NULL unless the solver needs the matrix. */
  const int64_t *row_start;
  const int32_t *column;
  const double *value;
  int64_t pattern; /* another number when rows or columns are not those of the call before */
  /* out = A p */
  void (*product)(const struct HkLinearSystem *A, const double *p, double *out);
  void *state;      /* of the solver: what create has made */
  const void *data; /* Hooke's */
} HkLinearSystem;

/* How a solve ended. */
typedef struct HkLinearOutcome {
  int iterations;  /* 1, unless it is set */
  bool indefinite; /* A was found not to be positive definite; x does not count then */
} HkLinearOutcome;

/* What a linear solver consists of; the fields that are NULL are left out. Start from
 * hk_linear_functions_default. */
typedef struct HkLinearFunctions {
  size_t size;       /* bytes of this struct, as the caller knows it */
  const char *name;  /* for messages; static */
  bool needs_matrix; /* uses row_start, column and value, not the product alone */
  bool direct;       /* solves to rounding, and finds out whether A is positive definite */
  /* State of one simulation, whose systems have size rows. */
  HkStatus (*create)(void *user, int64_t size, void **state, HkError *error);
  void (*destroy)(void *user, void *state);
  /* A has new values: factorizes. *indefinite: A is not positive definite, and is not solved. */
  HkStatus (*prepare)(void *user, const HkLinearSystem *A, bool *indefinite, HkError *error);
  /* x = A^-1 b to |b - A x| <= tolerance |b|; x is 0 before. Must be given. */
  HkStatus (*solve)(void *user, const HkLinearSystem *A, const double *b, double *x,
                    double tolerance, HkLinearOutcome *outcome, HkError *error);
} HkLinearFunctions;

/* No function, and the size of the struct. */
HK_API HkLinearFunctions hk_linear_functions_default(void);
/* Has an integrator, or a minimizer, solve its linear systems by these functions; newton becomes
 * the minimizer where none is chosen. The functions are copied; user must outlive the simulations
 * that are made with the method. Devices refuse it. */
HK_API HkStatus hk_method_set_linear_solver(HkMethod *method, const HkLinearFunctions *functions,
                                            void *user, HkError *error);

#ifdef __cplusplus
}
#endif
#endif
