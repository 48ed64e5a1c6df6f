#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Page open_page(void) {
  Page page = {.folder = "/tmp/hooke-play-XXXXXX"};
  CHECK(mkdtemp(page.folder) != NULL);
  page.play = play_create(NULL, page.folder);
  CHECK(page.play != NULL);
  return page;
}

void close_page(Page *page) {
  char command[128];
  play_destroy(&page->play);
  snprintf(command, sizeof command, "rm -r %s", page->folder);
  CHECK(system(command) == 0);
}

bool send_bytes(Page *page, const void *bytes, size_t size, bool binary) {
  void *buffer = play_buffer(page->play, size);
  CHECK(buffer != NULL);
  if (buffer) memcpy(buffer, bytes, size);
  return play_message(page->play, size, binary);
}

bool ask(Page *page, const char *text) {
  char copy[4096];
  snprintf(copy, sizeof copy, "%s", text);
  for (char *c = copy; *c; c++)
    if (*c == '\'') *c = '"';
  return send_bytes(page, copy, strlen(copy), false);
}

HkJson answer_of(Page *page) {
  HkError error = {0};
  HkJson answer = {0};
  size_t size;
  const char *text = play_answer(page->play, &size);
  if (hk_json_parse("answer", text, size, &answer, &error) < 0)
    test_fail(__FILE__, __LINE__, "%s: %.*s", error.text, (int)(size < 300 ? size : 300), text);
  return answer;
}

HkJson ask_text(Page *page, const char *text) {
  CHECK(!ask(page, text));
  return answer_of(page);
}

const char *error_in(const HkJson *answer) {
  const HkJson *error = hk_json_get(answer, "error");
  return hk_json_is(error, HK_JSON_TEXT) ? error->text : "";
}

double number_in(const HkJson *answer, const char *key) {
  const HkJson *value = hk_json_get(answer, key);
  return hk_json_is_number(value) ? hk_json_number(value) : NAN;
}

void expect_good(Page *page, const char *text) {
  HkJson answer = ask_text(page, text);
  if (error_in(&answer)[0]) test_fail(__FILE__, __LINE__, "%s: %s", text, error_in(&answer));
  hk_json_clear(&answer);
}

void expect_error(Page *page, const char *text, const char *words) {
  HkJson answer = ask_text(page, text);
  if (!strstr(error_in(&answer), words))
    test_fail(__FILE__, __LINE__, "%s: '%s' instead of '%s'", text, error_in(&answer), words);
  hk_json_clear(&answer);
}

Frame frame(Page *page, const char *text) {
  Frame f = {0};
  size_t size;
  CHECK(ask(page, text));
  const unsigned char *bytes = play_answer(page->play, &size);
  CHECK(size > 176 && memcmp(bytes, "HKFR", 4) == 0);
  memcpy(&f.vertices, bytes + 8, 4);
  memcpy(&f.flags, bytes + 12, 4);
  memcpy(f.number, bytes + 16, sizeof f.number);
  f.x = (const float *)(const void *)(bytes + 176);
  f.value = f.flags & 4 ? f.x + 3 * f.vertices : NULL;
  size_t poses = 176 + (size_t)f.vertices * (f.value ? 16 : 12);
  f.pose = (const float *)(const void *)(bytes + poses);
  CHECK(size == poses + 48 * (size_t)f.number[OBSTACLES]);
  return f;
}
