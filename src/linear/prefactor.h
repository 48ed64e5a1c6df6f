/* The constant matrix of the local/global method, factorized once:
 *
 *     A = M + tau^2 (L + diag e) + tau C,   L = sum k_s a_s a_s^T,   C = sum c_s a_s a_s^T
 *
 * over the free vertices (those that stay held have their mass alone in their rows); a_s has +1 and
 * -1 at the ends of spring s, k_s is its stiffness and c_s its damping. e bounds the stiffness of
 * the other forces (handles, buoyancy) at each vertex; where tau^2 e is below a tenth of the mass,
 * it is taken as 0. The matrix is scalar, n x n and not 3 n x 3 n, because springs count as stiff
 * as they are along their length in every direction: x, y and z are three right-hand sides. But for
 * drag, wind and the damping of handles, which are not in it, it is at least the Hessian of a step
 * in every direction (1/1.1 of it with e as 0): a preconditioner that barely overshoots.
 *
 * The factor is kept packed in single precision (packed.h): solves are several times faster than in
 * double and memory is halved. Rounding then makes z that of a matrix near A, which is all that a
 * preconditioner or a minimizer with a gradient in double precision needs, unless A is very
 * ill-conditioned, as that of a light body of stiff springs that nothing holds. So, unless the user
 * insists on either, A z = A e is solved once for a few known e, and where z is off by more than a
 * few percent the factor is kept in double precision instead.
 *
 * It is factorized again when tau, the stiffness, the pins or the e that counts changed, and
 * analyzed again only when the pins did.
 */
#ifndef HK_LINEAR_PREFACTOR_H
#define HK_LINEAR_PREFACTOR_H

#include "linear/factor.h"
#include "linear/linear.h"

typedef struct HkPrefactor HkPrefactor;

/* Of the factor: AUTO is single where that is enough. */
typedef enum HkPrecision {
  HK_PRECISION_AUTO,
  HK_PRECISION_SINGLE,
  HK_PRECISION_DOUBLE
} HkPrecision;

/* kind: of the factorization. held: as of HkLinearSetup. */
HkStatus hk_prefactor_create(const HkModel *model, const HkSpringArrays *springs, HkFactorKind kind,
                             HkPrecision precision, const HkHeld *held, HkPrefactor **prefactor,
                             HkError *error);
void hk_prefactor_destroy(HkPrefactor **prefactor);
/* From now on updates return HK_ERROR_CANCELLED where cancel says so; it must outlive the prefactor
 * and may be NULL. */
void hk_prefactor_set_cancel(HkPrefactor *prefactor, HkCancel *cancel);
/* From now on A is that of these springs, between the same vertices. */
void hk_prefactor_set_springs(HkPrefactor *prefactor, const HkSpringArrays *springs);
/* Makes the factor that of this tau (s) and extra stiffness e (N/m, n; NULL: none), if it is not
 * already. */
HkStatus hk_prefactor_update(HkPrefactor *prefactor, double tau, const double *extra,
                             HkError *error);
/* z = s A^-1 r for the three coordinates of each free vertex, 0 for held ones; z may be r. */
HkStatus hk_prefactor_solve(HkPrefactor *prefactor, double s, const double *r, double *z,
                            HkError *error);
/* Whether the present factor is in single precision. */
bool hk_prefactor_is_single(const HkPrefactor *prefactor);
/* Bytes of the packed factor that one solve reads; 0 in double precision. */
size_t hk_prefactor_traffic(const HkPrefactor *prefactor);
/* How often it was analyzed and factorized so far. */
void hk_prefactor_counts(const HkPrefactor *prefactor, int64_t *analyses, int64_t *factorizations);
size_t hk_prefactor_bytes(const HkPrefactor *prefactor);

#endif
