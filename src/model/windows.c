/* A scene of lattices as parts of a model, each made by its own rank; see part.h. No rank ever
 * holds the whole model, nor an array of its size.
 *
 * The lattice of each body is cut into boxes of vertices, one a rank, by recursive bisection: the
 * longest axis of a box is cut so that both sides have as many vertices a rank. Every rank knows
 * the boxes of all others, hence the owner of any vertex. It makes the mesh of its window, which is
 * its box and MARGIN layers of vertices around it, then springs, masses and faces of the window by
 * the functions for whole meshes, and takes its part out of them.
 *
 *     MARGIN = 2 cells that bending springs reach + 1 cell around the vertices at their ends,
 *
 * so that all vertices of the part have the masses of the whole mesh, and what is missing at the
 * border of the window is missing at vertices that are not in the part. Positions, springs, faces
 * and their order have the bits of a model that one process makes. So have masses, but a total that
 * is distributed by the measures of cells: their sum is added up in another order, and differs by
 * rounding. So does the total mass.
 *
 * The shapes grid, block, tet_block and chain can be made in windows. Bodies of other shapes, of
 * meshes and files, and those with settings that need the whole body (center of mass, vertices by
 * number) are compiled by rank 0 (distribute.c), with all bodies of their scene.
 */
#include "model/build.h"
#include "model/part.h"

#include "mesh/measure.h"
#include "scene/store.h"

enum {
  MARGIN = 3,   /* vertices */
  BEGINNING = 6 /* vertices along each axis that have the first spring of each direction */
};

/* Numbers of vertices are exact in double precision, also as counts of cells. */
static const int64_t MOST_VERTICES = (int64_t)1 << 48;

/* What the windows of one rank are made with. */
typedef struct Windows {
  const HkScene *scene;
  HkModel *model;  /* the part */
  HkModel *source; /* the windows of all bodies */
  int32_t *owner;  /* of each vertex of the source */
  int64_t *number; /* of each vertex of the source in the whole model */
  int64_t owner_capacity, number_capacity;
  int64_t total; /* vertices of the whole bodies that are made */
} Windows;

/* The window of one body. */
typedef struct Body {
  const HkBody *body;
  HkWindow window;
  HkMesh *mesh, *beginning;
  HkWholeMesh whole;
  int64_t first; /* vertex of the source */
} Body;

/* ---- Which scenes ---- */

static bool can_be_made(const HkBody *b) {
  bool rigid = true;
  for (int c = 0; c < 3; c++) rigid &= b->stretch[c] == 1 && b->spin[c] == 0;
  return b->shape.schema && !b->mesh_file && !b->mesh && hk_shape_is_lattice(&b->shape) && rigid &&
         b->repair.weld < 0 && !b->repair.unused && !b->repair.zero_length && !b->springs.file &&
         b->springs.table.rows == 0 && b->mass.added.rows == 0;
}

bool hk_windows_can_make(const HkScene *scene) {
  for (int b = 0; b < scene->body_count; b++)
    if (!can_be_made(&scene->bodies[b])) return false;
  return !scene->store->is_course_format;
}

/* ---- Boxes ---- */

/* One box of the bisection, of the ranks first .. first + count - 1. */
typedef struct Box {
  int begin[3], end[3];
  int first, count;
} Box;

static Box whole_box(const int n[3], int ranks) {
  return (Box){.end = {n[0], n[1], n[2]}, .count = ranks};
}

/* Cuts a box of two ranks or more; *axis becomes the cut axis, and *half the ranks of its lower
 * side. Returns the first index of the upper side. */
static int cut(const Box *box, int *axis, int *half) {
  *axis = 0;
  for (int c = 1; c < 3; c++)
    if (box->end[c] - box->begin[c] > box->end[*axis] - box->begin[*axis]) *axis = c;
  *half = box->count / 2;
  int64_t length = box->end[*axis] - box->begin[*axis];
  return (int)(box->begin[*axis] + length * *half / box->count);
}

static void take_side(Box *box, int axis, int at, int half, bool upper) {
  if (upper) {
    box->begin[axis] = at;
    box->first += half;
    box->count -= half;
  } else {
    box->end[axis] = at;
    box->count = half;
  }
}

static Box box_of(const int n[3], int ranks, int rank) {
  Box box = whole_box(n, ranks);
  int axis, half;
  while (box.count > 1) {
    int at = cut(&box, &axis, &half);
    take_side(&box, axis, at, half, rank >= box.first + half);
  }
  return box;
}

static int owner_of(const int n[3], int ranks, const int vertex[3]) {
  Box box = whole_box(n, ranks);
  int axis, half;
  while (box.count > 1) {
    int at = cut(&box, &axis, &half);
    take_side(&box, axis, at, half, vertex[axis] >= at);
  }
  return box.first;
}

static HkWindow beginning_of(const int n[3]) {
  HkWindow w = {.n = {n[0], n[1], n[2]}};
  for (int c = 0; c < 3; c++) w.end[c] = n[c] < BEGINNING ? n[c] : BEGINNING;
  return w;
}

/* The window of a rank; where more ranks than vertices leave it without any, it makes the beginning
 * of the lattice and owns nothing of it. */
static HkWindow window_of(const int n[3], int ranks, int rank) {
  Box box = box_of(n, ranks, rank);
  HkWindow w = {.n = {n[0], n[1], n[2]}};
  for (int c = 0; c < 3; c++) {
    if (box.begin[c] == box.end[c]) return beginning_of(n);
    w.begin[c] = box.begin[c] > MARGIN ? box.begin[c] - MARGIN : 0;
    w.end[c] = n[c] - box.end[c] > MARGIN ? box.end[c] + MARGIN : n[c];
  }
  return w;
}

/* ---- Meshes ---- */

static HkStatus check_counts(const Windows *w, const Body *b, HkError *error) {
  HkMeshCounts counts;
  hk_window_count(&b->body->shape, &b->window, &counts);
  if (w->source->n + counts.vertices > INT32_MAX / 3)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a rank would have %lld vertices, more than it takes (%d); use more ranks",
                   (long long)(w->source->n + counts.vertices), INT32_MAX / 3);
  return hk_body_check_memory(&w->model->context, b->body, &counts, false, error);
}

/* Counts the whole mesh of a body, which may have more vertices than one process takes. */
static HkStatus count_whole(const Windows *w, const int n[3], Body *b, HkError *error) {
  HkWindow all = {.n = {n[0], n[1], n[2]}, .end = {n[0], n[1], n[2]}};
  double count = (double)n[0] * n[1] * n[2];
  if (count + (double)w->total > (double)MOST_VERTICES)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "%g vertices are more than Hooke takes (%lld)",
                   count + (double)w->total, (long long)MOST_VERTICES);
  hk_window_count(&b->body->shape, &all, &b->whole.counts);
  return HK_OK;
}

/* Appends owner and number in the body of each vertex of a window. */
static HkStatus number_vertices(Windows *w, Body *b, HkError *error) {
  const HkContext *c = &w->model->context;
  const HkWindow *v = &b->window;
  int64_t count = w->source->n + hk_window_vertices(v), at = w->source->n;
  int ranks = c->ranks->count, p[3];
  HK_TRY(hk_grow(c, &w->owner, &w->owner_capacity, count, sizeof *w->owner, "owners", error));
  HK_TRY(hk_grow(c, &w->number, &w->number_capacity, count, sizeof *w->number, "numbers", error));
  for (p[2] = v->begin[2]; p[2] < v->end[2]; p[2]++)
    for (p[1] = v->begin[1]; p[1] < v->end[1]; p[1]++)
      for (p[0] = v->begin[0]; p[0] < v->end[0]; p[0]++) {
        w->owner[at] = owner_of(v->n, ranks, p);
        w->number[at++] = p[0] + v->n[0] * (p[1] + (int64_t)v->n[1] * p[2]);
      }
  b->whole.number = w->number + w->source->n;
  return HK_OK;
}

static HkStatus make_meshes(Windows *w, Body *b, HkError *error) {
  const HkContext *c = &w->model->context;
  int n[3];
  HK_TRY(hk_body_check(b->body, error));
  HK_TRY(hk_lattice_size(&b->body->shape, n, error));
  b->window = window_of(n, c->ranks->count, c->ranks->rank);
  b->first = w->source->n;
  HK_TRY(count_whole(w, n, b, error));
  HK_TRY(check_counts(w, b, error));
  HK_TRY(number_vertices(w, b, error));
  HkWindow beginning = beginning_of(n);
  HK_TRY(hk_mesh_window(c, &b->body->shape, &beginning, &b->beginning, error));
  HK_TRY(hk_mesh_window(c, &b->body->shape, &b->window, &b->mesh, error));
  b->whole.beginning = b->beginning;
  HkStatus status = hk_mesh_transform(b->beginning, &b->body->transform, error);
  if (status >= 0) status = hk_mesh_transform(b->mesh, &b->body->transform, error);
  return hk_fail_under(error, status, "transform");
}

/* ---- What needs all ranks ---- */

/* The sum of the measures by which a total mass is distributed, over the vertices of all ranks. */
static HkStatus sum_measures(const Windows *w, Body *b, HkError *error) {
  HkRanks *ranks = w->model->context.ranks;
  double *share = NULL;
  int64_t n = b->mesh->vertex_count;
  if (!hk_body_is_lumped(b->body)) return HK_OK;
  HkStatus status = hk_alloc(&w->model->context, &share, n, sizeof *share, "masses", error);
  if (status >= 0) hk_mesh_lump(b->mesh, hk_counts_dimension(&b->whole.counts), share);
  for (int64_t i = 0; i < n && status >= 0; i++)
    if (w->owner[b->first + i] == ranks->rank) b->whole.measure += share[i];
  hk_free(&w->model->context, &share);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  hk_ranks_sum(ranks, &b->whole.measure, 1);
  return HK_OK;
}

static HkStatus flatten(const Windows *w, Body *b, HkError *error) {
  if (w->model->dimension == 3) return HK_OK;
  HK_TRY(hk_mesh_flatten(b->mesh, b->whole.furthest, b->whole.number, error));
  return hk_mesh_flatten(b->beginning, b->whole.furthest, NULL, error);
}

static HkStatus add_window(Windows *w, Body *b, HkError *error) {
  HkRanks *ranks = w->model->context.ranks;
  HK_TRY(hk_ranks_agree(ranks, make_meshes(w, b, error), error));
  b->whole.furthest = hk_mesh_furthest(b->mesh);
  hk_ranks_most(ranks, &b->whole.furthest, 1);
  HK_TRY(hk_ranks_agree(ranks, flatten(w, b, error), error));
  HK_TRY(sum_measures(w, b, error));
  HkStatus status = hk_model_append_mesh(w->source, w->scene, b->body, b->mesh, &b->whole, error);
  return hk_ranks_agree(ranks, status, error);
}

static HkStatus add_body(Windows *w, int index, HkError *error) {
  Body b = {.body = &w->scene->bodies[index]};
  HkRanks *ranks = w->model->context.ranks;
  HkError inner = {0};
  HkStatus status = add_window(w, &b, &inner);
  hk_mesh_destroy(&b.beginning);
  if (status < 0) {
    hk_mesh_destroy(&b.mesh);
    return hk_body_blame(w->scene, index, &inner, error);
  }
  for (int64_t i = b.first; i < w->source->n; i++) w->number[i] += w->total;
  status = hk_model_append_range(w->source, w->scene, index, b.first, b.mesh, error);
  HkBodyRange *range = &w->source->bodies[index];
  range->first_number = w->total;
  range->total = b.whole.counts.vertices;
  w->total += range->total;
  return hk_ranks_agree(ranks, status, error);
}

/* ---- All together ---- */

static HkStatus make_source(Windows *w, HkError *error) {
  HkModel *m = w->model;
  const HkContext *c = &m->context;
  HkStatus status = hk_alloc(c, &w->source, 1, sizeof *w->source, "a model", error);
  if (status >= 0) {
    w->source->context = *c;
    w->source->dimension = m->dimension;
    status = hk_alloc(c, &w->source->bodies, w->scene->body_count, sizeof *w->source->bodies,
                      "bodies", error);
  }
  HK_TRY(hk_ranks_agree(c->ranks, status, error));
  for (int b = 0; b < w->scene->body_count; b++) HK_TRY(add_body(w, b, error));
  for (int64_t i = 0; i < w->source->n && m->dimension == 2; i++) w->source->v0[3 * i + 2] = 0;
  return HK_OK;
}

static void sum_masses(HkModel *m) {
  for (int64_t i = 0; i < m->n; i++)
    if (!m->part->ghost[i]) m->total_mass += m->mass[i];
  m->total_mass = hk_model_sum(m, m->total_mass);
}

static HkStatus make_part(Windows *w, HkError *error) {
  HkModel *m = w->model;
  HkRanks *ranks = m->context.ranks;
  int32_t *ghost_rank = NULL;
  HK_TRY(make_source(w, error));
  HkStatus status =
      hk_part_extract(w->source, w->owner, w->number, ranks->rank, m, &ghost_rank, error);
  hk_model_destroy(&w->source);
  status = hk_ranks_agree(ranks, status, error);
  if (status >= 0) sum_masses(m);
  if (status >= 0) status = hk_part_finish(m, ghost_rank, error);
  hk_free(&m->context, &ghost_rank);
  return status;
}

HkStatus hk_model_add_windows(HkModel *m, const HkScene *scene, HkError *error) {
  Windows w = {.scene = scene, .model = m};
  HkStatus status = make_part(&w, error);
  hk_model_destroy(&w.source);
  hk_free(&m->context, &w.owner);
  hk_free(&m->context, &w.number);
  return status;
}
