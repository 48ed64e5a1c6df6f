/* Errors of the library in the words of the command line. */
#ifndef HOOKE_CLI_COMPLAINT_H
#define HOOKE_CLI_COMPLAINT_H

#include "options.h"

/* The options --set of the scene that is read, kept until the next call; complain_of (text.h) names
 * them. */
void complaint_sets(const TextList *sets);

#endif
