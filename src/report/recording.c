/* The motion and the numbers of a run; see recording.h. */
#include "report/recording.h"

#include "base/vec.h"
#include "output/strain.h"

#include <string.h>

const char *const hk_row_names[HK_ROW_COUNT] = {
    "frame",           "time",       "kinetic",    "spring",     "gravity",           "other",
    "total",           "strain_min", "strain_max", "speed_max",  "contacts",          "least_gap",
    "seconds",         "frames",     "steps",      "iterations", "linear_iterations", "unconverged",
    "worst_iterations"};

/* Beyond this a box has no finite size. */
static const double LARGEST = 1e150;

static bool is_sound(double value) {
  return fabs(value) < LARGEST; /* false for NAN */
}

/* ---- Making ---- */

HkStatus hk_recording_create(const HkContext *context, const HkModel *model, const HkSketch *sketch,
                             int64_t frames, int64_t rows, HkRecording *r, HkError *error) {
  const char *what = "the frames of a report";
  *r = (HkRecording){.context = *context, .model = model, .sketch = sketch};
  r->frames = hk_thin(frames);
  r->rows = hk_thin(rows);
  r->first = r->last = -1;
  int64_t bytes = HK_FRAME_BYTES * sketch->n;
  HK_TRY(hk_alloc(context, &r->shape, (frames + 1) * bytes, 1, what, error));
  HK_TRY(hk_alloc(context, &r->head, (frames + 1) * HK_HEAD_COUNT, sizeof *r->head, what, error));
  HK_TRY(hk_alloc(context, &r->row, (rows + 1) * HK_ROW_COUNT, sizeof *r->row, what, error));
  return hk_alloc(context, &r->value, 2 * sketch->n, sizeof *r->value, what, error);
}

void hk_recording_destroy(HkRecording *r) {
  hk_free(&r->context, &r->shape);
  hk_free(&r->context, &r->head);
  hk_free(&r->context, &r->row);
  hk_free(&r->context, &r->value);
}

void hk_recording_clear(HkRecording *r) {
  r->frames = hk_thin(r->frames.capacity);
  r->rows = hk_thin(r->rows.capacity);
  r->first = r->last = -1;
  r->blurred = false;
}

/* ---- One frame ---- */

typedef struct Shot {
  HkRecording *r;
  const HkState *state;
  const double *head;
  unsigned char *shape;
} Shot;

static void value_range(void *user, int64_t begin, int64_t end) {
  const Shot *shot = user;
  for (int64_t q = begin; q < end; q++) {
    int64_t vertex = shot->r->sketch->vertex[q];
    double strain = hk_vertex_strain(shot->r->model, shot->state->x, vertex);
    double speed = hk_norm(shot->state->v + 3 * vertex);
    shot->r->value[2 * q] = is_sound(strain) ? strain : 0;
    shot->r->value[2 * q + 1] = is_sound(speed) ? speed : 0;
  }
}

static void shape_range(void *user, int64_t begin, int64_t end) {
  const Shot *shot = user;
  const double *h = shot->head;
  double speed = h[HK_HEAD_SPEED];
  for (int64_t q = begin; q < end; q++) {
    const double *x = shot->state->x + 3 * (int64_t)shot->r->sketch->vertex[q];
    const double *value = shot->r->value + 2 * q;
    unsigned char *at = shot->shape + HK_FRAME_BYTES * q;
    for (int c = 0; c < 3; c++) {
      double low = h[HK_HEAD_LOW + c], high = h[HK_HEAD_HIGH + c];
      unsigned part = is_sound(x[c]) ? hk_quantize(x[c], low, high) : 0;
      at[2 * c] = (unsigned char)(part & 255);
      at[2 * c + 1] = (unsigned char)(part >> 8);
    }
    at[6] = hk_pack_strain(value[0], h[HK_HEAD_STRAIN]);
    at[7] = (unsigned char)(speed > 0 ? 255 * value[1] / speed + 0.5 : 0);
  }
}

/* The box around what is finite, and the range of the values. */
static void measure(HkRecording *r, const HkState *state, double *head) {
  const HkSketch *s = r->sketch;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  double strain = 0, speed = 0;
  for (int64_t q = 0; q < s->n; q++) {
    const double *x = state->x + 3 * (int64_t)s->vertex[q];
    for (int c = 0; c < 3; c++) {
      r->blurred |= !is_sound(x[c]);
      if (!is_sound(x[c])) continue;
      low[c] = fmin(low[c], x[c]);
      high[c] = fmax(high[c], x[c]);
    }
    strain = fmax(strain, fabs(r->value[2 * q]));
    speed = fmax(speed, r->value[2 * q + 1]);
  }
  for (int c = 0; c < 3; c++) {
    head[HK_HEAD_LOW + c] = low[c] <= high[c] ? low[c] : 0;
    head[HK_HEAD_HIGH + c] = low[c] <= high[c] ? high[c] : 0;
  }
  head[HK_HEAD_STRAIN] = strain;
  head[HK_HEAD_SPEED] = speed;
}

/* Keeps the frames whose numbers are multiples of twice the stride. */
static void halve_frames(HkRecording *r) {
  HkThin *t = &r->frames;
  size_t bytes = HK_FRAME_BYTES * (size_t)r->sketch->n;
  int64_t kept = 0;
  t->stride *= 2;
  for (int64_t q = 0; q < t->kept; q++) {
    const double *head = r->head + HK_HEAD_COUNT * q;
    if (((int64_t)head[HK_HEAD_INDEX] - r->first) % t->stride != 0) continue;
    memmove(r->shape + (size_t)kept * bytes, r->shape + (size_t)q * bytes, bytes);
    memmove(r->head + HK_HEAD_COUNT * kept, head, HK_HEAD_COUNT * sizeof *head);
    kept++;
  }
  t->kept = kept;
  t->loose = false;
}

static void add_frame(HkRecording *r, const HkFrame *frame) {
  int64_t number = frame->index - r->first, n = r->sketch->n;
  while (hk_thin_is_full(&r->frames, number)) halve_frames(r);
  int64_t slot = hk_thin_add(&r->frames, number);
  double *head = r->head + HK_HEAD_COUNT * slot;
  Shot shot = {r, frame->state, head, r->shape + HK_FRAME_BYTES * slot * n};
  head[HK_HEAD_INDEX] = (double)frame->index;
  head[HK_HEAD_TIME] = frame->state->time;
  hk_parallel_for(r->model->threads, n, value_range, &shot);
  measure(r, frame->state, head);
  hk_parallel_for(r->model->threads, n, shape_range, &shot);
}

/* ---- One row ---- */

/* The work of a row that goes is part of that of the next one. */
static void add_work(const double *from, double *to) {
  for (int c = HK_ROW_SECONDS; c < HK_ROW_WORST; c++) to[c] += from[c];
  to[HK_ROW_WORST] = fmax(to[HK_ROW_WORST], from[HK_ROW_WORST]);
}

/* Halves the rows; the work of those behind the last kept one goes into `next`. */
static void halve_rows(HkRecording *r, double *next) {
  HkThin *t = &r->rows;
  int64_t kept = 0;
  double carried[HK_ROW_COUNT] = {0};
  t->stride *= 2;
  for (int64_t q = 0; q < t->kept; q++) {
    double *row = r->row + HK_ROW_COUNT * q;
    add_work(carried, row);
    bool stays = ((int64_t)row[HK_ROW_INDEX] - r->first) % t->stride == 0;
    if (stays) {
      memset(carried, 0, sizeof carried);
      memmove(r->row + HK_ROW_COUNT * kept++, row, HK_ROW_COUNT * sizeof *row);
    } else {
      memcpy(carried, row, sizeof carried);
    }
  }
  add_work(carried, next);
  t->kept = kept;
  t->loose = false;
}

static void add_row(HkRecording *r, const HkFrame *frame, const HkTally *work, double seconds) {
  const HkStateInfo *e = frame->info;
  const HkContactView *c = frame->contacts;
  int64_t number = frame->index - r->first;
  double row[HK_ROW_COUNT] = {
      [HK_ROW_INDEX] = (double)frame->index,
      [HK_ROW_TIME] = frame->state->time,
      [HK_ROW_KINETIC] = e->kinetic,
      [HK_ROW_SPRING] = e->spring,
      [HK_ROW_GRAVITY] = e->gravity,
      [HK_ROW_OTHER] = e->other,
      [HK_ROW_TOTAL] = e->total,
      [HK_ROW_STRAIN_MIN] = e->strain_min,
      [HK_ROW_STRAIN_MAX] = e->strain_max,
      [HK_ROW_SPEED] = e->speed_max,
      [HK_ROW_CONTACTS] = c ? (double)c->count : NAN,
      [HK_ROW_LEAST_GAP] = c ? c->least_gap : NAN,
      [HK_ROW_SECONDS] = seconds,
      [HK_ROW_FRAMES] = work->steps > 0,
      [HK_ROW_STEPS] = (double)work->steps,
      [HK_ROW_ITERATIONS] = (double)work->iterations,
      [HK_ROW_LINEAR] = (double)work->linear_iterations,
      [HK_ROW_UNCONVERGED] = (double)work->unconverged,
      [HK_ROW_WORST] = (double)work->worst_iterations,
  };
  if (r->rows.loose) add_work(r->row + HK_ROW_COUNT * r->rows.kept, row);
  while (hk_thin_is_full(&r->rows, number)) halve_rows(r, row);
  int64_t slot = hk_thin_add(&r->rows, number);
  memcpy(r->row + HK_ROW_COUNT * slot, row, sizeof row);
}

void hk_recording_add(HkRecording *r, const HkFrame *frame, const HkTally *work, double seconds) {
  if (r->first < 0) r->first = frame->index;
  r->last = frame->index;
  add_frame(r, frame);
  add_row(r, frame, work, seconds);
}
