/* Completion for bash.
 *
 * Readline splits words at '=' (COMP_WORDBREAKS), so that --device=cu arrives as three words. The
 * function splits the line up to the cursor at blanks itself, and removes the part before the last
 * '=' of the word from each answer.
 */
#include "vocabulary.h"

static const char functions[] =
    "# The present word, or the value behind '=' of an option, from a list of words.\n"
    "_hooke_words() {\n"
    "  local answer\n"
    "  while IFS= read -r answer; do\n"
    "    case $answer in *=) compopt -o nospace 2>/dev/null ;; esac\n"
    "    case $word in *=*) answer=${answer#\"${word%=*}=\"} ;; esac\n"
    "    COMPREPLY+=(\"$answer\")\n"
    "  done < <(compgen -W \"$1\" -- \"$word\")\n"
    "}\n"
    "\n"
    "# Files (-f) or folders (-d).\n"
    "_hooke_files() {\n"
    "  local answer\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  while IFS= read -r answer; do\n"
    "    COMPREPLY+=(\"$answer\")\n"
    "  done < <(compgen \"$1\" -- \"$word\")\n"
    "}\n"
    "\n";

static const char beginning[] =
    "_hooke() {\n"
    "  local line=${COMP_LINE:0:COMP_POINT} word previous command options\n"
    "  local -a words\n"
    "  COMPREPLY=()\n"
    "  IFS=$' \\t\\n' read -ra words <<<\"$line\"\n"
    "  case $line in *[[:space:]]) words+=(\"\") ;; esac\n"
    "  word=${words[${#words[@]} - 1]}\n"
    "  if [ ${#words[@]} -le 2 ]; then\n"
    "    _hooke_words \"$_hooke_commands --help --version\"\n"
    "    return\n"
    "  fi\n"
    "  command=${words[1]} previous=${words[${#words[@]} - 2]}\n"
    "  case $word in --*=*) previous=${word%%=*} word=${word#*=} ;; esac\n";

/* Prints the lines that complete the value of an option, or the words of a command. */
static void print_action(FILE *file, Vocabulary vocabulary, const char *choices) {
  switch (vocabulary) {
  case VOCABULARY_NONE: fprintf(file, ":"); return;
  case VOCABULARY_FILES: fprintf(file, "_hooke_files -f"); return;
  case VOCABULARY_FOLDERS: fprintf(file, "_hooke_files -d"); return;
  case VOCABULARY_SCENES: fprintf(file, "_hooke_words \"$_hooke_scenes\""); return;
  case VOCABULARY_METHODS: fprintf(file, "_hooke_words \"$_hooke_methods\""); return;
  case VOCABULARY_SOLVERS: fprintf(file, "_hooke_words \"$_hooke_solvers\""); return;
  case VOCABULARY_COMMANDS: fprintf(file, "_hooke_words \"$_hooke_commands\""); return;
  case VOCABULARY_SETTINGS: fprintf(file, "_hooke_words \"$_hooke_settings\""); return;
  case VOCABULARY_CHOICES:
    fprintf(file, "_hooke_words '");
    vocabulary_print(file, VOCABULARY_CHOICES, choices);
    fprintf(file, "'");
  }
}

static void print_list(FILE *file, const char *name, Vocabulary vocabulary) {
  fprintf(file, "_hooke_%s='", name);
  vocabulary_print(file, vocabulary, NULL);
  fprintf(file, "'\n");
}

/* Prints the completions of the values of all options. */
static void print_values(FILE *file) {
  const Command *command;
  fprintf(file, "  case $command$previous in\n");
  for (int q = 0; (command = command_at(q)); q++)
    for (int p = 0; p < command->option_count; p++) {
      const Option *option = &command->options[p];
      if (option->kind == KIND_FLAG) continue;
      fprintf(file, "  %s%s", command->name, option->name);
      if (option->letter) fprintf(file, " | %s-%c", command->name, option->letter);
      fprintf(file, ") ");
      print_action(file, vocabulary_of_option(option), option->choices);
      fprintf(file, "; return ;;\n");
    }
  fprintf(file, "  esac\n");
}

static void print_words(FILE *file, WordKind kind) {
  switch (kind) {
  case WORDS_NONE: print_action(file, VOCABULARY_NONE, NULL); return;
  case WORDS_FILE: print_action(file, VOCABULARY_FILES, NULL); return;
  case WORDS_SCENE: print_action(file, VOCABULARY_SCENES, NULL); return;
  case WORDS_METHOD: print_action(file, VOCABULARY_METHODS, NULL); return;
  case WORDS_COMMAND: print_action(file, VOCABULARY_COMMANDS, NULL); return;
  case WORDS_SHELL: print_action(file, VOCABULARY_CHOICES, vocabulary_shells); return;
  case WORDS_SCENE_FILE:
    print_action(file, VOCABULARY_SCENES, NULL);
    fprintf(file, "; ");
    print_action(file, VOCABULARY_FILES, NULL);
  }
}

/* Prints the options of each command and the completions of its words. */
static void print_commands(FILE *file) {
  const Command *command;
  fprintf(file, "  case $command in\n");
  for (int q = 0; (command = command_at(q)); q++) {
    fprintf(file, "  %s)\n    options='--help", command->name);
    for (int p = 0; p < command->option_count; p++) fprintf(file, " %s", command->options[p].name);
    fprintf(file, "'\n    case $word in -*) ;; *) ");
    print_words(file, command->words);
    fprintf(file, " ;; esac\n    ;;\n");
  }
  fprintf(file, "  esac\n");
}

void completion_print_bash(FILE *file) {
  fprintf(file, "# Completion of hooke for bash, printed by 'hooke completion bash'.\n\n");
  print_list(file, "commands", VOCABULARY_COMMANDS);
  print_list(file, "scenes", VOCABULARY_SCENES);
  print_list(file, "methods", VOCABULARY_METHODS);
  print_list(file, "solvers", VOCABULARY_SOLVERS);
  print_list(file, "settings", VOCABULARY_SETTINGS);
  fprintf(file, "\n%s%s", functions, beginning);
  print_values(file);
  print_commands(file);
  fprintf(file, "  case $word in -*) _hooke_words \"$options\" ;; esac\n"
                "}\n"
                "\n"
                "complete -F _hooke hooke\n");
}
