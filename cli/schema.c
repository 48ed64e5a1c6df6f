/* hooke schema: the JSON Schema of scene files, with which editors complete and check them. */
#include "command.h"
#include "text.h"

static int run(const void *chosen, char **words, int word_count) {
  (void)chosen;
  (void)words;
  (void)word_count;
  HkError error = {0};
  char *text;
  if (hk_scene_schema(&text, &error) < 0) return complain_of(&error);
  puts(text);
  hk_text_destroy(&text);
  return EXIT_GOOD;
}

const Command command_schema = {
    .name = "schema",
    .arguments = "",
    .summary = "print the JSON Schema of scene files",
    .text = "Editors use it to complete, explain and check scenes. A scene names it in its "
            "first line: {\"$schema\": \"scene.schema.json\", ...}",
    .examples = "  hooke schema > scene.schema.json\n",
    .least = 0,
    .most = 0,
    .run = run,
};
