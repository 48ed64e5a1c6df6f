/* Formats nine significant digits as "%.9g" does, about six times as fast.
 *
 * With e = floor(log10 |x|), the digits are n = round(|x| 10^(8 - e)), 10^8 <= n < 10^9. For
 * |8 - e| <= 22 the power of ten is exact in a double, so that the product (or quotient) carries a
 * single rounding error of at most 2^-53 * 10^9 < 1.2e-7. Hence the nearest whole number is certain
 * unless the fraction lies that close to one half; those cases, one in a million, and numbers
 * outside 1e-13 .. 1e22 are left to snprintf. The layout follows C17 7.21.6.1: exponents -4 .. 8
 * stand as plain decimals, others as d.ddde+xx, zeros at the end are dropped.
 */
#include "base/decimal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 9, LOWEST = -13 };

/* 10^(LOWEST + index) */
static const double tens[] = {1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5,
                              1e-4,  1e-3,  1e-2,  1e-1,  1e0,  1e1,  1e2,  1e3,  1e4,
                              1e5,   1e6,   1e7,   1e8,   1e9,  1e10, 1e11, 1e12, 1e13,
                              1e14,  1e15,  1e16,  1e17,  1e18, 1e19, 1e20, 1e21, 1e22};

static inline double ten_to(int e) {
  return tens[e - LOWEST];
}

/* floor(log10 a); one off next to a power of ten does no harm, since the digits are rounded. With
 * b = floor(log2 a), from the bits, it is floor(b log10 2) or one more; 1233 / 4096 is log10 2 well
 * enough for the range of the table. */
static int decimal_exponent(double a) {
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  int b = (int)(bits >> 52) - 1023;
  int e = (b * 1233 + 64 * 4096) / 4096 - 64; /* the sum is positive: division rounds down */
  if (e < LOWEST) e = LOWEST;
  return a >= ten_to(e + 1) ? e + 1 : e;
}

/* d.ddde+xx from the digits; returns the end. */
static char *put_scientific(char *at, const char *digits, int count, int e) {
  *at++ = digits[0];
  if (count > 1) {
    *at++ = '.';
    memcpy(at, digits + 1, (size_t)count - 1);
    at += count - 1;
  }
  *at++ = 'e';
  *at++ = e < 0 ? '-' : '+';
  int size = e < 0 ? -e : e;
  *at++ = (char)('0' + size / 10);
  *at++ = (char)('0' + size % 10);
  return at;
}

/* Plain decimals from the digits, -4 <= e <= 8; returns the end. */
static char *put_plain(char *at, const char *digits, int count, int e) {
  int whole = e + 1; /* digits before the point */
  if (whole <= 0) {
    static const char zeros[] = {'0', '.', '0', '0', '0'};
    memcpy(at, zeros, sizeof zeros);
    at += 2 - whole;
    memcpy(at, digits, (size_t)count);
    return at + count;
  }
  if (count <= whole) { /* zeros that were cut off stand there still */
    memcpy(at, digits, (size_t)whole);
    return at + whole;
  }
  memcpy(at, digits, (size_t)whole);
  at[whole] = '.';
  memcpy(at + whole + 1, digits + whole, (size_t)(count - whole));
  return at + count + 1;
}

int hk_decimal9(double x, char text[32]) {
  double a = fabs(x);
  if (x == 0) return snprintf(text, 32, signbit(x) ? "-0" : "0");
  if (!(a >= ten_to(LOWEST) && a < 1e21)) return snprintf(text, 32, "%.9g", x);
  int e = decimal_exponent(a), shift = DIGITS - 1 - e;
  double scaled = shift >= 0 ? a * ten_to(shift) : a / ten_to(-shift);
  uint32_t n = (uint32_t)scaled;
  double fraction = scaled - n;
  if (fabs(fraction - 0.5) < 1e-6) return snprintf(text, 32, "%.9g", x);
  n += fraction > 0.5;
  if (n >= 1000000000u) {
    n = 100000000u;
    e++;
  }
  char digits[DIGITS];
  for (int q = DIGITS - 1; q >= 0; q--, n /= 10) digits[q] = (char)('0' + n % 10);
  int count = DIGITS;
  while (count > 1 && digits[count - 1] == '0') count--;
  char *at = text;
  if (x < 0) *at++ = '-';
  at = e < -4 || e >= DIGITS ? put_scientific(at, digits, count, e)
                             : put_plain(at, digits, count, e);
  *at = 0;
  return (int)(at - text);
}
