/* What a plug-in for a device offers, and what it is told.
 *
 * A plug-in is a shared library, libhooke_cuda, with one symbol: hk_device, an HkDevice. It knows
 * nothing of Hooke but this header, the layout (gpu/layout.h) and the arithmetic
 * (gpu/arithmetic.h, gpu/media.h): models come laid out, times as tables. The vertices are numbered
 * by place everywhere here.
 *
 * Steps are put into a queue and are made while the caller goes on. What is queued later sees what
 * was queued before. An error on the device is told by the next call that waits.
 */
#ifndef HK_BACKEND_DEVICE_H
#define HK_BACKEND_DEVICE_H

#include "backend/gpu/layout.h"

enum { HK_DEVICE_VERSION = 3 };
#define HK_DEVICE_SYMBOL "hk_device"

/* How a step is made. */
typedef enum HkDeviceStep {
  HK_DEVICE_SYMPLECTIC,
  HK_DEVICE_VERLET,
  HK_DEVICE_BLOCK_DESCENT, /* backward Euler by vertex_block_descent */
  HK_DEVICE_JACOBI,        /* backward Euler by jacobi with Chebyshev's acceleration */
  HK_DEVICE_NEWTON         /* backward Euler by newton with pcg and block_jacobi */
} HkDeviceStep;

/* Vertices of a grip are pulled towards one place, or by one force: f = k (T - x) - c w + F. */
enum { HK_DEVICE_GRIP_REALS = 8 }; /* T, F, k, c */

/* A motion is x = A x0 + b, v = A' x0 + b'; A row by row. */
enum { HK_DEVICE_MOTION_REALS = 24 }; /* A, b, A', b' */

/* A model as a device wants it. Arrays are the caller's and are not needed after create. */
typedef struct HkDeviceModel {
  const HkGpuLayout *layout;
  double origin[3]; /* positions on the device are relative to it */
  bool flat;        /* two dimensions: z stays */
  int medium_parts; /* HK_GPU_DRAGS and so on, of media.h */
  const double *mass;

  int64_t pin_count; /* by rising place */
  const int32_t *pin_place, *pin_motion;
  const double *pin_x0; /* 3 a pin, not relative to the origin */
  int motion_count;
  bool pins_move;

  int64_t face_count;                  /* 0 where nothing blows on faces */
  const int32_t *face;                 /* 3 places a face, in the order of the first of them */
  const int32_t *face_start, *face_at; /* face_at[face_start[q] ..]: the faces around a place */

  int64_t gripped;                                  /* vertices that any grip holds, each once */
  const int32_t *gripped_place, *grip_start, *grip; /* grip[grip_start[q] ..]: the grips of one */
  int grip_count;

  /* For vertex block descent: the places of color c are color_start[c] .. color_start[c + 1] - 1,
   * and no two of them are neighbors. */
  int color_count;
  const int32_t *color_start;
} HkDeviceModel;

typedef struct HkDeviceSettings {
  HkDeviceStep step;
  double h;
  bool checked;       /* in double precision, slowly */
  bool uses_velocity; /* forces depend on it */
  int iterations;     /* of a minimizer, at most */
  double tolerance;   /* of a minimizer; 0: all iterations are made */
  int linear_iterations;
  double forcing;
  double rho, weight; /* of jacobi */
} HkDeviceSettings;

/* Tables of what depends on time, one row for each step. */
typedef struct HkDeviceTimes {
  int64_t steps;
  const double *moment; /* HK_GPU_MOMENT_REALS a step: when forces are computed */
  const double *grips;  /* grip_count x HK_DEVICE_GRIP_REALS a step, likewise */
  const double *middle; /* motion_count x HK_DEVICE_MOTION_REALS a step: in the middle (verlet) */
  const double *end;    /* the same at its end */
} HkDeviceTimes;

/* How the steps since the last report, or since a state came from the host, went. */
typedef struct HkDeviceReport {
  double kinetic;                        /* J, now */
  int64_t iterations, linear_iterations; /* of all steps */
  int64_t worst_iterations;              /* of the one with most */
  int64_t stationary;                    /* steps with HK_STOP_STATIONARY */
  int64_t unconverged;                   /* steps that do not meet their tolerance */
  double gradient;                       /* the largest of all steps */
  HkStepReport last, missed;             /* the last step, and the first that fell short */
} HkDeviceReport;

/* Counts a step; asked: it has a tolerance above 0; precise: the device computes in double
 * precision. In single precision a step that ends at its rounding is not converged: the rounding of
 * coordinates may be as large as the motion of a stiff system (docs/theory.md, section 6). */
static inline void hk_device_count(HkDeviceReport *report, const HkStepReport *step, bool asked,
                                   bool precise) {
  report->iterations += step->iterations;
  report->linear_iterations += step->linear_iterations;
  if (step->iterations > report->worst_iterations) report->worst_iterations = step->iterations;
  if (step->gradient > report->gradient) report->gradient = step->gradient;
  if (step->reason == HK_STOP_STATIONARY) report->stationary++;
  bool met = step->reason == HK_STOP_CONVERGED || step->reason == HK_STOP_STATIONARY ||
             (precise && step->reason == HK_STOP_ROUNDING);
  if (asked && !met && report->unconverged++ == 0) report->missed = *step;
  report->last = *step;
}

typedef struct HkDeviceCard {
  char name[128];
  double bytes, bytes_free;
} HkDeviceCard;

typedef struct HkDeviceSim HkDeviceSim;

typedef struct HkDevice {
  int version;      /* HK_DEVICE_VERSION of the plug-in */
  const char *name; /* "cuda" */
  int kind;         /* of device, as DLPack counts them: 1 this machine, 2 a CUDA card */
  HkStatus (*card)(HkDeviceCard *card, HkError *error);
  /* Bytes that create would take. */
  double (*need)(const HkDeviceModel *model, const HkDeviceSettings *settings);
  HkStatus (*create)(const HkDeviceModel *model, const HkDeviceSettings *settings,
                     HkDeviceSim **sim, HkError *error);
  void (*destroy)(HkDeviceSim **sim);
  /* Another step or stiffness; a model of the same shape. */
  HkStatus (*set_h)(HkDeviceSim *sim, double h, HkError *error);
  /* Positions and velocities in the order of the model, three a vertex; held: one a pin. */
  HkStatus (*upload)(HkDeviceSim *sim, const double *x, const double *v, const uint8_t *held,
                     HkError *error);
  HkStatus (*steps)(HkDeviceSim *sim, const HkDeviceTimes *times, HkError *error);
  /* Waits until all that is queued is done. */
  HkStatus (*wait)(HkDeviceSim *sim, HkError *error);
  /* Has what was queued so far written down, to be fetched while later steps are made. */
  HkStatus (*record)(HkDeviceSim *sim, HkError *error);
  /* Waits for that record; x and v, three a vertex in the order of the model, x relative to the
   * origin, are floats, or doubles where it is checked, and stay valid until the next one. */
  HkStatus (*fetch)(HkDeviceSim *sim, const void **x, const void **v, HkDeviceReport *report,
                    HkError *error);
  /* Memory there for three reals a vertex, which outlives the simulation; number: which device of
   * its kind it is. */
  HkStatus (*create_array)(HkDeviceSim *sim, void **array, int *number, HkError *error);
  void (*destroy_array)(void *array);
  /* Writes positions, not relative to the origin, and velocities into such arrays, in the order of
   * the model; NULL: not wanted. Before that it waits for all that runs there, by others too, since
   * they may still read the arrays; after it until all is written. */
  HkStatus (*give)(HkDeviceSim *sim, void *x, void *v, HkError *error);
  /* The way back, of all but held pins; NULL: stays as it is. It waits likewise. */
  HkStatus (*take)(HkDeviceSim *sim, const void *x, const void *v, HkError *error);
  /* Bytes a second that a large copy within the card reads and writes, both counted. */
  HkStatus (*measure_copy)(double *speed, HkError *error);
} HkDevice;

#endif
