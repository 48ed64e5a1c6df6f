/* What tests of ranks share; see ranks.h. */
#include "ranks.h"

#include "base/ranks.h"
#include "model/part.h"

#include <unistd.h>

static HkRanks *ranks;

HkRanks *test_ranks(void) {
  return ranks;
}

static void close_all(void) {
  hk_ranks_close(&ranks);
}

/* Runs before main: MPI is there for all tests, and rank 0 alone prints their names. */
__attribute__((constructor)) static void open_all(void) {
  HkError error = {0};
  if (setenv("HOOKE_PLUGINS", TEST_PETSC, 1) != 0) abort();
  if (hk_ranks_open(NULL, 0, NULL, &ranks, &error) < 0) {
    fprintf(stderr, "%s\n", error.text);
    exit(1);
  }
  if (hk_ranks_rank(ranks) > 0 && !getenv("HOOKE_TEST_ALL_RANKS") &&
      !freopen("/dev/null", "w", stdout))
    abort();
  atexit(close_all);
}

HkScene *ranks_scene(const char *text, const char *const *sets, HkRanks *of) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkError error = {0};
  context.threads = 1;
  context.ranks = of;
  context.device = of ? HK_PETSC : HK_CPU;
  const char *name = NULL, *title, *json = text;
  for (int k = 0; text[0] != '{' && (json = hk_scene_builtin(k, &name, &title)); k++)
    if (strcmp(name, text) == 0) break;
  if (json && text[0] == '{') json = test_json(text);
  int set_count = 0;
  while (sets && sets[set_count]) set_count++;
  if (!json ||
      hk_scene_parse(&context, json, strlen(json), text, NULL, sets, set_count, &scene, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s: %s", text, error.text);
  return scene;
}

void ranks_share(void *value, size_t bytes) {
  ranks->type->broadcast(ranks, 0, value, bytes);
}

const char *ranks_folder(void) {
  static char path[300];
  memset(path, 0, sizeof path);
  if (hk_ranks_rank(ranks) == 0) snprintf(path, sizeof path, "%s", test_folder());
  ranks_share(path, sizeof path);
  return path;
}

HkStatus ranks_world(const char *text, const char *const *sets, HkRanks *of, RanksWorld *w,
                     HkError *error) {
  *w = (RanksWorld){.scene = ranks_scene(text, sets, of)};
  if (!w->scene) return HK_ERROR_INVALID;
  HkStatus status = hk_model_compile(w->scene, &w->model, error);
  if (status >= 0) status = hk_state_create(w->model, &w->state, error);
  if (status >= 0) status = hk_sim_create(w->model, NULL, 0, &w->sim, error);
  return status;
}

void ranks_world_destroy(RanksWorld *w) {
  hk_sim_destroy(&w->sim);
  hk_state_destroy(&w->state);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
}

double ranks_distance(const RanksWorld *part, const RanksWorld *whole) {
  HkPartView view;
  double most = 0;
  if (!hk_model_part(part->model, &view)) return INFINITY;
  const double *x = hk_state_positions(part->state), *y = hk_state_positions(whole->state);
  for (int64_t i = 0; i < view.owned + part->model->part->ghost_count; i++)
    for (int c = 0; c < 3 && !view.ghost[i]; c++) {
      double d = fabs(x[3 * i + c] - y[3 * view.number[i] + c]);
      if (!(d <= most)) most = d;
    }
  return hk_model_most(part->model, most);
}
