/* Dense panels of L in A = L D L^T: `rows` x `columns`, column by column, the first `columns` rows
 * a unit lower triangle. What stands above its diagonal is never read. The inner loops are in
 * kernels/panel.c. */
#ifndef HK_LINEAR_PANEL_H
#define HK_LINEAR_PANEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct HkPanelKernels {
  /* T -= B diag(d) C^T for B of rows x depth and C its first columns rows; both T and B have
   * columns of their own stride. Only the rows of T from its diagonal down are of use. */
  void (*update)(int64_t rows, int64_t columns, int64_t depth, const double *B, int64_t stride_b,
                 const double *d, double *T, int64_t stride_t);
  /* Factorizes a panel in place; its D goes to d. False if some d is not positive and finite. */
  bool (*factorize)(int64_t rows, int64_t columns, double *panel, double *d);
  /* x = L^-1 x with all rows of the panel (the lower ones receive what the others do to them), and
   * the upper part of x = L^-T x; 1 or 3 interleaved right-hand sides. */
  void (*forward)(int64_t rows, int64_t columns, const double *panel, double *x, int sides);
  void (*backward)(int64_t rows, int64_t columns, const double *panel, double *x, int sides);
} HkPanelKernels;

#endif
