/* Whether moves stay on the path of a search (search.c), and vertices that leave it. */
#include "contact/groups.h"
#include "contact/search.h"

#include "base/vec.h"

#include <math.h>

/* ---- Places on the path ---- */

typedef struct Place {
  const HkContacts *c;
  const double *x, *obstacle;
  double t;
} Place;

bool hk_contacts_is_on_path(const HkContacts *c, int64_t v, const double x[3], double t) {
  const HkBox *box = &c->box[v];
  double wide = hk_search_width(c, v), square = 0, skin = 0;
  for (int q = 0; q < 3; q++) {
    double low = (1 - t) * (double)box->low[0][q] + t * (double)box->low[1][q];
    double high = -((1 - t) * (double)box->minus_high[0][q] + t * (double)box->minus_high[1][q]);
    if (!(x[q] - wide >= low && x[q] + wide <= high)) return false;
    double off = x[q] - 0.5 * (low + high);
    square += off * off;
    skin = hk_larger(skin, 0.5 * (high - low) - wide);
  }
  return c->anywhere[v] || square <= skin * skin;
}

/* 1 if a vertex is not on the path. */
static double outside_range(void *user, int64_t begin, int64_t end) {
  const Place *a = user;
  int64_t n = a->c->data->features.n;
  for (int64_t v = begin; v < end; v++) {
    const double *x = v < n ? a->x + 3 * v : a->obstacle + 3 * (v - n);
    if (!hk_contacts_is_on_path(a->c, v, x, a->t)) return 1;
  }
  return 0;
}

static bool is_on_path(HkContacts *c, const double *x, const double *obstacle, double t) {
  Place a = {c, x, obstacle, t};
  int64_t count = c->data->features.vertex_count;
  return hk_parallel_most(c->model->threads, count, outside_range, &a, c->sums) == 0;
}

/* (y - x) . (to - x) of the search */
static double along_range(void *user, int64_t begin, int64_t end) {
  const Place *a = user;
  double sum = 0;
  for (int64_t v = begin; v < end; v++)
    for (int q = 0; q < 3; q++) {
      const HkBox *box = &a->c->box[v];
      double start = 0.5 * ((double)box->low[0][q] - (double)box->minus_high[0][q]);
      sum += (a->x[3 * v + q] - start) * ((double)box->low[1][q] - (double)box->low[0][q]);
    }
  return sum;
}

/* The time at which the path is nearest to x. */
static double time_of(HkContacts *c, const double *x) {
  Place a = {c, x, NULL, 0};
  if (!(c->path > 0)) return 1;
  double t =
      hk_parallel_sum(c->model->threads, c->data->features.n, along_range, &a, c->sums) / c->path;
  return t > 0 ? (t < 1 ? t : 1) : 0;
}

/* ---- Moves ---- */

static bool is_on_path_at(HkContacts *c, const double *x, const double *to, double from,
                          double until) {
  c->from = from;
  c->until = until;
  return is_on_path(c, x, c->obstacle, from) && is_on_path(c, to, c->obstacle_to, until);
}

/* Whether x and `to` are on the path, and from when to when. At the same time is better. */
static bool is_covered(HkContacts *c, const double *x, const double *to) {
  double from = time_of(c, x);
  return is_on_path_at(c, x, to, 1, 1) || is_on_path_at(c, x, to, from, from) ||
         is_on_path_at(c, x, to, 0, 0) || is_on_path_at(c, x, to, from, time_of(c, to));
}

/* Marks the vertices that are not on the path at these times; returns how many, or one more than
 * `most`. */
static int64_t mark_late(HkContacts *c, const double *x, const double *to, double from,
                         double until, int64_t most) {
  const HkFeatures *f = &c->data->features;
  int64_t count = 0;
  for (int64_t v = 0; v < f->vertex_count; v++) {
    const double *start = hk_contacts_position(c, x, (int32_t)v);
    const double *end = v < f->n ? to + 3 * v : c->obstacle_to + 3 * (v - f->n);
    c->late[v] =
        !hk_contacts_is_on_path(c, v, start, from) || !hk_contacts_is_on_path(c, v, end, until);
    count += c->late[v];
    if (count > most) break;
  }
  return count;
}

/* Gives late vertices boxes that contain the move. */
static void enclose(HkContacts *c, const double *x, const double *to) {
  const HkFeatures *f = &c->data->features;
  for (int64_t v = 0; v < f->vertex_count; v++)
    if (c->late[v])
      hk_search_enclose(c, v, hk_contacts_position(c, x, (int32_t)v),
                        v < f->n ? to + 3 * v : c->obstacle_to + 3 * (v - f->n));
}

/* Where few vertices are not on the path, the search is made for them alone. */
static bool is_mended(HkContacts *c, const double *x, const double *to) {
  const double FEW = 0.05;
  int64_t most = (int64_t)(FEW * (double)c->data->features.n);
  double from = time_of(c, x);
  double times[3][2] = {{1, 1}, {from, from}, {from, time_of(c, to)}};
  for (int k = 0; k < 3; k++) {
    if (mark_late(c, x, to, times[k][0], times[k][1], most) > most) continue;
    enclose(c, x, to);
    if (hk_search_late(c) < 0) return false; /* a whole search takes less memory */
    c->from = times[k][0];
    c->until = times[k][1];
    return true;
  }
  return false;
}

/* Whether the candidates are those of a far longer move, and too many to be walked through again
 * and again. */
static bool is_wide(HkContacts *c, const double *x, const double *to) {
  enum { MANY = 20, MANY_A_PAIR = 4 };
  const double SHORTER = 1.0 / 16;
  int64_t n = c->data->features.n, touch = c->touchings[c->last].pair_count;
  if (x == to || c->candidate_count <= MANY * n + MANY_A_PAIR * touch) return false;
  return hk_search_length(c, x, to) < SHORTER * c->path;
}

HkStatus hk_contacts_cover(HkContacts *c, const double *x, const double *to) {
  bool keeps = c->has_candidates && !is_wide(c, x, to);
  if (keeps && (is_covered(c, x, to) || is_mended(c, x, to))) return HK_OK;
  HkStatus status = hk_search(c, x, to);
  if (status < 0) c->status = status;
  return status;
}
