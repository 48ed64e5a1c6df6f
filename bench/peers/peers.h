/* What Hooke is measured against: drivers of libraries that come as Debian packages, written as
 * their users would, and the plain loop over springs. All work on the same arrays.
 *
 *     peer_course        linearly implicit Euler, Eigen::SimplicialLDLT made anew in each step
 *     peer_local_global  Liu et al. 2013 with Eigen::SimplicialLLT<float> of the 3n matrix
 *     peer_newton        backward Euler by Newton's method, CHOLMOD on the 3n Hessian
 *     peer_factor        CHOLMOD, the n x n matrix M + h^2 L with three right-hand sides
 *     peer_scatter       symplectic Euler, forces scattered from each spring to its two ends
 *
 * Vectors are three doubles a vertex. A create returns NULL where a factorization fails;
 * destroy takes NULL.
 */
#ifndef HOOKE_BENCH_PEERS_H
#define HOOKE_BENCH_PEERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's arrays; they outlive the peers made of them. */
typedef struct PeerProblem {
  int vertices, springs;
  const int *i, *j;            /* ends of the springs, sorted by i and then j, i < j */
  const double *k, *l0;        /* N/m, m */
  const double *mass;          /* kg */
  const unsigned char *pinned; /* one a vertex: 1 stays where it is */
  double h, gravity[3];        /* s, m/s^2 */
} PeerProblem;

/* How CHOLMOD may use the cores: not at all, in its own OpenMP loops, or within BLAS. Both at once
 * would be more threads than cores. */
typedef enum PeerThreads { PEER_ALONE, PEER_LOOPS, PEER_BLAS, PEER_THREADS_COUNT } PeerThreads;
typedef enum PeerOrdering { PEER_AMD, PEER_METIS, PEER_ORDERING_COUNT } PeerOrdering;

/* "metis, 2 BLAS threads"; static text. */
const char *peer_setting_name(PeerOrdering ordering, PeerThreads threads);

/* One step: (M - h^2 K) dv = h (f + h K v), v += dv, x += h v. False: the factorization failed. */
typedef struct PeerCourse PeerCourse;
PeerCourse *peer_course_create(const PeerProblem *problem);
bool peer_course_step(PeerCourse *peer, double *x, double *v);
void peer_course_destroy(PeerCourse *peer);

/* begin takes the step's start and the first guess; each iterate is a local and a global step. */
typedef struct PeerLocalGlobal PeerLocalGlobal;
PeerLocalGlobal *peer_local_global_create(const PeerProblem *problem);
void peer_local_global_begin(PeerLocalGlobal *peer, const double *x, const double *v,
                             const double *guess);
void peer_local_global_iterate(PeerLocalGlobal *peer);
/* What x leaves of the gradient that the guess has: |A x - b| / |A guess - b| of its first global
 * step, in double precision. 0 for the exact result of one iteration. */
double peer_local_global_residual(const PeerLocalGlobal *peer, const double *guess,
                                  const double *x);
void peer_local_global_get(const PeerLocalGlobal *peer, double *x);
void peer_local_global_destroy(PeerLocalGlobal *peer);

/* begin sets the start of the step and the guess x + h v. iterate makes one iteration with a line
 * search and writes the positions to x; false: no step lowers g. */
typedef struct PeerNewton PeerNewton;
PeerNewton *peer_newton_create(const PeerProblem *problem, PeerOrdering ordering);
void peer_newton_set_threads(PeerNewton *peer, PeerThreads threads);
void peer_newton_begin(PeerNewton *peer, const double *x, const double *v);
bool peer_newton_iterate(PeerNewton *peer);
const double *peer_newton_x(const PeerNewton *peer);
/* Returns |dg/dx| relative to its value at the guess. */
double peer_newton_gradient(const PeerNewton *peer);
/* Entries of the factor. */
double peer_newton_entries(const PeerNewton *peer);
void peer_newton_destroy(PeerNewton *peer);

/* z = (M + h^2 L)^-1 b, pinned vertices left out. */
typedef struct PeerFactor PeerFactor;
PeerFactor *peer_factor_create(const PeerProblem *problem, PeerOrdering ordering);
void peer_factor_set_threads(PeerFactor *peer, PeerThreads threads);
/* Copies the right-hand sides, before the time is measured; 0 for pinned vertices. */
void peer_factor_set(PeerFactor *peer, const double *b);
void peer_factor_solve(PeerFactor *peer);
void peer_factor_get(const PeerFactor *peer, double *z);
double peer_factor_entries(const PeerFactor *peer);
void peer_factor_destroy(PeerFactor *peer);

/* Steps of symplectic Euler in double or single precision. With several threads each owns a range
 * of vertices and computes all springs that end there. */
typedef struct PeerScatter PeerScatter;
PeerScatter *peer_scatter_create(const PeerProblem *problem, bool single, int threads);
void peer_scatter_set(PeerScatter *peer, const double *x, const double *v);
void peer_scatter_step(PeerScatter *peer, int steps);
void peer_scatter_get(const PeerScatter *peer, double *x);
void peer_scatter_destroy(PeerScatter *peer);

#ifdef __cplusplus
}
#endif
#endif
