/* The names of the machine that the program runs on, for people. */
#ifndef HK_BASE_MACHINE_H
#define HK_BASE_MACHINE_H

#include <stddef.h>

/* The processor as its maker calls it, or its architecture where that is not told. */
void hk_machine_processor(char *text, size_t size);
/* The operating system: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64". */
void hk_machine_system(char *text, size_t size);

#endif
