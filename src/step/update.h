/* The update of an integrator as data: one routine makes steps by it (implicit.c), another one
 * differentiates them (adjoint/). */
#ifndef HK_STEP_UPDATE_H
#define HK_STEP_UPDATE_H

typedef enum HkUpdateKind {
  HK_UPDATE_STAGE,      /* one minimization: HkUpdate.stage and what follows */
  HK_UPDATE_LINEAR,     /* one linear system: beta */
  HK_UPDATE_KICK,       /* drift, kick, drift: before and after */
  HK_UPDATE_RUNGE_KUTTA /* the classical one of fourth order */
} HkUpdateKind;

/* Where the equations of a stage hold. */
typedef struct HkStage {
  double t;     /* s, the time of its forces and pins */
  double tau;   /* s; minimize/problem.h */
  double ahead; /* s: x + ahead v is the prediction */
  /* b = now x + old x_old; both 0 where dampers do not use it so (force/dampers.h) */
  double now, old;
} HkStage;

/* A step that minimizes solves for z, the position of a stage,
 *
 *     b  = b_x x + b_v v + b_old x_old
 *     y  = b + tau (y_v v + y_old v_old) + y_a M^-1 f(t_n, x, v)
 *     x+ = x + reach (z - x),   v+ = reach (z - b) / tau + (1 - reach) v
 *
 * A kick is x + before v, then v+ = v + h M^-1 f there, then x+ = ... + after v+. */
typedef struct HkUpdate {
  HkUpdateKind kind;
  HkStage stage;
  double b_x, b_v, b_old; /* 1, s, 1 */
  double y_v, y_old;      /* 1 */
  double y_a;             /* s^2 */
  double reach;           /* 1, or 2 where z is in the middle of the step */
  double beta;            /* of step/beta.c */
  double before, after;   /* s */
} HkUpdate;

#endif
