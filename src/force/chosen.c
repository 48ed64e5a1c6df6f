/* The vertices that a force with a selection acts on; see chosen.h. */
#include "force/chosen.h"

#include "base/table.h"
#include "model/part.h"

#include <string.h>

HkStatus hk_chosen_create(HkModel *model, const HkSelect *select, const HkTable *table, void **data,
                          HkError *error) {
  HK_TRY(hk_table_check(table, 4, "table", error));
  if (select->kind == HK_SELECT_NONE)
    return hk_fail(error, HK_ERROR_INVALID, "give \"select\": which vertices it acts on");
  HkChosen *chosen = NULL;
  HkStatus status = hk_alloc(&model->context, &chosen, 1, sizeof *chosen, "a selection", error);
  status = hk_model_agree(model, status, error); /* before ranks select together */
  if (status >= 0)
    status = hk_model_select_owned(model, select, &chosen->vertices, &chosen->count, error);
  if (status < 0) {
    hk_chosen_destroy(model, chosen);
    return status;
  }
  *data = chosen;
  return HK_OK;
}

void hk_chosen_destroy(const HkModel *model, void *data) {
  HkChosen *chosen = data;
  if (!chosen) return;
  hk_selection_destroy(model, &chosen->vertices);
  hk_free(&model->context, &chosen);
}

size_t hk_chosen_bytes(const void *data) {
  const HkChosen *chosen = data;
  return sizeof *chosen + (size_t)chosen->count * sizeof *chosen->vertices;
}

void hk_chosen_vector(const HkTable *table, const double constant[3], double t, double out[3]) {
  if (table->rows > 0)
    hk_table_at(table, 4, t, out, NULL);
  else
    memcpy(out, constant, 3 * sizeof *out);
}

int hk_chosen_numbers(const HkTable *table, const double constant[3], double t,
                      const double *number[2], double weight[2]) {
  number[0] = constant;
  weight[0] = 1;
  if (table->rows == 0) return 1;
  int count = hk_table_weights(table, 4, t, number, weight, NULL);
  for (int k = 0; k < count; k++) number[k]++; /* behind the time */
  return count;
}
