/* Assertions: programmers' mistakes inside the library, never input. They are on in debug and
 * sanitizer builds and where HOOKE_ASSERTS is given (CMakeLists.txt), and cost nothing elsewhere.
 */
#ifndef HK_BASE_ASSERT_H
#define HK_BASE_ASSERT_H

#ifdef HK_WITH_ASSERTS
#include <stdio.h>
#include <stdlib.h>

/* Prints the condition that does not hold and aborts. */
#define HK_ASSERT(condition)                                                                       \
  ((condition)                                                                                     \
       ? (void)0                                                                                   \
       : (fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition),        \
          abort()))
#else
#define HK_ASSERT(condition) ((void)sizeof(condition))
#endif

#endif
