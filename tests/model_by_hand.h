/* Models made by hand from triangles, for tests that do not need the scene compiler. */
#ifndef HOOKE_MODEL_BY_HAND_H
#define HOOKE_MODEL_BY_HAND_H

#include "force/force.h"

/* A number in -1 .. 1 and the next seed (SplitMix64): the same ones on every machine. */
double test_random(uint64_t *seed);

typedef struct ByHand {
  int dimension, up, threads;
  bool damping, tension; /* some springs have it */
  uint64_t seed;
} ByHand;

/* 3D, y up, one thread, no damping. */
ByHand by_hand(void);

/* Springs along the unique edges of count triangles, with random masses (kg), k and rest lengths
 * near those of the mesh. Ends the program if there is no memory. */
HkModel *model_of_triangles(ByHand by, int64_t n, const double *x, int64_t count,
                            const int32_t *triangles);
/* A wrinkled sheet of nx x ny vertices about 1 m apart, two triangles a cell. */
HkModel *model_of_sheet(ByHand by, int nx, int ny);
/* Two tetrahedra that share a face. */
HkModel *model_of_tets(ByHand by);
/* Two vertices, the first at the origin, the second at x, with one spring and masses of 1 kg. */
HkModel *model_of_spring(const double x[3], double k, double l0);

/* Compiles a force and appends it; the method moves into the model. */
HkStatus model_add_force(HkModel *model, HkMethod *method, HkError *error);
/* The same by name with its default parameters. */
HkStatus model_add_default_force(HkModel *model, const char *name, HkError *error);
void model_by_hand_destroy(HkModel **model);

/* f = the index-th force alone, and its energy. */
void model_force(const HkModel *model, int index, double t, const double *x, const double *v,
                 double *f);
/* The sum of all forces. */
void model_forces(const HkModel *model, double t, const double *x, const double *v, double *f);
double model_energy(const HkModel *model, int index, double t, const double *x, const double *v);

/* The Jacobians of the index-th force as dense matrices of 3 n rows; freed with free. */
void model_jacobian(const HkModel *model, int index, double t, const double *x, const double *v,
                    double **dfdx, double **dfdv);

/* Moves x and v from time t with all forces by steps of symplectic Euler; pins are not held. */
void model_move(const HkModel *model, double t, double h, int steps, double *x, double *v);

/* Largest absolute value. */
double test_largest(const double *values, int64_t count);

/* The selection of a box. */
HkSelect select_box(double x0, double y0, double z0, double x1, double y1, double z1);

#endif
