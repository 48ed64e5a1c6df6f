/* The simulated problems: the same arrays for Hooke and its peers.
 *
 *     cloth N   N x N, 1 m, 1 kg, edges, diagonals and skip-one, k = 1e4 N/m, falls from flat rest,
 *               two corners of one edge pinned
 *     mixed N   the same cloth, numbered at random within every 64 vertices, so that it is not a
 * grid block N   N^3, 26 neighbors, 1 m, 1 kg, k = 1e4 N/m, the side x = 0 pinned disc N triangles
 * in N rings, moved at random, edges and opposite corners; pinned as cloth ball N    tetrahedra in
 * N shells, moved at random, edges; the top pinned
 */
#ifndef HOOKE_BENCH_PROBLEMS_H
#define HOOKE_BENCH_PROBLEMS_H

#include "hooke/hooke.h"
#include "peers/peers.h"

#define PROBLEM_H (1.0 / 60)

typedef struct Problem {
  char name[32]; /* "cloth 81" */
  HkScene *scene;
  HkModel *model;
  PeerProblem peer;
  unsigned char *pinned;
  int32_t *place; /* of each vertex of the shape, among those of the model; NULL: the same */
  int64_t n;
  double compile_seconds;
} Problem;

/* Returns false, with a line on standard error, if it fails; the caller destroys it in both
 * cases. */
bool problem_make(Problem *problem, const char *kind, int size, double h);
void problem_destroy(Problem *problem);
/* Returns the initial state with random displacements and velocities, relative to the length of
 * springs; false if out of memory. */
bool problem_shake(const Problem *problem, double part, double **x, double **v);

#endif
