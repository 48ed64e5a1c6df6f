/* What the memory of this machine can do: the limit of everything that does little arithmetic. */
#ifndef HOOKE_CLI_BANDWIDTH_H
#define HOOKE_CLI_BANDWIDTH_H

/* Bytes a second; NAN where it could not be measured. */
typedef struct Bandwidth {
  double read; /* an array is added up */
  double copy; /* one array is copied into another; what is read and what is written */
} Bandwidth;

/* Arrays beyond every cache, the best of some rounds; takes about a second. threads 0: all cores.
 */
Bandwidth bandwidth_measure(int threads);

#endif
