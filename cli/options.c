/* Reading options; see options.h.
 *
 *     --name VALUE   --name=VALUE   --flag   -o VALUE   -oVALUE   --   (the rest are words)
 *
 * Options and words may be mixed. Every command has --help and -h besides its own.
 */
#include "command.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---------------------------------------------------------------------------------- */

static void *place(const Option *option, void *values) {
  return (char *)values + option->offset;
}

static int set_choice(const Option *option, void *values, const char *text) {
  char word[64];
  for (int q = 0; text_choice(option->choices, q, word, sizeof word); q++)
    if (strcmp(word, text) == 0) {
      *(int *)place(option, values) = q;
      return 0;
    }
  return complain(EXIT_USAGE, "%s: expected one of %s, not '%s'", option->name, option->choices,
                  text);
}

static int set_number(const Option *option, void *values, const char *text) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  bool whole = option->kind == KIND_INTEGER;
  bool good = end != text && *end == 0 && value >= option->min && value <= option->max;
  if (good && whole) good = value == (double)(int)value;
  if (!good)
    return complain(EXIT_USAGE, "%s: expected a %snumber from %g to %g, not '%s'", option->name,
                    whole ? "whole " : "", option->min, option->max, text);
  if (whole)
    *(int *)place(option, values) = (int)value;
  else
    *(double *)place(option, values) = value;
  return 0;
}

static int append_text(const Option *option, void *values, const char *text) {
  TextList *list = place(option, values);
  const char **grown = realloc(list->texts, ((size_t)list->count + 1) * sizeof *grown);
  if (!grown) return complain(EXIT_MEMORY, "no memory for the options");
  list->texts = grown;
  list->texts[list->count++] = text;
  return 0;
}

static int set_value(const Option *option, void *values, const char *text) {
  switch (option->kind) {
  case KIND_FLAG: *(bool *)place(option, values) = true; return 0;
  case KIND_TEXT: *(const char **)place(option, values) = text; return 0;
  case KIND_INTEGER:
  case KIND_NUMBER: return set_number(option, values, text);
  case KIND_CHOICE: return set_choice(option, values, text);
  case KIND_LIST: return append_text(option, values, text);
  }
  return 0;
}

static void set_defaults(const Command *command, void *values) {
  for (int q = 0; q < command->option_count; q++) {
    const Option *option = &command->options[q];
    if (option->kind == KIND_INTEGER) *(int *)place(option, values) = (int)option->default_value;
    if (option->kind == KIND_NUMBER) *(double *)place(option, values) = option->default_value;
  }
}

/* ---- Parsing --------------------------------------------------------------------------------- */

typedef struct Walk {
  const Command *command;
  char **argv;
  int argc, at;
} Walk;

static int unknown(const Command *command, const char *given, size_t length) {
  const char *names[32] = {"--help"};
  char word[64];
  int count = 1;
  for (int q = 0; q < command->option_count && count < 32; q++)
    names[count++] = command->options[q].name;
  snprintf(word, sizeof word, "%.*s", (int)length, given);
  const char *near = hk_text_nearest(word, names, count);
  if (near) return complain(EXIT_USAGE, "unknown option '%s'; did you mean '%s'?", word, near);
  return complain(EXIT_USAGE, "unknown option '%s'; 'hooke help %s' lists those there are", word,
                  command->name);
}

static const Option *find(const Command *command, const char *given, size_t length) {
  for (int q = 0; q < command->option_count; q++) {
    const Option *option = &command->options[q];
    if (given[1] == '-' && strlen(option->name) == length &&
        strncmp(option->name, given, length) == 0)
      return option;
    if (given[1] != '-' && option->letter && option->letter == given[1]) return option;
  }
  return NULL;
}

/* Reads one option with its value, which may be the next argument. */
static int read_option(Walk *walk, void *values) {
  const char *given = walk->argv[walk->at];
  bool is_long = given[1] == '-';
  size_t length = is_long ? strcspn(given, "=") : 2;
  const Option *option = find(walk->command, given, length);
  const char *value = given[length] == '=' ? given + length + 1 : given + length;
  bool attached = given[length] != 0;
  if (!option) return unknown(walk->command, given, is_long ? length : strlen(given));
  if (option->kind == KIND_FLAG && attached && is_long)
    return complain(EXIT_USAGE, "%s takes no value", option->name);
  if (option->kind == KIND_FLAG && attached) return unknown(walk->command, given, strlen(given));
  if (option->kind != KIND_FLAG && !attached) {
    if (walk->at + 1 >= walk->argc)
      return complain(EXIT_USAGE, "%s needs a value: %s %s", option->name, option->name,
                      option->argument);
    value = walk->argv[++walk->at];
  }
  return set_value(option, values, value);
}

static int check_words(const Command *command, const Parsed *parsed) {
  if (parsed->help) return 0;
  if (parsed->word_count < command->least)
    return complain(EXIT_USAGE, "something is missing: hooke %s %s", command->name,
                    command->arguments);
  int counted = command->takes_rest ? parsed->rest : parsed->word_count;
  if (counted > command->most)
    return complain(EXIT_USAGE, "'%s' is one word too many: hooke %s %s",
                    parsed->words[command->most], command->name, command->arguments);
  return 0;
}

int options_parse(const Command *command, int argc, char **argv, Parsed *parsed) {
  Walk walk = {command, argv, argc, 0};
  int code = 0;
  bool ended = false;
  *parsed = (Parsed){.values = calloc(1, command->size + 1),
                     .words = calloc((size_t)argc + 1, sizeof *parsed->words)};
  if (!parsed->values || !parsed->words) return complain(EXIT_MEMORY, "no memory for the options");
  set_defaults(command, parsed->values);
  for (; walk.at < argc && code == 0; walk.at++) {
    char *given = argv[walk.at];
    if (ended || given[0] != '-' || given[1] == 0) {
      parsed->words[parsed->word_count++] = given;
    } else if (strcmp(given, "--") == 0) {
      ended = true;
      parsed->rest = parsed->word_count;
    } else if (strcmp(given, "--help") == 0 || strcmp(given, "-h") == 0) {
      parsed->help = true;
    } else {
      code = read_option(&walk, parsed->values);
    }
  }
  if (!ended) parsed->rest = parsed->word_count;
  return code ? code : check_words(command, parsed);
}

void options_release(const Command *command, Parsed *parsed) {
  for (int q = 0; parsed->values && q < command->option_count; q++)
    if (command->options[q].kind == KIND_LIST)
      free(((TextList *)place(&command->options[q], parsed->values))->texts);
  free(parsed->values);
  free(parsed->words);
}

/* ---- Help ------------------------------------------------------------------------------------ */

/* Prints an option and its text in two columns; an option that is too long for its column gets a
 * line of its own. */
static void print_option(char letter, const char *name, const char *argument, const char *help) {
  enum { TEXT_COLUMN = 31, MAX_LEFT = TEXT_COLUMN - 4 /* blanks: two before, two behind */ };
  char left[128], short_name[8] = "    ";
  if (letter) snprintf(short_name, sizeof short_name, "-%c, ", letter);
  int length = snprintf(left, sizeof left, "%s%s%s%s", short_name, name, argument ? " " : "",
                        argument ? argument : "");
  printf("  %s", left);
  if (length > MAX_LEFT)
    printf("\n%*s", TEXT_COLUMN, "");
  else
    printf("%*s", TEXT_COLUMN - 2 - length, "");
  text_wrap(stdout, help, TEXT_COLUMN, text_width(stdout));
}

void options_print_help(const Command *command) {
  bool words = command->arguments[0] != 0;
  char head[256];
  snprintf(head, sizeof head, "hooke %s%s%s%s: %s", command->name, words ? " " : "",
           command->arguments, command->option_count ? " [OPTIONS]" : "", command->summary);
  text_wrap(stdout, head, 0, text_width(stdout));
  printf("\n");
  text_wrap(stdout, command->text, 0, text_width(stdout));
  printf("\nOptions\n");
  for (int q = 0; q < command->option_count; q++) {
    const Option *option = &command->options[q];
    print_option(option->letter, option->name, option->argument, option->help);
  }
  print_option('h', "--help", NULL, "print this help");
  printf("\nExamples\n%s", command->examples);
}
