/* A Play on a thread of its own, with asynchronous messages and answers.
 *
 * A session queues up to SESSION_MESSAGES messages; a sender of more has to wait until one is
 * answered. The session begins the next message when its answer has been taken, so that answers do
 * not accumulate. Each session has a folder of its own for files that its client sends and
 * downloads.
 */
#ifndef HOOKE_CLI_SESSION_THREAD_H
#define HOOKE_CLI_SESSION_THREAD_H

#include "play.h"

enum { SESSION_MESSAGES = 4 };

typedef struct Session Session;

/* Called on the session's thread when an answer is ready; never after session_leave has returned.
 */
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
/* Waits until there is no session, at most `seconds` s; returns whether there is none. */
bool session_wait(double seconds);

/* Queues a message that was allocated with malloc, which the session then owns; returns false if
 * the queue is full. */
bool session_send(Session *session, void *message, size_t size, bool binary);
/* Returns whether the queue has a free slot. */
bool session_has_slot(Session *session);
/* Returns the answer, *size bytes after `before` free ones, which the caller frees; NULL if there
 * is none. */
unsigned char *session_take(Session *session, size_t before, size_t *size, bool *binary);

#endif
