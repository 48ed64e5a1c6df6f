/* libFuzzer target of the protocol of hooke view (docs/protocol.md): whatever is asked, there is
 * one answer. The input is a list of messages, one a line; a line that begins with a byte below 32
 * is a message of bytes. Messages with large numbers are left out: large scenes and many steps take
 * their time, as they should.
 */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char folder[64];

static void demand(bool condition) {
  if (!condition) abort();
}

static void remove_folder(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (system(command) != 0) fputs("the folder stays\n", stderr);
}

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count;
  (void)arguments;
  snprintf(folder, sizeof folder, "/tmp/hooke-fuzz-XXXXXX");
  demand(mkdtemp(folder) != NULL);
  atexit(remove_folder);
  return 0;
}

/* Two digits in a row, an exponent, or a budget of a second and more. */
static bool takes_long(const uint8_t *message, size_t size) {
  static const char budget[] = "budget";
  bool has_budget = false, is_short = false;
  for (size_t q = 0; q + 1 < size; q++) {
    bool digit = message[q] >= '0' && message[q] <= '9';
    uint8_t next = message[q + 1];
    if (digit && ((next >= '0' && next <= '9') || next == 'e' || next == 'E')) return true;
    has_budget |=
        size - q >= sizeof budget - 1 && memcmp(message + q, budget, sizeof budget - 1) == 0;
    is_short |= size - q >= 3 && memcmp(message + q, "0.0", 3) == 0;
  }
  return has_budget && !is_short;
}

static void ask(Play *play, const uint8_t *message, size_t size) {
  bool binary = size > 0 && message[0] < 32;
  size_t answer = 0;
  char *room = play_buffer(play, size);
  demand(room != NULL);
  memcpy(room, message, size);
  bool is_bytes = play_message(play, size, binary);
  const char *text = play_answer(play, &answer);
  demand(text != NULL && answer > 0);
  demand(is_bytes || text[0] == '{' || text[0] == '[');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  HkContext context = hk_context_default();
  context.threads = 1;
  Play *play = play_create(&context, folder);
  demand(play != NULL);
  for (size_t at = 0, end; at < size; at = end + 1) {
    const uint8_t *line = memchr(bytes + at, '\n', size - at);
    end = line ? (size_t)(line - bytes) : size;
    if (end > at && !takes_long(bytes + at, end - at)) ask(play, bytes + at, end - at);
  }
  play_destroy(&play);
  return 0;
}
