/* One run of the benchmark: its settings, its measures, and its rows. */
#ifndef HOOKE_BENCH_BENCH_H
#define HOOKE_BENCH_BENCH_H

#include "bandwidth.h"
#include "measure/rounds.h"
#include "problems.h"

#include <stdio.h>

enum { BENCH_MAX_POINTS = 256 };

/* One line of the table. Numbers that do not exist are NAN. */
typedef struct Measure {
  const char *row;
  char problem[32], method[64], peer[64];
  double vertices;
  double goal;                   /* error of the step at which the time is taken */
  double ms, ms_mean, ms_spread; /* of Hooke: median, mean, and distance of the quartiles */
  double peer_ms, peer_ms_mean;
  double ratio, ratio_mean;             /* median of the ratios; ratio of the means */
  double wanted, wanted_mean;           /* required ratios, at least */
  double wanted_ms;                     /* required time, at most */
  double gb_per_s, share, wanted_share; /* memory traffic; relative to the bandwidth */
  double error;                         /* of the result */
  char note[96];
} Measure;

/* Error of one method over the time of one step, for the plot. */
typedef struct Curve {
  char problem[32], name[64];
  double ms[BENCH_MAX_POINTS], error[BENCH_MAX_POINTS];
  int count;
} Curve;

enum { BENCH_MAX_MISSING = 16 };

typedef struct Bench {
  bool quick;
  const char *folder;
  int threads;
  Bandwidth one, all; /* memory with one thread and with all */
  Measure *measures;
  int count, capacity;
  Curve *curves;
  int curve_count, curve_capacity;
  const char *missing[BENCH_MAX_MISSING]; /* methods whose absence was printed */
  int missing_count;
} Bench;

/* Returns a measure of a row with all numbers NAN. */
Measure measure_start(const char *row, const Problem *problem, const char *method,
                      const char *peer);
/* Fills in medians, means and ratios from pairs of times (s) of Hooke and the peer; count_peer 0:
 * there is no peer. */
void measure_times(Measure *measure, const double *seconds, int count, const double *peer_seconds,
                   int count_peer);
/* Sets the ratios to NAN if the two answers differ by more than `most`. */
void measure_check(Measure *measure, double difference, double most);
/* Fills in the traffic of bytes moved in one step or solve. */
void measure_traffic(const Bench *bench, Measure *measure, double bytes);
/* Stores a measure and prints its line. */
void bench_add(Bench *bench, const Measure *measure);
/* Returns a new curve; NULL if out of memory, or if the problem has a curve of that name. */
Curve *bench_add_curve(Bench *bench, const char *problem, const char *name);
/* Prints on standard error, once a method, why it is left out; `method` is a static string. */
void bench_missing(Bench *bench, const char *method, const char *why);
/* Returns whether Ctrl-C was pressed: rows then end early. */
bool bench_stopped(void);
/* Runs contestants in rounds, until Ctrl-C. Returns the number of measured rounds, 0 if out of
 * memory; the caller calls rounds_release. */
int bench_rounds(Contestant *contestants, int count, int warm_up, int rounds);

/* table.c: prints the header of the table; writes the files of all measures. */
void table_head(const Bench *bench);
void table_foot(const Bench *bench);
bool table_write(const Bench *bench);
/* plots.c: the pictures. */
bool plots_write(const Bench *bench);

/* The rows; each adds its measures. */
void row_solve(Bench *bench);
void row_local_global(Bench *bench);
void row_linear_implicit(Bench *bench);
void row_explicit(Bench *bench);
void row_grid(Bench *bench);
void row_cloth(Bench *bench);
void row_block(Bench *bench);
void row_irregular(Bench *bench);
void row_growth(Bench *bench);
void row_compile(Bench *bench);
void row_adjoint(Bench *bench);

#endif
