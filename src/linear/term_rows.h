/* Weighted terms (force/weighted.h) by vertices, in single precision.
 *
 * K of a term is a sum of d d^T over one to three vectors d: one for the barrier of contact, two
 * for friction that holds. Each is a piece, with v_a = w_a d of its four vertices. A product with
 *
 *     C = sum of v v^T over the pieces
 *
 * takes three passes, in none of which two threads write to one number or add in another order:
 *
 *     part_a = v_a . x_a   over the vertices
 *     y = s sum_a part_a   over the pieces, where s is the scale of the caller
 *     out_i += sum of v y  over the vertices
 *
 * v stands with its vertex alone, four entries in the 64 bytes of a cache line. So a product reads
 * 128 bytes a term, and all else is scratch. The operator of pcg and level 0 of multigrid share the
 * rows: the former in double arithmetic, where C is the exact Hessian of terms whose weights and
 * normals are rounded to floats, the latter in floats.
 */
#ifndef HK_LINEAR_TERM_ROWS_H
#define HK_LINEAR_TERM_ROWS_H

#include "force/weighted.h"

/* Four entries of one vertex: v = (v[0][l], v[1][l], v[2][l]), and place[l] is 4 times the piece
 * plus the number of the vertex in it. Rows begin with entries that fill up a quad: v = 0, and the
 * place of the entry that follows them and overwrites what they write. v is 0 for held vertices. */
typedef struct HkTermQuad {
  float v[3][4];
  int32_t place[4];
} HkTermQuad;

/* A piece while the rows are made, in the scratch buffer of the terms. */
typedef struct HkTermPiece {
  float d[3], unused, weight[4];
} HkTermPiece;

typedef struct HkTermRows {
  const HkWeightedTerms *terms;
  const struct HkTermKernels *kernels;
  int64_t pieces;
  int32_t *first;   /* terms->count + 1: term t has the pieces first[t] .. first[t + 1] - 1 */
  uint8_t *entries; /* one a term: of its vertices, while the rows are made */
  int64_t *start;   /* terms->vertex_count + 1: the quads of terms->vertex[k] */
  HkTermQuad *quad;
  int64_t first_capacity, entries_capacity, start_capacity, quad_capacity;
} HkTermRows;

/* Makes the rows of terms that hk_weighted_finish has listed, and which outlive them. Parts and y
 * of products are in the scratch buffer y of the terms, 5 doubles a piece and a term at least,
 * which is free for others between products. held: n, or NULL. In two dimensions nothing couples to
 * z. */
HkStatus hk_term_rows_make(HkTermRows *rows, HkWeightedTerms *terms, const HkModel *model,
                           const uint8_t *held, HkError *error);
/* out += scale C p */
void hk_term_rows_product(const HkTermRows *rows, int threads, double scale, const double *p,
                          double *out);
void hk_term_rows_destroy(const HkModel *model, HkTermRows *rows);
size_t hk_term_rows_bytes(const HkTermRows *rows);

/* The passes over vertices of terms, begin .. end - 1; vectors of floats have four a row. */
typedef struct HkTermKernels {
  /* part = v . x in doubles, and out += scale sum v y. */
  void (*parts)(const HkTermRows *rows, const double *x, double *part, int64_t begin, int64_t end);
  void (*add)(const HkTermRows *rows, double scale, const double *y, double *out, int64_t begin,
              int64_t end);
  /* In floats, with row[i] as the row of vertex i in x and r; and r += G x - sum v y, where G has
   * 12 floats a vertex of terms: three columns of four. */
  void (*parts_single)(const HkTermRows *rows, const int32_t *row, const float *x, float *part,
                       int64_t begin, int64_t end);
  void (*subtract_single)(const HkTermRows *rows, const int32_t *row, const float *y,
                          const float *G, const float *x, float *r, int64_t begin, int64_t end);
  /* part = |v|; and G = sum of v v^T y / |v|. */
  void (*norms_single)(const HkTermRows *rows, float *part, int64_t begin, int64_t end);
  void (*diagonal_single)(const HkTermRows *rows, const float *y, float *G, int64_t begin,
                          int64_t end);
} HkTermKernels;

#endif
