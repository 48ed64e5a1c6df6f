/* Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed): the first one asks for an end in good
 * order, the second ends the program. Commands that have no temporary file to remove catch signals
 * when their scene is loaded; until then a signal ends the program. */
#ifndef HOOKE_CLI_SIGNALS_H
#define HOOKE_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on a signal ends the program, also where the shell has Ctrl-C ignored ('hooke ... &').
 */
void signals_end_program(void);
/* Records signals from now on, and prints the text on standard error at the first one; NULL: no
 * text. */
void signals_catch(const char *text);
/* Returns the number of the recorded signal, or 0. */
int signals_caught(void);
/* HkCancelFn: returns whether a signal is recorded, which cancels the current step. */
bool signals_cancel(void *user);

#endif
