/* Bytes of memory that a process can allocate without swapping and without being killed.
 *
 * On Linux this is the minimum of MemAvailable of the kernel, of the limits of the process's
 * cgroups (versions 1 and 2, which containers and batch systems use), and of the limit on its
 * address space (ulimit -v). On other systems it is the physical memory. The environment variable
 * HOOKE_MEMORY (bytes) is an upper bound on all systems.
 */
#if !defined(__linux__) && !defined(__EMSCRIPTEN__)
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#define _DARWIN_C_SOURCE
#endif
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double UNKNOWN = INFINITY;

#ifdef __linux__
#include <sys/resource.h>

enum { PATH_SIZE = 4096 };

/* Returns the number after a word at the start of a line of a file, or the first number (word "");
 * -1 if the file has none, as with "max". */
static double read_number(const char *path, const char *word) {
  char line[PATH_SIZE];
  double value = -1;
  size_t length = strlen(word);
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  while (value < 0 && fgets(line, sizeof line, file)) {
    char *end = line + length;
    if (strncmp(line, word, length) != 0) continue;
    double found = strtod(line + length, &end);
    if (end > line + length) value = found;
    if (length == 0) break;
  }
  fclose(file);
  return value;
}

static double least(double a, double b) {
  return a < b ? a : b;
}

/* The files with a cgroup's limit, its usage, and the part of the usage that the kernel can reclaim
 * at once (the page cache). */
typedef struct GroupFiles {
  const char *folder, *limit, *used, *spare;
} GroupFiles;

static const GroupFiles version2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                    "inactive_file "};
static const GroupFiles version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                    "memory.usage_in_bytes", "total_inactive_file "};

static double left_in(const GroupFiles *g, const char *group) {
  char path[2 * PATH_SIZE];
  snprintf(path, sizeof path, "%s%s/%s", g->folder, group, g->limit);
  double limit = read_number(path, "");
  if (limit < 0) return UNKNOWN;
  snprintf(path, sizeof path, "%s%s/%s", g->folder, group, g->used);
  double used = read_number(path, "");
  snprintf(path, sizeof path, "%s%s/memory.stat", g->folder, group);
  double spare = read_number(path, g->spare);
  double left = limit - (used > 0 ? used : 0) + (spare > 0 ? spare : 0);
  return left > 0 ? left : 0;
}

/* Returns the bytes that a cgroup and its ancestors leave; shortens the name `group` to that of the
 * root. */
static double left_around(const GroupFiles *g, char *group) {
  double left = UNKNOWN;
  for (char *slash; (slash = strrchr(group, '/')); *slash = 0)
    left = least(left, left_in(g, group));
  return least(left, left_in(g, ""));
}

/* Lines 'number:controllers:group'; version 2 has number 0 and no controllers. */
static double left_in_groups(void) {
  char line[PATH_SIZE];
  double left = UNKNOWN;
  FILE *file = fopen("/proc/self/cgroup", "r");
  if (!file) return UNKNOWN;
  while (fgets(line, sizeof line, file)) {
    char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (!second) continue;
    line[strcspn(line, "\n")] = 0;
    *second = 0;
    if (first[1] == 0)
      left = least(left, left_around(&version2, second + 1));
    else if (strstr(first + 1, "memory"))
      left = least(left, left_around(&version1, second + 1));
  }
  fclose(file);
  return left;
}

/* Returns the bytes that the limit on the address space leaves. */
static double left_of_addresses(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UNKNOWN;
  double used = read_number("/proc/self/statm", "") * (double)sysconf(_SC_PAGESIZE);
  double left = (double)limit.rlim_cur - (used > 0 ? used : 0);
  return left > 0 ? left : 0;
}

static double of_the_system(void) {
  double kilobytes = read_number("/proc/meminfo", "MemAvailable:");
  double left = kilobytes < 0 ? UNKNOWN : 1024 * kilobytes;
  return least(least(left, left_in_groups()), left_of_addresses());
}

#elif defined(_SC_PHYS_PAGES) && !defined(__wasi__)

static double of_the_system(void) {
  double pages = (double)sysconf(_SC_PHYS_PAGES), size = (double)sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? pages * size : UNKNOWN;
}

#else

static double of_the_system(void) {
  return UNKNOWN;
}

#endif

double hk_memory_available(void) {
  double left = of_the_system();
  const char *given = getenv("HOOKE_MEMORY");
  double most = given ? strtod(given, NULL) : 0;
  if (most > 0 && most < left) left = most;
  return left == UNKNOWN ? 0 : left < 1 ? 1 : left; /* 0 would mean unknown */
}
