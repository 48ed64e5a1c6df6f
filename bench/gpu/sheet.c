/* Explicit steps of a regular cloth whose springs are not stored (hooke/sheet.h).
 *
 *     hooke_bench_sheet SIDE [STEPS]
 *
 * A cloth of SIDE x SIDE vertices, 1 mm apart, with edges, shear and bending springs of the same
 * k / m at every size, falls from rest, horizontal, from two corners. Prints the time to make it,
 * milliseconds of a step, bytes of device memory a vertex, and the energies.
 */
#include "hooke/sheet.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

int main(int argc, char **argv) {
  int side = argc > 1 ? atoi(argv[1]) : 1000, steps = argc > 2 ? atoi(argv[2]) : 100;
  char text[1000];
  HkScene *scene = NULL;
  HkSheet *sheet = NULL;
  HkSheetInfo info;
  HkError error = {0};
  HkContext context = hk_context_default();
  setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0);
  context.device = HK_CUDA;
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": %d, \"ny\": %d, \"width\": %g, "
           "\"height\": %g, \"plane\": \"xz\"}, \"springs\": {\"k\": 100, \"shear\": true, "
           "\"bending\": true}, \"mass\": {\"per_vertex\": 1e-6}}], \"pins\": [{\"select\": "
           "\"top_left\"}, {\"select\": \"top_right\"}], \"forces\": [\"gravity\"], "
           "\"integrator\": \"symplectic_euler\"}",
           side, side, 1e-3 * (side - 1), 1e-3 * (side - 1));
  check(hk_scene_parse(&context, text, strlen(text), "scene", NULL, NULL, 0, &scene, &error),
        &error);
  double begin = hk_wall_time();
  check(hk_sheet_create(scene, &sheet, &error), &error);
  double made = hk_wall_time() - begin, best = 1e30, sum = 0;
  check(hk_sheet_steps(sheet, 2, &error), &error);
  for (int round = 0; round < 5; round++) {
    begin = hk_wall_time();
    check(hk_sheet_steps(sheet, steps, &error), &error);
    double one = (hk_wall_time() - begin) / steps;
    sum += one;
    if (one < best) best = one;
  }
  check(hk_sheet_info(sheet, &info, &error), &error);
  double n = (double)info.nx * (double)info.ny;
  printf("%lld x %lld vertices, %.4g springs: made in %.2f s; a step %.4f ms (mean %.4f), %.1f "
         "billion springs/s, %.0f bytes of traffic a vertex at 4 TB/s; %.1f bytes a vertex\n",
         (long long)info.nx, (long long)info.ny, (double)info.springs, made, 1e3 * best,
         1e3 * sum / 5, 1e-9 * (double)info.springs / best, 4e12 * best / n, info.device_bytes / n);
  printf("after %lld steps of %.3g s: kinetic %.8g, spring %.8g, gravity %.8g, sum %.4g J\n",
         (long long)info.steps, info.h, info.kinetic, info.spring, info.gravity,
         info.kinetic + info.spring + info.gravity);
  hk_sheet_destroy(&sheet);
  hk_scene_destroy(&scene);
  return 0;
}
