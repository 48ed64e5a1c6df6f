/* Completion for fish: one line 'complete' for each option of each command. */
#include "vocabulary.h"

/* Prints a text in single quotes, in which a backslash escapes itself and quotes. */
static void print_quoted(FILE *file, const char *text) {
  fputc('\'', file);
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') fputc('\\', file);
    fputc(*text, file);
  }
  fputc('\'', file);
}

/* The options of 'complete' for the value of an option: -x: a value and no files, -r: a value. */
static void print_action(FILE *file, Vocabulary vocabulary, const char *choices) {
  switch (vocabulary) {
  case VOCABULARY_NONE: fputs(" -x", file); return;
  case VOCABULARY_FILES: fputs(" -r -F", file); return;
  case VOCABULARY_FOLDERS: fputs(" -x -a '(__fish_complete_directories)'", file); return;
  default:
    fputs(" -x -a '", file);
    vocabulary_print(file, vocabulary, choices);
    fputc('\'', file);
  }
}

static void print_option(FILE *file, const Command *command, const Option *option) {
  fprintf(file, "complete -c hooke -n '__hooke_command %s'", command->name);
  if (option->letter) fprintf(file, " -s %c", option->letter);
  fprintf(file, " -l %s", option->name + 2);
  if (option->kind != KIND_FLAG) print_action(file, vocabulary_of_option(option), option->choices);
  fputs(" -d ", file);
  print_quoted(file, option->help);
  fputc('\n', file);
}

static void print_list(FILE *file, const Command *command, Vocabulary vocabulary,
                       const char *choices) {
  fprintf(file, "complete -c hooke -n '__hooke_command %s' -a '", command->name);
  vocabulary_print(file, vocabulary, choices);
  fputs("'\n", file);
}

static void print_words(FILE *file, const Command *command) {
  bool files = command->words == WORDS_FILE || command->words == WORDS_SCENE_FILE;
  if (files) fprintf(file, "complete -c hooke -n '__hooke_command %s' -F\n", command->name);
  switch (command->words) {
  case WORDS_NONE:
  case WORDS_FILE: break;
  case WORDS_SCENE_FILE:
  case WORDS_SCENE: print_list(file, command, VOCABULARY_SCENES, NULL); break;
  case WORDS_METHOD: print_list(file, command, VOCABULARY_METHODS, NULL); break;
  case WORDS_COMMAND: print_list(file, command, VOCABULARY_COMMANDS, NULL); break;
  case WORDS_SHELL: print_list(file, command, VOCABULARY_CHOICES, vocabulary_shells); break;
  }
}

void completion_print_fish(FILE *file) {
  const Command *command;
  fprintf(file, "# Completion of hooke for fish, printed by 'hooke completion fish'.\n\n"
                "# Whether the line has the command of this name; without a name: none yet.\n"
                "function __hooke_command\n"
                "    set -l words (commandline -opc)\n"
                "    if test (count $argv) -eq 0\n"
                "        test (count $words) -eq 1\n"
                "    else\n"
                "        test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
                "    end\n"
                "end\n\n"
                "complete -c hooke -f\n"
                "complete -c hooke -s h -l help -d 'show help'\n"
                "complete -c hooke -n __hooke_command -s V -l version -d 'show the version'\n");
  for (int q = 0; (command = command_at(q)); q++) {
    fprintf(file, "complete -c hooke -n __hooke_command -a %s -d ", command->name);
    print_quoted(file, command->summary);
    fputc('\n', file);
  }
  for (int q = 0; (command = command_at(q)); q++) {
    fputc('\n', file);
    print_words(file, command);
    for (int p = 0; p < command->option_count; p++)
      print_option(file, command, &command->options[p]);
  }
}
