/* The monotonic clock of all programs, and a stopwatch. */
#ifndef HOOKE_MEASURE_STOPWATCH_H
#define HOOKE_MEASURE_STOPWATCH_H

/* Returns the time in s of a monotonic clock; only differences have a meaning. */
double seconds_now(void);

/* Wall time between starts and stops. Work before a start and after a stop is not measured. */
typedef struct Stopwatch {
  double (*clock)(void); /* s; NULL: seconds_now */
  double began;          /* s of the clock at the last start */
  double seconds;        /* s of all intervals together */
} Stopwatch;

void stopwatch_start(Stopwatch *watch);
/* Adds the time since the last start. */
void stopwatch_stop(Stopwatch *watch);

#endif
