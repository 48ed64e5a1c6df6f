/* The words with which shells complete a command line, from the tables of the options and the
 * registries of the library. */
#ifndef HOOKE_CLI_VOCABULARY_H
#define HOOKE_CLI_VOCABULARY_H

#include "command.h"

#include <stdio.h>

typedef enum Vocabulary {
  VOCABULARY_NONE,     /* no completion: a number, a new name */
  VOCABULARY_FILES,    /* the shell knows them */
  VOCABULARY_FOLDERS,  /* the shell knows them */
  VOCABULARY_SCENES,   /* built-in scenes */
  VOCABULARY_METHODS,  /* all names of 'hooke methods' */
  VOCABULARY_SOLVERS,  /* integrators and minimizers */
  VOCABULARY_COMMANDS, /* all commands */
  VOCABULARY_SETTINGS, /* common values of --set, such as integrator=verlet */
  VOCABULARY_CHOICES   /* those of an option */
} Vocabulary;

/* The shells of 'hooke completion' as "bash|zsh|fish". */
extern const char vocabulary_shells[];

/* Returns the vocabulary of the value of an option, by the name of the value in its help. */
Vocabulary vocabulary_of_option(const Option *option);
/* Prints all words of a vocabulary with blanks between them. choices: of VOCABULARY_CHOICES, "a|b";
 * words have no blanks. */
void vocabulary_print(FILE *file, Vocabulary vocabulary, const char *choices);

/* The writers of the completion of a shell, one file each. */
void completion_print_bash(FILE *file);
void completion_print_zsh(FILE *file);
void completion_print_fish(FILE *file);

#endif
