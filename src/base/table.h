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
/* The rows that the values at time t are made of: values = sum weight[k] row[k], rates = sum
 * rate[k] row[k] unless rate is NULL; returns how many rows there are, 1 or 2. */
int hk_table_weights(const HkTable *table, int columns, double t, const double *row[2],
                     double weight[2], double rate[2]);

#endif
