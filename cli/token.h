/* The secret word in the address of a page. */
#ifndef HOOKE_CLI_TOKEN_H
#define HOOKE_CLI_TOKEN_H

#include <stdbool.h>

enum { TOKEN_SIZE = 33 }; /* 32 hexadecimal digits and the end */

/* Makes a random token; returns false if the system provides no random numbers. */
bool token_make(char token[TOKEN_SIZE]);
/* Reads the token from a file; where there is none, makes one and writes it, readable by its owner
 * only. Returns 0, or the exit code after the error has been printed. */
int token_keep(const char *path, char token[TOKEN_SIZE]);

#endif
