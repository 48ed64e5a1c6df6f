/* Which frames become which pictures; see schedule.h.
 *
 * Frame n is at the time n interval. Picture k of a film is at k speed / fps after its first frame,
 * and shows the frame that is nearest to that. If fps is not given it is that of the frames,
 * divided by the least whole number that makes it no more than a film of its kind should have.
 */
#include "schedule.h"

#include "text.h"

#include <math.h>

static const double GIF_DEFAULT_FPS = 30,
                    GIF_MAX_FPS = 50; /* browsers slow down a GIF that is faster */
static const double VIDEO_USUAL = 60;

static double end_of(int64_t count, double interval) {
  return (double)(count - 1) * interval;
}

static HkStatus past_end(const char *option, double given, const char *unit, int64_t last,
                         double end, HkError *error) {
  return text_fail(error, HK_ERROR_INVALID,
                   "%s: there is no %g%s; the motion ends with frame %lld at %g s", option, given,
                   unit, (long long)last, end);
}

static HkStatus pick_one(const ScheduleOptions *w, int64_t count, double interval, int every,
                         Schedule *s, HkError *error) {
  double end = end_of(count, interval), at = (double)(count - 1);
  if (w->frame >= 0) at = w->frame / every;
  if (w->time >= 0) at = floor(w->time / interval + 0.5);
  int64_t last = (count - 1) * every;
  if (w->frame >= 0 && at != floor(at))
    return text_fail(error, HK_ERROR_INVALID,
                     "--frame: frame %g was not written, only each %dth is there", w->frame, every);
  if (w->frame >= 0 && at > (double)(count - 1))
    return past_end("--frame", w->frame, "", last, end, error);
  if (w->time >= 0 && w->time > end + 0.5 * interval)
    return past_end("--time", w->time, " s", last, end, error);
  *s = (Schedule){.first = (int64_t)at, .last = (int64_t)at, .pictures = 1, .step = 1};
  return HK_OK;
}

static double usual_fps(FilmKind kind, double rate) {
  double most = kind == FILM_GIF ? GIF_DEFAULT_FPS : VIDEO_USUAL;
  return rate / fmax(1, ceil(rate / most - 1e-9));
}

static HkStatus pick_many(const ScheduleOptions *w, int64_t count, double interval, int every,
                          Schedule *s, HkError *error) {
  double end = end_of(count, interval), slack = 1e-6 * interval;
  double from = fmax(w->from, 0), to = w->to >= 0 ? w->to : end;
  if (to > end + 0.5 * interval) return past_end("--to", to, " s", (count - 1) * every, end, error);
  if (from > to)
    return text_fail(error, HK_ERROR_INVALID,
                     "--from: the film would end (%g s) before it begins "
                     "(%g s)",
                     to, from);
  s->first = (int64_t)ceil((from - slack) / interval);
  s->last = (int64_t)floor((fmin(to, end) + slack) / interval);
  if (s->last < s->first) s->last = s->first;
  s->fps = w->fps > 0 ? w->fps : usual_fps(w->kind, 1 / interval);
  if (w->kind == FILM_GIF && s->fps > GIF_MAX_FPS)
    return text_fail(error, HK_ERROR_INVALID, "--fps: a GIF shows %g pictures a second at most",
                     GIF_MAX_FPS);
  s->step = w->speed / s->fps / interval;
  s->pictures = (int64_t)floor((double)(s->last - s->first) / s->step + 1e-6) + 1;
  return HK_OK;
}

HkStatus schedule_make(const ScheduleOptions *w, int64_t count, double interval, int every,
                       Schedule *s, HkError *error) {
  *s = (Schedule){0};
  return w->kind == FILM_NONE ? pick_one(w, count, interval, every, s, error)
                              : pick_many(w, count, interval, every, s, error);
}

int64_t schedule_frame(const Schedule *s, int64_t picture) {
  int64_t frame = s->first + (int64_t)floor((double)picture * s->step + 0.5);
  return frame < s->last ? frame : s->last;
}
