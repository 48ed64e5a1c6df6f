/* Rows and sweeps of impulses; see impulse.h.
 *
 * The normal of a row is that of the place where the two meet. Impulses lead displacements
 * elsewhere, so rows are made again at the new displacements, with the impulses that they have,
 * until those that are made again hold; that is, at least twice, as a row that was made where
 * things overlap is too strict. What never holds is left to the filter (filter.c).
 */
#include "contact/impulse.h"

#include "base/vec.h"
#include "contact/groups.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 8, SWEEPS_MAX = 60, RECOVERY_SWEEPS = 4, MARK_GRAIN = 64 };
static const double NEAR = 1.5; /* times the rest gap: rows are made of gaps below it */
static const uint64_t WALL_KEY = (uint64_t)1 << 63;

/* ---- Creating ---- */

HkStatus hk_impulses_create(const HkModel *m, const HkContactData *data, HkImpulses **impulses,
                            HkError *error) {
  HkImpulses *im = NULL;
  HK_TRY(hk_alloc(&m->context, &im, 1, sizeof *im, "contact", error));
  double **vectors[] = {&im->free, &im->d, &im->shift, &im->at, &im->sound, &im->stopped};
  HkStatus status = hk_alloc(&m->context, &im->inverse, m->n, sizeof(double), "contact", error);
  for (int k = 0; k < 6 && status >= 0; k++)
    status = hk_alloc(&m->context, vectors[k], 3 * m->n, sizeof(double), "contact", error);
  if (status >= 0)
    status = hk_alloc(&m->context, &im->pose_to, data->wall_count, sizeof *im->pose_to, "contact",
                      error);
  if (status < 0) hk_impulses_destroy(m, &im);
  *impulses = im;
  return status;
}

void hk_impulses_destroy(const HkModel *m, HkImpulses **impulses) {
  const HkContext *context = &m->context;
  HkImpulses *im = *impulses;
  if (!im) return;
  void *arrays[] = {&im->inverse, &im->free,    &im->d,    &im->shift, &im->at,      &im->row,
                    &im->sound,   &im->pose_to, &im->next, &im->order, &im->stopped, &im->acted};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(context, arrays[k]);
  hk_free(context, impulses);
}

size_t hk_impulses_bytes(const HkContactData *data, const HkImpulses *im) {
  if (!im) return 0;
  return sizeof *im + (size_t)data->features.n * 19 * sizeof(double) +
         (size_t)data->wall_count * sizeof *im->pose_to +
         (size_t)(im->row_capacity + im->next_capacity) * sizeof *im->row +
         (size_t)im->order_capacity * sizeof *im->order +
         (size_t)im->acted_capacity * sizeof *im->acted;
}

/* ---- Rows ---- */

/* The displacement of a vertex of the model or of an obstacle. */
static void displacement(const HkContacts *c, const double *d, int32_t v, double out[3]) {
  int64_t n = c->data->features.n, at = 3 * (v - n);
  if (v < n)
    memcpy(out, d + 3 * (int64_t)v, 3 * sizeof *out);
  else
    hk_sub(c->obstacle_to + at, c->obstacle + at, out);
}

/* u of displacements or velocities d; base: what obstacles add. */
static void combine(const HkImpulseRow *row, const double *d, double base, double u[3]) {
  for (int q = 0; q < 3; q++) u[q] = base * row->base[q];
  for (int k = 0; k < row->count; k++) hk_axpy(row->w[k], d + 3 * (int64_t)row->vertex[k], u);
}

/* Adds a vertex of the model to a row. */
static void add_vertex(const HkContacts *c, HkImpulseRow *row, int32_t v, double w) {
  row->vertex[row->count] = v;
  row->w[row->count++] = w;
  row->inverse += w * w * c->impulses->inverse[v];
}

/* Sets b from the gap at the part t, where u was u_0; returns by how much the row is violated. */
static double bound_row(const HkContacts *c, HkImpulseRow *row, double gap, double t,
                        const double u_0[3]) {
  double along = hk_dot(row->n, u_0);
  row->b_full = hk_impulse_gap(c->data) - gap + t * along;
  row->b = row->b_full < 0 || c->impulses->opens ? row->b_full : 0;
  return row->b - along;
}

/* The row of a pair with displacements d, if it comes near enough. */
static bool make_pair(const HkContacts *c, const double *x, const double *d, int64_t e,
                      HkImpulseRow *row, double *violation) {
  const HkCandidate *candidate = &c->candidate[e];
  HkContactPair pair;
  int32_t v[4];
  double p[12], near = NEAR * hk_impulse_gap(c->data), t, u[3] = {0, 0, 0};
  int split = hk_contact_vertices(&c->data->features, candidate->key, v);
  for (int k = 0; k < 4; k++) displacement(c, d, v[k], p + 3 * k);
  double least = (double)candidate->gap - hk_contacts_approach(c, x, v, split);
  if (least - hk_contacts_closing(p, split) >= near) return false;
  hk_contacts_pair(c, x, v, split, &pair);
  HkTouch touch = hk_pair_touch(&pair);
  t = hk_pair_reach(&pair, &touch, p, hk_contacts_left(c, touch.g));
  for (int q = 0; q < 12; q++) pair.x[q] += t * p[q];
  touch = hk_pair_touch(&pair);
  if (t == 1 && touch.g >= near) return false;
  *row = (HkImpulseRow){.key = candidate->key};
  memcpy(row->n, touch.n, sizeof row->n);
  for (int k = 0; k < 4; k++) {
    if (touch.w[k] == 0) continue;
    hk_axpy(touch.w[k], p + 3 * k, u);
    if (v[k] < c->data->features.n)
      add_vertex(c, row, v[k], touch.w[k]);
    else
      hk_axpy(touch.w[k], p + 3 * k, row->base);
  }
  row->all = row->count;
  for (int k = 0; k < 4; k++) {
    if (touch.w[k] == 0 || v[k] < c->data->features.n) continue;
    row->vertex[row->all] = v[k];
    row->w[row->all++] = touch.w[k];
  }
  *violation = bound_row(c, row, touch.g, t, u);
  return row->inverse > 0;
}

/* The move of a vertex as it is seen from a wall that moves, with the wall where it is now. */
static void seen_from(const HkContacts *c, int wall, const double x[3], const double d[3],
                      double p[3]) {
  const HkPose *from = &c->pose[wall], *to = &c->impulses->pose_to[wall];
  double end[3], r[3], local[3];
  memcpy(p, d, 3 * sizeof *p);
  if (!c->data->walls[wall].obstacle || memcmp(from, to, sizeof *to) == 0) return;
  for (int q = 0; q < 3; q++) end[q] = x[q] + d[q];
  hk_sub(end, to->T, r);
  for (int q = 0; q < 3; q++)
    local[q] = to->R[q] * r[0] + to->R[3 + q] * r[1] + to->R[6 + q] * r[2];
  for (int q = 0; q < 3; q++) p[q] = hk_dot(from->R + 3 * q, local) + from->T[q] - x[q];
}

static bool make_wall(const HkContacts *c, const double *x, const double *d, int wall, int32_t v,
                      HkImpulseRow *row, double *violation) {
  const double *from = x + 3 * (int64_t)v, *move = d + 3 * (int64_t)v;
  double p[3], n[3], at[3], near = NEAR * hk_impulse_gap(c->data), radius = c->data->radius[v];
  seen_from(c, wall, from, move, p);
  double g = hk_contacts_wall(c, wall, &c->pose[wall], from, n, NULL) - radius;
  if (g - hk_norm(p) >= near) return false;
  double t = hk_contacts_reach_of_wall(c, wall, from, p, radius);
  for (int q = 0; q < 3; q++) at[q] = from[q] + t * p[q];
  g = hk_contacts_wall(c, wall, &c->pose[wall], at, n, NULL) - radius;
  if (t == 1 && g >= near) return false;
  *row = (HkImpulseRow){.key = WALL_KEY | (uint64_t)wall << 32 | (uint64_t)v};
  memcpy(row->n, n, sizeof row->n);
  add_vertex(c, row, v, 1);
  row->all = 1;
  hk_sub(p, move, row->base);
  *violation = bound_row(c, row, g, t, p);
  return row->inverse > 0;
}

typedef struct Mark {
  const HkContacts *c;
  const double *x, *d;
} Mark;

static void mark_range(void *user, int64_t begin, int64_t end) {
  const Mark *a = user;
  const HkContacts *c = a->c;
  double near = NEAR * hk_impulse_gap(c->data);
  for (int64_t g = begin; g < end; g++) {
    const HkGroup *group = &c->group[g];
    int64_t first = group->first, last = group[1].first;
    memset(c->mark + first, 0, (size_t)(last - first));
    if (hk_group_gap(c, group) - hk_group_closing(group, &c->move) >= near) continue;
    for (int64_t e = first; e < last; e++) {
      HkImpulseRow row;
      double violation;
      c->mark[e] = make_pair(c, a->x, a->d, e, &row, &violation);
    }
  }
}

/* ---- Making rows ---- */

static void set_coefficients(const HkContacts *c, HkImpulseRow *row) {
  const HkContactData *data = c->data;
  const HkFeatures *f = &data->features;
  int64_t a, b;
  if (row->key & WALL_KEY) {
    int32_t wall = data->walls[row->key >> 32 & 0x7fffffff].group;
    hk_contact_friction(data, data->group[row->vertex[0]], wall, &row->rest, &row->slide);
    return;
  }
  hk_contact_slots(row->key, &a, &b);
  hk_contact_friction(data, f->group[a / HK_CONTACT_WIDTH], f->group[b / HK_CONTACT_WIDTH],
                      &row->rest, &row->slide);
}

/* n . v when the rest gap is reached, between the start and the end of the step without contact. */
static void set_speed(const HkContacts *c, const HkImpulseSpeeds *speeds, HkImpulseRow *row) {
  double u[3], start[3], end[3];
  combine(row, c->impulses->free, 1, u);
  combine(row, speeds->start, 1 / speeds->h, start);
  combine(row, speeds->end, 1 / speeds->h, end);
  double along = hk_dot(row->n, u), part = along < 0 ? row->b / along : 1;
  double first = hk_dot(row->n, start), last = hk_dot(row->n, end);
  if (!(part < 1)) part = 1;
  row->before = first + part * (last - first);
  row->change = fabs(last - first);
}

/* Rows at the displacements d, in the order of their keys, joined with those that there are. */
typedef struct Join {
  HkContacts *c;
  const HkImpulseSpeeds *speeds;
  int64_t old, count;
  bool begins;  /* rows that are made again begin without an impulse */
  double worst; /* m: the largest violation of rows that were made */
} Join;

static HkStatus append(Join *a, const HkImpulseRow *row) {
  HkImpulses *im = a->c->impulses;
  HK_TRY(hk_grow(&a->c->model->context, &im->next, &im->next_capacity, a->count + 1,
                 sizeof *im->next, "contact", NULL));
  im->next[a->count++] = *row;
  return HK_OK;
}

/* Keeps the old rows with keys below `key`. */
static HkStatus keep_old(Join *a, uint64_t key) {
  HkImpulses *im = a->c->impulses;
  while (a->old < im->row_count && im->row[a->old].key < key) HK_TRY(append(a, &im->row[a->old++]));
  return HK_OK;
}

static HkStatus join(Join *a, HkImpulseRow *row, double violation) {
  HkImpulses *im = a->c->impulses;
  HK_TRY(keep_old(a, row->key));
  if (a->old < im->row_count && im->row[a->old].key == row->key) {
    const HkImpulseRow *old = &im->row[a->old++];
    row->lambda = a->begins ? 0 : old->lambda; /* along the new normal */
    for (int q = 0; q < 3; q++) row->across[q] = a->begins ? 0 : old->across[q];
    hk_axpy(-hk_dot(row->n, row->across), row->n, row->across);
  }
  set_coefficients(a->c, row);
  if (a->speeds) set_speed(a->c, a->speeds, row);
  a->worst = hk_larger(violation, a->worst);
  return append(a, row);
}

/* The tightest row first: of two rows with nearly the same normal, of which the tighter one implies
 * the other, the other one gets no impulse. */
static int compare_order(const void *one, const void *two) {
  const HkImpulseOrder *a = one, *b = two;
  if (a->b_full != b->b_full) return a->b_full > b->b_full ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static HkStatus order_rows(HkContacts *c) {
  HkImpulses *im = c->impulses;
  HK_TRY(hk_grow(&c->model->context, &im->order, &im->order_capacity, im->row_count,
                 sizeof *im->order, "contact", NULL));
  for (int64_t k = 0; k < im->row_count; k++) im->order[k] = (HkImpulseOrder){im->row[k].b_full, k};
  if (im->row_count > 1) qsort(im->order, (size_t)im->row_count, sizeof *im->order, compare_order);
  return HK_OK;
}

static HkStatus make_rows(HkContacts *c, const double *x, const HkImpulseSpeeds *speeds,
                          bool begins, double *worst) {
  HkImpulses *im = c->impulses;
  Mark mark = {c, x, im->d};
  Join a = {.c = c, .speeds = speeds, .begins = begins};
  HkImpulseRow row;
  double violation;
  HK_TRY(hk_grow(&c->model->context, &c->mark, &c->mark_capacity, c->candidate_count, 1, "contact",
                 NULL));
  hk_parallel_work(c->model->threads, c->group_count, MARK_GRAIN, mark_range, &mark);
  for (int64_t e = 0; e < c->candidate_count; e++)
    if (c->mark[e] && make_pair(c, x, im->d, e, &row, &violation))
      HK_TRY(join(&a, &row, violation));
  for (int w = 0; w < c->data->wall_count; w++)
    for (int64_t v = 0; v < c->data->features.n; v++)
      if (hk_contacts_meets_wall(c, v, w) &&
          make_wall(c, x, im->d, w, (int32_t)v, &row, &violation))
        HK_TRY(join(&a, &row, violation));
  HK_TRY(keep_old(&a, UINT64_MAX));
  HkImpulseRow *rows = im->row;
  int64_t capacity = im->row_capacity;
  im->row = im->next;
  im->row_capacity = im->next_capacity;
  im->row_count = a.count;
  im->next = rows;
  im->next_capacity = capacity;
  *worst = a.worst;
  return order_rows(c);
}

/* ---- Sweeps ---- */

/* d of the vertices of a row += s impulse w / m */
static void apply(const HkContacts *c, const HkImpulseRow *row, double s, const double impulse[3],
                  double *d) {
  for (int k = 0; k < row->count; k++) {
    int32_t v = row->vertex[k];
    hk_axpy(s * row->w[k] * c->impulses->inverse[v], impulse, d + 3 * (int64_t)v);
  }
}

/* Coulomb's law: an impulse that is too large for rest is that of sliding. */
static void limit_friction(const HkImpulseRow *row, double normal, double across[3]) {
  double size = hk_norm(across);
  if (!(size > row->rest * normal)) return;
  double part = row->slide * normal / size;
  for (int q = 0; q < 3; q++) across[q] *= part;
}

/* Solves one row alone for n . u >= least, with the sums *normal and `across` of its impulses; d
 * are displacements or velocities. Returns the change of u. */
static double solve_row(const HkContacts *c, const HkImpulseRow *row, double least, double base,
                        double *normal, double across[3], double *d) {
  double u[3], next, change[3], moved;
  combine(row, d, base, u);
  next = *normal + (least - hk_dot(row->n, u)) / row->inverse;
  if (!(next > 0)) next = 0;
  moved = fabs(next - *normal) * row->inverse;
  apply(c, row, next - *normal, row->n, d);
  *normal = next;
  if (row->rest == 0) return moved;
  combine(row, d, base, u);
  hk_axpy(-hk_dot(row->n, u), row->n, u);
  for (int q = 0; q < 3; q++) {
    change[q] = -across[q];
    across[q] -= u[q] / row->inverse;
  }
  limit_friction(row, *normal, across);
  hk_axpy(1, across, change);
  apply(c, row, 1, change, d);
  return hk_larger(moved, hk_norm(change) * row->inverse);
}

/* Displacements without contact, and with the impulses that rows have; then sweeps. */
static void sweep(HkContacts *c) {
  HkImpulses *im = c->impulses;
  const double PRECISE = 1e-8;
  double small = PRECISE * hk_impulse_gap(c->data), moved = INFINITY;
  memcpy(im->d, im->free, (size_t)c->data->features.n * 3 * sizeof *im->d);
  for (int64_t k = 0; k < im->row_count; k++) {
    const HkImpulseRow *row = &im->row[k];
    apply(c, row, row->lambda, row->n, im->d);
    apply(c, row, 1, row->across, im->d);
  }
  for (int it = 0; it < SWEEPS_MAX && moved > small; it++, im->sweeps++) {
    moved = 0;
    for (int64_t k = 0; k < im->row_count; k++) {
      HkImpulseRow *row = &im->row[im->order[k].row];
      double by = solve_row(c, row, row->b, 1, &row->lambda, row->across, im->d);
      moved = hk_larger(by, moved);
    }
  }
}

HkStatus hk_impulses_solve(HkContacts *c, const double *x, const HkImpulseSpeeds *speeds) {
  HkImpulses *im = c->impulses;
  const double SMALL = 0.1;
  int64_t size = 3 * c->data->features.n;
  im->row_count = 0;
  im->opens = !speeds;
  memcpy(im->d, im->free, (size_t)size * sizeof *im->d);
  for (int round = 0; round < ROUNDS_MAX; round++) {
    double worst;
    for (int64_t q = 0; q < size; q++) im->shift[q] = x[q] + im->d[q];
    HK_TRY(hk_contacts_cover(c, x, im->shift));
    hk_groups_since_measure(c, x);
    hk_groups_of_move(c, x, im->shift, NULL, true);
    HK_TRY(make_rows(c, x, speeds, round < 2, &worst));
    if (round == 0 && !(worst > 0)) break;
    sweep(c);
    if (round > 0 && !(worst > SMALL * hk_impulse_gap(c->data))) break;
  }
  return HK_OK;
}

/* ---- After the sweeps ---- */

/* The gap (m) at the end of the step, as the row sees it. */
static double gap_of(const HkContacts *c, const HkImpulseRow *row, const double *d) {
  double u[3];
  combine(row, d, 1, u);
  return hk_impulse_gap(c->data) + hk_dot(row->n, u) - row->b_full;
}

/* What gaps are below the rest gap shrinks by a fifth a step; other gaps may lose a tenth. */
void hk_impulses_recover(HkContacts *c) {
  const double PART = 0.2, FEW = 0.1;
  HkImpulses *im = c->impulses;
  double rest = hk_impulse_gap(c->data), no[3] = {0, 0, 0};
  int64_t size = 3 * c->data->features.n;
  bool any = false;
  for (int64_t k = 0; k < im->row_count; k++) {
    HkImpulseRow *row = &im->row[k];
    double gap = gap_of(c, row, im->d), aim = (1 - FEW) * rest;
    if (gap < aim) aim = gap + PART * (rest - gap);
    any |= gap < (1 - FEW) * rest;
    row->push = 0;
    row->before = aim - gap; /* velocities are done */
  }
  memset(im->shift, 0, (size_t)size * sizeof *im->shift);
  for (int it = 0; it < RECOVERY_SWEEPS && any; it++)
    for (int64_t k = 0; k < im->row_count; k++) {
      HkImpulseRow *row = &im->row[im->order[k].row];
      double rest_of = row->rest;
      row->rest = 0;
      solve_row(c, row, row->before, 0, &row->push, no, im->shift);
      row->rest = rest_of;
    }
}

/* The least n . v of a row after the step. */
static double least_speed(const HkContacts *c, const HkImpulseRow *row) {
  const double SETTLED = 2;
  double e = c->data->restitution;
  if (!(e > 0) || !(-row->before > SETTLED * row->change)) return 0;
  return -e * row->before;
}

/* Whether something with a motion of its own takes part, which may give energy to the others. */
static bool is_driven(const HkContacts *c) {
  const HkImpulses *im = c->impulses;
  for (int64_t k = 0; k < im->row_count; k++) {
    const HkImpulseRow *row = &im->row[k];
    if (row->base[0] != 0 || row->base[1] != 0 || row->base[2] != 0) return true;
    for (int a = 0; a < row->count; a++)
      if (im->inverse[row->vertex[a]] == 0) return true;
  }
  return false;
}

/* sum m a . b / 2 over the vertices that are free (J) */
static double kinetic(const HkContacts *c, const double *a, const double *b) {
  double sum = 0;
  for (int64_t i = 0; i < c->data->features.n; i++)
    if (c->impulses->inverse[i] > 0)
      sum += 0.5 * hk_dot(a + 3 * i, b + 3 * i) / c->impulses->inverse[i];
  return sum;
}

/* Where impacts happen at once, restitution may add up to more energy than there was before (most,
 * J). Then the part of it is taken, the same for all, with which energy is kept: v = v_0 + s (v -
 * v_0), v_0 without restitution. Momentum is that of either. Returns s. */
static double keep_energy(const HkContacts *c, double most, double *v0, double *v) {
  int64_t size = 3 * c->data->features.n;
  if (!(kinetic(c, v, v) > most)) return 1;
  for (int64_t q = 0; q < size; q++) v[q] -= v0[q];
  double left = most - kinetic(c, v0, v0), linear = kinetic(c, v0, v), square = kinetic(c, v, v);
  double root = sqrt(fmax(linear * linear + square * fmax(left, 0), 0));
  double part = square > 0 ? (root - linear) / square : 0;
  part = part < 0 ? 0 : part > 1 ? 1 : part;
  for (int64_t q = 0; q < size; q++) v[q] = v0[q] + part * v[q];
  return part;
}

/* ---- What has acted ---- */

/* The weights of a row in the order of hk_contact_vertices. */
static void weights_of(const HkContacts *c, const HkImpulseRow *row, double w[4]) {
  int32_t v[4];
  int own = 0, other = row->count;
  memset(w, 0, 4 * sizeof *w);
  if (row->key & WALL_KEY) {
    w[0] = 1;
    return;
  }
  hk_contact_vertices(&c->data->features, row->key, v);
  for (int k = 0; k < 4; k++) {
    bool is_own = v[k] < c->data->features.n;
    int *at = is_own ? &own : &other;
    if (*at < (is_own ? row->count : row->all) && row->vertex[*at] == v[k]) w[k] = row->w[(*at)++];
  }
}

/* Writes the impulses that all rows have before velocities are swept. */
static HkStatus begin_acted(HkContacts *c) {
  HkImpulses *im = c->impulses;
  HK_TRY(hk_grow(&c->model->context, &im->acted, &im->acted_capacity, im->row_count,
                 sizeof *im->acted, "contact", NULL));
  for (int64_t k = 0; k < im->row_count; k++) {
    const HkImpulseRow *row = &im->row[k];
    HkContactImpulse *a = &im->acted[k];
    *a = (HkContactImpulse){.key = row->key, .normal = row->lambda};
    weights_of(c, row, a->w);
    memcpy(a->n, row->n, sizeof a->n);
    memcpy(a->across, row->across, sizeof a->across);
  }
  return HK_OK;
}

/* Adds the part of what the sweeps over velocities have changed, and keeps what is not 0. */
static void end_acted(HkContacts *c, double h, double part) {
  HkImpulses *im = c->impulses;
  int64_t count = 0;
  double u[3];
  for (int64_t k = 0; k < im->row_count; k++) {
    const HkImpulseRow *row = &im->row[k];
    HkContactImpulse a = im->acted[k];
    a.normal += part * (row->lambda - a.normal);
    for (int q = 0; q < 3; q++) a.across[q] += part * (row->across[q] - a.across[q]);
    if (a.normal == 0 && hk_dot(a.across, a.across) == 0) continue;
    combine(row, im->d, 1, u);
    im->friction_work -= hk_dot(a.across, u) / h;
    im->acted[count++] = a;
  }
  im->acted_count = count;
}

HkStatus hk_impulses_set_velocities(HkContacts *c, double h, double *v) {
  const double TOUCHES = 1.01, PRECISE = 1e-8;
  HkImpulses *im = c->impulses;
  double rest = hk_impulse_gap(c->data), moved = INFINITY;
  bool bounces = c->data->restitution > 0 && !is_driven(c);
  double most = bounces ? kinetic(c, v, v) : 0;
  for (int64_t i = 0; i < c->data->features.n; i++)
    for (int64_t q = 3 * i; q < 3 * i + 3; q++)
      if (im->inverse[i] > 0) v[q] += (im->d[q] - im->free[q]) / h;
  for (int64_t k = 0; k < im->row_count; k++) {
    HkImpulseRow *row = &im->row[k];
    bool touches = row->lambda > 0 || gap_of(c, row, im->d) < TOUCHES * rest;
    row->push = touches ? least_speed(c, row) : -INFINITY;
    row->lambda /= h; /* kg m/s from here on */
    for (int q = 0; q < 3; q++) row->across[q] /= h;
  }
  HK_TRY(begin_acted(c));
  memcpy(im->shift, v, (size_t)c->data->features.n * 3 * sizeof *v);
  for (int it = 0; it < SWEEPS_MAX && moved * h > PRECISE * rest; it++, im->sweeps++) {
    moved = 0;
    for (int64_t k = 0; k < im->row_count; k++) {
      HkImpulseRow *row = &im->row[im->order[k].row];
      if (!(row->push >= 0)) continue;
      double by = solve_row(c, row, row->push, 1 / h, &row->lambda, row->across, v);
      moved = hk_larger(by, moved);
    }
  }
  end_acted(c, h, bounces ? keep_energy(c, most, im->shift, v) : 1);
  return HK_OK;
}
