/* Whether another build of Hooke moves the built-in scenes as this one does:
 *
 *     same_motion FOLDER
 *
 * FOLDER has a file for each scene, named as it, with its positions and velocities after STEPS
 * steps (docs/protocol.md, save state). Prints how far they are from those of this build, in parts
 * of the largest one; ends with 1 where one is further than FAR or missing. Scenes with contact are
 * left out: they are solved to a relative gradient of 0.01, and differ with the linear solvers. */
#include "hooke/hooke.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100 };
static const double FAR = 1e-9;

static double distance(const double *a, const double *b, int64_t count) {
  double most = 0, size = 0;
  for (int64_t q = 0; q < count; q++) {
    most = fmax(most, fabs(a[q] - b[q]));
    size = fmax(size, fabs(b[q]));
  }
  return size > 0 ? most / size : most;
}

/* Between the numbers in a file and those of a state; NAN: there are not as many. */
static double distance_to(FILE *file, HkState *state) {
  int64_t count = 3 * hk_state_vertex_count(state);
  double *there = malloc(2 * (size_t)count * sizeof *there), far = NAN;
  if (there && fread(there, sizeof *there, 2 * (size_t)count, file) == 2 * (size_t)count)
    far = fmax(distance(there, hk_state_x(state), count),
               distance(there + count, hk_state_v(state), count));
  free(there);
  return far;
}

/* Between the states of a scene; NAN after an error, which is printed. */
static double compare(const char *text, const char *name, const char *path) {
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkSim *sim = NULL;
  HkState *state = NULL;
  FILE *file = fopen(path, "rb");
  HkStatus status = hk_scene_parse(NULL, text, strlen(text), name, NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_sim_create(model, NULL, 0, &sim, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status >= 0) status = hk_sim_steps(sim, state, STEPS, &error);
  if (status < 0) printf("%s\n", error.text);
  double far = status >= 0 && file ? distance_to(file, state) : NAN;
  if (file) fclose(file);
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return far;
}

int main(int argc, char **argv) {
  const char *text, *name;
  int bad = argc != 2;
  for (int q = 0; argc == 2 && (text = hk_scene_builtin(q, &name, NULL)); q++) {
    char path[4096];
    if (strstr(text, "\"contact\"")) continue;
    snprintf(path, sizeof path, "%s/%s", argv[1], name);
    double far = compare(text, name, path);
    printf("%-16s %.2g\n", name, far);
    if (!(far <= FAR)) bad = 1;
  }
  return bad;
}
