/* Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed): the first one asks for an end in good
 * order, the second ends the program. Commands that have no temporary file to remove catch signals
 * when their scene is loaded; until then a signal ends the program. */
#ifndef HOOKE_CLI_SIGNALS_H
#define HOOKE_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on a signal ends the program, also where the shell has Ctrl-C ignored ('hooke ... &').
 */
void signals_end_program(void);
/* From now on a signal is noted, and answered with the text on standard error; NULL: silently. */
void signals_catch(const char *text);
/* The number of the signal that came, or 0. */
int signals_caught(void);
/* Whether one came, as an HkCancelFn: ends the step under way. */
bool signals_cancel(void *user);

#endif
