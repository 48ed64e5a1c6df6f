/* A regular cloth on a GPU whose springs are not stored: SIDE x SIDE vertices (the first argument,
 * 1000; 30000 needs 54 GB) fall from two corners. Prints energies, and where every tenth part of
 * the lower edge is. Without a GPU it says so. */
#include <hooke/sheet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 10, POINTS = 10 };

static const char text[] =
    "{\"bodies\": [{\"shape\": {\"type\": \"grid\", \"plane\": \"xz\"}, \"springs\": {\"k\": 100, "
    "\"shear\": true, \"bending\": true}, \"mass\": {\"per_vertex\": 1e-6}}], \"pins\": "
    "[{\"select\": \"top_left\"}, {\"select\": \"top_right\"}], \"forces\": [\"gravity\"]}";

int main(int argc, char **argv) {
  int side = argc > 1 ? atoi(argv[1]) : 1000;
  HkError error = {0};
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkSheet *sheet = NULL;
  char sets[2][60];
  const char *all[2] = {sets[0], sets[1]};
  context.device = HK_CUDA;
  for (int axis = 0; axis < 2; axis++)
    snprintf(sets[axis], sizeof sets[axis], "bodies[0].shape.n%c=%d", "xy"[axis], side);
  if (hk_scene_parse(&context, text, strlen(text), "sheet", NULL, all, 2, &scene, &error) >= 0)
    hk_sheet_create(scene, &sheet, &error);
  for (int frame = 0; error.status >= 0 && frame < FRAMES; frame++) {
    HkSheetInfo info;
    HkSheetWindow edge = {0, 0, POINTS, 1, side / POINTS > 0 ? side / POINTS : 1};
    double x[3 * POINTS];
    if (hk_sheet_steps(sheet, 100, &error) < 0 || hk_sheet_info(sheet, &info, &error) < 0 ||
        hk_sheet_read(sheet, &edge, x, NULL, &error) < 0)
      break;
    printf("%.5f s: kinetic %.5g J, springs %.5g J; lower edge at", info.time, info.kinetic,
           info.spring);
    for (int q = 0; q < POINTS; q++) printf(" %.5f", x[3 * q + 1]);
    printf("\n");
  }
  if (error.status < 0) printf("%s\n", error.text);
  hk_sheet_destroy(&sheet);
  hk_scene_destroy(&scene);
  return error.status < 0 && error.status != HK_ERROR_UNSUPPORTED;
}
