/* Runs the tests of a program; see test.h. */
#include "test.h"

#include <stdarg.h>
#include <sys/stat.h>

static TestCase *first, **last = &first;
static int failures_of_test;
static bool skipped;
static char folder[256];

void test_register(TestCase *test) {
  *last = test;
  last = &test->next;
}

void test_fail(const char *file, int line, const char *format, ...) {
  failures_of_test++;
  printf("    %s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
}

void test_skip(const char *format, ...) {
  skipped = true;
  printf("    ");
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
}

const char *test_data(const char *name) {
  static char path[4096];
  const char *root = getenv("HOOKE_TEST_DATA");
  struct stat info;
  if (!root) return NULL;
  snprintf(path, sizeof path, "%s/%s", root, name);
  return stat(path, &info) == 0 ? path : NULL;
}

const char *test_json(const char *text) {
  static _Thread_local char json[4096];
  if (strlen(text) >= sizeof json) abort();
  size_t q = 0;
  for (; text[q]; q++) json[q] = text[q] == '\'' ? '"' : text[q];
  json[q] = 0;
  return json;
}

static void remove_folder(void) {
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  if (folder[0] && system(command) != 0) printf("could not remove %s\n", folder);
}

const char *test_folder(void) {
  static char path[300];
  static int count;
  if (!folder[0]) {
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/hooke-test-XXXXXX",
             parent && parent[0] ? parent : P_tmpdir);
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
  }
  snprintf(path, sizeof path, "%s/%d", folder, count++);
  if (mkdir(path, 0777) != 0) abort();
  return path;
}

static bool is_chosen(const char *name, int count, char **parts) {
  for (int q = 1; q < count; q++)
    if (strstr(name, parts[q])) return true;
  return count <= 1;
}

int main(int argc, char **argv) {
  int passed = 0, failed = 0, skips = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (TestCase *t = first; t; t = t->next) {
    if (!is_chosen(t->name, argc, argv)) continue;
    failures_of_test = 0;
    skipped = false;
    t->run();
    bool bad = failures_of_test > 0;
    printf("%s %s\n", bad ? "FAILED " : skipped ? "skipped" : "ok     ", t->name);
    failed += bad;
    skips += !bad && skipped;
    passed += !bad && !skipped;
  }
  printf("%d passed, %d failed, %d skipped\n", passed, failed, skips);
  return failed > 0;
}
