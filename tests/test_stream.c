/* Numbers as text and base64, against the C library and RFC 4648. */
#include "base/decimal.h"
#include "base/stream.h"
#include "test.h"

static void check_decimal(double x) {
  char ours[32], theirs[64];
  int length = hk_decimal9(x, ours);
  snprintf(theirs, sizeof theirs, "%.9g", x);
  if (strcmp(ours, theirs) != 0 || length != (int)strlen(theirs))
    test_fail(__FILE__, __LINE__, "%.17g as '%s', expected '%s'", x, ours, theirs);
}

TEST(decimal_writes_as_printf_does) {
  static const double plain[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.1,
                                 10,
                                 100,
                                 123456789,
                                 1234567890,
                                 999999999.5,
                                 9999999999,
                                 0.0001,
                                 0.00001,
                                 0.000099999999995,
                                 1e-13,
                                 9.9e-14,
                                 1e20,
                                 1e21,
                                 1e22,
                                 1e300,
                                 5e-324,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0.1234567885,
                                 1.5,
                                 2097152.5,
                                 1.00000000049999,
                                 1.0000000005,
                                 99999999.95};
  for (size_t q = 0; q < sizeof plain / sizeof plain[0]; q++) {
    check_decimal(plain[q]);
    check_decimal(-plain[q]);
    check_decimal(nextafter(plain[q], 1e300));
    check_decimal(nextafter(plain[q], -1e300));
  }
  for (int e = -20; e <= 25; e++)
    for (int d = 1; d < 100; d++) check_decimal(d * pow(10, e));
}

TEST(decimal_writes_random_numbers_as_printf_does) {
  uint64_t seed = 1;
  for (int q = 0; q < 300000; q++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double mantissa = (double)(int64_t)seed / 9223372036854775808.0;
    check_decimal(mantissa * pow(10, q % 40 - 16));
    check_decimal((double)(seed >> 40) / 1024);     /* many ties */
    check_decimal(round(mantissa * 1e10) / 1e10);   /* digits that end in 5 */
    check_decimal((double)(float)(mantissa * 100)); /* floats */
  }
}

/* What the stream wrote in n calls of fn, as text. */
static void written(void (*fn)(HkStream *s), char *text, size_t size) {
  HkContext c = hk_context_default();
  HkStream s;
  FILE *file = tmpfile();
  MUST(hk_stream_create(&c, &s, error));
  hk_stream_begin(&s, file);
  fn(&s);
  hk_stream_end(&s);
  rewind(file);
  text[fread(text, 1, size - 1, file)] = 0;
  fclose(file);
  hk_stream_destroy(&c, &s);
}

static void put_base64(HkStream *s) {
  static const char *const words[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
  for (int q = 0; q < 7; q++) {
    hk_stream_base64(s, words[q], strlen(words[q]));
    hk_stream_char(s, ' ');
  }
  hk_stream_base64(s, (unsigned char[]){0xff, 0xef, 0xbe}, 3);
}

TEST(base64_gives_the_vectors_of_the_rfc) {
  char text[200];
  written(put_base64, text, sizeof text);
  CHECK(strcmp(text, " Zg== Zm8= Zm9v Zm9vYg== Zm9vYmE= Zm9vYmFy /+++") == 0);
}

static void put_integers(HkStream *s) {
  static const int64_t values[] = {0, 7, -7, 1234567890, INT64_MAX, INT64_MIN};
  for (int q = 0; q < 6; q++) {
    hk_stream_int(s, values[q]);
    hk_stream_char(s, ' ');
  }
}

TEST(integers_are_written_to_their_limits) {
  char text[200];
  written(put_integers, text, sizeof text);
  CHECK(strcmp(text, "0 7 -7 1234567890 9223372036854775807 -9223372036854775808 ") == 0);
}

static void put_many(HkStream *s) {
  for (int q = 0; q < 100000; q++) {
    hk_stream_printf(s, "%05d", q);
    hk_stream_double(s, q % 10, q % 2);
  }
}

TEST(a_stream_longer_than_its_block_keeps_every_byte) {
  static char text[700000];
  written(put_many, text, sizeof text);
  CHECK(strlen(text) == 600000);
  for (int q = 0; q < 100000; q++) {
    char part[16];
    snprintf(part, sizeof part, "%05d%d", q, q % 10);
    if (memcmp(text + 6 * q, part, 6) != 0) {
      test_fail(__FILE__, __LINE__, "entry %d is '%.6s'", q, text + 6 * q);
      return;
    }
  }
}
