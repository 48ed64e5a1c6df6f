/* What was measured of one scene at one size, and its tables. */
#ifndef HOOKE_BENCH_CONTACT_RESULT_H
#define HOOKE_BENCH_CONTACT_RESULT_H

#include "measure/statistics.h"
#include "profile.h"
#include "systems.h"

enum { SAMPLES_MAX = 256, ERROR_MAX = 400 };

/* An iterate of a step. */
typedef struct Iterate {
  double *x;
  size_t bytes;
} Iterate;

/* One step with contact and one without, from the same state. */
typedef struct Sample {
  HkStatus status;
  double seconds, seconds_without;
  HkStepInfo info, info_without;
  int64_t contacts, candidates;
  Profile profile;
} Sample;

typedef struct Result {
  SceneName scene;
  const char *name;
  int64_t vertices;
  int made;   /* measured steps */
  int missed; /* of them, steps that did not converge */
  char which[96];
  int count; /* steps with contacts: all that follows is of these */
  Sample sample[SAMPLES_MAX];
  SystemPair pair[SAMPLES_MAX];
  double bytes;      /* of model and simulation, more than without contact */
  double list_bytes; /* of the lists of contact among them */
  char error[ERROR_MAX];
} Result;

void result_clear(Result *result, const char *name, int64_t vertices);
/* Forgets the steps so far. */
void result_start(Result *result);
void result_add(Result *result, const Sample *sample, const SystemPair *pair);
/* Prints one line when a case is done. */
void result_print_line(const Result *result);
/* Prints the tables of all cases, and which goals they reach. */
void result_print_tables(const Result *results, int count);

#endif
