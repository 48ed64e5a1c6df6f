/* Records the motion and the numbers of a run in bounded memory.
 *
 * A frame is 8 bytes a drawn vertex: x, y, z as 16-bit numbers q of the box around the frame,
 *
 *     x = low + q (high - low) / 65535,   off by (high - low) / 131070 at most,
 *
 * little endian, then the strain of the vertex (output/strain.h) and its speed, a byte each:
 *
 *     strain = largest t |t|, t = (b - 128) / 127;   speed = largest b / 255.
 *
 * The root gives small strains more steps: most are far below the largest, which stands at a pin.
 * Strains cannot be had from the positions: those of a fine mesh are smaller than what 16 bits
 * leave. What is not finite becomes 0.
 *
 * Frames, and rows of energies and work, are thinned as they come (thin.h).
 */
#ifndef HK_REPORT_RECORDING_H
#define HK_REPORT_RECORDING_H

#include "output/output.h"
#include "report/sketch.h"
#include "report/thin.h"

#include <math.h>

enum { HK_FRAME_BYTES = 8 }; /* a vertex */

/* What stands in the head of a frame: its number, time (s), box (m), largest strain
 * either way, largest speed (m/s). */
enum {
  HK_HEAD_INDEX,
  HK_HEAD_TIME,
  HK_HEAD_LOW,
  HK_HEAD_HIGH = HK_HEAD_LOW + 3,
  HK_HEAD_STRAIN = HK_HEAD_HIGH + 3,
  HK_HEAD_SPEED,
  HK_HEAD_COUNT
};

/* Columns of a row. Those from HK_ROW_SECONDS on are work since the row before: sums, but for
 * HK_ROW_WORST, the largest. */
enum {
  HK_ROW_INDEX,
  HK_ROW_TIME,
  HK_ROW_KINETIC,
  HK_ROW_SPRING,
  HK_ROW_GRAVITY,
  HK_ROW_OTHER,
  HK_ROW_TOTAL,
  HK_ROW_STRAIN_MIN,
  HK_ROW_STRAIN_MAX,
  HK_ROW_SPEED,
  HK_ROW_CONTACTS,  /* NAN: the model has no contact, or it is not known */
  HK_ROW_LEAST_GAP, /* m */
  HK_ROW_SECONDS,
  HK_ROW_FRAMES,
  HK_ROW_STEPS,
  HK_ROW_ITERATIONS,
  HK_ROW_LINEAR,
  HK_ROW_UNCONVERGED,
  HK_ROW_WORST,
  HK_ROW_COUNT
};

/* The names of the columns, in their order. */
extern const char *const hk_row_names[HK_ROW_COUNT];

typedef struct HkRecording {
  HkContext context;
  const HkModel *model;
  const HkSketch *sketch;
  int64_t first, last; /* numbers of the first and the newest frame; -1: there is none */
  bool blurred;        /* something was not finite */
  HkThin frames, rows;
  unsigned char *shape; /* HK_FRAME_BYTES n a frame */
  double *head;         /* HK_HEAD_COUNT a frame */
  double *row;          /* HK_ROW_COUNT a row */
  double *value;        /* strain and speed of each drawn vertex of the newest frame */
} HkRecording;

/* Allocates buffers for the given numbers of frames and rows, and one more of each. */
HkStatus hk_recording_create(const HkContext *context, const HkModel *model, const HkSketch *sketch,
                             int64_t frames, int64_t rows, HkRecording *r, HkError *error);
void hk_recording_destroy(HkRecording *r);
/* Removes all frames and rows. */
void hk_recording_clear(HkRecording *r);

/* Appends a frame, whose number is larger than those before, the work that led to it, and the time
 * (s) that took. */
void hk_recording_add(HkRecording *r, const HkFrame *frame, const HkTally *work, double seconds);

/* A coordinate in the box as its 16-bit number, and back. */
static inline unsigned hk_quantize(double x, double low, double high) {
  double part = (x - low) / (high - low) * 65535 + 0.5;
  return part >= 0 && part < 65536 ? (unsigned)part : 0;
}

static inline double hk_dequantize(unsigned q, double low, double high) {
  return low + (high - low) / 65535 * q;
}

/* A strain as a byte, and back; most: the largest either way. */
static inline unsigned char hk_pack_strain(double strain, double most) {
  double part = most > 0 ? sqrt(fmin(1, fabs(strain) / most)) : 0;
  return (unsigned char)(128.5 + (strain < 0 ? -127 : 127) * part);
}

static inline double hk_unpack_strain(unsigned char byte, double most) {
  double part = ((int)byte - 128) / 127.0;
  return most * part * fabs(part);
}

#endif
