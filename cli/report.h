/* What `hooke run` says about a run: before, after, and as JSON. */
#ifndef HOOKE_CLI_REPORT_H
#define HOOKE_CLI_REPORT_H

#include "hooke/hooke.h"
#include "options.h"

typedef struct RunReport {
  const char *name;     /* of the scene, as it was given */
  const char *folder;   /* of the files */
  const char *status;   /* "done", "interrupted", "blowup" or "error" */
  const char *message;  /* of the error, or NULL */
  const char *again;    /* a command line that goes on with the run */
  const HkScene *scene; /* NULL if it could not be read */
  bool begun;           /* the following are filled in */
  bool whole;           /* last is of a state that makes sense */
  bool page;            /* report.html is written */
  bool page_failed;     /* report.html alone could not be written */
  HkModelInfo model;
  HkMethod method; /* the integrator with all that was picked */
  HkProgress start, end;
  HkStateInfo first, last; /* energies at start and end */
  double seconds;
} RunReport;

/* What was picked, before the first step. */
void report_head(const RunReport *report);
/* Time, speed, energies, files and how to open them. */
void report_end(const RunReport *report);
/* All of it as one JSON object on standard output. */
void report_json(const RunReport *report, int exit_code);

#endif
