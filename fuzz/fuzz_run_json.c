/* libFuzzer target of run.json, from which hooke render takes the scene of a run: whatever the
 * bytes are, there is a scene or an error with a text. Scenes of small shapes are compiled, and
 * formatted and parsed again; no file is read.
 */
#include "hooke/hooke.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void demand(bool condition) {
  if (!condition) abort();
}

/* Whole numbers are counts of vertices, more or less. */
static bool is_small(const HkMethod *shape) {
  double product = 1;
  if (!shape->schema) return false;
  for (int q = 0; q < shape->schema->param_count; q++) {
    const HkParam *p = &shape->schema->params[q];
    const char *at = (const char *)shape->params + p->offset;
    if (p->kind == HK_PARAM_INTEGER) product *= fabs((double)*(const int *)at) + 1;
  }
  return product <= 1000;
}

static bool is_harmless(const HkScene *scene) {
  for (int q = 0; q < scene->body_count; q++) {
    const HkBody *body = &scene->bodies[q];
    if (body->mesh_file || body->springs.file || (!body->mesh && !is_small(&body->shape)))
      return false;
  }
  return scene->body_count <= 4;
}

static void survive_a_round_trip(const HkScene *scene) {
  char *text = NULL;
  HkScene *again = NULL;
  demand(hk_scene_format(scene, &text, NULL) == HK_OK);
  demand(hk_scene_parse(NULL, text, strlen(text), "again", NULL, NULL, 0, &again, NULL) == HK_OK);
  hk_text_destroy(&text);
  hk_scene_destroy(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  HkContext context = hk_context_default();
  HkScene *scene = NULL;
  HkModel *model = NULL;
  HkError error = {0};
  context.threads = 1;
  HkStatus status = hk_scene_parse(&context, (const char *)bytes, size, "run.json", "/nonexistent",
                                   NULL, 0, &scene, &error);
  demand(status >= 0 || (!scene && error.status == status && error.text[0]));
  if (status < 0) return 0;
  survive_a_round_trip(scene);
  if (is_harmless(scene)) {
    status = hk_model_compile(scene, &model, &error);
    demand(status >= 0 || (!model && error.status == status && error.text[0]));
  }
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
  return 0;
}
