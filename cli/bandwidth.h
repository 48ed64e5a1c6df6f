/* Memory bandwidth of this machine, which bounds all computations with little arithmetic. */
#ifndef HOOKE_CLI_BANDWIDTH_H
#define HOOKE_CLI_BANDWIDTH_H

/* Bytes a second; NAN if it could not be measured. */
typedef struct Bandwidth {
  double read; /* summing an array */
  double copy; /* copying an array; bytes read plus bytes written */
} Bandwidth;

/* Measures the best of some rounds over arrays larger than every cache, in about a second. threads
 * 0: all cores. */
Bandwidth bandwidth_measure(int threads);

#endif
