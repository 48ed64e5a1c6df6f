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
  EXIT_MEMORY = 5,  /* out of memory */
  EXIT_SIGNAL = 128 /* plus the number of the signal: 130 for Ctrl-C, 143 for SIGTERM */
};

/* The words that a shell completes for a command. */
typedef enum WordKind {
  WORDS_NONE,
  WORDS_FILE,       /* files */
  WORDS_SCENE_FILE, /* built-in scenes, and files */
  WORDS_SCENE,      /* built-in scenes */
  WORDS_METHOD,     /* names that 'hooke methods' explains */
  WORDS_COMMAND,    /* commands */
  WORDS_SHELL       /* shells of 'hooke completion' */
} WordKind;

/* Name, arguments, options and function of a command. */
typedef struct Command {
  const char *name;
  const char *arguments; /* as in "SCENE [MESH]" */
  const char *summary;   /* half a line */
  const char *text;      /* a paragraph, broken into lines when printed */
  const char *examples;  /* lines, indented by two blanks */
  const Option *options;
  int option_count;
  size_t size;     /* bytes of the struct of option values */
  int least, most; /* number of arguments that are not options */
  bool takes_rest; /* words behind "--" beyond `most` are passed to run, too */
  WordKind words;
  int (*run)(const void *options, char **words, int word_count);
} Command;

/* Initializes .options, .option_count and .size of a command. */
#define COMMAND_OPTIONS(S, table)                                                                  \
  .options = (table), .option_count = (int)(sizeof(table) / sizeof(table)[0]), .size = sizeof(S)

extern const Command command_run, command_view, command_render, command_info, command_compare,
    command_sweep, command_fit, command_bench, command_matrices, command_methods, command_scenes,
    command_new, command_convert, command_schema, command_completion, command_manual, command_help;

/* Returns the index-th command in the order of the overview, or NULL past the last. */
const Command *command_at(int index);
/* Returns the command of that name, or NULL. */
const Command *command_find(const char *name);

/* An exit code, or several with one meaning, as help and manual print them. */
typedef struct ExitCode {
  const char *codes, *meaning;
} ExitCode;

/* Returns the index-th row of the table of exit codes, or NULL past the last. */
const ExitCode *exit_code_at(int index);

#endif
