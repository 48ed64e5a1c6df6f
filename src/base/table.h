/* Tables in time: rows 't a b ...', linear between the rows, constant before and after them. */
#ifndef HK_BASE_TABLE_H
#define HK_BASE_TABLE_H

#include "base/status.h"

/* Returns an error if times do not increase; columns includes the time, name is for the message. A
 * table without rows passes: it means 'not given'. */
HkStatus hk_table_check(const HkTable *table, int columns, const char *name, HkError *error);

/* Computes the columns - 1 values at time t, and their rates of change per second unless rates is
 * NULL. The table has at least one row and has passed hk_table_check. */
void hk_table_at(const HkTable *table, int columns, double t, double *values, double *rates);

#endif
