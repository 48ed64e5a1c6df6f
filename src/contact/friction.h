/* Friction that holds still: every contact has an anchor, an elastic displacement s (m) in its
 * tangent plane, which outlives the step.
 *
 *     u = T sum w_a (x_a - x_a^n)     tangential displacement in the step from x^n; T = I - n n^T
 *     z = T s + u
 *     E = sum over contacts D(|z|)    (friction_law.h), L = mu lambda, k = 10 m / h^2
 *     s+ = z, cut to the length L / k
 *
 * w, n and the normal force lambda (N) are those at x^n, so that u is linear in x and E has the
 * exact gradient w_a D' z / |z| and the positive semidefinite Hessian
 *
 *     w_a w_b K,   K = (D' / r) T + (D'' - D' / r) z z^T / r^2,   r = |z|.
 *
 * lambda is the force with which the last step ended. Its barriers had the stiffness of that step:
 * with the stiffness of the new step, which depends on the place, the mean of lambda would not be
 * the weight of what slides over the edges of a mesh. A contact that the state does not remember
 * has the lambda of the new stiffness.
 *
 * m is the mean mass of the vertices of the contact. Vertices of obstacles and points of walls take
 * part with their own displacement. A contact that is not there at x^n has no friction until the
 * next step.
 *
 * mu is the static coefficient where the contact stuck at the end of the last step, the kinetic one
 * where it slid. A new contact counts as one that slid if its speed takes it beyond the static
 * limit within the step.
 *
 * The anchors store the energy k |s|^2 / 2. What friction dissipates in a step is L times the slip,
 * and what anchors lose as their limits shrink or their contacts end.
 *
 * With the law `ipc` there are no anchors: z = u, mu is the kinetic coefficient, and all that
 * friction does is dissipated.
 */
#ifndef HK_CONTACT_FRICTION_H
#define HK_CONTACT_FRICTION_H

#include "base/vec.h"
#include "contact/contacts.h"
#include "contact/friction_law.h"

enum { HK_FRICTION_ANCHOR, HK_FRICTION_IPC };

/* What a state remembers of a contact. */
typedef struct HkAnchor {
  uint64_t key;  /* of a pair (features.h), or hk_anchor_wall_key */
  double s[3];   /* m */
  double k;      /* N/m */
  double lambda; /* N: normal force */
  uint64_t kind; /* HK_ANCHOR_*, at the end of the step */
} HkAnchor;

/* A new contact was met in the last step, and had no friction in it. */
enum { HK_ANCHOR_STUCK, HK_ANCHOR_SLID, HK_ANCHOR_NEW, HK_ANCHOR_KINDS };

/* A contact with friction in the current step. */
typedef struct HkFrictionContact {
  uint64_t key;
  int32_t vertex[4];
  int32_t wall; /* -1: a pair of features */
  union {
    double w[4];     /* of a pair */
    double point[3]; /* m, of a wall: its point that the vertex touches, at the start of the step */
  };
  double n[3];
  double s[3];     /* m: the anchor at the start of the step, in the tangent plane */
  double limit, k; /* N, N/m */
  double lambda;   /* N: normal force, of which the limit is a part */
  bool slid;       /* the limit has the kinetic coefficient */
  double stored;   /* J: energy of the anchor in the memory of the state */
} HkFrictionContact;

/* Friction of one simulation. */
struct HkFriction {
  HkAnchor *anchor; /* sorted by key; as in the memory of the state */
  int64_t anchor_count, anchor_capacity;
  HkFrictionContact *contact; /* sorted by key */
  int64_t count, capacity;
  double *x, *obstacle; /* m: vertices of the model and of obstacles at the start of the step */
  HkPose *pose;         /* of walls at the start of the step */
  HkPose *pose_end;     /* of walls at its end */
  int64_t x_capacity, obstacle_capacity, pose_capacity, pose_end_capacity;
  double time;    /* s: start of the step */
  double work;    /* J: dissipated until the start of the step */
  double lost;    /* J: what the anchors of contacts have that are not there any more */
  bool in_step;   /* between the beginning and the end of a step */
  bool has_start; /* the list is that of the positions x */
};

/* The key of a vertex at a wall; keys of walls are above those of pairs. */
static inline uint64_t hk_anchor_wall_key(int32_t wall, int32_t vertex) {
  return (uint64_t)1 << 63 | (uint64_t)(uint32_t)wall << 32 | (uint32_t)vertex;
}

HkStatus hk_friction_create(const HkModel *model, HkFriction **friction, HkError *error);
void hk_friction_destroy(const HkModel *model, HkFriction **friction);
size_t hk_friction_bytes(const HkFriction *friction);

/* friction_memory.c: takes over the memory of a state, or refuses it. */
HkStatus hk_friction_load(HkContacts *contacts, const HkForceMemory *memory, HkError *error);
/* friction_memory.c: writes the anchors and the work. */
HkStatus hk_friction_save(HkContacts *contacts, HkForceMemory *memory, HkError *error);
/* friction_memory.c: the number of anchors in a memory that hk_friction_load has accepted. */
int64_t hk_friction_anchor_count(const HkForceMemory *memory);
/* friction_memory.c: finds the anchor with a key; returns its number, or -1, and leaves *anchor. */
int64_t hk_friction_find_anchor(const HkForceMemory *memory, uint64_t key, HkAnchor *anchor);

/* friction_anchors.c: the list friction->contact at the positions of `a`, where `found` touches. */
HkStatus hk_friction_list(const HkForceArgs *a, const HkTouchings *found, HkError *error);
/* friction_anchors.c: a step begins at the positions and velocities of `a`, where `found` touches.
 */
HkStatus hk_friction_begin(const HkForceArgs *a, const HkTouchings *found, HkError *error);
/* friction_anchors.c: the step ends at the positions of `a`, where `found` touches; anchors follow,
 * and the work is added up. */
HkStatus hk_friction_end(const HkForceArgs *a, const HkTouchings *found, HkError *error);

/* Where vertices, obstacles and walls are. */
typedef struct HkFrictionPlace {
  const double *x, *obstacle;
  const HkPose *pose;
} HkFrictionPlace;

/* a = T a */
static inline void hk_friction_project(const double n[3], double a[3]) {
  hk_axpy(-hk_dot(n, a), n, a);
}
/* u += s times the displacement of a point of a wall from one pose to another. */
void hk_friction_add_wall_move(const HkPose *from, const HkPose *to, const double point[3],
                               double s, double u[3]);
/* z = T s + u of a contact from the start of the step to a place; returns its length. */
double hk_friction_stretch(const HkContacts *contacts, const HkFrictionContact *contact,
                           const HkFrictionPlace *at, double z[3]);
/* The law of a contact for a displacement that takes `duration` (s). */
HkFrictionLaw hk_friction_law_of(const HkContacts *contacts, const HkFrictionContact *contact,
                                 double duration);

/* Work dissipated by friction (J) since the start of the motion. */
double hk_friction_work(const HkContacts *contacts);

/* The number of contacts with friction at the positions of `a`, the list friction->contact. */
int64_t hk_friction_count(const HkForceArgs *a);
/* The force (N) on the first feature of the index-th contact, or on the vertex at a wall, as
 * hk_friction_add has it. */
void hk_friction_force(const HkForceArgs *a, int64_t index, double F[3]);

/* In a step the potential E (J) and its derivatives; outside of a step the energy that the anchors
 * store, and the forces with which the next step begins. */
double hk_friction_energy_at(const HkForceArgs *a);
/* E at `to` less E at a->x, accurate where the two are close. */
double hk_friction_energy_change(const HkForceArgs *a, const double *to);
void hk_friction_add(const HkForceArgs *a, double *f);
void hk_friction_jacobian(const HkForceArgs *a, HkJacobianSink *sink);

#endif
