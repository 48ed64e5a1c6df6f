/* Ctrl-C, SIGTERM and SIGHUP; see signals.h.
 *
 * The handler sets a flag that commands check where they can stop, and restores the default action
 * of all three signals, so that a second signal, of any kind, ends the program.
 */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Variables that a signal handler may access. */
static volatile sig_atomic_t caught_signal, catches_hangup;
static const char *volatile answer;

/* sigaction is safe in a signal handler. */
static void set_handlers(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (catches_hangup) sigaction(SIGHUP, &action, NULL);
}

/* The current work may take minutes, so the handler prints a message; write() is safe in it. */
static void on_signal(int number) {
  int reason = errno;
  const char *text = answer;
  set_handlers(SIG_DFL);
  caught_signal = number;
  if (text && write(STDERR_FILENO, text, strlen(text)) < 0) caught_signal = number;
  errno = reason;
}

void signals_end_program(void) {
  set_handlers(SIG_DFL);
}

void signals_catch(const char *text) {
  answer = text;
  struct sigaction before; /* if nohup ignores it, it stays ignored */
  catches_hangup = sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN;
  set_handlers(on_signal);
}

int signals_caught(void) {
  return caught_signal;
}

bool signals_cancel(void *user) {
  (void)user;
  return caught_signal != 0;
}
