/* Completion for zsh: one _arguments specification for each option. */
#include "vocabulary.h"

#include <string.h>

/* A text inside of '...[...]': brackets and colons are part of the syntax, a quote ends the word.
 */
static void print_text(FILE *file, const char *text) {
  for (; *text; text++) {
    if (*text == '\'') {
      fputs("'\\''", file);
      continue;
    }
    if (strchr("[]:\\", *text)) fputc('\\', file);
    fputc(*text, file);
  }
}

/* Prints the action of a specification, which follows its message. */
static void print_action(FILE *file, Vocabulary vocabulary, const char *choices) {
  switch (vocabulary) {
  case VOCABULARY_NONE: fputc(' ', file); return;
  case VOCABULARY_FILES: fputs("_files", file); return;
  case VOCABULARY_FOLDERS: fputs("_files -/", file); return;
  case VOCABULARY_SETTINGS: fputs("_hooke_settings", file); return;
  default:
    fputc('(', file);
    vocabulary_print(file, vocabulary, choices);
    fputc(')', file);
  }
}

static void print_option(FILE *file, const Option *option) {
  bool repeated = option->kind == KIND_LIST;
  fprintf(file, " \\\n    ");
  if (repeated && option->letter)
    fprintf(file, "'*'{-%c,%s}", option->letter, option->name);
  else if (repeated)
    fprintf(file, "'*'%s", option->name);
  else if (option->letter)
    fprintf(file, "'(-%c %s)'{-%c,%s}", option->letter, option->name, option->letter, option->name);
  else
    fputs(option->name, file);
  fprintf(file, "'[");
  print_text(file, option->help);
  fprintf(file, "]");
  if (option->kind != KIND_FLAG) {
    fputc(':', file);
    print_text(file, option->argument);
    fputc(':', file);
    print_action(file, vocabulary_of_option(option), option->choices);
  }
  fputc('\'', file);
}

static void print_words(FILE *file, const Command *command) {
  if (command->words == WORDS_NONE) return;
  fprintf(file, " \\\n    '*:");
  print_text(file, command->arguments);
  fputc(':', file);
  switch (command->words) {
  case WORDS_NONE: break;
  case WORDS_FILE: print_action(file, VOCABULARY_FILES, NULL); break;
  case WORDS_SCENE_FILE: fputs("_hooke_scene_files", file); break;
  case WORDS_SCENE: print_action(file, VOCABULARY_SCENES, NULL); break;
  case WORDS_METHOD: print_action(file, VOCABULARY_METHODS, NULL); break;
  case WORDS_COMMAND: print_action(file, VOCABULARY_COMMANDS, NULL); break;
  case WORDS_SHELL: print_action(file, VOCABULARY_CHOICES, vocabulary_shells); break;
  }
  fputc('\'', file);
}

static void print_functions(FILE *file) {
  fprintf(file, "_hooke_scene_files() {\n  local -a names=(");
  vocabulary_print(file, VOCABULARY_SCENES, NULL);
  fprintf(file, ")\n  _alternative 'scenes:built-in scene:compadd -a names' 'files:file:_files'\n"
                "}\n\n"
                "_hooke_settings() {\n  local -a names=(");
  vocabulary_print(file, VOCABULARY_SETTINGS, NULL);
  fprintf(file, ")\n  compadd -S '' -a names\n}\n\n");
}

static void print_commands(FILE *file) {
  const Command *command;
  fprintf(file, "_hooke_commands() {\n  local -a names=(");
  for (int q = 0; (command = command_at(q)); q++) {
    fprintf(file, "\n    '%s:", command->name);
    print_text(file, command->summary);
    fputc('\'', file);
  }
  fprintf(file, ")\n  _describe command names\n}\n\n");
  for (int q = 0; (command = command_at(q)); q++) {
    fprintf(file, "_hooke_%s() {\n  _arguments '(-h --help)'{-h,--help}'[show help]'",
            command->name);
    for (int p = 0; p < command->option_count; p++) print_option(file, &command->options[p]);
    print_words(file, command);
    fprintf(file, "\n}\n\n");
  }
}

void completion_print_zsh(FILE *file) {
  fprintf(file, "#compdef hooke\n"
                "# Completion of hooke for zsh, printed by 'hooke completion zsh'.\n\n");
  print_functions(file);
  print_commands(file);
  fprintf(file, "_hooke() {\n"
                "  local state\n"
                "  local -a line\n"
                "  _arguments -C '(-h --help)'{-h,--help}'[show help]' \\\n"
                "    '(-V --version)'{-V,--version}'[show the version]' \\\n"
                "    '1:command:_hooke_commands' '*::argument:->argument'\n"
                "  if [[ $state = argument ]] && (( $+functions[_hooke_$line[1]] )); then\n"
                "    _hooke_$line[1]\n"
                "  fi\n"
                "}\n\n"
                "if [[ $funcstack[1] = _hooke ]]; then\n"
                "  _hooke \"$@\"\n"
                "else\n"
                "  compdef _hooke hooke\n"
                "fi\n");
}
