/* libFuzzer target of the scene parser: whatever the bytes are, it returns a scene or an error with
 * a text. No file is read: meshes are opened when a scene is compiled.
 */
#include "hooke/hooke.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  HkScene *scene = NULL;
  HkError error = {0};
  HkStatus status =
      hk_scene_parse(NULL, (const char *)bytes, size, "fuzz.json", ".", NULL, 0, &scene, &error);
  if (status < 0 && (scene || error.status != status || error.text[0] == 0)) abort();
  hk_scene_destroy(&scene);
  return 0;
}
