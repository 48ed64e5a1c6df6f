/* Names of the processor and the operating system, for reports. */
#ifndef HK_BASE_MACHINE_H
#define HK_BASE_MACHINE_H

#include <stddef.h>

/* Writes the model name of the processor, or its architecture if the system does not provide the
 * name. */
void hk_machine_processor(char *text, size_t size);
/* Writes the operating system: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0 x86_64". */
void hk_machine_system(char *text, size_t size);

#endif
