/* Settings of contact by body, by obstacle and by pair of them.
 *
 * A value that a body or an obstacle does not have is that of the force. Between the groups a and b
 * the coefficients of friction are those of their pair in the scene, and else
 *
 *     mu = sqrt(mu_a mu_b)
 *
 * the geometric mean: mu if both have mu, 0 if one of them has 0. Static and kinetic coefficients
 * are combined apart, and the kinetic one is at most the static one.
 *
 * Pairs that are excluded are bits of a table with a row for each group that is in such a pair.
 */
#include "contact/contacts.h"

#include "base/vec.h"

#include <stdio.h>
#include <string.h>

/* ---- Pairs that are excluded ---- */

static void exclude(HkFeatures *f, int a, int b) {
  int64_t bit = (int64_t)f->row[a] * (f->group_count + 1) + b;
  f->excluded[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

HkStatus hk_features_exclude(const HkModel *m, HkFeatures *f, HkError *error) {
  int32_t rows = 0;
  int excluded = 0;
  for (int k = 0; k < m->pair_count; k++) {
    const HkCompiledPair *pair = &m->pairs[k];
    if (pair->contact) continue;
    if (pair->a == pair->b)
      f->self[pair->a] = 0;
    else
      excluded++;
  }
  if (excluded == 0) return HK_OK;
  HK_TRY(hk_alloc(&m->context, &f->row, f->group_count + 1, sizeof *f->row, "contact", error));
  for (int g = 0; g <= f->group_count; g++) f->row[g] = -1;
  for (int k = 0; k < m->pair_count; k++) {
    const HkCompiledPair *pair = &m->pairs[k];
    if (pair->contact || pair->a == pair->b) continue;
    if (f->row[pair->a] < 0) f->row[pair->a] = rows++;
    if (f->row[pair->b] < 0) f->row[pair->b] = rows++;
  }
  f->excluded_size = ((int64_t)rows * (f->group_count + 1) + 63) / 64;
  HK_TRY(
      hk_alloc(&m->context, &f->excluded, f->excluded_size, sizeof *f->excluded, "contact", error));
  for (int k = 0; k < m->pair_count; k++) {
    const HkCompiledPair *pair = &m->pairs[k];
    if (pair->contact || pair->a == pair->b) continue;
    exclude(f, pair->a, pair->b);
    exclude(f, pair->b, pair->a);
  }
  return HK_OK;
}

/* ---- Friction ---- */

/* The coefficients of one group: its own or those of the force. */
static HkCoefficients coefficients_of(const HkContactParams *p, double own, double own_kinetic) {
  HkCoefficients c = {.rest = isnan(own) ? p->friction : own};
  if (!isnan(own_kinetic))
    c.slide = own_kinetic;
  else if (isnan(own) && !isnan(p->friction_kinetic))
    c.slide = p->friction_kinetic;
  else
    c.slide = c.rest;
  return c;
}

static const HkCompiledPair *find_pair(const HkContactData *d, int a, int b) {
  int low = 0, high = d->pair_count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    const HkCompiledPair *p = &d->pairs[middle];
    if (p->a < a || (p->a == a && p->b < b))
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < d->pair_count && d->pairs[low].a == a && d->pairs[low].b == b;
  return found ? &d->pairs[low] : NULL;
}

void hk_contact_friction(const HkContactData *d, int group_a, int group_b, double *rest,
                         double *slide) {
  int a = group_a < group_b ? group_a : group_b, b = group_a < group_b ? group_b : group_a;
  const HkCompiledPair *pair = find_pair(d, a, b);
  *rest = sqrt(d->coefficients[a].rest * d->coefficients[b].rest);
  *slide = sqrt(d->coefficients[a].slide * d->coefficients[b].slide);
  if (!pair) return;
  if (!isnan(pair->friction)) *rest = *slide = pair->friction;
  if (!isnan(pair->friction_kinetic)) *slide = pair->friction_kinetic;
}

/* Where the coefficient of a group comes from: 0 friction or 1 friction_kinetic of the force, or -1
 * a value of its own; see coefficients_of. */
static int source_of(const HkModel *m, const HkContactParams *p, int group, bool kinetic) {
  double own = NAN, own_kinetic = NAN;
  if (group < m->body_count) {
    own = m->bodies[group].contact.friction;
    own_kinetic = m->bodies[group].contact.friction_kinetic;
  } else if (group < m->body_count + m->obstacle_count) {
    own = m->obstacles[group - m->body_count].friction;
    own_kinetic = m->obstacles[group - m->body_count].friction_kinetic;
  }
  if (kinetic && !isnan(own_kinetic)) return -1;
  if (!isnan(own)) return -1;
  return kinetic && !isnan(p->friction_kinetic);
}

void hk_contact_friction_slope(const HkModel *m, const HkContactData *d, const HkContactParams *p,
                               int group_a, int group_b, bool kinetic, double slope[2]) {
  const int group[2] = {group_a, group_b};
  int a = group_a < group_b ? group_a : group_b, b = group_a < group_b ? group_b : group_a;
  const HkCompiledPair *pair = find_pair(d, a, b);
  double mu[2];
  slope[0] = slope[1] = 0;
  if (pair && !isnan(pair->friction)) return;
  if (pair && kinetic && !isnan(pair->friction_kinetic)) return;
  for (int k = 0; k < 2; k++)
    mu[k] = kinetic ? d->coefficients[group[k]].slide : d->coefficients[group[k]].rest;
  for (int k = 0; k < 2; k++) {
    int source = source_of(m, p, group[k], kinetic);
    if (source < 0) continue;
    slope[source] += mu[0] == mu[1] ? 0.5 : 0.5 * sqrt(mu[1 - k] / mu[k]);
  }
}

static const char *group_name(const HkModel *m, int group) {
  if (group < m->body_count) return m->bodies[group].name;
  group -= m->body_count;
  return group < m->obstacle_count ? m->obstacles[group].name : "ground";
}

static HkStatus fail_kinetic(const char *what, double slide, double rest, HkError *error) {
  return hk_fail_key(error, HK_ERROR_INVALID, "friction_kinetic",
                     "%s: %g is above the static friction, %g; give at most that", what, slide,
                     rest);
}

/* The kinetic coefficient of each group and each pair is at most the static one. */
static HkStatus check_friction(const HkModel *m, const HkContactData *d, HkError *error) {
  char what[160];
  int groups = m->body_count + m->obstacle_count + 1;
  for (int g = 0; g < groups; g++) {
    const HkCoefficients *c = &d->coefficients[g];
    snprintf(what, sizeof what, "of '%.120s'", group_name(m, g));
    if (c->slide > c->rest) return fail_kinetic(what, c->slide, c->rest, error);
  }
  for (int k = 0; k < d->pair_count; k++) {
    double rest, slide;
    hk_contact_friction(d, d->pairs[k].a, d->pairs[k].b, &rest, &slide);
    snprintf(what, sizeof what, "between '%.60s' and '%.60s'", group_name(m, d->pairs[k].a),
             group_name(m, d->pairs[k].b));
    if (slide > rest) return fail_kinetic(what, slide, rest, error);
  }
  return HK_OK;
}

HkStatus hk_contact_set_friction(const HkModel *m, const HkContactParams *p, HkContactData *d,
                                 HkError *error) {
  int groups = m->body_count + m->obstacle_count + 1;
  HK_TRY(
      hk_alloc(&m->context, &d->coefficients, groups, sizeof *d->coefficients, "contact", error));
  HkCoefficients *to = d->coefficients;
  for (int b = 0; b < m->body_count; b++) {
    const HkBodyContact *own = &m->bodies[b].contact;
    *to++ = coefficients_of(p, own->friction, own->friction_kinetic);
  }
  for (int k = 0; k < m->obstacle_count; k++)
    *to++ = coefficients_of(p, m->obstacles[k].friction, m->obstacles[k].friction_kinetic);
  *to = coefficients_of(p, NAN, NAN);
  HK_TRY(hk_alloc(&m->context, &d->pairs, m->pair_count, sizeof *d->pairs, "contact", error));
  d->pair_count = m->pair_count;
  if (m->pair_count) memcpy(d->pairs, m->pairs, (size_t)m->pair_count * sizeof *d->pairs);
  for (int g = 0; g < groups; g++) d->has_friction |= d->coefficients[g].rest > 0;
  for (int k = 0; k < d->pair_count; k++) d->has_friction |= d->pairs[k].friction > 0;
  return check_friction(m, d, error);
}

/* ---- Thickness and edges ---- */

HkEdgeLengths hk_features_edges(const HkModel *m, const HkFeatures *f, int body) {
  HkEdgeLengths edges = {.least = INFINITY, .at = {-1, -1}};
  double sum = 0;
  for (int64_t s = 0; s < f->slot_count; s++) {
    if (f->group[s / HK_CONTACT_WIDTH] != body) continue;
    const int32_t *v = f->vertex + 3 * s;
    for (int c = 0; c < 3; c++) {
      if (!(f->owns[s] >> (3 + c) & 1)) continue;
      int32_t i = v[c], j = v[(c + 1) % 3];
      double length = hk_distance(m->x0 + 3 * (int64_t)i, m->x0 + 3 * (int64_t)j);
      sum += length;
      edges.count++;
      if (!(length < edges.least)) continue;
      edges.least = length;
      edges.at[0] = i;
      edges.at[1] = j;
    }
  }
  edges.mean = sum / (double)edges.count;
  return edges;
}

/* Whether the body has an element with one end of an edge and not the other: the two are as near
 * as the edge is long. */
static bool edge_touches(const HkFeatures *f, int body, const int32_t edge[2]) {
  for (int64_t s = 0; s < f->slot_count; s++) {
    const int32_t *v = f->vertex + 3 * s;
    bool has[2];
    if (f->group[s / HK_CONTACT_WIDTH] != body || f->corners[s] == 0) continue;
    for (int e = 0; e < 2; e++) has[e] = v[0] == edge[e] || v[1] == edge[e] || v[2] == edge[e];
    if (has[0] != has[1]) return true;
  }
  return false;
}

HkStatus hk_contact_check_thickness(const HkModel *m, const HkFeatures *f, HkError *error) {
  for (int b = 0; b < m->body_count; b++) {
    if (!f->self[b]) continue;
    HkEdgeLengths edges = hk_features_edges(m, f, b);
    double thickness = 2 * f->radius[b];
    if (edges.count == 0 || edges.least > thickness || !edge_touches(f, b, edges.at)) continue;
    return hk_fail_key(
        error, HK_ERROR_INVALID, "thickness",
        "'%s' has a thickness of %g m, but an edge of %g m between the vertices %d and %d, so that "
        "it touches itself from the start; give it a thickness below its edges (mean %g m), longer "
        "edges, or \"self\": false",
        m->bodies[b].name, thickness, edges.least, edges.at[0], edges.at[1], edges.mean);
  }
  return HK_OK;
}
