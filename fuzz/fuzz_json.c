/* libFuzzer target of the JSON parser and writer: whatever the bytes are, there is a value or an
 * error with a text; and a value that is written and parsed is the same value.
 */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A broken promise is a finding. */
static void demand(bool condition) {
  if (!condition) abort();
}

static void survive_a_round_trip(const HkJson *value, int indent) {
  char *text = NULL;
  HkJson again;
  demand(hk_json_write(value, indent, 17, &text, NULL) == HK_OK);
  demand(hk_json_parse("again", text, strlen(text), &again, NULL) == HK_OK);
  demand(hk_json_equal(value, &again));
  hk_json_clear(&again);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  HkJson value;
  HkError error = {0};
  HkStatus status = hk_json_parse("fuzz.json", (const char *)bytes, size, &value, &error);
  if (status < 0) {
    demand(value.kind == HK_JSON_NULL && error.status == status && error.text[0] != 0);
    demand(error.line > 0 && error.column > 0);
    return 0;
  }
  survive_a_round_trip(&value, 0);
  survive_a_round_trip(&value, 2);
  hk_json_clear(&value);
  return 0;
}
