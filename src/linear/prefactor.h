/* The constant matrix of the local/global method, factorised once:
 *
 *     A = M + tau^2 (L + diag e) + tau C,   L = sum k_s a_s a_s^T,   C = sum c_s a_s a_s^T
 *
 * over the free vertices (those that stay held have their mass alone in their rows); a_s has +1 and
 * -1 at the ends of spring s, k_s is its stiffness and c_s its damping. e bounds the stiffness of
 * the other forces (handles, buoyancy) at each vertex; where tau^2 e is below a tenth of the mass,
 * it is taken as 0. The matrix is scalar, n x n and not 3 n x 3 n, because springs count as stiff
 * as they are along their length in every direction: x, y and z are three right-hand sides. But for
 * drag, wind and the damping of handles, which are not in it, it is at least the Hessian of a step
 * in every direction (1/1.1 of it with e as 0): a preconditioner that hardly overshoots.
 *
 * It is factorised again when tau, the stiffness, the pins or the e that counts changed, and
 * analysed again only when the pins did.
 */
#ifndef HK_LINEAR_PREFACTOR_H
#define HK_LINEAR_PREFACTOR_H

#include "linear/factor.h"
#include "linear/linear.h"

typedef struct HkPrefactor HkPrefactor;

/* kind: of the factorisation. held: as of HkLinearSetup. */
HkStatus hk_prefactor_create(const HkModel *model, HkFactorKind kind, const HkHeld *held,
                             HkPrefactor **prefactor, HkError *error);
void hk_prefactor_destroy(HkPrefactor **prefactor);
/* Makes the factor that of this tau (s) and extra stiffness e (N/m, n; NULL: none), if it is not
 * already. */
HkStatus hk_prefactor_update(HkPrefactor *prefactor, double tau, const double *extra,
                             HkError *error);
/* z = A^-1 r for the three coordinates of each free vertex, 0 for held ones; z may be r. */
HkStatus hk_prefactor_solve(HkPrefactor *prefactor, const double *r, double *z, HkError *error);
/* How often it was analysed and factorised so far. */
void hk_prefactor_counts(const HkPrefactor *prefactor, int64_t *analyses, int64_t *factorisations);
size_t hk_prefactor_bytes(const HkPrefactor *prefactor);

#endif
