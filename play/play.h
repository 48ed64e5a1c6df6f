/* Playing with a scene: what stands behind the page, in WebAssembly and in `hooke view`.
 *
 * A Play holds one scene on its way through time and answers messages: JSON text with "ask", or
 * bytes. docs/protocol.md lists them. Each message gets exactly one answer, text or bytes; an error
 * is an answer, too, and leaves everything as it was.
 */
#ifndef HOOKE_PLAY_H
#define HOOKE_PLAY_H

#include "hooke/hooke.h"

typedef struct Play Play;

/* Messages are at most so long (bytes). */
enum { PLAY_MESSAGE_MOST = 64 << 20 };

/* folder: where files that are put are kept, there already; the caller's to remove. NULL if there
 * is no memory. */
Play *play_create(const HkContext *context, const char *folder);
void play_destroy(Play **play);
/* The file of a scene or mesh that {"ask": "load", "home": true} loads; NULL: none. */
void play_set_home(Play *play, const char *path);
/* Reads and compiles the scene or mesh of play_set_home, and keeps nothing of it. Returns its
 * error, with the line where one is known; name stands for the file in the text. */
HkStatus play_check_home(Play *play, const char *name, HkError *error);

/* Cancels the step that another thread computes, and with it the frame, which is answered with the
 * state at the end of the last whole step. A frame that has not begun makes no step either; the
 * next `stop` message lifts it. */
void play_stop(Play *play);
/* Whether a message is {"ask": "stop"}: whoever passes messages on to a Play on another thread
 * calls play_stop at once, and passes it on, too. */
bool play_is_stop(const void *message, size_t size);

/* Room for a message of so many bytes; NULL if there is none, or if it is longer than allowed. */
void *play_buffer(Play *play, size_t size);
/* Answers the message of so many bytes that was written into the buffer; returns whether the answer
 * is bytes, not text. */
bool play_message(Play *play, size_t size, bool binary);
/* The last answer; it stays until the next message. */
const void *play_answer(const Play *play, size_t *size);

#endif
