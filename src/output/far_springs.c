/* Springs between two ghosts of a part: cells at the border of parts have such edges, and the
 * strain of a cell is the mean over all its edges.
 *
 * The rank that owns the first vertex of an edge is asked once for the rest length; the positions
 * of ghosts are known at any time.
 */
#include "model/part.h"
#include "output/drawn.h"

#include "base/vec.h"

/* An edge, by numbers of the whole model. */
typedef struct Edge {
  int64_t a, b;
} Edge;

typedef struct Ask {
  const HkModel *model;
  int64_t *out, *in; /* bytes for and from each rank */
  int64_t *place;    /* of each far spring among the questions, which are sorted by rank */
  Edge *question;    /* of this rank */
  Edge *received;    /* from others */
  double *answer;    /* for others */
  double *length;    /* from others */
  int64_t asked;     /* number of received questions */
} Ask;

/* The rank that owns a ghost. */
static int owner_of(const HkPart *p, int32_t vertex) {
  int64_t low = 0, high = p->ghost_count;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (p->ghost_vertex[middle] <= vertex)
      low = middle;
    else
      high = middle;
  }
  return p->ghost_rank[low];
}

static HkStatus allocate(Ask *a, int64_t count, HkError *error) {
  const HkContext *c = &a->model->context;
  int64_t ranks = a->model->part->ranks->count;
  HK_TRY(hk_alloc(c, &a->out, ranks + 1, sizeof *a->out, "edges of cells", error));
  HK_TRY(hk_alloc(c, &a->in, ranks + 1, sizeof *a->in, "edges of cells", error));
  HK_TRY(hk_alloc(c, &a->place, count + 1, sizeof *a->place, "edges of cells", error));
  HK_TRY(hk_alloc(c, &a->question, count + 1, sizeof *a->question, "edges of cells", error));
  return hk_alloc(c, &a->length, count + 1, sizeof *a->length, "edges of cells", error);
}

/* Sorts the questions by the ranks that answer; out becomes the bytes for each rank. */
static void sort_questions(Ask *a, const HkFarSpring *far, int64_t count) {
  const HkPart *p = a->model->part;
  int ranks = p->ranks->count;
  for (int64_t k = 0; k < count; k++) a->out[owner_of(p, far[k].i) + 1]++;
  for (int r = 0; r < ranks; r++) a->out[r + 1] += a->out[r];
  for (int64_t k = 0; k < count; k++) {
    a->place[k] = a->out[owner_of(p, far[k].i)]++;
    a->question[a->place[k]] = (Edge){p->number[far[k].i], p->number[far[k].j]};
  }
  for (int r = ranks - 1; r > 0; r--) a->out[r] -= a->out[r - 1];
  for (int r = 0; r < ranks; r++) a->out[r] *= (int64_t)sizeof(Edge);
}

static void answer(Ask *a) {
  const HkModel *m = a->model;
  for (int64_t k = 0; k < a->asked; k++) {
    int64_t i = hk_part_find(m->part, a->received[k].a),
            j = hk_part_find(m->part, a->received[k].b);
    int32_t s = i >= 0 && j >= 0 ? hk_model_find_spring(m, (int32_t)i, (int32_t)j) : -1;
    a->answer[k] = s >= 0 ? m->springs.l0[s] : -1;
  }
}

/* Sends the questions, and receives the answers in their order. */
static HkStatus exchange(Ask *a, HkError *error) {
  const HkContext *c = &a->model->context;
  HkRanks *ranks = a->model->part->ranks;
  ranks->type->counts(ranks, a->out, a->in);
  for (int r = 0; r < ranks->count; r++) a->asked += a->in[r] / (int64_t)sizeof(Edge);
  HkStatus status =
      hk_alloc(c, &a->received, a->asked + 1, sizeof *a->received, "edges of cells", error);
  if (status >= 0)
    status = hk_alloc(c, &a->answer, a->asked + 1, sizeof *a->answer, "edges of cells", error);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  ranks->type->exchange(ranks, a->question, a->out, a->received, a->in);
  answer(a);
  for (int r = 0; r < ranks->count; r++) {
    a->out[r] = a->out[r] / (int64_t)sizeof(Edge) * (int64_t)sizeof(double);
    a->in[r] = a->in[r] / (int64_t)sizeof(Edge) * (int64_t)sizeof(double);
  }
  ranks->type->exchange(ranks, a->answer, a->in, a->length, a->out);
  return HK_OK;
}

HkStatus hk_far_springs_ask(const HkModel *m, HkFarSpring *far, int64_t count, HkError *error) {
  const HkContext *c = &m->context;
  Ask a = {.model = m};
  HkStatus status = hk_model_agree(m, allocate(&a, count, error), error);
  if (status >= 0) sort_questions(&a, far, count);
  if (status >= 0) status = exchange(&a, error);
  for (int64_t k = 0; k < count && status >= 0; k++) far[k].l0 = a.length[a.place[k]];
  void *arrays[] = {&a.out, &a.in, &a.place, &a.question, &a.received, &a.answer, &a.length};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(c, arrays[k]);
  return status;
}

void hk_edge_springs_strains(const HkModel *m, const HkEdgeSprings *e, const double *x,
                             double *strain) {
  for (int64_t k = 0; k < e->far_count; k++) {
    const HkFarSpring *s = &e->far[k];
    double l = hk_distance(x + 3 * (int64_t)s->i, x + 3 * (int64_t)s->j);
    strain[m->springs.count + k] = s->l0 > 0 ? (l - s->l0) / s->l0 : 0;
  }
}
