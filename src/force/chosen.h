/* The vertices that a force with a selection acts on, each once; not a force by itself. */
#ifndef HK_FORCE_CHOSEN_H
#define HK_FORCE_CHOSEN_H

#include "force/force.h"

typedef struct HkChosen {
  int32_t *vertices; /* in rising order */
  int64_t count;
} HkChosen;

/* Resolves the selection into a new HkChosen at *data and checks the table of four columns. */
HkStatus hk_chosen_create(HkModel *model, const HkSelect *select, const HkTable *table, void **data,
                          HkError *error);
/* HkForceType.destroy and HkForceType.bytes of forces with a selection. */
void hk_chosen_destroy(const HkModel *model, void *data);
size_t hk_chosen_bytes(const void *data);

/* out becomes the table's value at time t, or `constant` if the table has no rows. */
void hk_chosen_vector(const HkTable *table, const double constant[3], double t, double out[3]);
/* The derivative of that value with respect to its numbers: it is the sum of weight[k] times the
 * vector at number[k]; returns how many there are, 1 or 2. */
int hk_chosen_numbers(const HkTable *table, const double constant[3], double t,
                      const double *number[2], double weight[2]);

#endif
