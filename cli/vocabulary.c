/* The words with which shells complete a command line; see vocabulary.h. */
#include "vocabulary.h"

#include "text.h"

#include <string.h>

const char vocabulary_shells[] = "bash|zsh|fish";

Vocabulary vocabulary_of_option(const Option *option) {
  static const struct {
    const char *argument;
    Vocabulary vocabulary;
  } known[] = {{"FILE", VOCABULARY_FILES},          {"DIR", VOCABULARY_FOLDERS},
               {"SCENE", VOCABULARY_SCENES},        {"LIST", VOCABULARY_SOLVERS},
               {"PATH=VALUE", VOCABULARY_SETTINGS}, {"NAME=VALUES", VOCABULARY_SETTINGS}};
  if (option->kind == KIND_CHOICE) return VOCABULARY_CHOICES;
  if (!option->argument) return VOCABULARY_NONE;
  for (size_t q = 0; q < sizeof known / sizeof known[0]; q++)
    if (strcmp(known[q].argument, option->argument) == 0) return known[q].vocabulary;
  return VOCABULARY_NONE;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Words that are printed with blanks between them. */
typedef struct Words {
  FILE *file;
  int count;
} Words;

static void put(Words *words, const char *prefix, const char *word, const char *suffix) {
  fprintf(words->file, "%s%s%s%s", words->count++ ? " " : "", prefix, word, suffix);
}

static void put_scenes(Words *words) {
  const char *name, *title;
  for (int q = 0; hk_scene_builtin(q, &name, &title); q++) put(words, "", name, "");
}

/* Returns whether an earlier family has a method of this name, such as "jacobi" in three
 * families. */
static bool is_earlier(const char *name, int family) {
  for (int f = 0; f < family; f++)
    if (hk_schema_find((HkFamily)f, name)) return true;
  return false;
}

static void put_methods(Words *words) {
  const HkSchema *schema;
  const char *name;
  for (int f = 0; f < HK_FAMILY_COUNT; f++)
    for (int q = 0; (schema = hk_schema_at((HkFamily)f, q)); q++)
      if (!is_earlier(schema->name, f)) put(words, "", schema->name, "");
  for (int q = 0; (name = hk_mesh_format(q, NULL, NULL)); q++)
    if (!is_earlier(name, HK_FAMILY_COUNT)) put(words, "", name, "");
}

static void put_family(Words *words, HkFamily family, const char *prefix) {
  const HkSchema *schema;
  for (int q = 0; (schema = hk_schema_at(family, q)); q++) put(words, prefix, schema->name, "");
}

/* Adds settings for every scene: those of "time", and the integrators. */
static void put_settings(Words *words) {
  const HkSchema *schema = hk_schema_find(HK_PART, "time");
  for (int q = 0; schema && q < schema->param_count; q++)
    put(words, "time.", schema->params[q].name, "=");
  put_family(words, HK_STEP, "integrator=");
}

static void put_commands(Words *words) {
  const Command *command;
  for (int q = 0; (command = command_at(q)); q++) put(words, "", command->name, "");
}

static void put_choices(Words *words, const char *choices) {
  char word[64];
  for (int q = 0; choices && text_choice(choices, q, word, sizeof word); q++)
    put(words, "", word, "");
}

void vocabulary_print(FILE *file, Vocabulary vocabulary, const char *choices) {
  Words words = {.file = file};
  switch (vocabulary) {
  case VOCABULARY_NONE:
  case VOCABULARY_FILES:
  case VOCABULARY_FOLDERS: break;
  case VOCABULARY_SCENES: put_scenes(&words); break;
  case VOCABULARY_METHODS: put_methods(&words); break;
  case VOCABULARY_SOLVERS:
    put_family(&words, HK_STEP, "");
    put_family(&words, HK_MINIMIZE, "");
    break;
  case VOCABULARY_COMMANDS: put_commands(&words); break;
  case VOCABULARY_SETTINGS: put_settings(&words); break;
  case VOCABULARY_CHOICES: put_choices(&words, choices); break;
  }
}
