/* The robustness sweep: every built-in scene x stiffness x step x method, 100 steps each.
 *
 *     robustness [SCENE]        prints CSV; exit status 1 if anything failed
 *
 * Large meshes are made smaller, so that all of it takes minutes. A cell is the number of steps
 * that did not converge (no failure for local_global, which stops at its number of iterations), or
 * 'blow-up S' with the step S at which the motion blew up. scripts/robustness.sh writes the rows to
 * docs/robustness.csv and draws them.
 */
#include "hooke/hooke.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100, METHODS = 4, STIFFNESSES = 5, LENGTHS = 5 };

static const double stiffness[STIFFNESSES] = {1, 1e2, 1e4, 1e6, 1e8};
static const double length[LENGTHS] = {1e-4, 1e-3, 1.0 / 120, 1.0 / 30, 1.0 / 24};
static const char *const length_name[LENGTHS] = {"1e-4", "1e-3", "1/120", "1/30", "1/24"};
static const char *const method_name[METHODS] = {"linear_implicit_euler", "backward_euler + newton",
                                                 "backward_euler + local_global",
                                                 "implicit_midpoint + newton"};

static const char *const strand =
    "{\"bodies\": [{\"shape\": {\"type\": \"chain\", \"n\": 20, \"end\": [1, 0, 0]}, \"mass\": "
    "{\"per_vertex\": 0.01, \"added\": [[19, 9.99]]}}], \"pins\": [{\"select\": \"start\"}], "
    "\"forces\": [\"gravity\"]}";

/* ---- One run ---- */

typedef struct Outcome {
  int missed; /* steps that did not converge */
  int blowup; /* the step at which it ended, or -1 */
  int most;   /* iterations of the worst step */
  double seconds;
} Outcome;

static HkStatus choose(HkMethod *step, int method, HkError *error) {
  const char *names[METHODS] = {"linear_implicit_euler", "backward_euler", "backward_euler",
                                "implicit_midpoint"};
  HkStatus status = hk_method_choose(step, HK_STEP, names[method], error);
  if (status >= 0 && method == 2 && !hk_method_set_method(step, "minimizer", "local_global", error))
    status = HK_ERROR_INVALID;
  return status;
}

static Outcome run(const HkModel *model, int method, double h) {
  Outcome o = {.blowup = 0};
  HkError error = {0};
  HkMethod step = {0};
  HkSim *sim = NULL;
  HkState *state = NULL;
  HkStatus status = choose(&step, method, &error);
  if (status >= 0) status = hk_sim_create(model, &step, h, &sim, &error);
  if (status >= 0) status = hk_state_create(model, &state, &error);
  if (status < 0) fprintf(stderr, "%s\n", error.text);
  for (; o.blowup < STEPS && status >= 0; o.blowup++) {
    status = hk_sim_step(sim, state, &error);
    o.missed += status == HK_NOT_CONVERGED;
    HkStepInfo report = hk_sim_step_info(sim);
    if (report.iterations > o.most) o.most = report.iterations;
  }
  if (status >= 0) o.blowup = -1;
  hk_state_destroy(&state);
  hk_sim_destroy(&sim);
  hk_method_clear(&step);
  return o;
}

/* ---- Scenes ---- */

/* The mesh made small enough. */
static void shrink(HkMethod *shape) {
  static const struct {
    const char *shape, *param;
    double most;
  } limits[] = {{"grid", "nx", 17}, {"grid", "ny", 17},   {"block", "nx", 6}, {"block", "ny", 5},
                {"block", "nz", 6}, {"disc", "rings", 8}, {"net", "n", 6},    {"chain", "n", 41}};
  for (size_t q = 0; q < sizeof limits / sizeof limits[0]; q++)
    if (shape->schema && strcmp(shape->schema->name, limits[q].shape) == 0)
      hk_method_set_number(shape, limits[q].param, limits[q].most, NULL);
}

static HkStatus compile(const char *text, double k, HkModel **model, HkError *error) {
  HkScene *scene = NULL;
  HkStatus status = hk_scene_parse(NULL, text, strlen(text), "scene", NULL, NULL, 0, &scene, error);
  for (int b = 0; status >= 0 && b < scene->body_count; b++) {
    HkSprings *s = &scene->bodies[b].springs;
    s->k = k;
    s->EA = s->k_shear = s->EA_shear = s->k_bending = s->EA_bending = NAN;
    shrink(&scene->bodies[b].shape);
  }
  if (status >= 0) status = hk_model_compile(scene, model, error);
  hk_scene_destroy(&scene);
  return status;
}

/* Returns whether the cell is a failure: local/global may stop at its number of iterations. */
static int print_cell(Outcome o, bool may_miss) {
  if (o.blowup >= 0)
    printf(",blow-up %d", o.blowup);
  else
    printf(",%d", o.missed);
  fflush(stdout);
  return o.blowup >= 0 || (o.missed && !may_miss);
}

static int sweep(const char *name, const char *text) {
  int failures = 0;
  for (int k = 0; k < STIFFNESSES; k++) {
    HkModel *model = NULL;
    HkError error = {0};
    if (compile(text, stiffness[k], &model, &error) < 0) {
      fprintf(stderr, "%s: %s\n", name, error.text);
      return 1;
    }
    for (int m = 0; m < METHODS; m++) {
      printf("%s,%g,%s", name, stiffness[k], method_name[m]);
      int most = 0;
      for (int h = 0; h < LENGTHS; h++) {
        Outcome o = run(model, m, length[h]);
        failures += print_cell(o, m == 2);
        if (o.most > most) most = o.most;
      }
      printf(",%d\n", most);
    }
    hk_model_destroy(&model);
  }
  return failures;
}

int main(int count, char **words) {
  const char *wanted = count > 1 ? words[1] : NULL, *name, *text;
  int failures = 0;
  printf("scene,k (N/m),method");
  for (int h = 0; h < LENGTHS; h++) printf(",h = %s s", length_name[h]);
  printf(",most iterations\n");
  for (int q = 0; (text = hk_scene_builtin(q, &name, NULL)); q++)
    if (wanted ? strcmp(wanted, name) == 0 : !strstr(text, "\"contact\""))
      failures += sweep(name, text); /* scenes with contact: contact_sweep */
  if (!wanted || strcmp(wanted, "strand") == 0) failures += sweep("strand", strand);
  fprintf(stderr, "%d of the cells are not clean\n", failures);
  return failures > 0;
}
