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

/* Room for a message of so many bytes; NULL if there is none, or if it is longer than allowed. */
void *play_buffer(Play *play, size_t size);
/* Answers the message of so many bytes that was written into the buffer; returns whether the answer
 * is bytes, not text. */
bool play_message(Play *play, size_t size, bool binary);
/* The last answer; it stays until the next message. */
const void *play_answer(const Play *play, size_t *size);

#endif
