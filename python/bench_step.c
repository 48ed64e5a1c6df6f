/* Times hk_sim_step from C, for python/bench.py: bench_step SCENE INTEGRATOR H STEPS CALLS
 *
 * SCENE is a built-in scene, INTEGRATOR its JSON, H the step in s. Prints the seconds of the
 * processor for STEPS calls of hk_sim_step, one after the other, CALLS times, one a line.
 */
#define _POSIX_C_SOURCE 200809L
#include <hooke/hooke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *text_of(const char *wanted) {
  const char *text, *name, *title;
  for (int q = 0; (text = hk_scene_builtin(q, &name, &title)); q++)
    if (strcmp(name, wanted) == 0) return text;
  return "";
}

static HkStatus measure(HkSim *sim, HkState *state, long steps, HkError *error) {
  double before = now();
  HkStatus status = HK_OK;
  for (long q = 0; q < steps && status >= 0; q++) status = hk_sim_step(sim, state, error);
  printf("%.9g\n", now() - before);
  return status;
}

int main(int count, char **arguments) {
  HkError error = {0};
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkState *state = NULL;
  HkSim *sim = NULL;
  HkMethod step = {0};
  if (count != 6) return fprintf(stderr, "bench_step SCENE INTEGRATOR H STEPS CALLS\n"), 1;
  const char *text = text_of(arguments[1]), *integrator = arguments[2];
  HkContext context = hk_context_default();
  context.threads = 1; /* see bench.py */
  HkStatus status =
      hk_scene_parse(&context, text, strlen(text), arguments[1], NULL, NULL, 0, &scene, &error);
  if (status >= 0) status = hk_model_compile(scene, &model, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status >= 0)
    status = hk_method_parse(&step, HK_STEP, integrator, strlen(integrator), NULL, &error);
  if (status >= 0) status = hk_sim_create(model, &step, strtod(arguments[3], NULL), &sim, &error);
  for (long q = strtol(arguments[5], NULL, 10); q > 0 && status >= 0; q--)
    status = measure(sim, state, strtol(arguments[4], NULL, 10), &error);
  if (status < 0) fprintf(stderr, "%s\n", error.text);
  hk_method_clear(&step);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return status < 0;
}
