/* Numbers as short decimal text, fast. */
#ifndef HK_BASE_DECIMAL_H
#define HK_BASE_DECIMAL_H

/* Writes x exactly as printf's "%.9g" does in the C locale, with a 0 behind it; returns the length.
 * Nine digits give every float back. */
int hk_decimal9(double x, char text[32]);

#endif
