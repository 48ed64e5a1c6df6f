/* Names of the processor and the operating system; see machine.h. Linux has them in /proc/cpuinfo
 * and /etc/os-release, other systems in uname. */
#include "base/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* Copies the text after `key` and a mark on a line of a file, without blanks and quotes around it;
 * returns false if there is no such line. */
static bool find_line(const char *path, const char *key, char mark, char *text, size_t size) {
  char line[512];
  bool found = false;
  FILE *file = fopen(path, "r");
  while (file && !found && fgets(line, sizeof line, file)) {
    char *value = strchr(line, mark);
    if (!value || strncmp(line, key, strlen(key)) != 0) continue;
    value += 1 + strspn(value + 1, " \t\"'");
    size_t length = strlen(value);
    while (length > 0 && strchr(" \t\r\n\"'", value[length - 1])) length--;
    value[length] = 0;
    found = length > 0;
    snprintf(text, size, "%s", value);
  }
  if (file) fclose(file);
  return found;
}

void hk_machine_processor(char *text, size_t size) {
  struct utsname name;
  if (find_line("/proc/cpuinfo", "model name", ':', text, size)) return;
  if (find_line("/proc/cpuinfo", "Model", ':', text, size)) return;
  snprintf(text, size, "%s", uname(&name) >= 0 ? name.machine : "unknown");
}

void hk_machine_system(char *text, size_t size) {
  struct utsname name;
  char pretty[256] = "";
  if (uname(&name) < 0) {
    snprintf(text, size, "unknown");
    return;
  }
  bool named = find_line("/etc/os-release", "PRETTY_NAME", '=', pretty, sizeof pretty);
  snprintf(text, size, "%s%s%s %s %s", pretty, named ? ", " : "", name.sysname, name.release,
           name.machine);
}
