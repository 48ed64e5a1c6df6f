/* A world as a data file for LAMMPS: masses as atoms, springs as harmonic bonds. */
#include "cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 16 };

/* Bonds by their rest lengths, which may differ by rounding. */
typedef struct Types {
  int count;
  double length[MOST_TYPES]; /* m */
  double sum[MOST_TYPES], springs[MOST_TYPES];
} Types;

static int type_of(Types *types, double length) {
  const double ROUNDING = 1e-9;
  for (int t = 0; t < types->count; t++)
    if (fabs(length - types->length[t]) <= ROUNDING * length) return t;
  if (types->count == MOST_TYPES) {
    fprintf(stderr, "there are more than %d rest lengths\n", MOST_TYPES);
    exit(1);
  }
  types->length[types->count] = length;
  return types->count++;
}

static void write_atoms(FILE *file, const World *w) {
  const double *x = hk_state_positions(w->state), *v = hk_state_velocities(w->state);
  int64_t n = hk_state_vertex_count(w->state);
  fprintf(file, "\nMasses\n\n1 %.17g\n\nAtoms # bond\n\n", hk_model_masses(w->model)[0]);
  for (int64_t i = 0; i < n; i++)
    fprintf(file, "%lld 1 1 %.17g %.17g %.17g\n", (long long)i + 1, x[3 * i], x[3 * i + 1],
            x[3 * i + 2]);
  fprintf(file, "\nVelocities\n\n");
  for (int64_t i = 0; i < n; i++)
    fprintf(file, "%lld %.17g %.17g %.17g\n", (long long)i + 1, v[3 * i], v[3 * i + 1],
            v[3 * i + 2]);
}

/* The energy of a bond is K (r - r0)^2: K is half the stiffness. */
static void write_bonds(FILE *file, const HkSpringView *springs, Types *types) {
  fprintf(file, "\nBond Coeffs\n\n");
  for (int t = 0; t < types->count; t++)
    fprintf(file, "%d %.17g %.17g\n", t + 1, 0.5 * springs->k[0], types->length[t]);
  fprintf(file, "\nBonds\n\n");
  for (int64_t s = 0; s < springs->count; s++)
    fprintf(file, "%lld %d %d %d\n", (long long)s + 1, type_of(types, springs->l0[s]) + 1,
            springs->i[s] + 1, springs->j[s] + 1);
}

void write_lammps(const World *w, const char *path) {
  HkSpringView springs = hk_model_springs(w->model);
  HkModelInfo info = hk_model_info(w->model);
  Types types = {0};
  FILE *file = fopen(path, "w");
  for (int64_t s = 0; s < springs.count; s++) {
    int t = type_of(&types, springs.l0[s]);
    types.sum[t] += springs.l0[s];
    types.springs[t]++;
  }
  for (int t = 0; t < types.count; t++) types.length[t] = types.sum[t] / types.springs[t];
  if (!file) {
    perror(path);
    exit(1);
  }
  fprintf(file,
          "masses and springs of Hooke\n\n%lld atoms\n%lld bonds\n1 atom types\n%d bond types\n\n",
          (long long)info.vertices, (long long)info.springs, types.count);
  for (int c = 0; c < 3; c++)
    fprintf(file, "%.17g %.17g %clo %chi\n", info.box_min[c] - 0.5, info.box_max[c] + 0.5, 'x' + c,
            'x' + c);
  write_atoms(file, w);
  write_bonds(file, &springs, &types);
  if (fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}
