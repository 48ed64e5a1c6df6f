/* The engine of the page, in WebAssembly and in `hooke view`.
 *
 * A Play simulates one scene and answers messages: JSON text with "ask", or
 * bytes. docs/protocol.md lists them. Each message gets exactly one answer, text or bytes; an error
 * is an answer, too, and leaves everything as it was.
 */
#ifndef HOOKE_PLAY_H
#define HOOKE_PLAY_H

#include "hooke/hooke.h"

typedef struct Play Play;

/* Largest size of a message in bytes. */
enum { PLAY_MAX_MESSAGE_BYTES = 64 << 20 };

/* Creates a Play. folder: an existing folder for uploaded files, which the caller removes. Returns
 * NULL if out of memory. */
Play *play_create(const HkContext *context, const char *folder);
void play_destroy(Play **play);
/* Sets the scene or mesh file that {"ask": "load", "home": true} loads; NULL: none. */
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

/* Returns a buffer for a message of `size` bytes; NULL if out of memory, or if the message is too
 * long. */
void *play_buffer(Play *play, size_t size);
/* Answers the message of `size` bytes in the buffer; returns whether the answer is binary. */
bool play_message(Play *play, size_t size, bool binary);
/* Returns the last answer, which is valid until the next message. */
const void *play_answer(const Play *play, size_t *size);

#endif
