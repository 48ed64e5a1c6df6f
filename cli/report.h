/* The printed summary of `hooke run`: before and after the run, and as JSON. */
#ifndef HOOKE_CLI_REPORT_H
#define HOOKE_CLI_REPORT_H

#include "hooke/run.h"
#include "options.h"

typedef struct RunReport {
  const char *name;     /* of the scene, as it was given */
  const char *folder;   /* of the files */
  const char *status;   /* "done", "interrupted", "blowup" or "error" */
  const char *message;  /* of the error, or NULL */
  const char *again;    /* a command line that resumes the run */
  const HkScene *scene; /* NULL if it could not be read */
  bool begun;           /* the members below are valid */
  bool whole;           /* last is of a valid state */
  bool page;            /* report.html is written */
  bool page_failed;     /* only report.html could not be written */
  HkModelInfo model;    /* on ranks: with the counts of the whole model */
  int ranks;            /* 0: there are none */
  HkMethod method;      /* the integrator with all that was picked */
  HkProgress start, end;
  HkStateInfo first, last; /* energies at start and end */
  bool contact;            /* the scene has contact; the next three are of the end */
  int64_t contacts;
  double least_gap;     /* m; INFINITY: nothing touches */
  double friction_work; /* J */
  double seconds;
} RunReport;

/* Prints the chosen methods, before the first step. */
void report_head(const RunReport *report);
/* Prints time, speed, energies, files and how to open them. */
void report_end(const RunReport *report);
/* Prints the summary as one JSON object on standard output. */
void report_json(const RunReport *report, int exit_code);

#endif
