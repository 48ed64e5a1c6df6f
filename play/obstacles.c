/* Obstacles on the page: their surfaces and poses, and those that a person moves.
 *
 * An obstacle that is moved leaves the motion that it has in the scene. It has a shift s(t) from
 * its place in the scene and a wish w. Before each step of length h its motion is set anew, as
 * keyframes from s at t to s + part (w - s) at t + h, part <= 1 such that it is not faster than
 * SPEED sizes of the scene a second. What is in its way is pushed along by contact. If there is no
 * space, so that the step fails or takes too long, the step is made again with the obstacle at
 * rest. The next try is shorter by half, and comes 1, 3, 7 ... steps later, so that the page goes
 * on.
 */
#include "session.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBSTACLES_WORD = 0x424f4b48 };
enum { ENDLESS = 1, MOVABLE = 2 };
enum { PAUSE_MAX = 15 }; /* steps between two tries */

static const double SPEED = 4;          /* sizes of the scene a second */
static const double SHORTEST = 1 / 64.; /* part of the allowed way, after tries that failed */
static const double PATIENCE = 0.25;    /* s of wall time of a step with a moving obstacle */

/* Number of obstacles that can be moved: all but the ground. */
static int movable_count(const Play *p) {
  return p->stage.scene->obstacle_count;
}

static void identity(double R[9]) {
  for (int q = 0; q < 9; q++) R[q] = q % 4 == 0;
}

/* ---- Motions ---- */

/* Sets a motion from `from` at the present time to `to` a step later. */
static HkStatus set_motion(Play *p, int obstacle, const double from[3], const double to[3],
                           HkError *error) {
  double t = hk_state_time(p->stage.state), h = hk_sim_h(p->stage.sim);
  const double rows[8] = {t, from[0], from[1], from[2], t + h, to[0], to[1], to[2]};
  HkMethod motion = {0};
  HkStatus status = hk_method_choose(&motion, HK_MOTION, "keyframes", error);
  if (status >= 0) status = hk_method_set_table(&motion, "table", rows, 2, error);
  if (status >= 0) status = hk_model_set_obstacle_motion(p->stage.model, obstacle, &motion, error);
  hk_method_clear(&motion);
  return status;
}

static Moved *find_moved(Play *p, int obstacle) {
  for (int q = 0; q < p->moved_count; q++)
    if (p->moved[q].obstacle == obstacle) return &p->moved[q];
  return NULL;
}

static bool is_there(const Moved *m) {
  return memcmp(m->shift, m->wish, sizeof m->wish) == 0;
}

bool obstacles_are_moving(Play *p) {
  if (p->pause > 0) {
    p->pause--;
    return false;
  }
  for (int q = 0; q < p->moved_count; q++)
    if (!is_there(&p->moved[q])) return true;
  return false;
}

/* Where an obstacle is to be after the next step. */
static void find_goal(const Play *p, const Moved *m, double goal[3]) {
  double way = 0, reach = p->reach * SPEED * p->size * hk_sim_h(p->stage.sim);
  for (int c = 0; c < 3; c++) way += (m->wish[c] - m->shift[c]) * (m->wish[c] - m->shift[c]);
  double part = way > reach * reach ? reach / sqrt(way) : 1;
  for (int c = 0; c < 3; c++)
    goal[c] = part < 1 ? m->shift[c] + part * (m->wish[c] - m->shift[c]) : m->wish[c];
}

HkStatus obstacles_begin(Play *p, HkError *error) {
  for (int q = 0; q < p->moved_count; q++) {
    double goal[3];
    find_goal(p, &p->moved[q], goal);
    HK_TRY(set_motion(p, p->moved[q].obstacle, p->moved[q].shift, goal, error));
  }
  p->deadline = hk_wall_time() + PATIENCE;
  return HK_OK;
}

void obstacles_arrive(Play *p) {
  for (int q = 0; q < p->moved_count; q++) {
    double goal[3];
    find_goal(p, &p->moved[q], goal);
    memcpy(p->moved[q].shift, goal, sizeof goal);
  }
  p->reach = fmin(1, 2 * p->reach);
  p->patience = 0;
  p->deadline = 0;
}

HkStatus obstacles_rest(Play *p, HkError *error) {
  p->deadline = 0;
  for (int q = 0; q < p->moved_count; q++)
    HK_TRY(set_motion(p, p->moved[q].obstacle, p->moved[q].shift, p->moved[q].shift, error));
  return HK_OK;
}

HkStatus obstacles_give_way(Play *p, HkError *error) {
  p->reach = fmax(SHORTEST, 0.5 * p->reach);
  p->patience = p->patience < PAUSE_MAX ? 2 * p->patience + 1 : p->patience;
  p->pause = p->patience;
  return obstacles_rest(p, error);
}

/* ---- Other scenes ---- */

void obstacles_forget(Play *p) {
  HkModelInfo info = hk_model_info(p->stage.model);
  double square = 0;
  for (int c = 0; c < 3; c++) {
    double side = info.box_max[c] - info.box_min[c];
    square += side * side;
  }
  p->size = square > 0 && isfinite(square) ? sqrt(square) : 1;
  p->reach = 1;
  p->moved_count = p->pause = p->patience = 0;
  p->deadline = 0;
}

/* Obstacles are the same as long as their names are. */
HkStatus obstacles_again(Play *p, HkError *error) {
  int kept = 0;
  for (int q = 0; q < p->moved_count; q++) {
    Moved m = p->moved[q];
    m.obstacle = -1;
    for (int k = 0; k < movable_count(p); k++)
      if (strcmp(hk_model_obstacle_name(p->stage.model, k), m.name) == 0) m.obstacle = k;
    if (m.obstacle >= 0) p->moved[kept++] = m;
  }
  p->moved_count = kept;
  return obstacles_rest(p, error);
}

HkStatus obstacles_restart(Play *p, HkError *error) {
  for (int q = 0; q < p->moved_count; q++) {
    int obstacle = p->moved[q].obstacle;
    const HkMethod *motion = &p->stage.scene->obstacles[obstacle].motion;
    HK_TRY(hk_model_set_obstacle_motion(p->stage.model, obstacle, motion->schema ? motion : NULL,
                                        error));
  }
  p->moved_count = p->pause = p->patience = 0;
  p->reach = 1;
  return HK_OK;
}

/* ---- Requests ---- */

/* Takes an obstacle out of the motion that it has in the scene. */
static HkStatus take(Play *p, int obstacle, Moved **moved, HkError *error) {
  double R[9], T[3], none[9];
  const char *name = hk_model_obstacle_name(p->stage.model, obstacle);
  *moved = find_moved(p, obstacle);
  if (*moved) return HK_OK;
  identity(none);
  hk_model_obstacle_pose(p->stage.model, obstacle, hk_state_time(p->stage.state), R, T);
  for (int q = 0; q < 9; q++)
    if (fabs(R[q] - none[q]) > 1e-12)
      return hk_fail(error, HK_ERROR_INVALID,
                     "'%s' turns by itself and cannot be moved by hand; only obstacles that do not "
                     "turn can",
                     name);
  if (p->moved_count == MAX_MOVED)
    return hk_fail(error, HK_ERROR_INVALID, "at most %d obstacles are moved by hand", MAX_MOVED);
  Moved *m = *moved = &p->moved[p->moved_count];
  *m = (Moved){.obstacle = obstacle};
  snprintf(m->name, sizeof m->name, "%s", name);
  memcpy(m->shift, T, sizeof m->shift);
  memcpy(m->wish, T, sizeof m->wish);
  HK_TRY(set_motion(p, obstacle, m->shift, m->shift, error));
  p->moved_count++;
  return HK_OK;
}

static HkStatus answer_place(Play *p, const HkJson *request, const Moved *m, HkError *error) {
  HkJson answer = answer_start(request), point = hk_json_list();
  for (int c = 0; c < 3; c++) hk_json_append(&point, hk_json_real(m->shift[c]));
  hk_json_add(&answer, "obstacle", hk_json_integer(m->obstacle));
  hk_json_add(&answer, "point", point);
  return answer_text(p, &answer, error);
}

HkStatus obstacle_move(Play *p, const HkJson *request, HkError *error) {
  double number = -1, wish[3];
  Moved *m;
  request_number(request, "obstacle", &number);
  if (!(number >= 0 && number < movable_count(p)))
    return hk_fail(error, HK_ERROR_INVALID,
                   "which obstacle? give one from 0 to %d; the ground cannot be moved",
                   movable_count(p) - 1);
  HK_TRY(take(p, (int)number, &m, error));
  if (request_vector(request, "point", wish)) {
    for (int c = 0; c < 3; c++)
      if (!isfinite(wish[c])) return hk_fail(error, HK_ERROR_INVALID, "the point is not finite");
    memcpy(m->wish, wish, sizeof wish);
  }
  return answer_place(p, request, m, error);
}

HkStatus obstacle_stay(Play *p, const HkJson *request, HkError *error) {
  for (int q = 0; q < p->moved_count; q++)
    memcpy(p->moved[q].wish, p->moved[q].shift, sizeof p->moved[q].wish);
  p->reach = 1;
  p->pause = p->patience = 0;
  HkJson answer = answer_start(request);
  return answer_text(p, &answer, error);
}

/* ---- Bytes ---- */

enum { HEAD = 12 }; /* bytes before the arrays of an obstacle */

static size_t surface_size(const HkSurface *s) {
  return HEAD + 24 * (size_t)s->vertex_count + 12 * (size_t)s->triangle_count +
         4 * (((size_t)s->triangle_count + 3) / 4);
}

static unsigned char *put_floats(unsigned char *to, const double *from, int64_t count) {
  for (int64_t q = 0; q < count; q++, to += 4) hk_store_float(to, from[q]);
  return to;
}

static unsigned char *put_surface(unsigned char *to, const HkSurface *s, bool movable) {
  unsigned char *end = to + surface_size(s);
  hk_store_le32(to, (uint32_t)s->vertex_count);
  hk_store_le32(to + 4, (uint32_t)s->triangle_count);
  hk_store_le32(to + 8, (s->endless ? ENDLESS : 0u) | (movable ? MOVABLE : 0u));
  to = put_floats(to + HEAD, s->x, 3 * s->vertex_count);
  to = put_floats(to, s->normal, 3 * s->vertex_count);
  for (int64_t q = 0; q < 3 * s->triangle_count; q++, to += 4)
    hk_store_le32(to, (uint32_t)s->triangle[q]);
  if (s->triangle_count > 0) memcpy(to, s->shade, (size_t)s->triangle_count);
  return end;
}

HkStatus obstacles_answer(Play *p, const HkJson *request, HkError *error) {
  int count = hk_model_obstacle_count(p->stage.model);
  HkSurface *surfaces = calloc((size_t)count + 1, sizeof *surfaces);
  HkStatus status = surfaces ? HK_OK : hk_fail_memory(error, 0, "obstacles");
  size_t size = 4;
  for (int k = 0; k < count && status >= 0; k++) {
    status = hk_model_obstacle_surface(p->stage.model, k, &surfaces[k], error);
    if (status >= 0) size += surface_size(&surfaces[k]);
  }
  unsigned char *bytes = status >= 0 ? answer_bytes(p, OBSTACLES_WORD, request, size) : NULL;
  if (status >= 0 && !bytes) status = hk_fail_memory(error, size, "obstacles");
  if (bytes) {
    hk_store_le32(bytes, (uint32_t)count);
    bytes += 4;
    for (int k = 0; k < count; k++) bytes = put_surface(bytes, &surfaces[k], k < movable_count(p));
  }
  for (int k = 0; surfaces && k < count; k++) hk_surface_destroy(p->stage.model, &surfaces[k]);
  free(surfaces);
  return status;
}

void obstacles_put_poses(const Play *p, unsigned char *to) {
  double t = hk_state_time(p->stage.state), R[9], T[3];
  for (int k = 0; k < hk_model_obstacle_count(p->stage.model); k++) {
    hk_model_obstacle_pose(p->stage.model, k, t, R, T);
    to = put_floats(to, R, 9);
    to = put_floats(to, T, 3);
  }
}

HkJson obstacles_list(const Play *p) {
  HkJson list = hk_json_list();
  for (int k = 0; k < hk_model_obstacle_count(p->stage.model); k++)
    hk_json_append(&list, hk_json_text(hk_model_obstacle_name(p->stage.model, k)));
  return list;
}

void obstacles_save(const Play *p, HkJson *scene) {
  HkJson *list = hk_json_get(scene, "obstacles");
  for (int q = 0; q < p->moved_count; q++) {
    HkJson motion = hk_json_object(), table = hk_json_list(), row = hk_json_list();
    hk_json_append(&row, hk_json_real(0));
    for (int c = 0; c < 3; c++) hk_json_append(&row, hk_json_real(p->moved[q].shift[c]));
    hk_json_append(&table, row);
    hk_json_add(&motion, "type", hk_json_text("keyframes"));
    hk_json_add(&motion, "table", table);
    hk_json_set(hk_json_at(list, p->moved[q].obstacle), "motion", motion);
  }
}
