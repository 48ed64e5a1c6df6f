/* Tables in time: rows 't a b ...', linear between the rows, constant before and after them. */
#ifndef HK_BASE_TABLE_H
#define HK_BASE_TABLE_H

#include "base/status.h"

/* Refuses times that do not rise; columns counts the time too, name stands in the message. A table
 * without rows passes: it stands for 'not given'. */
HkStatus hk_table_check(const HkTable *table, int columns, const char *name, HkError *error);

/* The columns - 1 values at time t, and their rates of change per second unless rates is NULL. The
 * table has at least one row and passed hk_table_check. */
void hk_table_at(const HkTable *table, int columns, double t, double *values, double *rates);

#endif
