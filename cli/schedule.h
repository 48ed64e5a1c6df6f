/* Which frames of a motion become which pictures of a film, and how fast they are shown. */
#ifndef HOOKE_CLI_SCHEDULE_H
#define HOOKE_CLI_SCHEDULE_H

#include "film.h"

/* Options of the command line; negative numbers are not given. */
typedef struct ScheduleOptions {
  FilmKind kind; /* none: one picture */
  double frame, time, from, to, fps, speed;
} ScheduleOptions;

typedef struct Schedule {
  int64_t first, last; /* frames */
  int64_t pictures;
  double fps;  /* pictures a second */
  double step; /* frames from one picture to the next */
} Schedule;

/* Makes the schedule for `count` frames, `interval` (s) apart; every: the run wrote every
 * `every`-th frame. */
HkStatus schedule_make(const ScheduleOptions *options, int64_t count, double interval, int every,
                       Schedule *schedule, HkError *error);
/* Returns the frame of a picture. */
int64_t schedule_frame(const Schedule *schedule, int64_t picture);

#endif
