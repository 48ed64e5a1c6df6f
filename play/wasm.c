/* A Play for JavaScript: pointers are numbers, and there is one folder for all files. */
#include "play.h"

#include <sys/stat.h>

#define EXPORT(name) __attribute__((export_name(name)))

EXPORT("play_create") Play *wasm_create(void);
EXPORT("play_destroy") void wasm_destroy(Play *play);
EXPORT("play_buffer") void *wasm_buffer(Play *play, size_t size);
EXPORT("play_message") int wasm_message(Play *play, size_t size, int binary);
EXPORT("play_answer") const void *wasm_answer(const Play *play);
EXPORT("play_answer_size") size_t wasm_answer_size(const Play *play);

Play *wasm_create(void) {
  mkdir("/files", 0700);
  return play_create(NULL, "/files");
}

void wasm_destroy(Play *play) {
  play_destroy(&play);
}

void *wasm_buffer(Play *play, size_t size) {
  return play_buffer(play, size);
}

int wasm_message(Play *play, size_t size, int binary) {
  return play_message(play, size, binary != 0);
}

const void *wasm_answer(const Play *play) {
  size_t size;
  return play_answer(play, &size);
}

size_t wasm_answer_size(const Play *play) {
  size_t size;
  play_answer(play, &size);
  return size;
}
