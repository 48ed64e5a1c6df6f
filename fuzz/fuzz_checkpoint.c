/* libFuzzer target of checkpoints with a right checksum: whatever is in them, a run is resumed and
 * goes on, or there is an error with a text. The input is added (exclusive or) to the checkpoint of
 * a run, so that it need not find the hash of the scene; its first byte says whether to that of the
 * run, to a saved state, or to a file with no checksum at all.
 */
#include "hooke/run.h"
#include "model/state.h"
#include "output/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct {
  char folder[64], run_path[96], state_path[96];
  HkScene *scene;
  HkModel *model;
  HkState *state;
  char *run, *saved, *room;
  size_t run_size, saved_size;
} given;

static void demand(bool condition) {
  if (!condition) abort();
}

static char *read_payload(const char *path, HkCheckpointKind kind, size_t *size) {
  HkContext c = hk_context_default();
  char *bytes = NULL;
  const char *payload = NULL;
  demand(hk_checkpoint_read(&c, path, kind, &bytes, &payload, size, NULL) == HK_OK);
  char *copy = malloc(*size);
  demand(copy != NULL);
  memcpy(copy, payload, *size);
  hk_free(&c, &bytes);
  return copy;
}

static void remove_folder(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", given.folder);
  if (system(command) != 0) fputs("the folder stays\n", stderr);
}

/* Two memories of forces, by which the saved state has all parts that one may have. */
static void add_memories(HkState *state) {
  for (uint64_t key = 1; key <= 2; key++) {
    HkForceMemory *memory = NULL;
    demand(hk_state_need_memory(state, key, &memory, NULL) == HK_OK);
    demand(hk_force_memory_write(memory, &key, sizeof key, NULL) == HK_OK);
  }
}

/* One frame of a small run, and its files. */
int LLVMFuzzerInitialize(int *count, char ***arguments) {
  static const char text[] =
      "{\"time\": {\"duration\": 0.02, \"step\": 0.005, \"frames_per_second\": 100},"
      "\"integrator\": \"backward_euler\", \"bodies\": [{\"shape\": {\"type\": \"chain\", \"n\": "
      "3}}], \"pins\": [{\"select\": \"start\"}], \"forces\": [\"gravity\", {\"type\": "
      "\"contact\", "
      "\"ground\": true, \"height\": -0.0013, \"friction\": 0.5}], \"outputs\": [\"energies\", "
      "\"solver\", \"pc2\"]}";
  (void)count;
  (void)arguments;
  HkRunOptions options = hk_run_options_default();
  HkRun *run = NULL;
  snprintf(given.folder, sizeof given.folder, "/tmp/hooke-fuzz-XXXXXX");
  demand(mkdtemp(given.folder) != NULL);
  atexit(remove_folder);
  snprintf(given.run_path, sizeof given.run_path, "%s/checkpoint", given.folder);
  snprintf(given.state_path, sizeof given.state_path, "%s/state", given.folder);
  demand(hk_scene_parse(NULL, text, sizeof text - 1, "fuzz", NULL, NULL, 0, &given.scene, NULL) ==
         HK_OK);
  given.scene->context.threads = 1;
  demand(hk_model_compile(given.scene, &given.model, NULL) == HK_OK);
  demand(hk_state_create(given.model, &given.state, NULL) == HK_OK);
  add_memories(given.state);
  demand(hk_state_save(given.state, given.state_path, NULL) == HK_OK);
  options.folder = given.folder;
  options.force = true;
  options.checkpoint_seconds = 0;
  demand(hk_run_create(given.scene, &options, &run, NULL) == HK_OK);
  demand(hk_run_frame(run, NULL) == HK_OK);
  hk_run_destroy(&run);
  given.run = read_payload(given.run_path, HK_CHECKPOINT_RUN, &given.run_size);
  given.saved = read_payload(given.state_path, HK_CHECKPOINT_STATE, &given.saved_size);
  given.room = malloc(given.run_size + given.saved_size);
  demand(given.room != NULL);
  return 0;
}

static void resume(void) {
  HkRunOptions options = hk_run_options_default();
  HkError error = {0};
  HkRun *run = NULL;
  options.folder = given.folder;
  options.resume = true;
  options.checkpoint_seconds = 1e9;
  HkStatus status = hk_run_create(given.scene, &options, &run, &error);
  for (int frame = 0; frame < 3 && status == HK_OK; frame++) status = hk_run_frame(run, &error);
  demand(status >= 0 || (error.status == status && error.text[0]));
  hk_run_destroy(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  HkError error = {0};
  bool is_run = size == 0 || bytes[0] % 3 == 0, is_state = !is_run && bytes[0] % 3 == 1;
  const char *from = is_run ? given.run : given.saved;
  size_t length = is_run ? given.run_size : given.saved_size;
  memcpy(given.room, from, length);
  for (size_t q = 1; q < size && q <= length; q++) given.room[q - 1] ^= (char)bytes[q];
  if (is_run) {
    demand(hk_checkpoint_write(given.run_path, HK_CHECKPOINT_RUN, given.room, length, NULL) ==
           HK_OK);
    resume();
    return 0;
  }
  if (is_state) {
    demand(hk_checkpoint_write(given.state_path, HK_CHECKPOINT_STATE, given.room, length, NULL) ==
           HK_OK);
  } else {
    FILE *file = fopen(given.state_path, "wb");
    demand(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
  }
  HkStatus status = hk_state_load(given.state, given.state_path, &error);
  demand(status >= 0 || (error.status == status && error.text[0]));
  return 0;
}
