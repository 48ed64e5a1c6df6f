/* Making contacts, and where obstacles are; see contacts.h. */
#include "contact/contacts.h"

#include "contact/distance.h"
#include "contact/impulse.h"

#include <string.h>

static const double SKIN = 2, THIN_SKIN = 0.75;
/* ---- Creating ---- */

static HkStatus allocate(HkContacts *c, HkError *error) {
  const HkContext *context = &c->model->context;
  const HkFeatures *f = &c->data->features;
  int64_t springs = c->model->springs.count;
  int64_t walls = f->n * c->data->wall_count, blocks = f->slot_count / HK_CONTACT_WIDTH;
  HK_TRY(hk_tree_create(c->model, f, &c->tree, error));
  HK_TRY(hk_alloc(context, &c->box, f->vertex_count, sizeof *c->box, "contact", error));
  HK_TRY(hk_alloc(context, &c->measured, 3 * f->vertex_count, sizeof(double), "contact", error));
  HK_TRY(hk_alloc(context, &c->place, 4 * f->vertex_count, sizeof(float), "contact", error));
  HK_TRY(hk_alloc(context, &c->obstacle, 3 * (f->vertex_count - f->n), sizeof(double), "contact",
                  error));
  HK_TRY(hk_alloc(context, &c->obstacle_to, 3 * (f->vertex_count - f->n), sizeof(double), "contact",
                  error));
  HK_TRY(hk_alloc(context, &c->arrived, 3 * f->n, sizeof(double), "contact", error));
  HK_TRY(hk_alloc(context, &c->wall_k, walls, sizeof *c->wall_k, "contact", error));
  HK_TRY(hk_alloc(context, &c->H, 6 * f->n, sizeof *c->H, "contact", error));
  HK_TRY(hk_alloc(context, &c->pose, c->data->wall_count, sizeof *c->pose, "contact", error));
  HK_TRY(hk_alloc(context, &c->part, f->vertex_count, sizeof *c->part, "contact", error));
  HK_TRY(hk_alloc(context, &c->round, f->vertex_count, sizeof *c->round, "contact", error));
  c->sums_count = hk_sum_slots(springs > f->vertex_count ? springs : f->vertex_count);
  HK_TRY(hk_alloc(context, &c->sums, c->sums_count, sizeof *c->sums, "contact", error));
  HK_TRY(hk_alloc(context, &c->anywhere, f->vertex_count, 1, "contact", error));
  HK_TRY(hk_alloc(context, &c->late, f->vertex_count, 1, "contact", error));
  HK_TRY(hk_alloc(context, &c->late_block, blocks, 1, "contact", error));
  HkShifts *shifts[2] = {&c->gone, &c->move};
  for (int k = 0; k < 2; k++) {
    HK_TRY(hk_alloc(context, &shifts[k]->e, 4 * f->vertex_count, sizeof(float), "contact", error));
    HK_TRY(hk_alloc(context, &shifts[k]->block, blocks, sizeof *c->gone.block, "contact", error));
  }
  HK_TRY(hk_alloc(context, &c->late_list, blocks, sizeof *c->late_list, "contact", error));
  for (int k = 0; k < 2; k++)
    HK_TRY(hk_alloc(context, &c->touchings[k].x, 3 * f->n, sizeof(double), "contact", error));
  return HK_OK;
}

HkStatus hk_contacts_create(const HkModel *m, const HkContactData *data, HkContacts **contacts,
                            HkError *error) {
  HkContacts *c = NULL;
  HK_TRY(hk_alloc(&m->context, &c, 1, sizeof *c, "contact", error));
  c->model = m;
  c->data = data;
  HkStatus status = hk_distances_pick(&c->kernels, error);
  if (status >= 0) status = allocate(c, error);
  if (status < 0) {
    hk_contacts_destroy(m, &c);
    return status;
  }
  c->skin = SKIN * data->ghat;
  c->thin_skin = THIN_SKIN * data->ghat;
  c->h = m->time.step > 0 ? m->time.step : 1 / m->time.frames_per_second;
  hk_contacts_place(c, 0);
  *contacts = c;
  return HK_OK;
}

void hk_contacts_destroy(const HkModel *m, HkContacts **contacts) {
  const HkContext *context = &m->context;
  HkContacts *c = *contacts;
  if (!c) return;
  hk_tree_destroy(m, &c->tree);
  hk_impulses_destroy(m, &c->impulses);
  hk_pieces_destroy(context, &c->pieces);
  for (int k = 0; k < 2; k++) {
    hk_free(context, &c->touchings[k].x);
    hk_free(context, &c->touchings[k].pair);
    hk_free(context, &c->touchings[k].wall);
  }
  void *arrays[] = {&c->box,    &c->measured,   &c->obstacle, &c->obstacle_to, &c->pose,
                    &c->part,   &c->round,      &c->met,      &c->candidate,   &c->mark,
                    &c->late,   &c->late_list,  &c->wall_k,   &c->late_block,  &c->fresh,
                    &c->sums,   &c->anywhere,   &c->group,    &c->gone.e,      &c->gone.block,
                    &c->move.e, &c->move.block, &c->blocker,  &c->H,           &c->place,
                    &c->arrived};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(context, arrays[k]);
  hk_free(context, contacts);
}

size_t hk_contacts_bytes(const HkContacts *c) {
  const HkFeatures *f = &c->data->features;
  size_t bytes = sizeof *c + hk_tree_bytes(&c->tree) + hk_impulses_bytes(c->data, c->impulses);
  bytes += (size_t)f->vertex_count * (sizeof *c->box + 3 * sizeof(double) + 12 * sizeof(float) +
                                      sizeof *c->part + sizeof *c->round + 2);
  bytes += (size_t)(f->slot_count / HK_CONTACT_WIDTH) *
           (sizeof *c->late_list + 2 * sizeof *c->gone.block + 1);
  bytes += (size_t)c->group_capacity * sizeof *c->group;
  bytes += (size_t)c->sums_count * sizeof *c->sums;
  bytes += (size_t)(9 * f->n + 6 * (f->vertex_count - f->n)) * sizeof(double);
  bytes += (size_t)c->data->wall_count * sizeof *c->pose;
  bytes += (size_t)(f->n * (c->data->wall_count + 6)) * sizeof(double);
  bytes += (size_t)(c->candidate_capacity + c->fresh_capacity) * sizeof *c->candidate;
  bytes += (size_t)c->met_capacity * sizeof *c->met;
  bytes += (size_t)c->mark_capacity + hk_pieces_bytes(&c->pieces);
  bytes += (size_t)c->blocker_capacity * sizeof *c->blocker;
  for (int k = 0; k < 2; k++)
    bytes += (size_t)c->touchings[k].pair_capacity * sizeof(HkTouching) +
             (size_t)c->touchings[k].wall_capacity * sizeof(HkWallTouching);
  return bytes;
}

/* ---- Obstacles ---- */

/* The pose of a wall at time t; the ground has none. */
static void find_pose(const HkWall *wall, double t, HkPose *pose) {
  if (wall->obstacle) hk_obstacle_pose(wall->obstacle, t, pose->R, pose->T);
}

void hk_contacts_obstacle_vertex(const HkContacts *c, int32_t vertex, double t, double x[3]) {
  const HkModel *m = c->model;
  int64_t own = vertex - c->data->features.n, at = own;
  int k = 0;
  while (at >= m->obstacles[k].features.vertex_count) at -= m->obstacles[k++].features.vertex_count;
  hk_obstacle_place(&m->obstacles[k], t, c->data->features.obstacle + 3 * own, x);
}

static int64_t obstacle_size(const HkContacts *c) {
  return 3 * (c->data->features.vertex_count - c->data->features.n);
}

void hk_contacts_aim(HkContacts *c, double t) {
  const HkModel *m = c->model;
  const double *rest = c->data->features.obstacle;
  double *x = c->obstacle_to;
  for (int k = 0; k < m->obstacle_count; k++)
    for (int32_t v = 0; v < m->obstacles[k].features.vertex_count; v++, x += 3, rest += 3)
      hk_obstacle_place(&m->obstacles[k], t, rest, x);
  c->time_to = t;
}

void hk_contacts_advance(HkContacts *c, double part) {
  int64_t size = obstacle_size(c);
  for (int64_t q = 0; q < size; q++)
    c->obstacle[q] = part == 1 ? c->obstacle_to[q]
                               : c->obstacle[q] + part * (c->obstacle_to[q] - c->obstacle[q]);
  c->time = part == 1 ? c->time_to : c->time + part * (c->time_to - c->time);
  for (int w = 0; w < c->data->wall_count; w++) find_pose(&c->data->walls[w], c->time, &c->pose[w]);
  c->has_arrived = false;
  c->touchings[0].known = c->touchings[1].known = false;
}

void hk_contacts_place(HkContacts *c, double t) {
  bool same = c->time == t && c->time_to == t && c->has_candidates;
  if (same) return;
  hk_contacts_aim(c, t);
  hk_contacts_advance(c, 1);
}

void hk_contacts_begin(HkContacts *c, double h) {
  c->h = h;
  c->met_count = 0;
  c->has_H = false;
  int64_t walls = c->data->features.n * c->data->wall_count;
  if (walls) memset(c->wall_k, 0, (size_t)walls * sizeof *c->wall_k);
  c->touchings[0].known = c->touchings[1].known = false;
}

const char *hk_contacts_name(const HkContacts *c, int32_t v) {
  const HkModel *m = c->model;
  for (int b = 0; b < m->body_count; b++)
    if (v < m->bodies[b].first + m->bodies[b].count)
      return m->bodies[b].name ? m->bodies[b].name : "body";
  int64_t at = v - m->n;
  for (int k = 0; k < m->obstacle_count; k++) {
    at -= m->obstacles[k].features.vertex_count;
    if (at < 0) return m->obstacles[k].name;
  }
  return "obstacle";
}
