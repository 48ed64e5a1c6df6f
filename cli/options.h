/* Options of a command, listed once in a table with the macros below; from the table come parsing
 * and help.
 *
 *     typedef struct Settings { bool force; const char *folder; } Settings;
 *     static const Option options[] = {
 *         OPTION_FLAG(Settings, force, 0, "--force", "replace what is there"),
 *         OPTION_TEXT(Settings, folder, 'o', "--output", "DIR", "where the files go")};
 */
#ifndef HOOKE_CLI_OPTIONS_H
#define HOOKE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum OptionKind {
  KIND_FLAG,    /* bool */
  KIND_TEXT,    /* const char *, NULL if not given */
  KIND_INTEGER, /* int */
  KIND_NUMBER,  /* double */
  KIND_CHOICE,  /* int, the index into choices */
  KIND_LIST     /* TextList; each use of the option appends */
} OptionKind;

typedef struct TextList {
  const char **texts; /* owned by the parser's caller, see options_release */
  int count;
} TextList;

typedef struct Option {
  OptionKind kind;
  size_t offset;
  char letter;          /* 0: only the long name */
  const char *name;     /* with its dashes */
  const char *argument; /* what help calls the value; NULL for flags */
  const char *choices;  /* "a|b" */
  double default_value, min, max;
  const char *help;
} Option;

#define OPTION_FLAG(S, field, letter, name, help)                                                  \
  { KIND_FLAG, offsetof(S, field), letter, name, NULL, NULL, 0, 0, 0, help }
#define OPTION_TEXT(S, field, letter, name, argument, help)                                        \
  { KIND_TEXT, offsetof(S, field), letter, name, argument, NULL, 0, 0, 0, help }
#define OPTION_LIST(S, field, letter, name, argument, help)                                        \
  { KIND_LIST, offsetof(S, field), letter, name, argument, NULL, 0, 0, 0, help }
#define OPTION_INTEGER(S, field, letter, name, argument, default_value, min, max, help)            \
  { KIND_INTEGER, offsetof(S, field), letter, name, argument, NULL, default_value, min, max, help }
#define OPTION_NUMBER(S, field, letter, name, argument, default_value, min, max, help)             \
  { KIND_NUMBER, offsetof(S, field), letter, name, argument, NULL, default_value, min, max, help }
#define OPTION_CHOICE(S, field, letter, name, choices, help)                                       \
  { KIND_CHOICE, offsetof(S, field), letter, name, choices, choices, 0, 0, 0, help }

struct Command;

/* The result of parsing a command line. */
typedef struct Parsed {
  void *values; /* the struct of the options */
  char **words; /* arguments that are not options */
  int word_count;
  int rest;  /* index of the first word behind "--"; word_count if there is none */
  bool help; /* --help was there */
} Parsed;

/* Reads the arguments after the command's name. Returns 0, or the exit code after the error has
 * been printed. The caller calls options_release in both cases. */
int options_parse(const struct Command *command, int argc, char **argv, Parsed *parsed);
void options_release(const struct Command *command, Parsed *parsed);

/* Prints usage, explanation, options and examples of a command on standard output. */
void options_print_help(const struct Command *command);

#endif
