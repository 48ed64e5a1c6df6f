/* A Play on a thread of its own: messages go in, answers come out, and nobody waits.
 *
 * A session takes SESSION_MESSAGES messages in advance; whoever sends more has to wait until one is
 * answered. An answer is taken before the next message is begun, so that nothing piles up. Each
 * session has a folder of its own for the files that its client sends and takes.
 */
#ifndef HOOKE_CLI_SESSION_THREAD_H
#define HOOKE_CLI_SESSION_THREAD_H

#include "play.h"

enum { SESSION_MESSAGES = 4 };

typedef struct Session Session;

/* An answer is there: called on the session's thread, never after session_leave has returned. */
typedef void SessionFn(void *user);

/* What all sessions of a server share. */
typedef struct SessionOptions {
  HkContext context;
  const char *folder; /* holds the folders of the sessions */
  const char *home;   /* the file that {"ask": "load", "home": true} loads, or NULL */
  SessionFn *ready;
  void *user;
} SessionOptions;

/* The options and what `folder` and `home` point to outlive all sessions. NULL: no session could be
 * made. */
Session *session_start(const SessionOptions *options);
/* Asks the session to end, and returns at once. The session releases itself after the step that it
 * computes; until then session_count counts it. */
void session_leave(Session **session);
/* Number of sessions that have not released themselves. */
int session_count(void);
/* Waits until there is no session, for at most so many seconds; returns whether there is none. */
bool session_wait(double seconds);

/* Hands over a message, which was allocated with malloc; false: there are too many already. */
bool session_send(Session *session, void *message, size_t size, bool binary);
/* Whether one more may be sent. */
bool session_has_room(Session *session);
/* The answer, if there is one: *size bytes after `before` free ones, to be freed; else NULL. */
unsigned char *session_take(Session *session, size_t before, size_t *size, bool *binary);

#endif
