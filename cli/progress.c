/* Progress of a run; see progress.h.
 *
 *       42 % [==========>             ] 126/300 frames, 41.2 frames/s, 2,472 steps/s, 4.2 s left
 *
 * The rate is sum w dn / sum w dt with the weight w = exp(-age / 10 s), so that the time left
 * follows a run that becomes slower. A narrow terminal gets less of this. The bar is drawn with
 * carriage returns and blanks only, which every terminal supports.
 */
#include "progress.h"

#include "measure/stopwatch.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double MEMORY = 10;        /* s, of the rate */
static const double BAR_INTERVAL = 0.1; /* s, between two bars */
static const double LINE_INTERVAL = 5;  /* s, between two lines */
static const double TENTH_INTERVAL = 1; /* s, if a tenth of the whole was done in between */

/* Returns the number of frames, with the done part of the current one. */
static double frames_done(const HkProgress *at) {
  double steps = (double)at->step + at->part;
  return (double)at->frame + steps / (double)(at->substeps > 0 ? at->substeps : 1);
}

static double part_done(const HkProgress *at) {
  return at->frames > 0 ? frames_done(at) / (double)at->frames : 1;
}

static void measure(Progress *p, const HkProgress *at, double now) {
  double weight = exp((p->last_time - now) / MEMORY);
  p->frames = weight * p->frames + frames_done(at) - frames_done(&p->last);
  p->steps = weight * p->steps + (double)(at->steps - p->last.steps);
  p->seconds = weight * p->seconds + now - p->last_time;
  p->last = *at;
  p->last_time = now;
}

/* "126/300 frames, 41.2 frames/s, 2,472 steps/s, 4.2 s left"; a larger `leave` omits more of it. */
static void describe(const Progress *p, int leave, char *text, size_t size) {
  const HkProgress *at = &p->last;
  size_t used = 0;
  text[0] = 0;
  if (leave < 3)
    used = (size_t)snprintf(text, size, " %lld/%lld %s", (long long)at->frame,
                            (long long)at->frames, p->unit);
  if (!(p->seconds > 0) || !(p->frames > 0)) return;
  double rate = p->frames / p->seconds;
  if (leave < 2)
    used += (size_t)snprintf(text + used, size - used, ", %s %s/s", text_rate(rate).c, p->unit);
  if (leave < 1 && p->steps > 0)
    used += (size_t)snprintf(text + used, size - used, ", %s steps/s",
                             text_rate(p->steps / p->seconds).c);
  double left = ((double)at->frames - frames_done(at)) / rate;
  if (leave < 4)
    snprintf(text + used, size - used, "%s %s left", leave < 3 ? "," : "", text_duration(left).c);
}

/* Draws the bar over the last one. Three columns stay free: a full line would scroll, and the
 * terminal prints ^C for a Ctrl-C. */
static void draw_bar(Progress *p) {
  enum { MIN_BAR_COLUMNS = 10, MAX_BAR_COLUMNS = 24, PERCENT = 9 /* " 42 % []" and one more */ };
  char text[256], bar[MAX_BAR_COLUMNS + 1];
  int width = text_width(stderr) - 3, leave = 0;
  double done = part_done(&p->last);
  do describe(p, leave, text, sizeof text);
  while (PERCENT + MIN_BAR_COLUMNS + (int)strlen(text) > width && ++leave <= 4);
  int length = width - PERCENT - (int)strlen(text);
  if (length > MAX_BAR_COLUMNS) length = MAX_BAR_COLUMNS;
  if (length < 0) length = 0;
  int filled = (int)(done * length);
  memset(bar, ' ', sizeof bar);
  memset(bar, '=', (size_t)filled);
  if (filled < length) bar[filled] = '>';
  int drawn = fprintf(stderr, "\r%4d %% [%.*s]%s", (int)(100 * done), length, bar, text) - 1;
  fprintf(stderr, "%*s", p->drawn > drawn ? p->drawn - drawn : 0, "");
  fflush(stderr);
  p->drawn = drawn;
}

static void print_line(Progress *p) {
  char text[256];
  describe(p, 0, text, sizeof text);
  fprintf(stderr, "%4d %%%s\n", (int)(100 * part_done(&p->last)), text);
  p->next_tenth = (int)(10 * part_done(&p->last)) + 1;
}

Progress progress_start(bool quiet, const HkProgress *at) {
  const char *terminal = getenv("TERM");
  bool dumb = !terminal || strcmp(terminal, "dumb") == 0;
  Progress p = {.style = quiet                            ? PROGRESS_NONE
                         : isatty(STDERR_FILENO) && !dumb ? PROGRESS_BAR
                                                          : PROGRESS_LINES,
                .unit = "frames"};
  p.last = *at;
  p.last_time = p.last_shown = seconds_now();
  p.next_tenth = (int)(10 * part_done(at)) + 1;
  /* The first frame may take long, so the bar is drawn at the start. */
  if (p.style == PROGRESS_BAR) {
    fflush(stdout);
    draw_bar(&p);
  }
  return p;
}

void progress_show(Progress *p, const HkProgress *at) {
  double now = seconds_now();
  if (p->style == PROGRESS_NONE) return;
  bool is_bar = p->style == PROGRESS_BAR;
  bool tenth = part_done(at) >= 0.1 * p->next_tenth;
  double interval = is_bar ? BAR_INTERVAL : tenth ? TENTH_INTERVAL : LINE_INTERVAL;
  if (now - p->last_shown < interval) return;
  measure(p, at, now);
  fflush(stdout);
  if (is_bar)
    draw_bar(p);
  else
    print_line(p);
  p->last_shown = now;
}

void progress_clear(Progress *p) {
  if (p->drawn > 0) {
    fprintf(stderr, "\r%*s\r", p->drawn + 2, "");
    fflush(stderr);
  }
  p->drawn = 0;
}

void listener_log(void *user, HkLogLevel level, const char *text) {
  Listener *listener = user;
  if (listener->quiet) return;
  if (listener->progress) progress_clear(listener->progress);
  text_log(NULL, level, text);
}

void listener_progress(void *user, const HkProgress *at) {
  const Listener *listener = user;
  if (listener->progress) progress_show(listener->progress, at);
}
