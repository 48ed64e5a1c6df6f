/* The files of the web page; see page.h. */
#include "page.h"

#include "command.h"
#include "text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH_BYTES = 4096, MAX_FOLDER_DEPTH = 6, MAX_FILES = 1000 };

static bool is_folder(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool is_file(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static char *copy(const char *text) {
  size_t size = strlen(text) + 1;
  char *result = malloc(size);
  if (result) memcpy(result, text, size);
  return result;
}

static bool add(Page *page, const char *name, const char *path) {
  if (page->count == MAX_FILES) return false;
  PageFile *files = realloc(page->files, (size_t)(page->count + 1) * sizeof *files);
  if (!files) return false;
  page->files = files;
  page->files[page->count++] = (PageFile){copy(name), copy(path)};
  return page->files[page->count - 1].name && page->files[page->count - 1].path;
}

/* Lists a folder; name: its path relative to the folder of the page. */
static bool list(Page *page, const char *folder, const char *name, int depth) {
  DIR *open = opendir(folder);
  const struct dirent *entry;
  bool good = open != NULL;
  while (good && (entry = readdir(open))) {
    char path[MAX_PATH_BYTES], inner[MAX_PATH_BYTES];
    if (entry->d_name[0] == '.') continue;
    if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= MAX_PATH_BYTES) continue;
    if (snprintf(inner, sizeof inner, "%s/%s", name, entry->d_name) >= MAX_PATH_BYTES) continue;
    if (is_folder(path) && depth < MAX_FOLDER_DEPTH) good = list(page, path, inner, depth + 1);
    if (is_file(path)) good = add(page, inner, path);
  }
  if (open) closedir(open);
  return good;
}

static bool is_page(const char *folder) {
  char index[MAX_PATH_BYTES + 128];
  int length = snprintf(index, sizeof index, "%s/index.html", folder);
  return length < (int)sizeof index && is_file(index);
}

/* Finds the folder of the page: relative to the program, installed or in the build tree; else under
 * the prefix of the build. */
static bool find_folder(char *folder, size_t size) {
  static const char *const places[] = {HOOKE_PAGE_FROM_PROGRAM, "../../web/dist"};
  char program[MAX_PATH_BYTES];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  program[length > 0 ? length : 0] = 0;
  char *end = strrchr(program, '/');
  for (size_t q = 0; end && q < sizeof places / sizeof places[0]; q++) {
    *end = 0;
    snprintf(folder, size, "%s/%s", program, places[q]);
    if (is_page(folder)) return true;
  }
  snprintf(folder, size, "%s", HOOKE_PAGE);
  return is_page(folder);
}

int page_find(const char *given, Page *page) {
  char folder[MAX_PATH_BYTES + 64];
  *page = (Page){0};
  if (given)
    snprintf(folder, sizeof folder, "%s", given);
  else if (!find_folder(folder, sizeof folder))
    return complain(EXIT_FILE,
                    "the page is not there, neither beside the program nor in %s; 'make web' "
                    "builds it, 'make install' then installs it, --page says where it is",
                    HOOKE_PAGE);
  if (!list(page, folder, "", 0))
    return complain(EXIT_FILE, "%s: cannot read the files of the page", folder);
  if (!page_path(page, "/index.html"))
    return complain(EXIT_FILE, "%s: there is no index.html; 'make web' builds the page", folder);
  return EXIT_GOOD;
}

void page_release(Page *page) {
  for (int q = 0; q < page->count; q++) {
    free(page->files[q].name);
    free(page->files[q].path);
  }
  free(page->files);
  *page = (Page){0};
}

const char *page_path(const Page *page, const char *name) {
  if (strcmp(name, "/") == 0) name = "/index.html";
  for (int q = 0; q < page->count; q++)
    if (strcmp(page->files[q].name, name) == 0) return page->files[q].path;
  return NULL;
}

const char *page_type(const char *name) {
  static const struct {
    const char *ending, *type;
  } types[] = {{".html", "text/html; charset=utf-8"},
               {".js", "text/javascript"},
               {".css", "text/css"},
               {".wasm", "application/wasm"},
               {".json", "application/json"},
               {".svg", "image/svg+xml"},
               {".png", "image/png"},
               {".webmanifest", "application/manifest+json"}};
  const char *ending = strrchr(name, '.');
  for (size_t q = 0; ending && q < sizeof types / sizeof types[0]; q++)
    if (strcmp(types[q].ending, ending) == 0) return types[q].type;
  return "application/octet-stream";
}
