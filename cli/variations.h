/* Values of options --vary: all combinations of them, each as assignments to a scene. */
#ifndef HOOKE_CLI_VARIATIONS_H
#define HOOKE_CLI_VARIATIONS_H

#include "hooke/hooke.h"
#include "options.h"

/* One parameter with its values. */
typedef struct Variation {
  char *name;    /* as given: "k", "time.step" */
  char **values; /* as given */
  int count;
} Variation;

typedef struct Variations {
  Variation *list;
  int count;
  int64_t combinations;
  int bodies;           /* of the scene */
  bool *mass_is_number; /* of each body: the scene gives its mass as a number */
} Variations;

/* Reads NAME=VALUE,VALUE,...; returns 0, or the exit code after the error has been printed. The
 * caller calls variations_release in both cases. */
int variations_parse(Variations *variations, const TextList *texts);
void variations_release(Variations *variations);

/* The value of the index-th parameter in a combination; the last parameter varies fastest. */
const char *variations_value(const Variations *variations, int64_t combination, int index);
/* Makes the assignments of a combination behind those of `base`; false: out of memory. The caller
 * calls assignments_release in both cases. */
bool variations_assign(const Variations *variations, int64_t combination, const TextList *base,
                       TextList *sets);
void assignments_release(const TextList *base, TextList *sets);

#endif
