/* Errors of the library in the words of the command line.
 *
 * The library names the key of a value that was set from outside, such as time.step. The program
 * says that it was an option --set.
 */
#include "complaint.h"

#include "text.h"

#include <string.h>

static TextList given;

void complaint_sets(const TextList *sets) {
  given = *sets;
}

/* Whether a key is that of an assignment or lies below it. In the library's spelling bodies.0.k and
 * pins.list[0] are bodies[0].k and pins[0]. */
static bool is_below(const char *text, const char *assignment) {
  const char *p = assignment;
  while (*p && *p != '=') {
    size_t digits = *p == '.' ? strspn(p + 1, "0123456789") : 0;
    if (digits > 0 && strchr(".[=", p[1 + digits])) {
      if (*text != '[' || strncmp(text + 1, p + 1, digits) != 0 || text[1 + digits] != ']')
        return false;
      text += digits + 2;
      p += digits + 1;
    } else if (strncmp(p, ".list[", 6) == 0 && *text == '[') {
      p += 5;
    } else if (*p++ != *text++) {
      return false;
    }
  }
  return *p == '=' && strchr(".[", *text);
}

/* "--set " where an error is about a value of an option --set, which has no place in a file. */
static const char *option_of(const HkError *error) {
  if (error->file[0] || error->line > 0) return "";
  for (int q = 0; q < given.count && error->key[0]; q++) {
    size_t length = strcspn(given.texts[q], "=");
    bool same = strlen(error->key) == length && strncmp(error->key, given.texts[q], length) == 0;
    if (same || is_below(error->key, given.texts[q])) return "--set ";
  }
  return "";
}

int complain_of(const HkError *error) {
  return complain(exit_code_of(error->status), "%s%s", option_of(error), error->text);
}
