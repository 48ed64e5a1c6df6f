/* The contacts of one simulation: which features are near each other, and which touch.
 *
 *     candidates   pairs that can touch while vertices follow a path; from a search of the tree
 *                  (search.c), kept until a vertex leaves the path
 *     touching     pairs with a gap below ghat at given positions, and vertices near a wall
 *
 * Walls are obstacles with a signed distance, which touch vertices alone. The stiffness of a pair
 * is
 *
 *     k = 10 m / h^2 + n^T H n
 *
 * with m the mean mass of its vertices and H the stiffness of the springs at them, weighted by w^2,
 * as it is at the beginning of the step. It is set when the pair is first met in a step and stays
 * until the next one.
 */
#ifndef HK_CONTACT_CONTACTS_H
#define HK_CONTACT_CONTACTS_H

#include "contact/pair.h"
#include "contact/pieces.h"
#include "contact/tree.h"
#include "force/force.h"

#include <float.h>
#include <math.h>

/* Parameters of the force `contact`. */
typedef struct HkContactParams {
  double distance, thickness;
  bool self, ground, untangle;
  double height;
  double friction, friction_kinetic; /* NAN: friction_kinetic is friction */
  double friction_speed;
  int friction_law; /* HK_FRICTION_* */
  double restitution;
} HkContactParams;

/* An obstacle with a signed distance, or the ground. */
typedef struct HkWall {
  const HkCompiledObstacle *obstacle; /* NULL: the ground */
  double normal[3], offset;           /* of the ground: d = normal . x - offset */
  int32_t group;                      /* of features.h */
  bool flat;
} HkWall;

/* Where an obstacle is: x = R x0 + T. */
typedef struct HkPose {
  double R[9], T[3];
} HkPose;

/* Coefficients of friction, static and kinetic. */
typedef struct HkCoefficients {
  double rest, slide;
} HkCoefficients;

/* What the force has compiled from a model. */
typedef struct HkContactData {
  HkFeatures features;
  HkWall *walls;
  int wall_count;
  double ghat;                  /* m */
  double edge;                  /* m, mean length of the edges of bodies */
  double *radius;               /* m, of each vertex of the model and of the obstacles */
  int32_t *group;               /* of each vertex of the model: its body */
  HkCoefficients *coefficients; /* of each group and, at last, of the ground */
  HkCompiledPair *pairs;        /* as in the model: sorted */
  int pair_count;
  bool has_friction;     /* some coefficient is above 0 */
  bool friction_ipc;     /* by the law ipc */
  double friction_speed; /* m/s, of the law ipc */
  bool untangle;         /* a state that intersects was to be moved apart */
  double restitution;    /* of impulse.h */
} HkContactData;

/* settings.c: the static and the kinetic coefficient of friction between two groups (features.h);
 * the ground is the group group_count. */
void hk_contact_friction(const HkContactData *data, int group_a, int group_b, double *rest,
                         double *slide);
/* settings.c: the derivatives of the static coefficient of hk_contact_friction, or of the kinetic
 * one, by `friction` and by `friction_kinetic` of the force. */
void hk_contact_friction_slope(const HkModel *model, const HkContactData *data,
                               const HkContactParams *params, int group_a, int group_b,
                               bool kinetic, double slope[2]);
/* settings.c: makes what hk_contact_friction reads. */
HkStatus hk_contact_set_friction(const HkModel *model, const HkContactParams *params,
                                 HkContactData *data, HkError *error);
/* settings.c: returns an error if a body is thicker than its edges are long and touches itself. */
HkStatus hk_contact_check_thickness(const HkModel *model, const HkFeatures *features,
                                    HkError *error);

typedef struct HkCandidate {
  uint64_t key;
  float gap; /* m, where it was measured: a lower bound */
} HkCandidate;

/* A pair that has a stiffness in this step. */
typedef struct HkMet {
  uint64_t key;
  double k; /* N/m. Rounded to a float it would jump to and fro with the last bits of x, and nothing
             * would come to rest. */
} HkMet;

/* The candidates between two blocks: groups.h. */
typedef struct HkGroup {
  int64_t first; /* candidate; the next group has the end */
  int32_t a, b;  /* blocks */
  double slack;  /* m: least gap where it was measured */
} HkGroup;

/* Bounds of the displacements of a block: |e - center| <= radius (m). */
typedef struct HkBlockShift {
  float center[3], radius;
} HkBlockShift;

/* Displacements in single precision, from which come bounds: groups.h. */
typedef struct HkShifts {
  float *e;            /* m, 4 a vertex */
  HkBlockShift *block; /* of each block */
  double error;        /* m: what differences of two displacements are rounded by, at most */
} HkShifts;

/* A pair that touches. */
typedef struct HkTouching {
  uint64_t key;
  int32_t vertex[4];
  uint8_t split; /* HK_CONTACT_* */
  bool is_new;   /* it was first met here */
  bool turns;    /* B depends on more than g: on mu of edges that are nearly parallel, or on flat */
  HkFlat flat;   /* of pair.h */
  HkTouch touch;
  double k, c0;  /* of pair.h */
  double energy; /* J */
  double slope;  /* N: dB/dg, not above 0 */
} HkTouching;

/* A vertex that touches a wall. */
typedef struct HkWallTouching {
  int32_t vertex, wall;
  double n[3], g, k, energy;
} HkWallTouching;

/* All that touches at positions x. */
typedef struct HkTouchings {
  double *x; /* m, 3 n */
  bool known;
  bool sound; /* nothing intersects: a step has ended there, or it was checked */
  HkTouching *pair;
  HkWallTouching *wall;
  int64_t pair_count, pair_capacity, wall_count, wall_capacity;
} HkTouchings;

/* What stops a move of all vertices: a candidate, after a part of the move. */
typedef struct HkBlocker {
  double part;
  int64_t candidate;
} HkBlocker;

typedef struct HkFriction HkFriction;               /* friction.h */
typedef struct HkDistanceKernels HkDistanceKernels; /* distance.h */

typedef struct HkContacts {
  const HkModel *model;
  const HkContactData *data;
  HkFriction *friction;
  HkTree tree;
  HkBox *box;         /* of each vertex: where it may be (search.c) */
  uint8_t *anywhere;  /* of each vertex: 1 if its box is right at every time */
  double *measured;   /* m, 3 a vertex: positions at which distances of candidates were measured */
  bool at_start;      /* these are the start of the path */
  float *place;       /* m, 4 a vertex: the same about an origin */
  double place_error; /* m: what distances between these are rounded by, at most */
  const HkDistanceKernels *kernels;
  double path;            /* m^2: sum of the squares of the moves that it was made for */
  double skin, thin_skin; /* m: what vertices may be off the path */
  bool is_dense;          /* there are many candidates: the skin is thin */
  double from, until;     /* of the last hk_contacts_cover: times on the path */
  bool has_candidates;
  double *arrived; /* m, 3 n: where the last filter has led to, on the path; see has_arrived */
  bool has_arrived;
  HkCandidate *candidate;
  int64_t candidate_count, candidate_capacity;
  HkMet *met; /* sorted by their keys */
  int64_t met_count, met_capacity;
  HkGroup *group; /* of the candidates */
  int64_t group_count, group_capacity;
  HkShifts gone, move; /* displacements since gaps were measured, and of a move */
  HkCandidate *fresh;  /* scratch of searches */
  int64_t fresh_count, fresh_capacity;
  uint8_t *late; /* of each vertex: 1 if it leaves the path */
  uint8_t *late_block;
  int64_t *late_list;
  double *wall_k;       /* N/m, n a wall; 0: not met in this step */
  double *H;            /* N/m, 6 a vertex of the model: xx, xy, xz, yy, yz, zz of its springs */
  bool has_H;           /* of this step */
  double *obstacle;     /* m: vertices of obstacles where they are now */
  double *obstacle_to;  /* m: where they are to be at the end of a stage */
  HkPose *pose;         /* of each wall, now */
  double time, time_to; /* s, of the poses now, and at the end of the stage */
  HkTouchings touchings[2]; /* of the last two positions */
  int last;                 /* the one that was used last */
  HkPieces pieces;
  HkBlocker *blocker; /* scratch of hk_contacts_reach */
  int64_t blocker_count, blocker_capacity;
  double *sums; /* scratch of sums over springs, vertices and pairs */
  int64_t sums_count;
  double *part;  /* of the filter: how much of its move each vertex makes */
  uint8_t *mark; /* of the filter: one a candidate */
  int64_t mark_capacity;
  int32_t *round;              /* of the filter: when the part of a vertex was changed last */
  double h;                    /* s, of the step */
  double floor;                /* m: gaps that a move may leave; 0: a tenth of the gap before it */
  struct HkImpulses *impulses; /* of impulse.h; NULL until a step is corrected */
  HkStatus status;             /* the first error of a function that cannot return one */
  int64_t searches;
  int64_t cut; /* vertices whose moves the last filter has shortened */
} HkContacts;

HkStatus hk_contacts_create(const HkModel *model, const HkContactData *data, HkContacts **contacts,
                            HkError *error);
void hk_contacts_destroy(const HkModel *model, HkContacts **contacts);
size_t hk_contacts_bytes(const HkContacts *contacts);

/* Puts the obstacles where they are at time t (s), which is also where they are to be. */
void hk_contacts_place(HkContacts *contacts, double t);
/* The obstacles are to be at their places of time t (s). */
void hk_contacts_aim(HkContacts *contacts, double t);
/* reach.c: the part of the moves from x to `to`, and of what the obstacles have left to move, on
 * which no pair meets; *why says which one does. */
double hk_contacts_reach(HkContacts *contacts, const double *x, const double *to, HkError *why);
/* reach.c: changes `to` of vertices that are in the way. */
void hk_contacts_carry(HkContacts *contacts, const double *x, double *to);
/* Moves the obstacles by a part of what is left. */
void hk_contacts_advance(HkContacts *contacts, double part);
/* A step by h begins: no pair has a stiffness any more. */
void hk_contacts_begin(HkContacts *contacts, double h);
/* path.c: makes sure that the candidates are those of the move from x to `to`, of which all
 * vertices make the same part; if contacts->from is contacts->until, each may make another part. */
HkStatus hk_contacts_cover(HkContacts *contacts, const double *x, const double *to);
/* path.c: whether vertex v is on the path at time t if it is at x. */
bool hk_contacts_is_on_path(const HkContacts *contacts, int64_t v, const double x[3], double t);
/* All that touches at x, valid until two other positions have been asked for; NULL after an error,
 * which contacts->status has. springs: of which H consists. */
const HkTouchings *hk_contacts_find(HkContacts *contacts, const HkSpringArrays *springs,
                                    const double *x);

/* Whether it is known what touches at x, with obstacles where they are now. */
bool hk_contacts_is_known(HkContacts *contacts, const double *x);
/* Whether nothing intersects at x for certain; and from now on it is certain, if it is known what
 * touches there. */
bool hk_contacts_is_sound(HkContacts *contacts, const double *x);
void hk_contacts_set_sound(HkContacts *contacts, const double *x);
/* Writes a name for the body or the obstacle of a vertex. */
const char *hk_contacts_name(const HkContacts *contacts, int32_t vertex);
/* crossing.c: an error that lists what intersects at x, or is nearer than its thickness. */
HkStatus hk_contacts_check(HkContacts *contacts, const HkSpringArrays *springs, const double *x,
                           HkError *error);
/* A float that is not larger, and nearly the same. */
static inline float hk_float_below(double x) {
  float f = (float)x;
  return f - (FLT_EPSILON * fabsf(f) + FLT_MIN);
}
/* The position of a vertex of the model or of an obstacle. */
static inline const double *hk_contacts_position(const HkContacts *c, const double *x, int32_t v) {
  int64_t n = c->data->features.n;
  return v < n ? x + 3 * (int64_t)v : c->obstacle + 3 * (v - n);
}
/* xi of pair.h: the sum of the radii, but not below FLOOR ghat, so that the normal between two
 * features never comes from the rounding of their positions. */
static inline double hk_contacts_xi(const HkContacts *c, const int32_t vertex[4]) {
  const double FLOOR = 1e-3;
  double xi = c->data->radius[vertex[0]] + c->data->radius[vertex[3]],
         least = FLOOR * c->data->ghat;
  return xi > least ? xi : least;
}
/* The gap (m) that a move may leave of a gap g. It is below ghat: pairs that stay further apart,
 * whether they are candidates or not, are not cut. Where there is a floor, no row of moves takes
 * the gap below a tenth of it. */
static inline double hk_contacts_left(const HkContacts *c, double g) {
  const double LEFT = 0.1, MOST = 0.5, NONE = 0.999;
  double end = LEFT * c->floor, left = end + LEFT * (g - end);
  if (g <= end) return NONE * g;
  if (left > MOST * c->data->ghat) left = MOST * c->data->ghat;
  return c->floor > 0 && c->floor < left ? c->floor : left;
}
/* Where a vertex of an obstacle is at time t (s). */
void hk_contacts_obstacle_vertex(const HkContacts *contacts, int32_t vertex, double t, double x[3]);
/* Fills x, xi, split and ghat of a pair. */
void hk_contacts_pair(const HkContacts *contacts, const double *x, const int32_t vertex[4],
                      int split, HkContactPair *pair);
/* c0 of pair.h */
double hk_contacts_mollifier(const HkContacts *contacts, const int32_t vertex[4], int split);
/* The stiffness (N/m) of a pair that was met in this step; 0: it was not. */
double hk_contacts_stiffness(const HkContacts *contacts, uint64_t key);
/* The most that two vertices of the two features of a candidate have come closer since its gap was
 * measured. */
double hk_contacts_approach(const HkContacts *contacts, const double *x, const int32_t vertex[4],
                            int split);
/* Whether a vertex of the model touches a wall. */
static inline bool hk_contacts_meets_wall(const HkContacts *c, int64_t vertex, int wall) {
  const HkContactData *d = c->data;
  return hk_features_meet(&d->features, d->group[vertex], d->walls[wall].group);
}
/* Distance (m) of x from a wall with its gradient and, unless it is NULL, second derivative. Of a
 * wall with two sides it is never below 0. */
double hk_contacts_wall(const HkContacts *contacts, int wall, const HkPose *pose, const double x[3],
                        double n[3], double H[9]);

/* The most by which the gap of a pair can close by moves p of its vertices. */
double hk_contacts_closing(const double p[12], int split);
/* The part of a move p of a vertex at x on which it does not meet a wall, as hk_pair_reach. */
double hk_contacts_reach_of_wall(const HkContacts *contacts, int wall, const double x[3],
                                 const double p[3], double radius);
/* filter.c: shortens the moves from x to `to` so that no pair meets on the way; true if it did. */
bool hk_contacts_filter(HkContacts *contacts, const double *x, double *to);

#endif
