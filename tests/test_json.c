/* JSON: what is read and refused, where it stands, and that what is written reads back the same. */
#include "test.h"

#include "base/json.h"

#include <locale.h>

#if TEST_SANITIZED
enum { MANY = 20000, STRIDE = 5 };
#else
enum { MANY = 200000, STRIDE = 1 };
#endif

static HkStatus parse(const char *text, HkJson *value, HkError *error) {
  return hk_json_parse("text", text, strlen(text), value, error);
}

/* The text without its '@' must be refused at the place of the '@', with a message that contains
 * part. */
static void refuses(const char *marked, const char *part) {
  const char *mark = strchr(marked, '@');
  char text[256];
  snprintf(text, sizeof text, "%.*s%s", (int)(mark - marked), marked, mark + 1);
  int line = 1, column = 1;
  for (const char *c = marked; c < mark; c++) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  HkJson value;
  HkError error = {0};
  HkStatus status = parse(text, &value, &error);
  if (status != HK_ERROR_FORMAT || value.kind != HK_JSON_NULL || error.line != line ||
      error.column != column || !strstr(error.text, "not valid JSON: ") ||
      !strstr(error.text, part))
    test_fail(__FILE__, __LINE__, "%s gave %s: %s; expected '%s' at the @", marked,
              hk_status_name(status), error.text, part);
  if (status >= 0) hk_json_clear(&value);
}

/* What is written, at this indent, is this, and reads back as the same value. */
static void writes(const HkJson *value, int indent, const char *expected) {
  char *text = NULL;
  HkJson again;
  MUST(hk_json_write(value, indent, 17, &text, error));
  if (strcmp(text, expected) != 0)
    test_fail(__FILE__, __LINE__, "wrote %s, expected %s", text, expected);
  MUST(parse(text, &again, error));
  CHECK(hk_json_equal(value, &again));
  hk_json_clear(&again);
  free(text);
}

/* The text, parsed, is written as this, without blanks. */
static void becomes(const char *text, const char *expected) {
  HkJson value;
  MUST(parse(text, &value, error));
  writes(&value, 0, expected);
  hk_json_clear(&value);
}

static double real_of(const char *text) {
  HkJson value;
  if (parse(text, &value, NULL) < 0) return NAN;
  double x = value.kind == HK_JSON_REAL ? value.real : NAN;
  hk_json_clear(&value);
  return x;
}

/* ---- Values and their places ---- */

static const char sample[] =
    "{\n"
    "  \"none\": null, \"yes\": true, \"no\": false, // a comment\n"
    "  \"numbers\": [0, -12, 1.5e3, -0.0, 9223372036854775807],\n"
    "  /* another */ \"texts\": {\"\": \"\\u00e9\\ud83d\\ude00\", \"a\\n\": \"\xc3\xa9\"},\n"
    "  \"nested\": [[], {}, [[{\"x\": [1]}]]]\n"
    "}\n";

TEST(values_are_read_with_their_places) {
  HkJson v;
  MUST(parse(sample, &v, error));
  CHECK(hk_json_size(&v) == 6 && v.line == 1 && v.column == 1);
  CHECK(hk_json_is(hk_json_get(&v, "none"), HK_JSON_NULL));
  CHECK(hk_json_get(&v, "yes")->boolean && !hk_json_get(&v, "no")->boolean);
  CHECK(strcmp(hk_json_key(&v, 1)->text, "yes") == 0 && hk_json_key(&v, 1)->line == 2);
  CHECK(hk_json_key(&v, 1)->column == 17 && hk_json_at(&v, 1)->column == 24);
  const HkJson *n = hk_json_get(&v, "numbers");
  CHECK(n->line == 3 && n->column == 14 && hk_json_size(n) == 5);
  CHECK(n->items[1].kind == HK_JSON_INTEGER && n->items[1].integer == -12);
  CHECK(n->items[2].kind == HK_JSON_REAL && n->items[2].real == 1500 && n->items[2].column == 23);
  CHECK(n->items[3].kind == HK_JSON_REAL && n->items[3].real == 0 && signbit(n->items[3].real));
  CHECK(n->items[4].integer == INT64_MAX && hk_json_number(&n->items[1]) == -12);
  const HkJson *t = hk_json_get(&v, "texts");
  CHECK(t->line == 4 && strcmp(hk_json_get(t, "")->text, "\xc3\xa9\xf0\x9f\x98\x80") == 0);
  CHECK(strcmp(hk_json_get(t, "a\n")->text, "\xc3\xa9") == 0);
  const HkJson *x = hk_json_get(&hk_json_get(&v, "nested")->items[2].items[0].items[0], "x");
  CHECK(x && x->line == 5 && x->column == 30 && x->items[0].integer == 1);
  CHECK(!hk_json_get(&v, "x") && !hk_json_get(n, "x") && !hk_json_get(NULL, "x"));
  CHECK(hk_json_size(NULL) == 0 && hk_json_size(&n->items[0]) == 0);
  hk_json_clear(&v);
  CHECK(v.kind == HK_JSON_NULL);
}

TEST(a_value_alone_is_a_text) {
  becomes(" true ", "true");
  becomes("null", "null");
  becomes("\t-5\r\n", "-5");
  becomes("\"a\"", "\"a\"");
}

TEST(comments_and_the_mark_of_utf8_are_skipped) {
  becomes("\xef\xbb\xbf[1]", "[1]");
  becomes("//\n[/**/1/***/,/* // */2 // \"\n]//", "[1,2]");
  becomes("[\"// no /* comment */\"] // \xff is no UTF-8", "[\"// no /* comment */\"]");
  refuses("[1, 2 @/* no end", "this comment has no end");
  refuses("[1, @/*/ 2]", "this comment has no end");
  refuses("[1 @/ 2]", "found '/'");
  refuses("// only\n/*\n*/ @", "the end of the text");
}

TEST(a_text_need_not_end_in_zero) {
  const char text[] = {'[', '1', '2', '3', ']', '4'};
  HkJson value;
  MUST(hk_json_parse("text", text, 5, &value, error));
  CHECK(value.count == 1 && value.items[0].integer == 123);
  hk_json_clear(&value);
  MUST(hk_json_parse("text", text + 1, 2, &value, error));
  CHECK(value.integer == 12);
  FAILS(hk_json_parse("text", text, 4, &value, error), HK_ERROR_FORMAT, "text:1:5: not valid JSON");
  FAILS(hk_json_parse("text", NULL, 0, &value, error), HK_ERROR_FORMAT, "the end of the text");
}

/* ---- Numbers ---- */

TEST(whole_numbers_that_fit_stay_whole) {
  becomes("[9223372036854775807, -9223372036854775808, 0, -0]",
          "[9223372036854775807,-9223372036854775808,0,0]");
  CHECK(real_of("9223372036854775808") == 0x1p63 && real_of("-9223372036854775809") == -0x1p63);
  CHECK(real_of("18446744073709551616") == 0x1p64 && real_of("184467440737095516150") == 0x1.4p67);
  CHECK(real_of("1.0") == 1 && real_of("1e0") == 1);
}

TEST(numbers_are_the_nearest_doubles) {
  CHECK(real_of("0.1") == 0.1 && real_of("1E-2") == 0.01 && real_of("1e+22") == 1e22);
  CHECK(real_of("9007199254740993.0") == 0x1p53);                       /* a tie, to even */
  CHECK(real_of("9007199254740993.000000000000000000000001") > 0x1p53); /* just above it */
  CHECK(real_of("5e-324") == 0x1p-1074 && real_of("2e-324") == 0 && real_of("1e-999") == 0);
  CHECK(real_of("1.7976931348623157e308") == 0x1.fffffffffffffp1023);
  CHECK(real_of("0e999") == 0);
  char text[2048];
  snprintf(text, sizeof text, "0.%0*d1e%d", 1000, 0, 1001); /* more digits than a double has */
  CHECK(real_of(text) == 1);
  refuses("[@1e309]", "the number 1e309 is beyond the largest double");
  refuses("[@-1.8e308]", "beyond the largest double");
}

TEST(numbers_that_the_grammar_has_not_are_refused) {
  refuses("[@01]", "no 0 in front");
  refuses("[@-01]", "no 0 in front");
  refuses("[@+1]", "begins with a digit or a minus");
  refuses("[@.5]", "begins with a digit or a minus");
  refuses("[1.@]", "behind the point");
  refuses("[1.@e5]", "behind the point");
  refuses("[-@]", "behind the minus");
  refuses("[-@Infinity]", "behind the minus");
  refuses("[1e@]", "in the exponent");
  refuses("[1e+@ 5]", "in the exponent");
  refuses("[@NaN]", "expected a value, found 'NaN'");
  refuses("[0@x10]", "expected ',' or ']', found 'x10'");
  refuses("[1@_000]", "expected ',' or ']', found '_'");
}

TEST(numbers_do_not_depend_on_the_locale) {
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"};
  bool is_found = false;
  for (int q = 0; q < 4 && !is_found; q++) is_found = setlocale(LC_ALL, names[q]) != NULL;
  if (!is_found || strcmp(localeconv()->decimal_point, ",") != 0)
    SKIP("no locale with a decimal comma is installed");
  becomes("[0.5, 0.12345678901234567890]", "[0.5,0.12345678901234568]");
  setlocale(LC_ALL, "C");
}

/* xorshift64 (Marsaglia 2003) */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

TEST(doubles_survive_a_round_trip_bit_for_bit) {
  uint64_t state = 88172645463325252u;
  HkJson list = hk_json_list(), again;
  char *text = NULL;
  for (int q = 0; q < MANY; q++) {
    uint64_t bits = next_random(&state);
    double x;
    if (q % 4 == 0) bits &= ~(0x7ffull << 52); /* too small to be normal */
    memcpy(&x, &bits, sizeof x);
    if (q % 4 == 1) x = (double)(int64_t)bits; /* whole */
    if (isfinite(x)) hk_json_append(&list, hk_json_real(x));
  }
  MUST(hk_json_write(&list, 2, 17, &text, error));
  MUST(parse(text, &again, error));
  CHECK(list.count > MANY / 2 && hk_json_equal(&list, &again));
  hk_json_clear(&again);
  hk_json_clear(&list);
  free(text);
}

/* ---- Texts ---- */

TEST(escapes_are_decoded) {
  HkJson v;
  MUST(parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00E9\\u20ac\\uD834\\uDD1E\"", &v, error));
  CHECK(strcmp(v.text, "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e") == 0);
  hk_json_clear(&v);
  refuses("[\"a@\\x41\"]", "a backslash in a string");
  refuses("[\"@\\u12\"]", "four hexadecimal digits");
  refuses("[\"@\\u12g4\"]", "four hexadecimal digits");
  refuses("[\"@\\u0000\"]", "\\u0000 cannot stand");
  refuses("[@\"\\\"]", "this string has no end");
}

TEST(halves_of_surrogate_pairs_are_refused) {
  refuses("[\"@\\ud834\"]", "half of a pair");
  refuses("[\"@\\udd1e\"]", "half of a pair");
  refuses("[\"@\\ud834 \\udd1e\"]", "half of a pair");
  refuses("[\"@\\ud834\\ud834\"]", "half of a pair");
  refuses("[\"@\\ud834\\u0041\"]", "half of a pair");
  refuses("[\"@\\udd1e\\ud834\"]", "half of a pair");
}

TEST(bytes_that_are_no_utf8_are_refused) {
  refuses("[\"@\x80\"]", "the byte 0x80 is no UTF-8");
  refuses("[\"a@\xe9\"]", "the byte 0xe9 is no UTF-8");       /* Latin-1 */
  refuses("[\"@\xc3\"]", "no UTF-8");                         /* cut off */
  refuses("[\"@\xc0\xaf\"]", "no UTF-8");                     /* overlong, two bytes */
  refuses("[\"@\xe0\x9f\xbf\"]", "no UTF-8");                 /* three */
  refuses("[\"@\xf0\x8f\xbf\xbf\"]", "no UTF-8");             /* four */
  refuses("[\"@\xed\xa0\x80\"]", "no UTF-8");                 /* a surrogate */
  refuses("[\"@\xf4\x90\x80\x80\"]", "no UTF-8");             /* beyond U+10FFFF */
  refuses("[\"@\xf8\x88\x80\x80\x80\"]", "no UTF-8");         /* five bytes */
  refuses("{\"@\xff\": 1}", "no UTF-8");                      /* in a key */
  refuses("[\"\xc3\xa9\xf0\x9f\x98\x80@\xff\"]", "no UTF-8"); /* columns count bytes */
  refuses("[@\xff]", "the byte 0xff");
  refuses("[1, @\xe2\x82\xac]", "found '\xe2\x82\xac'");
}

TEST(control_characters_are_refused) {
  refuses("[\"a@\tb\"]", "the control character 0x09 stands in a string; write \\u0009");
  refuses("[\"@\x01\"]", "the control character 0x01");
  refuses("[@\"a\nb\"]", "this string has no end");
  refuses("[1 @\f]", "the byte 0x0c");
  HkJson value;
  FAILS(hk_json_parse("text", "[\"a\0b\"]", 7, &value, error), HK_ERROR_FORMAT, "0x00");
  FAILS(hk_json_parse("text", "[1\0]", 4, &value, error), HK_ERROR_FORMAT, "0x00");
  becomes("\"\x7f\"", "\"\x7f\"");
}

/* Every character that there is but U+0000 and the surrogates, encoded here on its own. */
TEST(all_of_unicode_survives_a_round_trip) {
  char *text = malloc(5 * 0x110000), *at = text, *written = NULL;
  for (uint32_t c = 1; c < 0x110000; c++) {
    if (c >= 0xd800 && c < 0xe000) continue;
    if (c < 0x80) *at++ = (char)c;
    if (c >= 0x80 && c < 0x800) *at++ = (char)(0xc0 + c / 0x40);
    if (c >= 0x800 && c < 0x10000) *at++ = (char)(0xe0 + c / 0x1000);
    if (c >= 0x10000) *at++ = (char)(0xf0 + c / 0x40000);
    if (c >= 0x10000) *at++ = (char)(0x80 + c / 0x1000 % 0x40);
    if (c >= 0x800) *at++ = (char)(0x80 + c / 0x40 % 0x40);
    if (c >= 0x80) *at++ = (char)(0x80 + c % 0x40);
  }
  *at = 0;
  HkJson value = hk_json_text(text), again;
  CHECK(strcmp(value.text, text) == 0);
  MUST(hk_json_write(&value, 0, 17, &written, error));
  MUST(parse(written, &again, error));
  CHECK(hk_json_equal(&value, &again));
  hk_json_clear(&value);
  hk_json_clear(&again);
  free(written);
  free(text);
}

TEST(every_escape_is_its_character) {
  for (int c = 1; c < 0x10000; c += c < 0x100 ? 1 : 37) {
    char escape[16];
    HkJson value;
    bool half = c >= 0xd800 && c < 0xe000;
    snprintf(escape, sizeof escape, "\"\\u%04x\"", (unsigned)c);
    HkStatus status = parse(escape, &value, NULL);
    if ((status < 0) != half) test_fail(__FILE__, __LINE__, "%s", escape);
    if (status < 0) continue;
    const unsigned char *u = (const unsigned char *)value.text;
    int code = u[0];
    if (c >= 0x80) code = (u[0] & 0x1f) << 6 | (u[1] & 0x3f);
    if (c >= 0x800) code = (u[0] & 0x0f) << 12 | (u[1] & 0x3f) << 6 | (u[2] & 0x3f);
    if (code != c) test_fail(__FILE__, __LINE__, "%s became U+%04X", escape, (unsigned)code);
    hk_json_clear(&value);
  }
}

/* ---- Mistakes ---- */

TEST(mistakes_are_answered_with_a_way_out) {
  refuses("@", "expected a value, found the end of the text");
  refuses("{\"a\": @}", "expected a value, found '}'");
  refuses("{\"a\": 1, @}", "expected a key, found '}'; is there a comma too many before it?");
  refuses("[1, @]", "expected a value, found ']'; is there a comma too many before it?");
  refuses("[1, @, 2]", "expected a value, found ','");
  refuses("[@, 2]", "expected a value, found ','");
  refuses("[1 @2]", "expected ',' or ']', found '2'; is a comma missing before it?");
  refuses("{\"a\": 1\n @\"b\": 2}",
          "expected ',' or '}', found '\"'; is a comma missing before it?");
  refuses("{@a: 1}", "expected a key in double quotes, found 'a'");
  refuses("{@'a': 1}", "expected a key in double quotes, found '''");
  refuses("{@1: 1}", "expected a key in double quotes, found '1'");
  refuses("{\"a\" @1}", "expected ':' behind the key, found '1'");
  refuses("{\"a\"@}", "expected ':' behind the key, found '}'");
  refuses("[@'a']", "strings stand in double quotes");
  refuses("[@True]", "found 'True'; a word is true, false or null, or stands in double quotes");
  refuses("[@truely]", "found 'truely'");
  refuses("[@nul]", "found 'nul'");
  refuses("[\n[1@}", "expected ',' or ']', found '}'; the '[' stands in line 2");
  refuses("{\"a\":\n [1, 2@", "the text ends, and the '[' of line 2, column 2 is not closed");
  refuses("{\"a\": [1]@", "the '{' of line 1, column 1 is not closed");
  refuses("[1] @[2]", "expected the end of the text, found '['");
  refuses("{\"a\": 1}@,", "expected the end of the text, found ','");
}

TEST(keys_that_stand_twice_are_refused) {
  refuses("{\"a\": 1, \"b\": 2,\n @\"a\": 3}", "duplicate key 'a'; it stands in line 1, column 2");
  refuses("{\"a\": {\"b\": 1, @\"b\": 1}, \"a\": 1}", "duplicate key 'b'");
  refuses("{\"z\": 1, \"a\": 2, @\"a\": 3, \"z\": 4, \"a\": 5}", "duplicate key 'a'");
  refuses("{\"\xc3\xa9\": 1, @\"\\u00e9\": 2}", "duplicate key '\xc3\xa9'");
  becomes("{\"a\":{\"a\":1},\"b\":[{\"a\":2},{\"a\":3}]}",
          "{\"a\":{\"a\":1},\"b\":[{\"a\":2},{\"a\":3}]}");
}

TEST(depth_is_limited) {
  enum { DEEP = 200, DEEPER = 1000000 };
  char *text = malloc(DEEPER + 1);
  HkJson value;
  for (int q = 0; q < DEEP; q++) {
    text[q] = '[';
    text[DEEP + q] = ']';
  }
  text[2 * DEEP] = 0;
  MUST(parse(text, &value, error));
  hk_json_clear(&value);
  memset(text, '[', DEEPER);
  text[DEEPER] = 0;
  FAILS(parse(text, &value, error), HK_ERROR_FORMAT, "text:1:201: not valid JSON: lists and");
  for (int q = 0; q + 5 <= DEEPER; q += 5) memcpy(text + q, "{\"\":[", 5);
  FAILS(parse(text, &value, error), HK_ERROR_FORMAT, "more than 200 deep");
  free(text);
}

/* No beginning of a text is a text. */
TEST(a_text_cut_off_anywhere_is_refused) {
  size_t whole = strlen(sample) - 1; /* without the last newline */
  for (size_t length = 0; length < whole; length++) {
    char *text = malloc(length + 1);
    HkJson value;
    HkError error = {0};
    memcpy(text + 1, sample, length); /* up to the end of the block: for those who watch memory */
    HkStatus status = hk_json_parse("text", text + 1, length, &value, &error);
    if (status != HK_ERROR_FORMAT || error.line < 1 || error.column < 1 ||
        value.kind != HK_JSON_NULL)
      test_fail(__FILE__, __LINE__, "%zu bytes gave %s: %s", length, hk_status_name(status),
                error.text);
    free(text);
  }
}

/* Every byte of the sample is replaced by others. */
TEST(a_broken_text_is_refused_or_read_as_what_it_says) {
  char text[sizeof sample];
  size_t size = strlen(sample);
  int good = 0;
  for (size_t q = 0; q < size; q++) {
    for (int byte = 0; byte < 256; byte += STRIDE) {
      HkJson value, again;
      char *written = NULL;
      HkError why = {0};
      memcpy(text, sample, sizeof text);
      text[q] = (char)byte;
      if (hk_json_parse("text", text, size, &value, &why) < 0) {
        if (why.line < 1 || why.column < 1) test_fail(__FILE__, __LINE__, "%s", why.text);
        continue;
      }
      good++;
      MUST(hk_json_write(&value, 0, 17, &written, error));
      MUST(parse(written, &again, error));
      CHECK(hk_json_equal(&value, &again));
      hk_json_clear(&value);
      hk_json_clear(&again);
      free(written);
    }
  }
  CHECK(good > 0);
}

/* ---- Large texts ---- */

TEST(long_lists_are_read_whole_and_in_order) {
  size_t capacity = 16 * (size_t)MANY, used = 1;
  char *text = malloc(capacity);
  text[0] = '[';
  for (int q = 0; q < MANY; q++)
    used += (size_t)snprintf(text + used, capacity - used, q % 2 ? "[%d],\n" : "%d,", q);
  snprintf(text + used, capacity - used, "null]");
  HkJson value;
  MUST(parse(text, &value, error));
  CHECK(value.count == MANY + 1);
  for (int q = 0; q < MANY; q++) {
    const HkJson *v = q % 2 ? &value.items[q].items[0] : &value.items[q];
    if (v->integer != q || v->line != 1 + q / 2) test_fail(__FILE__, __LINE__, "element %d", q);
  }
  hk_json_clear(&value);
  free(text);
}

/* {"key 0": 0, ...}; the last key is that of an earlier one if twice says so. Quadratic work on it
 * would take minutes. */
static char *object_text(int count, bool twice) {
  size_t capacity = 32 * (size_t)count, used = 1;
  char *text = malloc(capacity);
  text[0] = '{';
  for (int q = 0; q < count; q++)
    used += (size_t)snprintf(text + used, capacity - used, "%s\"key %d\": %d", q ? ",\n" : "",
                             twice && q == count - 1 ? 5 : q, q);
  snprintf(text + used, capacity - used, "}");
  return text;
}

TEST(objects_with_many_keys_are_read_in_their_order) {
  enum { KEYS = 100000 };
  char *good = object_text(KEYS, false), *bad = object_text(KEYS, true);
  HkJson value;
  MUST(parse(good, &value, error));
  CHECK(hk_json_size(&value) == KEYS);
  for (int q = 0; q < KEYS; q++) CHECK(hk_json_at(&value, q)->integer == q);
  hk_json_clear(&value);
  FAILS(parse(bad, &value, error), HK_ERROR_FORMAT,
        "text:100000:1: not valid JSON: duplicate key 'key 5'; it stands in line 6, column 1");
  free(good);
  free(bad);
}

/* ---- Building and writing ---- */

static HkJson example(void) {
  HkJson object = hk_json_object(), list = hk_json_list();
  hk_json_append(&list, hk_json_integer(-3));
  hk_json_append(&list, hk_json_real(0.1));
  hk_json_append(&list, hk_json_list());
  hk_json_append(&list, hk_json_object());
  hk_json_add(&object, "list", list);
  hk_json_add(&object, "a\"\\\n\x1f/", hk_json_text("\b\f\r\t\xc3\xa9"));
  hk_json_add(&object, "yes", hk_json_boolean(true));
  hk_json_add(&object, "none", hk_json_real(NAN));
  return object;
}

TEST(values_are_written_compact_and_indented) {
  HkJson object = example();
  writes(&object, 0,
         "{\"list\":[-3,0.10000000000000001,[],{}],\"a\\\"\\\\\\n\\u001F/\":"
         "\"\\b\\f\\r\\t\xc3\xa9\",\"yes\":true,\"none\":null}");
  writes(&object, 2,
         "{\n  \"list\": [\n    -3,\n    0.10000000000000001,\n    [],\n    {}\n  ],\n"
         "  \"a\\\"\\\\\\n\\u001F/\": \"\\b\\f\\r\\t\xc3\xa9\",\n  \"yes\": true,\n"
         "  \"none\": null\n}");
  hk_json_clear(&object);
}

TEST(reals_are_written_as_reals) {
  static const struct {
    double x;
    const char *text;
  } cases[] = {{3, "3.0"},
               {-0.0, "-0.0"},
               {1e15, "1000000000000000.0"},
               {1e20, "1e20"},
               {-2.5e-7, "-2.4999999999999999e-7"},
               {1e100, "1e100"},
               {5e-324, "4.9406564584124654e-324"},
               {INFINITY, "null"}};
  for (size_t q = 0; q < sizeof cases / sizeof cases[0]; q++) {
    HkJson value = hk_json_real(cases[q].x);
    writes(&value, 0, cases[q].text);
  }
  HkJson tenth = hk_json_real(0.1);
  char *text = NULL;
  MUST(hk_json_write(&tenth, 0, 15, &text, error));
  CHECK(strcmp(text, "0.1") == 0);
  free(text);
}

TEST(objects_are_changed_in_place) {
  HkJson object = example(), copy = hk_json_copy(&object);
  CHECK(hk_json_equal(&object, &copy));
  hk_json_set(&object, "yes", hk_json_integer(1));
  hk_json_set(&object, "new", hk_json_text("x"));
  hk_json_remove(&object, "list");
  hk_json_remove(&object, "not there");
  CHECK(hk_json_size(&object) == 4 && hk_json_at(&object, 1)->integer == 1);
  CHECK(strcmp(hk_json_key(&object, 3)->text, "new") == 0 && !hk_json_get(&object, "list"));
  CHECK(hk_json_size(hk_json_get(&copy, "list")) == 4 && hk_json_get(&copy, "yes")->boolean);
  CHECK(!hk_json_equal(&object, &copy));
  hk_json_clear(&object);
  hk_json_clear(&copy);
}

TEST(texts_that_are_no_utf8_are_mended) {
  HkJson value = hk_json_text("caf\xe9 \xc3\xa9 \xf0\x9f");
  CHECK(strcmp(value.text, "caf\xef\xbf\xbd \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd") == 0);
  hk_json_clear(&value);
}

TEST(what_there_was_no_memory_for_is_not_written) {
  HkJson list = hk_json_list(), lost = {.kind = HK_JSON_LOST};
  char *text = NULL;
  CHECK(hk_json_append(&lost, hk_json_text("released")) == NULL && lost.kind == HK_JSON_LOST);
  CHECK(hk_json_add(&lost, "key", example()) == NULL && lost.kind == HK_JSON_LOST);
  hk_json_append(&list, hk_json_text("kept"));
  hk_json_append(&list, lost);
  FAILS(hk_json_write(&list, 0, 17, &text, error), HK_ERROR_MEMORY, "no memory");
  CHECK(text == NULL);
  hk_json_clear(&list);
}
