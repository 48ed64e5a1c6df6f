/* The shape of a packed factor, and solves with it; see packed.h.
 *
 * All panels of a supernode share one list of rows: those of a later panel begin
 * HK_PANEL_COLUMNS_MAX rows further on. Rows are numbered within each part of the tree.
 */
#include "linear/packed.h"

#include "base/isa.h"
#include "base/threads.h"
#include "linear/packed_type.h"

#include <string.h>

HK_KERNEL_TABLE(HkPackedKernels, hk_packed_kernels)

/* Floats of L from which on a solve uses several threads. */
enum { MIN_THREADED_FLOATS = 40000 };

/* ---- Shape ---- */

/* What is needed while it is made. */
typedef struct Work {
  HkPacked *p;
  const HkSupernodes *v;
  int32_t *owner; /* n: the supernode of a column */
  int32_t *local; /* n: the number of a column within its part */
  int32_t *part;  /* of a supernode */
  int32_t *seen;  /* of a column of the top: its number in the present part, -1: none */
} Work;

static int64_t count_tiles(int64_t rows) {
  return (rows + HK_TILE - 1) / HK_TILE;
}

static HkStatus cut(Work *w, HkError *error) {
  HkPacked *p = w->p;
  const HkContext *c = &p->context;
  const HkSupernodes *v = w->v;
  const char *what = "a packed factor";
  HK_TRY(hk_alloc(c, &w->owner, v->n, sizeof *w->owner, what, error));
  HK_TRY(hk_alloc(c, &w->local, v->n, sizeof *w->local, what, error));
  HK_TRY(hk_alloc(c, &w->part, v->count, sizeof *w->part, what, error));
  HK_TRY(hk_alloc(c, &p->supernode, v->count, sizeof *p->supernode, what, error));
  p->supernodes = v->count;
  for (int64_t s = 0; s < v->count; s++)
    for (int64_t k = v->first[s]; k < v->first[s + 1]; k++) w->owner[k] = (int32_t)s;
  return hk_packed_cut(c, v, w->owner, w->part, &p->parts, error);
}

/* Lists the supernodes by parts, and numbers the columns of each. */
static void list_supernodes(Work *w) {
  HkPacked *p = w->p;
  const HkSupernodes *v = w->v;
  int64_t next[HK_PARTS_MAX + 1] = {0};
  for (int64_t s = 0; s < v->count; s++) p->part[w->part[s]].supernode_end++;
  for (int part_index = 0; part_index <= p->parts; part_index++) {
    p->part[part_index].supernode = part_index > 0 ? p->part[part_index - 1].supernode_end : 0;
    p->part[part_index].supernode_end += p->part[part_index].supernode;
    next[part_index] = p->part[part_index].supernode;
  }
  for (int64_t s = 0; s < v->count; s++) {
    HkPackedPart *part = &p->part[w->part[s]];
    p->supernode[next[w->part[s]]++] = (int32_t)s;
    for (int64_t k = v->first[s]; k < v->first[s + 1]; k++) w->local[k] = (int32_t)part->columns++;
  }
}

/* Numbers the columns of the top that part part_index reaches into, after its own. */
static void number_shared_columns(Work *w, int part_index) {
  HkPacked *p = w->p;
  const HkSupernodes *v = w->v;
  HkPackedPart *part = &p->part[part_index];
  int64_t top = p->part[p->parts].columns;
  for (int64_t k = 0; k < top; k++) w->seen[k] = -1;
  for (int64_t e = part->supernode; e < part->supernode_end; e++) {
    int64_t s = p->supernode[e];
    for (int64_t r = v->start[s]; r < v->start[s + 1]; r++)
      if (w->part[w->owner[v->row[r]]] != part_index) w->seen[w->local[v->row[r]]] = 0;
  }
  part->shared = 0;
  for (int64_t k = 0; k < top; k++)
    if (w->seen[k] == 0) w->seen[k] = (int32_t)(part->columns + part->shared++);
}

/* Where everything begins, and how large it is. */
static void measure(Work *w) {
  HkPacked *p = w->p;
  const HkSupernodes *v = w->v;
  for (int part_index = 0; part_index <= p->parts; part_index++) {
    HkPackedPart *part = &p->part[part_index];
    part->panel = p->panels;
    for (int64_t e = part->supernode; e < part->supernode_end; e++) {
      int64_t s = p->supernode[e], tiles = count_tiles(v->start[s + 1] - v->start[s]);
      p->rows += tiles * HK_TILE;
      p->panels +=
          (v->first[s + 1] - v->first[s] + HK_PANEL_COLUMNS_MAX - 1) / HK_PANEL_COLUMNS_MAX;
      if (tiles > part->tiles) part->tiles = tiles;
    }
    part->panel_end = p->panels;
    if (part_index < p->parts) number_shared_columns(w, part_index);
    part->at = p->ats;
    p->ats += part->columns + part->shared;
    /* records of two lines of the cache, so that no two threads write to one */
    part->x = p->records;
    p->records += (part->columns + part->shared + 1 + 7) / 8 * 8;
    part->scratch = p->scratch_floats;
    p->scratch_floats += (3 * HK_TILE * part->tiles + 31) / 32 * 32;
  }
}

static HkStatus allocate(HkPacked *p, HkError *error) {
  const HkContext *c = &p->context;
  const char *what = "a packed factor";
  HK_TRY(hk_alloc(c, &p->panel, p->panels, sizeof *p->panel, what, error));
  HK_TRY(hk_alloc(c, &p->row, p->rows, sizeof *p->row, what, error));
  HK_TRY(hk_alloc(c, &p->at, p->ats, sizeof *p->at, what, error));
  HK_TRY(hk_alloc_aligned(c, &p->x_block, &p->x, 4 * p->records, sizeof *p->x, what, error));
  return hk_alloc_aligned(c, &p->scratch_block, &p->scratch, p->scratch_floats, sizeof *p->scratch,
                          what, error);
}

/* The rows of supernode s of part part_index, by where their records of 4 floats begin there. */
static void list_rows(const Work *w, int part_index, int64_t s, int32_t *row) {
  const HkPackedPart *part = &w->p->part[part_index];
  const HkSupernodes *v = w->v;
  int64_t rows = v->start[s + 1] - v->start[s];
  for (int64_t i = 0; i < rows; i++) {
    int64_t k = v->row[v->start[s] + i];
    row[i] = 4 * (w->part[w->owner[k]] == part_index ? w->local[k] : w->seen[w->local[k]]);
  }
  for (int64_t i = rows; i < count_tiles(rows) * HK_TILE; i++)
    row[i] = (int32_t)(4 * (part->columns + part->shared));
}

static void list_panels(Work *w, int part_index, const int32_t *at, int64_t *rows) {
  HkPacked *p = w->p;
  const HkSupernodes *v = w->v;
  const HkPackedPart *part = &p->part[part_index];
  HkPackedPanel *panel = p->panel + part->panel;
  for (int64_t e = part->supernode; e < part->supernode_end; e++) {
    int64_t s = p->supernode[e], columns = v->first[s + 1] - v->first[s];
    int64_t tiles = count_tiles(v->start[s + 1] - v->start[s]);
    list_rows(w, part_index, s, p->row + *rows);
    for (int64_t k = 0; k < columns; k++) {
      int32_t local = w->local[v->first[s] + k];
      p->at[part->at + local] = at[v->order[v->first[s] + k]];
    }
    for (int64_t k = 0; k < columns; k += HK_PANEL_COLUMNS_MAX, panel++) {
      *panel = (HkPackedPanel){.value = p->values,
                               .row = *rows + k,
                               .first = w->local[v->first[s]] + (int32_t)k,
                               .columns = hk_packed_width(columns, k),
                               .tiles = (int32_t)(tiles - k / HK_TILE)};
      for (int g = 0; g < panel->columns; g += HK_GROUP)
        p->values += hk_packed_group_size(panel, g);
    }
    *rows += tiles * HK_TILE;
  }
}

static HkStatus shape(Work *w, const int32_t *at, HkError *error) {
  HkPacked *p = w->p;
  int64_t rows = 0;
  HK_TRY(cut(w, error));
  list_supernodes(w);
  int64_t top = p->part[p->parts].columns;
  HK_TRY(hk_alloc(&p->context, &w->seen, top, sizeof *w->seen, "a packed factor", error));
  measure(w);
  HK_TRY(allocate(p, error));
  for (int part_index = 0; part_index <= p->parts; part_index++) {
    const HkPackedPart *part = &p->part[part_index];
    if (part_index < p->parts) number_shared_columns(w, part_index);
    list_panels(w, part_index, at, &rows);
    for (int64_t k = 0, i = 0; part_index < p->parts && k < top; k++)
      if (w->seen[k] >= 0) p->at[part->at + part->columns + i++] = (int32_t)k;
  }
  return HK_OK;
}

HkStatus hk_packed_create(const HkContext *context, const HkSupernodes *view, const int32_t *at,
                          HkPacked **packed, HkError *error) {
  HkIsa isa;
  HK_TRY(hk_isa_pick(&isa, error));
  if (view->n >= INT32_MAX / 8)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "a packed factor has less than %d rows",
                   INT32_MAX / 8);
  HK_TRY(hk_alloc(context, packed, 1, sizeof **packed, "a packed factor", error));
  HkPacked *p = *packed;
  p->context = *context;
  p->kernels = hk_packed_kernels_of(isa);
  p->n = view->n;
  Work w = {.p = p, .v = view};
  HkStatus status = p->n > 0 ? shape(&w, at, error) : HK_OK;
  hk_free(context, &w.owner);
  hk_free(context, &w.local);
  hk_free(context, &w.part);
  hk_free(context, &w.seen);
  if (status < 0) hk_packed_destroy(packed);
  return status;
}

void hk_packed_destroy(HkPacked **packed) {
  HkPacked *p = *packed;
  if (!p) return;
  HkContext c = p->context;
  hk_packed_release(p);
  hk_free(&c, &p->supernode);
  hk_free(&c, &p->panel);
  hk_free(&c, &p->row);
  hk_free(&c, &p->at);
  hk_free(&c, &p->x_block);
  hk_free(&c, &p->scratch_block);
  hk_free(&c, packed);
}

void hk_packed_release(HkPacked *p) {
  hk_free(&p->context, &p->value_block);
  p->value = NULL;
}

double hk_packed_need(const HkPacked *p) {
  return p->value ? 0 : (double)hk_aligned_bytes(p->values + HK_PREFETCH_FLOATS, sizeof *p->value);
}

size_t hk_packed_bytes(const HkPacked *p) {
  size_t numbers = (size_t)(p->supernodes + p->rows + p->ats) * sizeof *p->row;
  size_t floats = hk_aligned_bytes(4 * p->records, sizeof *p->x);
  floats += hk_aligned_bytes(p->scratch_floats, sizeof *p->scratch);
  if (p->value) floats += hk_aligned_bytes(p->values + HK_PREFETCH_FLOATS, sizeof *p->value);
  return sizeof *p + numbers + (size_t)p->panels * sizeof *p->panel + floats;
}

size_t hk_packed_traffic(const HkPacked *p) {
  return 2 * (size_t)(p->values + p->rows) * sizeof *p->value;
}

/* ---- Solving ---- */

typedef struct Solve {
  HkPacked *p;
  const double *r;
  double s, *z;
} Solve;

/* Fetches the right-hand sides of a part, with nothing in the rows of the top yet. */
static void load(const Solve *a, const HkPackedPart *part) {
  const HkPacked *p = a->p;
  float *x = p->x + 4 * part->x;
  p->kernels->load(part->columns, p->at + part->at, a->r, p->scale, x);
  memset(x + 4 * part->columns, 0, (size_t)(part->shared + 1) * 4 * sizeof *x);
}

static void sweep(const HkPacked *p, const HkPackedPart *part, bool forward) {
  (forward ? p->kernels->forward
           : p->kernels->backward)(p->panel + part->panel, part->panel_end - part->panel, p->value,
                                   p->row, p->x + 4 * part->x, p->scratch + part->scratch);
}

static void forward_part(void *user, int part_index) {
  const Solve *a = user;
  load(a, &a->p->part[part_index]);
  sweep(a->p, &a->p->part[part_index], true);
}

/* Adds to the top what a part has for it, or fetches its result from there. */
static void exchange(const HkPacked *p, const HkPackedPart *part, bool add) {
  float *mine = p->x + 4 * (part->x + part->columns), *top = p->x + 4 * p->part[p->parts].x;
  const int32_t *at = p->at + part->at + part->columns;
  for (int64_t k = 0; k < part->shared; k++) {
    float *there = top + 4 * (int64_t)at[k], *here = mine + 4 * k;
    for (int c = 0; c < 4; c++) {
      if (add)
        there[c] += here[c];
      else
        here[c] = there[c];
    }
  }
}

static void backward_part(void *user, int part_index) {
  const Solve *a = user;
  const HkPacked *p = a->p;
  const HkPackedPart *part = &p->part[part_index];
  if (part_index < p->parts) {
    exchange(p, part, false);
    sweep(p, part, false);
  }
  p->kernels->store(part->columns, p->at + part->at, p->x + 4 * part->x, a->s, a->z);
}

void hk_packed_solve(HkPacked *p, int threads, double s, const double *r, double *z) {
  Solve a = {.p = p, .r = r, .s = s, .z = z};
  const HkPackedPart *top = &p->part[p->parts];
  if (p->n == 0) return;
  if (p->values < MIN_THREADED_FLOATS) threads = 1;
  hk_parallel_tasks(threads, p->parts, forward_part, &a);
  load(&a, top);
  for (int part_index = 0; part_index < p->parts; part_index++)
    exchange(p, &p->part[part_index], true);
  sweep(p, top, true);
  sweep(p, top, false);
  hk_parallel_tasks(threads, p->parts + 1, backward_part, &a);
}
