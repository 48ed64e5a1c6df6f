/* hooke scenes: the scenes that are built into the library. */
#include "command.h"
#include "json.h"
#include "source.h"
#include "text.h"

#include <string.h>

typedef struct Settings {
  bool json;
} Settings;

static const Option options[] = {
    OPTION_FLAG(Settings, json, 0, "--json",
                "print a JSON list of names and titles instead of text"),
};

static void json_list(void) {
  const char *name, *title;
  Json json = {.file = stdout};
  put_begin(&json, NULL, '[');
  for (int q = 0; hk_scene_builtin(q, &name, &title); q++) {
    put_begin(&json, NULL, '{');
    put_text(&json, "name", name);
    put_text(&json, "title", title);
    put_end(&json, '}');
  }
  put_end(&json, ']');
  fputc('\n', stdout);
}

static void print_list(void) {
  const char *name, *title;
  int width = text_width(stdout);
  for (int q = 0; hk_scene_builtin(q, &name, &title); q++) {
    printf("  %-17s ", name);
    text_wrap(stdout, title, 20, width);
  }
  printf("\nhooke run NAME simulates one, hooke new MINE --from NAME makes a copy to change.\n");
}

static int print_text(const char *name) {
  const char *text = source_builtin(name), *near = source_nearest(name);
  if (!text && near)
    return complain(EXIT_INPUT, "there is no built-in scene '%s'; did you mean '%s'?", name, near);
  if (!text)
    return complain(EXIT_INPUT, "there is no built-in scene '%s'; 'hooke scenes' lists all", name);
  fputs(text, stdout);
  if (text[0] && text[strlen(text) - 1] != '\n') fputc('\n', stdout);
  return EXIT_GOOD;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  if (word_count > 0) return print_text(words[0]);
  if (settings->json)
    json_list();
  else
    print_list();
  return EXIT_GOOD;
}

const Command command_scenes = {
    .name = "scenes",
    .arguments = "[NAME]",
    .summary = "list the built-in scenes, or print one",
    .text = "Without a name: a list. With one: the text of that scene.",
    .examples = "  hooke scenes\n"
                "  hooke scenes flag > my.json\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 0,
    .most = 1,
    .words = WORDS_SCENE,
    .run = run,
};
