/* The commands of the program `hooke`, each in a file of its own, and how they end. */
#ifndef HOOKE_CLI_COMMAND_H
#define HOOKE_CLI_COMMAND_H

#include "options.h"

/* Exit codes; docs/cli.md and `hooke help` explain them. */
enum {
  EXIT_GOOD = 0,
  EXIT_INPUT = 1,   /* a scene, mesh or value is wrong */
  EXIT_USAGE = 2,   /* the command line is wrong */
  EXIT_FILE = 3,    /* a file cannot be opened, read or written */
  EXIT_BLOWUP = 4,  /* the motion blew up */
  EXIT_MEMORY = 5,  /* memory could not be had */
  EXIT_SIGNAL = 128 /* plus the number of the signal: 130 for Ctrl-C, 143 for SIGTERM */
};

/* What a shell completes the words of a command with. */
typedef enum WordKind {
  WORDS_NONE,
  WORDS_FILE,       /* files */
  WORDS_SCENE_FILE, /* built-in scenes, and files */
  WORDS_SCENE,      /* built-in scenes */
  WORDS_METHOD,     /* names that 'hooke methods' explains */
  WORDS_COMMAND,    /* commands */
  WORDS_SHELL       /* shells of 'hooke completion' */
} WordKind;

/* What a command is called, takes and does. */
typedef struct Command {
  const char *name;
  const char *arguments; /* as in "SCENE [MESH]" */
  const char *summary;   /* half a line */
  const char *text;      /* a paragraph, broken into lines when printed */
  const char *examples;  /* lines, indented by two blanks */
  const Option *options;
  int option_count;
  size_t size;     /* bytes of the struct that takes the options */
  int least, most; /* words that are no options */
  WordKind words;
  int (*run)(const void *options, char **words, int word_count);
} Command;

/* .options, .option_count and .size of a command in one go. */
#define COMMAND_OPTIONS(S, table)                                                                  \
  .options = (table), .option_count = (int)(sizeof(table) / sizeof(table)[0]), .size = sizeof(S)

extern const Command command_run, command_view, command_render, command_info, command_compare,
    command_bench, command_matrices, command_methods, command_scenes, command_new, command_convert,
    command_schema, command_completion, command_manual, command_help;

/* The index-th command in the order of the overview, or NULL behind the last. */
const Command *command_at(int index);
/* The command of that name, or NULL. */
const Command *command_find(const char *name);

/* An exit code, or several with one meaning, as help and manual print them. */
typedef struct ExitCode {
  const char *codes, *meaning;
} ExitCode;

/* The index-th row of the table of exit codes, or NULL behind the last. */
const ExitCode *exit_code_at(int index);

#endif
