/* A Play on a thread of its own: messages go in, answers come out, and nobody waits.
 *
 * A session takes SESSION_MESSAGES messages in advance; whoever sends more has to wait until one is
 * answered. An answer is taken before the next message is begun, so that nothing piles up.
 */
#ifndef HOOKE_CLI_SESSION_THREAD_H
#define HOOKE_CLI_SESSION_THREAD_H

#include "play.h"

enum { SESSION_MESSAGES = 4 };

typedef struct Session Session;

/* An answer is there: called on the session's thread. */
typedef void SessionFn(void *user);

/* home: the file that {"ask": "load", "home": true} loads, or NULL. NULL if it cannot be made. */
Session *session_start(const HkContext *context, const char *folder, const char *home,
                       SessionFn *ready, void *user);
/* Waits for the message that is being answered, and ends. */
void session_end(Session **session);

/* Hands over a message, which was allocated with malloc; false: there are too many already. */
bool session_send(Session *session, void *message, size_t size, bool binary);
/* Whether one more may be sent. */
bool session_has_room(Session *session);
/* The answer, if there is one: *size bytes after `before` free ones, to be freed; else NULL. */
unsigned char *session_take(Session *session, size_t before, size_t *size, bool *binary);

#endif
