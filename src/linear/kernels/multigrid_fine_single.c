/* The inner loops of multigrid on level 0; see multigrid_kernels.h and multigrid.h.
 *
 * Springs are 4 floats (w, c) for the block w w^T + c I, so that a product with one is
 *
 *     B x = (w . x) w + c x
 *
 * for the neighbors in one slot of all four rows of a group at once, or of as many as a vector
 * holds.
 */
#include "linear/multigrid_kernels.h"

#include "linear/kernels/blocks.h"

enum {
  SLOT = 4 * HK_LANES,      /* floats of the springs in a slot, and of a vector of a group */
  PIECES = HK_LANES / QUADS /* vectors that hold them */
};

typedef struct Group {
  HkFloats piece[PIECES];
} Group;

HK_INLINE Group group_load(const float *p) {
  Group g;
  for (int k = 0; k < PIECES; k++) g.piece[k] = hk_floats_load(p + k * HK_FLOATS);
  return g;
}

HK_INLINE void group_store(float *p, Group g) {
  for (int k = 0; k < PIECES; k++) hk_floats_store(p + k * HK_FLOATS, g.piece[k]);
}

/* ---- Sweeps ---- */

/* sum + B x of the springs in slots begin .. end - 1; the last of each four is of no meaning. */
HK_INLINE Group springs_add(const HkMultigrid *m, int32_t begin, int32_t end, Group sum) {
  const HkFine *f = &m->fine;
  const float *from = m->level[0].x;
  Group along = {{{0}}}; /* a sum of its own: the two do not wait for each other */
  for (int64_t s = begin; s < end; s++)
    for (int k = 0; k < PIECES; k++) {
      HkFloats B = hk_floats_load(f->spring + SLOT * s + k * HK_FLOATS);
      HK_IN_REGISTER(B);
      HkFloats x = quads_gather(from, f->neighbor + HK_LANES * s + k * QUADS);
      HkFloats dot = B * x; /* the last of x is 0 */
      dot = dot + QUAD_SHUFFLE(dot, 1, 0, 3, 2);
      dot = dot + QUAD_SHUFFLE(dot, 2, 3, 0, 1);
      along.piece[k] = along.piece[k] + dot * B;
      sum.piece[k] = sum.piece[k] + QUAD_SHUFFLE(B, 3, 3, 3, 3) * x;
    }
  for (int k = 0; k < PIECES; k++) sum.piece[k] = sum.piece[k] + along.piece[k];
  return sum;
}

/* x = D^-1 rest of group g. */
HK_INLINE void solve_group(const HkLevel *l, int64_t g, Group rest) {
  Group D[3], x;
  for (int c = 0; c < 3; c++) D[c] = group_load(l->D + SLOT * (3 * g + c));
  for (int k = 0; k < PIECES; k++)
    x.piece[k] = D[0].piece[k] * QUAD_SHUFFLE(rest.piece[k], 0, 0, 0, 0) +
                 D[1].piece[k] * QUAD_SHUFFLE(rest.piece[k], 1, 1, 1, 1) +
                 D[2].piece[k] * QUAD_SHUFFLE(rest.piece[k], 2, 2, 2, 2);
  group_store(l->x + SLOT * g, x);
}

static void sweep_first(const HkMultigrid *m, int64_t begin, int64_t end) {
  const HkLevel *l = &m->level[0];
  for (int64_t g = begin; g < end; g++)
    solve_group(l, g,
                springs_add(m, m->fine.lower[g], m->fine.upper[g], group_load(l->b + SLOT * g)));
}

static void sweep_back(const HkMultigrid *m, int64_t begin, int64_t end) {
  const HkLevel *l = &m->level[0];
  for (int64_t g = end - 1; g >= begin; g--)
    solve_group(
        l, g, springs_add(m, m->fine.lower[g], m->fine.lower[g + 1], group_load(l->b + SLOT * g)));
}

static void residual(const HkMultigrid *m, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; g++)
    group_store(m->level[0].r + SLOT * g,
                springs_add(m, m->fine.upper[g], m->fine.lower[g + 1], (Group){{{0}}}));
}

/* ---- From and to others ---- */

static void prolong(const HkMultigrid *m, int64_t begin, int64_t end) {
  const HkFine *f = &m->fine;
  const float *from = m->level[1].x;
  for (int64_t g = begin; g < end; g++) {
    Group x = group_load(m->level[0].x + SLOT * g);
    for (int64_t s = f->follows[g]; s < f->follows[g + 1]; s++)
      for (int k = 0; k < PIECES; k++) {
        int64_t at = HK_LANES * s + k * QUADS;
        x.piece[k] = x.piece[k] + quads_spread(f->weight + at) * quads_gather(from, f->coarse + at);
      }
    group_store(m->level[0].x + SLOT * g, x);
  }
}

/* In two dimensions z holds masses alone, and stays 0 within. */
static void take(const HkMultigrid *m, const double *r, int64_t begin, int64_t end) {
  bool flat = m->model->dimension == 2;
  float *b = m->level[0].b;
  for (int64_t k = begin; k < end; k++) {
    int64_t i = m->vertex[k];
    HkFloat4 to = {0};
    for (int c = 0; i >= 0 && c < (flat ? 2 : 3); c++) to[c] = (float)(m->scale * r[3 * i + c]);
    hk_float4_store(b + 4 * k, to);
  }
}

static void give(const HkMultigrid *m, const double *r, double *z, int64_t begin, int64_t end) {
  bool flat = m->model->dimension == 2;
  const float *x = m->level[0].x;
  double back = 1 / m->scale;
  for (int64_t i = begin; i < end; i++) {
    for (int c = 0; c < 3; c++) z[3 * i + c] = back * (double)x[4 * (int64_t)m->row[i] + c];
    if (flat) z[3 * i + 2] = r[3 * i + 2] / m->model->mass[i];
  }
}

/* ---- A new Hessian ---- */

HK_INLINE int64_t first_of_row(const HkFine *fine, int64_t i) {
  return HK_LANES * (int64_t)fine->lower[i / HK_LANES] + i % HK_LANES;
}

HK_INLINE int64_t last_of_row(const HkFine *fine, int64_t i) {
  return HK_LANES * (int64_t)fine->lower[i / HK_LANES + 1];
}

/* Puts the springs of row i, adds their blocks to D. */
HK_INLINE Block fill_springs(const HkFineValues *v, int64_t i, Block D) {
  const HkMultigrid *m = v->multigrid;
  int64_t end = last_of_row(&m->fine, i);
  for (int64_t e = first_of_row(&m->fine, i); e < end; e += HK_LANES) {
    float *to = m->fine.spring + 4 * e;
    if (m->fine.record[e] < 0) continue;
    const float *from = v->records + 4 * (int64_t)m->fine.record[e];
    bool held = v->held && v->held[m->vertex[m->fine.neighbor[e]]];
    HkFloat4 spring = hk_float4_load(from);
    if (held) spring = (HkFloat4){0};
    hk_float4_store(to, spring);
    D = block_add(D, block_of_spring(from), -1);
  }
  return D;
}

static void clear_springs(const HkFine *fine, int64_t i) {
  int64_t end = last_of_row(fine, i);
  for (int64_t e = first_of_row(fine, i); e < end; e += HK_LANES)
    hk_float4_store(fine->spring + 4 * e, (HkFloat4){0});
}

static void fill(const HkFineValues *v, int64_t begin, int64_t end) {
  const HkMultigrid *m = v->multigrid;
  for (int64_t i = begin; i < end; i++) {
    int64_t vertex = m->vertex[i];
    float start[16] = {0};
    bool held = vertex >= 0 && v->held && v->held[vertex];
    for (int c = 0; vertex >= 0 && c < 3; c++) start[5 * c] = (float)m->model->mass[vertex];
    if (vertex >= 0 && !held && v->extra)
      for (int c = 0; c < 9; c++) start[4 * (c / 3) + c % 3] += (float)v->extra[9 * vertex + c];
    Block sum = block_load(start);
    if (held)
      clear_springs(&m->fine, i);
    else if (vertex >= 0)
      sum = fill_springs(v, i, sum);
    block_store(m->level[0].D + 12 * i, sum);
  }
}

/* The blocks of row i, from springs and diagonal. */
HK_INLINE void blocks_of_row(const HkMultigrid *m, int64_t i, Block blocks[]) {
  const HkLevel *l = &m->level[0];
  const HkFine *fine = &m->fine;
  int32_t lower = l->diagonal[i] - l->graph.start[i];
  int32_t upper = l->graph.start[i + 1] - l->diagonal[i] - 1;
  const float *below = fine->spring + 4 * first_of_row(fine, i);
  const float *above =
      fine->spring + 4 * (HK_LANES * (int64_t)fine->upper[i / HK_LANES] + i % HK_LANES);
  for (int32_t e = 0; e < lower; e++) blocks[e] = block_of_spring(below + SLOT * e);
  blocks[lower] = block_load(l->D + 12 * i);
  for (int32_t e = 0; e < upper; e++) blocks[lower + 1 + e] = block_of_spring(above + SLOT * e);
}

static void multiply(const HkMultigrid *m, int64_t begin, int64_t end) {
  const HkGalerkin *k = &m->level[0].galerkin;
  Block blocks[HK_GALERKIN_ROW_BLOCKS_MAX];
  for (int64_t i = begin; i < end; i++) {
    blocks_of_row(m, i, blocks);
    for (int64_t e = k->row[i]; e < k->row[i + 1]; e++) {
      Block sum = {0};
      for (int64_t t = k->term[e]; t < k->term[e + 1]; t++)
        sum = block_add(sum, blocks[k->block[t]], k->weight[t]);
      block_store(k->AP + 12 * e, sum);
    }
  }
}

/* Blocks of three columns become columns of four blocks. */
static void invert(const HkMultigrid *m, int64_t begin, int64_t end) {
  for (int64_t g = begin; g < end; g++) {
    float blocks[12 * HK_LANES], *D = m->level[0].D + 12 * HK_LANES * g;
    memcpy(blocks, D, sizeof blocks);
    for (int l = 0; l < HK_LANES; l++) {
      invert_block(blocks + 12 * l);
      for (int c = 0; c < 3; c++)
        memcpy(D + SLOT * c + 4 * l, blocks + 12 * l + 4 * c, 4 * sizeof *D);
    }
  }
}

const HkFineKernels HK_KERNEL(hk_fine_kernels) = {.fill = fill,
                                                  .multiply = multiply,
                                                  .invert = invert,
                                                  .sweep_first = sweep_first,
                                                  .sweep_back = sweep_back,
                                                  .residual = residual,
                                                  .prolong = prolong,
                                                  .take = take,
                                                  .give = give};
