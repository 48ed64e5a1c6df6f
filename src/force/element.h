/* Elements: forces that are sums of energies of 1 to 4 vertices each,
 *
 *     E(x) = sum over elements e of E_e(x_a, x_b, ...),
 *
 * such as springs (2 vertices), bending across an edge (4), a point in front of a triangle (4). An
 * element gives its energy, gradient and Hessian; all that HkForceType needs is derived from them.
 */
#ifndef HK_FORCE_ELEMENT_H
#define HK_FORCE_ELEMENT_H

#include "force/force.h"

enum { HK_ELEMENT_VERTICES_MAX = 4, HK_ELEMENT_SIZE_MAX = 3 * HK_ELEMENT_VERTICES_MAX };

/* Elements of one kind. */
typedef struct HkElements {
  HkElementFunctions functions;
  void *user;
  int64_t count;
  const int32_t *vertices; /* functions.vertices an element */
  const char *records;     /* functions.record bytes an element */
  /* The places of vertex i in the array vertices: place[start[i]] .. place[start[i + 1] - 1]. */
  int64_t *start, *place;
} HkElements;

/* Lists the places of the vertices of a model; released by hk_elements_clear. */
HkStatus hk_elements_index(HkElements *elements, const HkModel *model, HkError *error);
void hk_elements_clear(HkElements *elements, const HkModel *model);
/* Doubles of scratch that the next functions need. */
int64_t hk_elements_scratch(const HkElements *elements);

/* The functions of HkForceType; a->work.scratch holds hk_elements_scratch doubles. */
double hk_elements_energy(const HkElements *elements, const HkForceArgs *a);
double hk_elements_energy_change(const HkElements *elements, const HkForceArgs *a,
                                 const double *to);
void hk_elements_add(const HkElements *elements, const HkForceArgs *a, double *f);
/* Blocks of -d2E/dx_i dx_j, of each element by itself projected where a->curvature says so. */
void hk_elements_jacobian(const HkElements *elements, const HkForceArgs *a, HkJacobianSink *sink);

/* element.c: compiles elements of the caller, which are copied. */
HkStatus hk_force_compile_elements(HkModel *model, const HkElements *elements,
                                   HkCompiledForce *force, HkError *error);

/* project.c: replaces a symmetric matrix of size rows (HK_ELEMENT_SIZE_MAX at most) by the nearest
 * positive semidefinite one. */
void hk_project_semidefinite(int size, double *H);

#endif
