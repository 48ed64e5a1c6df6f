/* Standard streams that are always open. */
#ifndef HOOKE_CLI_STREAMS_H
#define HOOKE_CLI_STREAMS_H

#include <stdbool.h>

/* Opens /dev/null for each of the descriptors 0 to 2 that is closed; false if that fails. */
bool streams_guard(void);

#endif
