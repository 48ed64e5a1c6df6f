/* Weights and normals of what touches, and how they change; see frame.h. */
#include "contact/frame.h"

#include "base/vec.h"
#include "contact/flat.h"

#include <string.h>

HkContactFrame hk_frame_of_wall(const HkContacts *c, int32_t wall, const HkPose *pose, int32_t v,
                                const double *x) {
  HkContactFrame f = {.vertex = {v}, .count = 1, .split = 1, .w = {1}};
  f.g = hk_contacts_wall(c, wall, pose, x + 3 * (int64_t)v, f.n, f.H) - c->data->radius[v];
  f.turns = !c->data->walls[wall].flat;
  return f;
}

/* Columns of obstacles become 0: their vertices do not depend on anything. */
static void clear_obstacles(const HkContacts *c, HkContactFrame *f) {
  for (int k = 0; k < 144; k++)
    if (!hk_frame_has(c, f, k % 12 / 3)) f->H[k] = 0;
}

HkContactFrame hk_frame_of_pair(const HkContacts *c, const int32_t vertex[4],
                                const HkContactPair *pair, const HkTouch *touch) {
  HkContactFrame f = {.count = 4, .split = pair->split, .g = touch->g};
  memcpy(f.vertex, vertex, sizeof f.vertex);
  memcpy(f.w, touch->w, sizeof f.w);
  hk_flat_normal(pair, touch, f.n);
  f.turns = !pair->flat.edges; /* the normal is that of a plane */
  if (!f.turns) return f;
  hk_pair_gap_hessian(pair, touch, f.H);
  clear_obstacles(c, &f);
  return f;
}

void hk_frame_pull_back(const HkContactFrame *f, const double by_n[3], const double by_w[4],
                        double *to_x) {
  double by[12];
  int size = 3 * f->count;
  if (!f->turns) return;
  for (int k = 0; k < size; k++)
    by[k] = (k / 3 < f->split ? by_n[k % 3] : 0) + by_w[k / 3] * f->n[k % 3];
  for (int r = 0; r < size; r++)
    for (int k = 0; k < size; k++)
      if (f->H[r * size + k] != 0)
        to_x[3 * (int64_t)f->vertex[k / 3] + k % 3] += f->H[r * size + k] * by[r];
}

void hk_frame_push_forward(const HkContactFrame *f, const double *dx, double dn[3], double dw[4]) {
  int size = 3 * f->count;
  memset(dn, 0, 3 * sizeof *dn);
  memset(dw, 0, 4 * sizeof *dw);
  for (int r = 0; r < size && f->turns; r++) {
    double change = 0;
    for (int k = 0; k < size; k++)
      if (f->H[r * size + k] != 0)
        change += f->H[r * size + k] * dx[3 * (int64_t)f->vertex[k / 3] + k % 3];
    if (r / 3 < f->split) dn[r % 3] += change;
    dw[r / 3] += change * f->n[r % 3];
  }
}
