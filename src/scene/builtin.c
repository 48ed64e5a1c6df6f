/* The scenes that are inside the library; their table is made from scenes/ by the build. */
#include "scene/builtin.h"

#include "hooke/hooke.h"

#include <stddef.h>

const char *hk_scene_builtin(int index, const char **name, const char **title) {
  if (index < 0 || index >= hk_builtin_scene_count) return NULL;
  if (name) *name = hk_builtin_scenes[index].name;
  if (title) *title = hk_builtin_scenes[index].title;
  return hk_builtin_scenes[index].text;
}
