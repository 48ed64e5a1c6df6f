/* Impulses: how contact changes the displacements of a step that was made without it.
 *
 * d (m) is the displacement of each vertex in a step by h, m its mass. A pair that would come
 * closer than the rest gap g_rest is a row: at the part t of the step at which it is nearly
 * reached, with the gap g_t, the normal n and the weights w of the closest points (gap.h) and u =
 * sum w_a d_a,
 *
 *     g_t + n . (u - t u_0) >= g_rest,    that is    n . u >= b,  b = min(0, g_rest - g_t + t n .
 * u_0)
 *
 * where u_0 is u as it was when the row was made. Each row has an impulse lambda >= 0 (kg m, that
 * is N s times h) along n, which moves its vertices by lambda w_a n / m_a, and one across n of at
 * most the coefficient of friction times lambda. They are those of sequential impulses (Catto
 * 2005): sweeps over the rows, the tightest first, each of which solves its row alone, with sums
 * that are clamped. Constrained vertices and obstacles have an infinite mass and a motion of their
 * own. As the sum of w is 0, momentum is conserved; as b <= 0, no sweep raises the kinetic energy
 * of the displacements.
 *
 * Velocities change by (change of d) / h. Then those of rows that touch may not approach any more,
 *
 *     n . v >= e |v_0|   if |v_0| is above twice what the forces change it in the step, else 0,
 *
 * with the restitution e and v_0 = the velocity of approach along n when the rest gap is reached.
 * The limit lets things come to rest.
 *
 * What all this changes of momenta is kept with each row (`acted`), so that contacts have forces:
 * impulse / h. Friction does the work -sum across . u / h in a step.
 */
#ifndef HK_CONTACT_IMPULSE_H
#define HK_CONTACT_IMPULSE_H

#include "contact/contacts.h"

/* What a pair or a vertex at a wall has to obey. */
typedef struct HkImpulseRow {
  uint64_t key;      /* of the pair; those of walls are above all others */
  int32_t vertex[4]; /* with a weight: `count` of the model, and then, up to `all`, of obstacles */
  int count, all;
  double w[4], n[3];
  double base[3];     /* m: part of obstacles in u */
  double inverse;     /* 1/kg: sum of w^2 / m */
  double b, b_full;   /* m; b_full is not bounded by 0 */
  double lambda;      /* kg m */
  double across[3];   /* kg m, tangential impulse */
  double rest, slide; /* coefficients of friction */
  double before;      /* m/s: n . v when the rest gap is reached, below 0 as they approach */
  double change;      /* m/s: what forces change of n . v in the step */
  double push;        /* kg m, of the recovery of gaps */
} HkImpulseRow;

/* What a contact has done to the velocities of a step. */
typedef struct HkContactImpulse {
  uint64_t key;      /* of the row */
  double w[4], n[3]; /* of the row; weights in the order of hk_contact_vertices */
  double normal;     /* N s, along n, on the first feature */
  double across[3];  /* N s */
} HkContactImpulse;

/* The place of a row in a sweep. */
typedef struct HkImpulseOrder {
  double b_full;
  int64_t row;
} HkImpulseOrder;

typedef struct HkImpulses {
  double *inverse; /* 1/kg, n; 0: constrained */
  double *free;    /* m, 3 n: displacements without contact */
  double *d;       /* m, 3 n: displacements */
  double *shift;   /* m, 3 n: displacements that are no velocity; scratch before */
  double *at;      /* m, 3 n: positions on the way (correct.c) */
  double *sound;   /* m, 3 n: positions at the end of the last step, without intersections */
  double *stopped; /* N s, 3 n: what the filter has taken from momenta in the last step */
  bool is_sound;
  bool opens;            /* rows demand the rest gap even of gaps that are below it */
  double sound_time;     /* s */
  int64_t sound_version; /* of the model */
  HkPose *pose_to;       /* of each wall at the end of the step */
  HkImpulseRow *row, *next;
  HkImpulseOrder *order;
  int64_t row_count, row_capacity, next_capacity, order_capacity;
  HkContactImpulse *acted; /* in the last step, sorted by key */
  int64_t acted_count, acted_capacity;
  double h;             /* s, of the last step */
  double friction_work; /* J, of the last step */
  int64_t sweeps;       /* of all steps */
} HkImpulses;

HkStatus hk_impulses_create(const HkModel *model, const HkContactData *data, HkImpulses **impulses,
                            HkError *error);
void hk_impulses_destroy(const HkModel *model, HkImpulses **impulses);
size_t hk_impulses_bytes(const HkContactData *data, const HkImpulses *impulses);

/* The gap (m) at which things rest on each other. */
static inline double hk_impulse_gap(const HkContactData *data) {
  const double PART = 0.5;
  return PART * data->ghat;
}

/* Velocities (m/s, 3 n) at the start and at the end of a step without contact. */
typedef struct HkImpulseSpeeds {
  double h;
  const double *start, *end;
} HkImpulseSpeeds;

/* Makes d from `free` and the inverse masses, from positions x, without the rows that there were.
 * speeds NULL: no velocities follow from d, and gaps open to the rest gap. */
HkStatus hk_impulses_solve(HkContacts *contacts, const double *x, const HkImpulseSpeeds *speeds);
/* Fills `shift`: gaps that are far below the rest gap grow a little. */
void hk_impulses_recover(HkContacts *contacts);
/* v (m/s, 3 n) += (d - free) / h, and rows that touch do not approach any more. Sets `acted` and
 * friction_work. */
HkStatus hk_impulses_set_velocities(HkContacts *contacts, double h, double *v);

/* impulse_record.c: f (N, 3 n) += what contact has done to momenta in the last step, divided by its
 * length. */
void hk_impulses_add_forces(const HkContacts *contacts, double *f);

/* correct.c: corrects the step that ends at the time t: impulses, and a path without
 * intersections. */
HkStatus hk_contacts_correct(HkContacts *contacts, double t, HkStepEnd *end, HkError *error);

#endif
