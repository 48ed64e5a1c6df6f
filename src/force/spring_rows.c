/* The springs by rows; see spring_rows.h.
 *
 * Which groups share their slots is found in one pass by rising number: a group is compared with
 * the group whose slots the previous group shares, then with the last one of the same hash.
 */
#include "force/spring_rows.h"

#include <string.h>

HK_KERNEL_TABLE(HkSpringRowsKernels, hk_spring_rows_kernels)

const HkSpringRowsKernels *hk_spring_rows_kernels(HkIsa isa) {
  return hk_spring_rows_kernels_of(isa);
}

/* Largest number of slots of a regular group, and sizes of the hash table of groups: small for
 * small models, which some programs create in large numbers. */
enum { MAX_REGULAR_SLOTS = 256, TABLE_SIZE_MIN = 64, TABLE_SIZE_MAX = 4096 };

/* Share of regular springs from which on planes are used: other springs are slow in planes. */
static const double PLANES_MIN_REGULAR_SHARE = 0.75;

/* A group that others may share the slots of; none: group < 0. */
typedef struct Known {
  uint64_t hash;
  int64_t group;
  bool regular;
  int32_t low, high; /* the least and the largest j - i of a regular one */
} Known;

typedef struct Search {
  const HkModel *model;
  HkSpringRows *rows;
  Known last, *table;
  uint64_t table_size; /* TABLE_SIZE_MIN for a few groups, else TABLE_SIZE_MAX */
  int64_t regular, owners, owner_capacity; /* regular: slots, as start counts them */
  bool own;                                /* no group shares slots */
  bool gaps; /* a regular group has a vertex without neighbor in a slot */
} Search;

static int64_t degree(const HkModel *m, int64_t i) {
  return m->adj_start[i + 1] - m->adj_start[i];
}

/* ---- Which groups are alike ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

static uint64_t bits(double value) {
  uint64_t b;
  memcpy(&b, &value, sizeof b);
  return b;
}

static bool same_spring(const HkSpringArrays *springs, int64_t s, int64_t r) {
  if (springs->k[s] != springs->k[r] || springs->l0[s] != springs->l0[r]) return false;
  if (springs->damping && springs->damping[s] != springs->damping[r]) return false;
  return !springs->tension || springs->tension[s] == springs->tension[r];
}

static bool same_row(const Search *s, int64_t p, int64_t j) {
  const HkModel *m = s->model;
  int64_t count = degree(m, p), a = m->adj_start[p], b = m->adj_start[j];
  if (degree(m, j) != count) return false;
  for (int64_t e = 0; e < count; e++) {
    if (m->adj_vertex[a + e] - p != m->adj_vertex[b + e] - j) return false;
    if (!same_spring(s->rows->springs, m->adj_spring[a + e], m->adj_spring[b + e])) return false;
  }
  return true;
}

/* Returns whether i + low .. i + high are vertices for each vertex i of the group, also for those
 * without such neighbors. */
static bool is_inside(const HkSpringRows *r, int64_t group, int32_t low, int32_t high) {
  int64_t first = group * r->width, last = first + r->width - 1;
  return first + low >= 0 && last + high < r->n;
}

static bool is_whole(const HkSpringRows *r, int64_t group) {
  return (group + 1) * r->width <= r->n;
}

static bool is_like(const Search *s, int64_t group, const Known *known) {
  const HkSpringRows *r = s->rows;
  if (s->own || known->group < 0 || !is_whole(r, group)) return false;
  if (known->regular && !is_inside(r, group, known->low, known->high)) return false;
  for (int l = 0; l < r->width; l++)
    if (!same_row(s, known->group * r->width + l, group * r->width + l)) return false;
  return true;
}

static uint64_t hash_group(const Search *s, int64_t group) {
  const HkModel *m = s->model;
  const HkSpringArrays *springs = s->rows->springs;
  uint64_t hash = 1;
  for (int64_t i = group * s->rows->width; i < (group + 1) * s->rows->width; i++) {
    hash = mix(hash, (uint64_t)degree(m, i));
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      int64_t spring = m->adj_spring[e];
      hash = mix(hash, (uint64_t)(m->adj_vertex[e] - i));
      hash = mix(hash, bits(springs->k[spring]) + 3 * bits(springs->l0[spring]));
    }
  }
  return hash;
}

/* All j - i of the vertices of a group in rising order; -1 if there are more than capacity. */
static int64_t reaches(const HkModel *m, int width, int64_t group, int32_t *reach,
                       int64_t capacity) {
  int64_t count = 0;
  for (int64_t i = group * width; i < (group + 1) * width; i++) {
    int64_t at = 0;
    for (int64_t e = m->adj_start[i]; e < m->adj_start[i + 1]; e++) {
      int32_t d = (int32_t)(m->adj_vertex[e] - i);
      while (at < count && reach[at] < d) at++;
      if (at < count && reach[at] == d) continue;
      if (count == capacity) return -1;
      memmove(reach + at + 1, reach + at, (size_t)(count - at) * sizeof *reach);
      reach[at] = d;
      count++;
    }
  }
  return count;
}

int64_t hk_spring_rows_longest(const HkModel *m, int width, int64_t group) {
  int64_t most = 0;
  for (int64_t i = group * width; i < (group + 1) * width && i < m->n; i++)
    if (degree(m, i) > most) most = degree(m, i);
  return most;
}

static int64_t shortest_row(const HkSpringRows *r, const HkModel *m, int64_t group) {
  int64_t least = INT64_MAX;
  for (int64_t i = group * r->width; i < (group + 1) * r->width && i < m->n; i++)
    if (degree(m, i) < least) least = degree(m, i);
  return least;
}

/* Finds the *count different values j - i of a group; returns false if it cannot be regular: not
 * every slot has one value j - i, or in single precision there would be many more slots than
 * neighbors. */
static bool find_reaches(const Search *s, int64_t group, int32_t reach[MAX_REGULAR_SLOTS],
                         int64_t *count) {
  const HkSpringRows *r = s->rows;
  bool single = r->width == HK_ROW_GROUP_SINGLE;
  int64_t most = hk_spring_rows_longest(s->model, r->width, group),
          capacity = single ? most + most / 4 : most;
  if (!is_whole(r, group) || capacity > MAX_REGULAR_SLOTS) return false;
  for (int l = 0; l < r->width && !single; l++)
    if (degree(s->model, group * r->width + l) != most) return false;
  *count = reaches(s->model, r->width, group, reach, capacity);
  return *count > 0;
}

/* Gives a group slots of its own. */
static HkStatus own_slots(Search *s, int64_t group, uint64_t hash, HkError *error) {
  HkSpringRows *r = s->rows;
  int32_t reach[MAX_REGULAR_SLOTS];
  int64_t count = 0;
  bool could = find_reaches(s, group, reach, &count);
  bool regular = could && is_inside(r, group, reach[0], reach[count - 1]);
  int64_t slots = regular ? count : hk_spring_rows_longest(s->model, r->width, group);
  HK_TRY(hk_grow(&s->model->context, &r->owner, &s->owner_capacity, s->owners + 1, sizeof *r->owner,
                 "springs by rows", error));
  r->owner[s->owners++] = group;
  r->place[group] = regular ? ~r->slots : r->slots;
  r->start[group + 1] = r->start[group] + slots;
  r->slots += slots;
  if (regular) s->regular += slots;
  if (regular && shortest_row(r, s->model, group) < slots) s->gaps = true;
  /* Groups at an end of the arrays are not shared: they are incomplete, or not regular there. */
  if (!is_whole(r, group) || could != regular) return HK_OK;
  s->last = (Known){.hash = hash, .group = group, .regular = regular};
  if (regular) {
    s->last.low = reach[0];
    s->last.high = reach[count - 1];
  }
  s->table[hash % s->table_size] = s->last;
  return HK_OK;
}

static void share_slots(Search *s, int64_t group, const Known *known) {
  HkSpringRows *r = s->rows;
  int64_t slots = r->start[known->group + 1] - r->start[known->group];
  r->place[group] = r->place[known->group];
  r->start[group + 1] = r->start[group] + slots;
  if (known->regular) s->regular += slots;
  if (known != &s->last) s->last = *known;
}

static HkStatus place_groups(Search *s, HkError *error) {
  HkSpringRows *r = s->rows;
  for (int64_t g = 0; g < r->groups; g++) {
    if (is_like(s, g, &s->last)) {
      share_slots(s, g, &s->last);
      continue;
    }
    uint64_t hash = is_whole(r, g) ? hash_group(s, g) : 0;
    const Known *known = &s->table[hash % s->table_size];
    if (known->hash == hash && is_like(s, g, known))
      share_slots(s, g, known);
    else
      HK_TRY(own_slots(s, g, hash, error));
  }
  r->owners = s->owners;
  int64_t all = r->start[r->groups];
  r->regular = all > 0 ? (double)s->regular / (double)all : 1;
  return HK_OK;
}

static bool equally_stiff(const HkSpringArrays *springs) {
  for (int64_t s = 1; s < springs->count; s++)
    if (springs->k[s] != springs->k[0]) return false;
  return true;
}

static HkStatus find_places(const HkModel *m, bool own, HkSpringRows *r, HkError *error) {
  const HkContext *c = &m->context;
  const char *what = "springs by rows";
  Search s = {.model = m, .rows = r, .last = {.group = -1}, .own = own};
  HK_TRY(hk_alloc(c, &r->start, r->groups + 1, sizeof *r->start, what, error));
  HK_TRY(hk_alloc(c, &r->place, r->groups, sizeof *r->place, what, error));
  const int table_size = r->groups < TABLE_SIZE_MIN / 4 ? TABLE_SIZE_MIN : TABLE_SIZE_MAX;
  HK_TRY(hk_alloc(c, &s.table, table_size, sizeof *s.table, what, error));
  for (int k = 0; k < table_size; k++) s.table[k].group = -1;
  s.table_size = (uint64_t)table_size;
  HkStatus status = place_groups(&s, error);
  r->k_step = own || s.gaps || !equally_stiff(r->springs);
  bool planes = r->regular >= PLANES_MIN_REGULAR_SHARE || m->n > INT32_MAX / 4;
  r->unit = r->width == HK_ROW_GROUP ? 3 : planes ? 1 : 4;
  hk_free(c, &s.table);
  r->bytes = sizeof *r + (size_t)(2 * r->groups + 1 + s.owner_capacity) * sizeof *r->start;
  return status;
}

/* ---- Their numbers ---- */

static HkStatus allocate(const HkModel *m, HkSpringRows *r, HkError *error) {
  const HkContext *c = &m->context;
  const char *what = "springs by rows";
  bool single = r->width == HK_ROW_GROUP_SINGLE;
  int64_t entries = r->slots * r->width;
  size_t size = single ? sizeof(float) : sizeof(double);
  void *numbers[] = {single ? (void *)&r->single.k : (void *)&r->k,
                     single ? (void *)&r->single.kl0 : (void *)&r->l0,
                     single ? (void *)&r->single.damping : (void *)&r->damping,
                     single ? (void *)&r->single.least : (void *)&r->least};
  const bool there[] = {true, true, r->springs->damping != NULL, r->springs->tension != NULL};
  HK_TRY(
      hk_alloc_aligned(c, &r->blocks[0], &r->neighbor, entries, sizeof *r->neighbor, what, error));
  r->bytes += hk_aligned_bytes(entries, sizeof *r->neighbor);
  for (int k = 0; k < 4; k++) {
    int64_t count = k == 0 && r->k_step == 0 && entries > 0 ? r->width : entries;
    if (!there[k]) continue;
    HK_TRY(hk_alloc_aligned(c, &r->blocks[1 + k], numbers[k], count, size, what, error));
    r->bytes += hk_aligned_bytes(count, size);
  }
  return HK_OK;
}

/* Writes spring s, or none (-1), into an entry. */
static void put_spring(HkSpringRows *r, int64_t to, int64_t s) {
  const HkSpringArrays *springs = r->springs;
  bool real = s >= 0;
  double k = real ? springs->k[s] : 0, l0 = real ? springs->l0[s] : 0;
  double damping = real && springs->damping ? springs->damping[s] : 0;
  double least = real && springs->tension && springs->tension[s] ? l0 : -1;
  if (r->k) {
    if (r->k_step) r->k[to] = k;
    r->l0[to] = l0;
    if (r->damping) r->damping[to] = damping;
    if (r->least) r->least[to] = least;
  } else {
    if (r->k_step) r->single.k[to] = (float)k;
    r->single.kl0[to] = (float)(k * l0);
    if (r->single.damping) r->single.damping[to] = (float)damping;
    if (r->single.least) r->single.least[to] = (float)least;
  }
}

static void fill_regular(const HkModel *m, HkSpringRows *r, int64_t group) {
  int32_t reach[MAX_REGULAR_SLOTS];
  int64_t slots = reaches(m, r->width, group, reach, MAX_REGULAR_SLOTS), first = ~r->place[group];
  for (int l = 0; l < r->width; l++) {
    int64_t i = group * r->width + l, e = m->adj_start[i];
    for (int64_t slot = 0; slot < slots; slot++) {
      int64_t to = (first + slot) * r->width + l;
      bool real = e < m->adj_start[i + 1] && m->adj_vertex[e] - i == reach[slot];
      r->neighbor[to] = r->unit * reach[slot];
      put_spring(r, to, real ? m->adj_spring[e] : -1);
      e += real;
    }
  }
}

static void fill_positions(const HkModel *m, HkSpringRows *r, int64_t group) {
  int64_t slots = r->start[group + 1] - r->start[group], begin = r->place[group];
  for (int l = 0; l < r->width; l++) {
    int64_t v = group * r->width + l, last = m->n - 1, i = v < m->n ? v : last;
    int64_t count = v < m->n ? degree(m, i) : 0, first = m->adj_start[i];
    if (r->width == HK_ROW_GROUP_SINGLE) i = v; /* in single precision vectors are padded, too */
    for (int64_t slot = 0; slot < slots; slot++) {
      int64_t to = (begin + slot) * r->width + l;
      bool real = slot < count;
      int64_t j = real ? m->adj_vertex[first + slot] : i;
      r->neighbor[to] = r->unit * (int32_t)(j - group * r->width);
      put_spring(r, to, real ? m->adj_spring[first + slot] : -1);
    }
  }
}

/* Writes spring s into the row of vertex i, one of its ends; j: the other one. */
static void put_at_end(HkSpringRows *r, int64_t s, int64_t i, int64_t j) {
  int64_t group = i / r->width, place = r->place[group], first = place < 0 ? ~place : place;
  int64_t slots = r->start[group + 1] - r->start[group];
  int64_t from = place < 0 ? i : group * r->width; /* what neighbors are relative to */
  int32_t neighbor = r->unit * (int32_t)(j - from);
  int64_t slot = 0, at = first * r->width + i % r->width;
  while (slot < slots && r->neighbor[at + slot * r->width] != neighbor) slot++;
  HK_ASSERT(slot < slots);
  put_spring(r, at + slot * r->width, s);
}

void hk_spring_rows_put(HkSpringRows *r, int64_t s) {
  int64_t i = r->springs->i[s], j = r->springs->j[s];
  put_at_end(r, s, i, j);
  put_at_end(r, s, j, i);
}

typedef struct Fill {
  const HkModel *model;
  HkSpringRows *rows;
} Fill;

static void fill_range(void *user, int64_t begin, int64_t end) {
  const Fill *f = user;
  for (int64_t o = begin; o < end; o++) {
    int64_t group = f->rows->owner[o];
    if (f->rows->place[group] < 0)
      fill_regular(f->model, f->rows, group);
    else
      fill_positions(f->model, f->rows, group);
  }
}

void hk_spring_rows_fill(const HkModel *m, HkSpringRows *r) {
  Fill f = {m, r};
  for (int l = 0; l < r->width && r->k_step == 0 && r->slots > 0; l++) {
    if (r->k) r->k[l] = r->springs->k[0];
    if (r->single.k) r->single.k[l] = (float)r->springs->k[0];
  }
  hk_parallel_work(m->threads, r->owners, HK_ROW_GRAIN, fill_range, &f);
  r->version = r->springs->version;
}

/* ---- Creating ---- */

static HkStatus create(const HkModel *model, const HkSpringArrays *springs, int width, bool own,
                       HkSpringRows **rows, HkError *error) {
  HK_TRY(hk_alloc(&model->context, rows, 1, sizeof **rows, "springs by rows", error));
  HkSpringRows *r = *rows;
  r->n = model->n;
  r->springs = springs;
  r->width = width;
  r->groups = (model->n + width - 1) / width;
  HkStatus status = find_places(model, own, r, error);
  if (status >= 0) status = allocate(model, r, error);
  if (status < 0)
    hk_spring_rows_destroy(model, rows);
  else
    hk_spring_rows_fill(model, r);
  return status;
}

HkStatus hk_spring_rows_create(const HkModel *model, HkSpringRows **rows, HkError *error) {
  return create(model, &model->springs, HK_ROW_GROUP, false, rows, error);
}

HkStatus hk_spring_rows_create_own(const HkModel *model, const HkSpringArrays *springs,
                                   HkSpringRows **rows, HkError *error) {
  return create(model, springs, HK_ROW_GROUP, true, rows, error);
}

HkStatus hk_spring_rows_create_single(const HkModel *model, HkSpringRows **rows, HkError *error) {
  return create(model, &model->springs, HK_ROW_GROUP_SINGLE, false, rows, error);
}

void hk_spring_rows_destroy(const HkModel *model, HkSpringRows **rows) {
  HkSpringRows *r = *rows;
  if (!r) return;
  for (size_t k = 0; k < sizeof r->blocks / sizeof r->blocks[0]; k++)
    hk_free(&model->context, &r->blocks[k]);
  hk_free(&model->context, &r->start);
  hk_free(&model->context, &r->place);
  hk_free(&model->context, &r->owner);
  hk_free(&model->context, rows);
}

void hk_spring_rows_update(const HkModel *model, HkSpringRows *rows) {
  if (rows->version != rows->springs->version) hk_spring_rows_fill(model, rows);
}
