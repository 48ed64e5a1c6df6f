/* Distances of many pairs in single precision against closest points in double. */
#include "contact/distance.h"
#include "contact/pair.h"
#include "model_by_hand.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = HK_DISTANCE_BATCH };

/* Pairs whose features cross, touch at corners, are parallel, or have no length or area, too. */
static void draw(uint64_t *seed, int trial, double x[PAIRS][12]) {
  for (int l = 0; l < PAIRS; l++) {
    for (int c = 0; c < 12; c++) x[l][c] = test_random(seed);
    int kind = (trial + l) % 8;
    for (int c = 0; c < 3; c++) {
      if (kind == 1) x[l][9 + c] = x[l][6 + c];                               /* no length */
      if (kind == 2) x[l][9 + c] = 2 * x[l][6 + c] - x[l][3 + c];             /* no area */
      if (kind == 3) x[l][9 + c] = x[l][6 + c] + x[l][3 + c] - x[l][c];       /* parallel edges */
      if (kind == 4) x[l][c] = (x[l][3 + c] + x[l][6 + c] + x[l][9 + c]) / 3; /* in the triangle */
      if (kind == 5) x[l][6 + c] = x[l][c] + 1e-3 * test_random(seed);        /* nearly a corner */
      if (kind == 6) x[l][9 + c] = x[l][6 + c] + 1e-4 * test_random(seed);    /* a sliver */
    }
  }
}

static void compare(const HkDistanceKernels *kernels) {
  static double x[PAIRS][12];
  static float place[PAIRS * 16];
  static int32_t at[4][PAIRS];
  uint64_t seed = 3;
  float distance[PAIRS];
  int64_t near = 0, all = 0;
  for (int trial = 0; trial < 400; trial++) {
    draw(&seed, trial, x);
    for (int l = 0; l < PAIRS; l++)
      for (int k = 0; k < 4; k++) {
        at[k][l] = 16 * l + 4 * k;
        for (int c = 0; c < 3; c++) place[at[k][l] + c] = (float)x[l][3 * k + c];
      }
    for (int split = 1; split <= 2; split++) {
      HkDistanceFn *find = split == HK_CONTACT_EDGES ? kernels->distance[1] : kernels->distance[0];
      find(place, (const int32_t(*)[PAIRS])at, distance);
      for (int l = 0; l < PAIRS; l++) {
        HkContactPair pair = {.split = split};
        for (int c = 0; c < 12; c++) pair.x[c] = (double)(float)x[l][c];
        double exact = hk_pair_touch(&pair).g;
        CHECK((double)distance[l] <= exact * (1 + 1e-5) + 4e-7);
        if ((trial + l) % 8 != 0) continue;
        near += fabs((double)distance[l] - exact) < 1e-4;
        all++;
      }
    }
  }
  CHECK((double)near > 0.95 * (double)all); /* of pairs that are not degenerate */
}

TEST(distances_in_single_precision_are_never_too_large) {
  const char *names[] = {"portable", "avx2", "avx512"};
  const char *before = getenv("HOOKE_SIMD");
  char kept[32] = "";
  if (before) snprintf(kept, sizeof kept, "%s", before);
  for (int k = 0; k < 3; k++) {
    const HkDistanceKernels *kernels = NULL;
    HkError error;
    setenv("HOOKE_SIMD", names[k], 1);
    if (hk_distances_pick(&kernels, &error) >= 0) compare(kernels);
  }
  if (before)
    setenv("HOOKE_SIMD", kept, 1);
  else
    unsetenv("HOOKE_SIMD");
}
