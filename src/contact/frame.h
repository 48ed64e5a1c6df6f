/* Where two things touch: vertices, weights w and the normal n at given positions, and how both
 * change with the positions.
 *
 * With the gap g, dg/dx_a = w_a n, and H = d2g/dx2. The weights of the first feature add up to 1,
 * and n . dn = 0, so that
 *
 *     dn = sum over the first feature of (H dx)_a,   dw_a = n . (H dx)_a
 */
#ifndef HK_CONTACT_FRAME_H
#define HK_CONTACT_FRAME_H

#include "contact/contacts.h"

typedef struct HkContactFrame {
  int32_t vertex[4];
  int count, split; /* vertices, and those of the first feature; at a wall 1 and 1 */
  double w[4], n[3];
  double g;      /* m */
  double H[144]; /* 1/m, (3 count)^2; of vertices of the model */
  bool turns;    /* H is not 0 */
} HkContactFrame;

/* Of vertex v at x (3 n) and a wall. */
HkContactFrame hk_frame_of_wall(const HkContacts *contacts, int32_t wall, const HkPose *pose,
                                int32_t v, const double *x);
/* Of a pair, with what it is as pair and touch. */
HkContactFrame hk_frame_of_pair(const HkContacts *contacts, const int32_t vertex[4],
                                const HkContactPair *pair, const HkTouch *touch);

/* to_x += the gradient by the positions, from those by n and w; and the change of n and w by dx. */
void hk_frame_pull_back(const HkContactFrame *frame, const double by_n[3], const double by_w[4],
                        double *to_x);
void hk_frame_push_forward(const HkContactFrame *frame, const double *dx, double dn[3],
                           double dw[4]);

/* Whether vertex a moves by itself, and is none of an obstacle. */
static inline bool hk_frame_has(const HkContacts *c, const HkContactFrame *frame, int a) {
  return frame->vertex[a] < c->data->features.n;
}

#endif
