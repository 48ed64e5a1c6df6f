/* Steps that contact corrects: an integrator has made them without contact.
 *
 * Impulses (impulse.h) change the displacements; the rest makes sure that nothing crosses on the
 * way. Where all stands still but the free vertices, the filter shortens what impulses have left.
 * Constrained vertices and obstacles that move cannot be shortened. All go together if no pair
 * meets that way; else these go first, with what is in their way pushed along by impulses, and the
 * others follow through the filter. The path has several straight parts then, none of which crosses
 * anything. What the filter takes from a displacement it takes, divided by h, from the velocity.
 */
#include "contact/impulse.h"

#include "base/vec.h"

#include <string.h>

enum { ROUNDS_MAX = 1000, BLOCKED_MAX = 30 };
static const double LEAST = 1e-4, STRIDE_MIN = 1.0 / 256;

/* 1 / m of free vertices, 0 of constrained ones. */
static void set_masses(const HkContacts *c, const HkStepEnd *end) {
  const HkModel *m = c->model;
  for (int64_t v = 0; v < m->n; v++) c->impulses->inverse[v] = 1 / m->mass[v];
  for (int64_t p = 0; p < m->pin_count; p++)
    if (end->pin_held[p]) c->impulses->inverse[m->pin_vertex[p]] = 0;
}

/* Obstacles are to be at their places of time t. */
static void aim(HkContacts *c, double t) {
  hk_contacts_aim(c, t);
  for (int w = 0; w < c->data->wall_count; w++) {
    const HkCompiledObstacle *obstacle = c->data->walls[w].obstacle;
    HkPose *to = &c->impulses->pose_to[w];
    *to = c->pose[w];
    if (obstacle) hk_obstacle_pose(obstacle, t, to->R, to->T);
  }
}

/* How far (m) a wall moves at a place x. */
static double wall_move(const HkPose *from, const HkPose *to, const double x[3]) {
  double r[3], local[3], at[3];
  hk_sub(x, from->T, r);
  for (int q = 0; q < 3; q++)
    local[q] = from->R[q] * r[0] + from->R[3 + q] * r[1] + from->R[6 + q] * r[2];
  for (int q = 0; q < 3; q++) at[q] = hk_dot(to->R + 3 * q, local) + to->T[q];
  return hk_distance(at, x);
}

/* Whether an obstacle or a constrained vertex moves in the step. */
static bool set_motion(HkContacts *c, double t, HkStepEnd *end) {
  const HkModel *m = c->model;
  int64_t vertices = c->data->features.vertex_count - m->n;
  double most = 0;
  aim(c, t);
  for (int64_t v = 0; v < vertices; v++)
    most = hk_larger(hk_distance(c->obstacle + 3 * v, c->obstacle_to + 3 * v), most);
  for (int w = 0; w < c->data->wall_count; w++) {
    const HkPose *from = &c->pose[w], *to = &c->impulses->pose_to[w];
    bool moves = memcmp(from, to, sizeof *to) != 0;
    for (int64_t v = 0; v < m->n && moves; v++)
      most = hk_larger(wall_move(from, to, end->x + 3 * v), most);
  }
  end->speed = hk_larger(most / end->h, end->speed);
  bool moves = most > 0;
  for (int64_t p = 0; p < m->pin_count && !moves; p++) {
    int64_t at = 3 * (int64_t)m->pin_vertex[p];
    moves = end->pin_held[p] && memcmp(end->x + at, end->to + at, 3 * sizeof *end->x) != 0;
  }
  return moves;
}

static void place_pins(const HkModel *m, const HkStepEnd *end, const double *from, double *x) {
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t at = 3 * (int64_t)m->pin_vertex[p];
    if (end->pin_held[p]) memcpy(x + at, from + at, 3 * sizeof *x);
  }
}

/* One part of the way of constrained vertices and obstacles to their places of time t, with what is
 * in their way pushed along; stride: the part of what is left that is tried. Returns the part of
 * that which was made. */
static HkStatus push(HkContacts *c, const HkStepEnd *end, double t, double stride, double *part,
                     HkError *why) {
  HkImpulses *im = c->impulses;
  const HkModel *m = c->model;
  aim(c, stride == 1 ? t : c->time + stride * (t - c->time));
  memset(im->free, 0, (size_t)m->n * 3 * sizeof *im->free);
  for (int64_t p = 0; p < m->pin_count; p++) {
    int64_t at = 3 * (int64_t)m->pin_vertex[p];
    for (int64_t q = at; q < at + 3 && end->pin_held[p]; q++)
      im->free[q] = stride * (end->to[q] - im->at[q]);
  }
  HK_TRY(hk_impulses_solve(c, im->at, NULL));
  for (int64_t q = 0; q < 3 * m->n; q++) im->shift[q] = im->at[q] + im->d[q];
  *part = hk_contacts_reach(c, im->at, im->shift, why);
  hk_contacts_advance(c, *part);
  for (int64_t q = 0; q < 3 * m->n; q++) im->at[q] += *part * im->d[q];
  return c->status;
}

/* Moves constrained vertices and obstacles to their places, and what is in their way along with
 * them: impulses->at. The ways that are tried at once become shorter where things are in the way,
 * as rows hold for short ways. */
static HkStatus push_along(HkContacts *c, const HkStepEnd *end, double t, HkError *error) {
  HkError why = {0};
  double stride = 1, part;
  for (int round = 0, blocked = 0; round < ROUNDS_MAX && blocked < BLOCKED_MAX; round++) {
    HK_TRY(push(c, end, t, stride, &part, &why));
    if (part == 1 && stride == 1) {
      place_pins(c->model, end, end->to, c->impulses->at);
      return HK_OK;
    }
    blocked = part * stride < LEAST ? blocked + 1 : 0;
    stride = part == 1 ? 2 * stride : hk_larger(0.5 * stride, STRIDE_MIN);
  }
  return hk_fail(
      error, HK_ERROR_INVALID,
      "pins or obstacles cannot get to their places of %g s without an intersection: %s; "
      "change their motion, or leave them space",
      t, why.text[0] ? why.text : "something is in the way");
}

/* Makes all moves to `to` that are possible, with what moves by itself at its place. */
static HkStatus go(HkContacts *c, double t, HkStepEnd *end, bool moves, HkError *error) {
  HkImpulses *im = c->impulses;
  const HkModel *m = c->model;
  HkError why = {0};
  size_t bytes = (size_t)m->n * 3 * sizeof *im->at;
  memcpy(im->at, end->x, bytes);
  if (moves) {
    if (hk_contacts_reach(c, end->x, end->to, &why) == 1) {
      hk_contacts_advance(c, 1);
      return c->status;
    }
    place_pins(m, end, end->to, im->at);
    if (hk_contacts_reach(c, end->x, im->at, &why) == 1) {
      hk_contacts_advance(c, 1);
    } else {
      memcpy(im->at, end->x, bytes);
      HK_TRY(push_along(c, end, t, error));
    }
  }
  if (moves || im->row_count > 0) hk_contacts_filter(c, im->at, end->to); /* no row: none meets */
  return c->status;
}

HkStatus hk_contacts_correct(HkContacts *c, double t, HkStepEnd *end, HkError *error) {
  HkImpulses *im = c->impulses;
  const HkModel *m = c->model;
  HkImpulseSpeeds speeds = {end->h, end->v, end->v_to};
  im->h = end->h;
  im->acted_count = 0;
  im->friction_work = 0;
  set_masses(c, end);
  bool moves = set_motion(c, t, end);
  for (int64_t q = 0; q < 3 * m->n; q++) im->free[q] = end->to[q] - end->x[q];
  HK_TRY(hk_impulses_solve(c, end->x, &speeds));
  if (im->row_count > 0) {
    HK_TRY(hk_impulses_set_velocities(c, end->h, end->v_to));
    hk_impulses_recover(c);
    for (int64_t v = 0; v < m->n; v++)
      for (int64_t q = 3 * v; q < 3 * v + 3; q++)
        if (im->inverse[v] > 0) end->to[q] += (im->d[q] - im->free[q]) + im->shift[q];
  }
  end->driven |= moves && im->row_count > 0;
  memcpy(im->sound, end->to, (size_t)m->n * 3 * sizeof *end->to); /* as they are to be */
  HK_TRY(go(c, t, end, moves, error));
  for (int64_t v = 0; v < m->n; v++)
    for (int64_t q = 3 * v; q < 3 * v + 3; q++) {
      double change = im->inverse[v] > 0 ? (end->to[q] - im->sound[q]) / end->h : 0;
      end->v_to[q] += change;
      im->stopped[q] = m->mass[v] * change;
    }
  return HK_OK;
}
