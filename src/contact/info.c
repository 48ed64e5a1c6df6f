/* What the force contact has made of bodies and obstacles, for those who use the library. */
#include "contact/contacts.h"

#include <string.h>

extern const HkForceType hk_force_contact;

/* The data of the first force contact, or NULL. */
static const HkContactData *find_data(const HkModel *m) {
  for (int f = 0; f < m->force_count; f++)
    if (m->forces[f].type == &hk_force_contact) return m->forces[f].data;
  return NULL;
}

static bool has_ground(const HkContactData *d) {
  return d->wall_count > 0 && !d->walls[d->wall_count - 1].obstacle;
}

static void count_features(const HkFeatures *f, int group, HkContactInfo *info) {
  for (int64_t s = 0; s < f->slot_count; s++) {
    if (f->group[s / HK_CONTACT_WIDTH] != group) continue;
    info->triangles += f->corners[s] == 3;
    for (int c = 0; c < 3; c++) {
      info->points += f->owns[s] >> c & 1;
      info->edges += f->owns[s] >> (3 + c) & 1;
    }
  }
}

bool hk_model_contact(const HkModel *m, int index, HkContactInfo *info) {
  const HkContactData *d = find_data(m);
  *info = (HkContactInfo){.edge_min = NAN, .edge_mean = NAN};
  if (!d || index < 0 || index >= d->features.group_count + has_ground(d)) return false;
  const HkFeatures *f = &d->features;
  info->touches = f->touches[index];
  info->friction = d->coefficients[index].rest;
  info->friction_kinetic = d->coefficients[index].slide;
  info->name = "ground";
  if (index == f->group_count) return true;
  info->name =
      index < m->body_count ? m->bodies[index].name : m->obstacles[index - m->body_count].name;
  info->self = f->self[index];
  info->thickness = 2 * f->radius[index];
  count_features(f, index, info);
  if (index >= m->body_count) return true;
  HkEdgeLengths edges = hk_features_edges(m, f, index);
  if (edges.count == 0) return true;
  info->edge_min = edges.least;
  info->edge_mean = edges.mean;
  return true;
}

bool hk_model_friction(const HkModel *m, int first, int second, double *friction,
                       double *friction_kinetic) {
  const HkContactData *d = find_data(m);
  int count = d ? d->features.group_count + has_ground(d) : 0;
  *friction = *friction_kinetic = NAN;
  if (first < 0 || second < 0 || first >= count || second >= count) return false;
  hk_contact_friction(d, first, second, friction, friction_kinetic);
  bool ground = first == second && first == d->features.group_count;
  return !ground && hk_features_meet(&d->features, first, second);
}
