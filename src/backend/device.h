/* The interface between Hooke and a plug-in for a device.
 *
 * A plug-in is a shared library, libhooke_cuda, with one symbol: hk_device, an HkDevice. It depends
 * on nothing of Hooke but this header, the layouts (gpu/layout.h, gpu/hierarchy.h), the arithmetic
 * (gpu/arithmetic.h, gpu/fine_level.h, gpu/media.h, gpu/stage.h) and Newton's method (gpu/newton.h,
 * minimize/newton_rules.h): the host lays models out and evaluates everything that depends on time
 * into tables. Vertices are numbered by place in this header.
 *
 * Steps are asynchronous: they enter a queue and run in its order while the caller continues. The
 * next call that synchronizes returns an error of the device.
 */
#ifndef HK_BACKEND_DEVICE_H
#define HK_BACKEND_DEVICE_H

#include "backend/device_sheet.h"
#include "backend/gpu/hierarchy.h"
#include "backend/gpu/layout.h"
#include "base/device_settings.h"

enum { HK_DEVICE_VERSION = 8 };
#define HK_DEVICE_SYMBOL "hk_device"

#ifdef __CUDACC__
#define HK_DEVICE_BOTH static __host__ __device__ inline
#else
#define HK_DEVICE_BOTH static inline
#endif

/* A grip is a force 'handle' or 'point_load' with its vertices: f = k (T - x) - c w + F. */
enum { HK_DEVICE_GRIP_REALS = 8 }; /* T, F, k, c */

/* A motion of pins is affine: x = A x0 + b, v = A' x0 + b'; A is stored row by row. */
enum { HK_DEVICE_MOTION_REALS = 24 }; /* A, b, A', b' */

/* A model in the form that a device needs. The caller owns the arrays and may free them after
 * create. */
typedef struct HkDeviceModel {
  const HkGpuLayout *layout;
  double origin[3]; /* positions on the device are relative to it */
  bool flat;        /* two dimensions: z stays */
  int medium_parts; /* flags of media.h: HK_GPU_LINEAR_DRAG ... */
  const double *mass;

  int64_t pin_count; /* by rising place */
  const int32_t *pin_place, *pin_motion;
  const double *pin_x0; /* 3 a pin, not relative to the origin */
  int motion_count;
  bool pins_move;

  int64_t face_count;                  /* 0 without a force 'face_wind' */
  const int32_t *face;                 /* 3 places a face, in the order of the first of them */
  const int32_t *face_start, *face_at; /* face_at[face_start[q] ..]: the faces around a place */

  int64_t gripped; /* vertices with at least one grip, each once */
  const int32_t *gripped_place, *grip_start;
  const int32_t *grip; /* grip[grip_start[q] ..]: grips of the q-th of these vertices */
  int grip_count;

  double total_mass;               /* kg */
  const HkGpuHierarchy *hierarchy; /* NULL unless the settings have multigrid */

  /* For vertex block descent: the places of color c are color_start[c] .. color_start[c + 1] - 1,
   * and no two of them are neighbors. */
  int color_count;
  const int32_t *color_start;
} HkDeviceModel;

/* Tables of all quantities that depend on time, one row a step. */
typedef struct HkDeviceTimes {
  int64_t steps;
  const double *moment; /* HK_GPU_MOMENT_REALS a step, at the time at which forces are evaluated */
  const double *grips;  /* grip_count x HK_DEVICE_GRIP_REALS a step, at the time of moment */
  const double *middle; /* motion_count x HK_DEVICE_MOTION_REALS a step, at its middle (verlet) */
  const double *end;    /* motion_count x HK_DEVICE_MOTION_REALS a step, at its end */
  double h_old; /* s, length of the step before the first one; 0: there is none. Steps of a method
                 * that keeps the step before have the length h from the second one on */
} HkDeviceTimes;

/* A state on the host, in the model's vertex order, three numbers a vertex. */
typedef struct HkDeviceState {
  const double *x, *v;         /* m, m/s */
  const double *x_old, *v_old; /* one step before; NULL: there is none */
  const uint8_t *held;         /* one flag a pin */
} HkDeviceState;

/* A state from the device: numbers as in HkDeviceState, but floats unless hk_device_is_double, and
 * positions relative to the origin. */
typedef struct HkDeviceSnapshot {
  const void *x, *v;
  const void *x_old; /* NULL unless hk_device_needs_x_old */
  const void *v_old; /* NULL unless hk_device_remembers */
} HkDeviceSnapshot;

/* Step info, summed over the steps since the last fetch or upload. */
typedef struct HkDeviceStepsInfo {
  double kinetic;                        /* J, now */
  int64_t iterations, linear_iterations; /* of all steps */
  int64_t worst_iterations;              /* largest count of one step */
  int64_t stationary;                    /* steps with HK_STOP_STATIONARY */
  int64_t unconverged;                   /* steps that do not meet their tolerance */
  double gradient;                       /* the largest of all steps */
  HkStepInfo last, missed;               /* the last step; the first step that did not converge */
} HkDeviceStepsInfo;

/* Adds the step info of one step. asked: the step has a tolerance above 0. precise: the device
 * computes in double precision. In single precision a step that ends at its rounding error is not
 * converged: the rounding error of coordinates may be as large as the motion of a stiff system
 * (docs/theory.md, section 6). */
HK_DEVICE_BOTH void hk_device_count(HkDeviceStepsInfo *info, const HkStepInfo *step, bool asked,
                                    bool precise) {
  info->iterations += step->iterations;
  info->linear_iterations += step->linear_iterations;
  if (step->iterations > info->worst_iterations) info->worst_iterations = step->iterations;
  if (step->gradient > info->gradient) info->gradient = step->gradient;
  if (step->reason == HK_STOP_STATIONARY) info->stationary++;
  bool met = step->reason == HK_STOP_CONVERGED || step->reason == HK_STOP_STATIONARY ||
             (precise && step->reason == HK_STOP_ROUNDING);
  if (asked && !met && info->unconverged++ == 0) info->missed = *step;
  info->last = *step;
}

/* ---- Worlds of a batch ---- */

/* What the worlds have in common. The caller owns the arrays and may free them after create. */
typedef struct HkDeviceWorldsModel {
  int64_t count;            /* of worlds */
  int64_t n, stride;        /* vertices; doubles from the positions of one world to the next */
  const int32_t *row_start; /* the graph (gpu/world.h): slices + 1, in words */
  const uint32_t *word;
  const uint16_t *neighbor; /* of each word: its lower half */
  int64_t words;
  int types;         /* rows of the table of springs of each world */
  bool flat;         /* two dimensions: z stays */
  bool general;      /* a spring of a world is damped or tension-only */
  bool pins_move;    /* in a world */
  int medium_parts;  /* flags of media.h */
  int64_t pin_count; /* by rising vertex */
  const int32_t *pin_vertex, *pin_motion;
  int motion_count;
  int grips;            /* of a world, at most */
  int64_t grip_entries; /* vertices of all grips of a world, at most */
} HkDeviceWorldsModel;

/* What a world has of its own; each array holds the numbers of all worlds, one after the other. */
typedef struct HkDeviceWorldsParameters {
  const double *h;          /* s */
  const double *origin;     /* 3: positions in single precision are relative to it */
  const double *total_mass; /* kg */
  const double *mass;       /* n, kg */
  const double *type;   /* 4 a type: k (N/m), k l0 (N), c (N s/m), and l0 or -1 as in layout.h */
  const double *pin_x0; /* 3 a pin */
  /* Without grips neither is used: the grips of vertex i are grip[grip_start[i] ..]; n + 1 and
   * grip_entries a world. */
  const int32_t *grip_start, *grip;
} HkDeviceWorldsParameters;

/* Steps of all worlds: tables with `rows` rows for each world, one row a step. */
typedef struct HkDeviceWorldsTimes {
  int64_t rows;
  int64_t moments; /* rows of `moment` of each world: rows, or 1 if it does not depend on time */
  const int32_t *counts; /* steps of each world, at most rows */
  const uint8_t *held;   /* pin_count flags a world */
  const double *moment;  /* as in HkDeviceTimes */
  const double *grips;   /* HkDeviceWorldsModel.grips a row, as in HkDeviceTimes */
  const double *middle, *end;
} HkDeviceWorldsTimes;

typedef struct HkDeviceWorlds HkDeviceWorlds;

typedef struct HkDeviceInfo {
  char name[128];
  double bytes, bytes_free;
  double shared_bytes; /* that a thread block may have; 0: no limit */
} HkDeviceInfo;

typedef struct HkDeviceSim HkDeviceSim;

typedef struct HkDevice {
  int version;      /* HK_DEVICE_VERSION of the plug-in */
  const char *name; /* "cuda" */
  int kind;         /* device type of DLPack: 1 is the CPU, 2 is CUDA */
  HkStatus (*info)(HkDeviceInfo *info, HkError *error);
  /* Bytes of device memory that create allocates for this model. */
  double (*need)(const HkDeviceModel *model, const HkDeviceSettings *settings);
  HkStatus (*create)(const HkDeviceModel *model, const HkDeviceSettings *settings,
                     HkDeviceSim **sim, HkError *error);
  void (*destroy)(HkDeviceSim **sim);
  /* Changes the step length h in s. */
  HkStatus (*set_h)(HkDeviceSim *sim, double h, HkError *error);
  /* Copies a state to the device. */
  HkStatus (*upload)(HkDeviceSim *sim, const HkDeviceState *state, HkError *error);
  HkStatus (*steps)(HkDeviceSim *sim, const HkDeviceTimes *times, HkError *error);
  /* Waits until the queue is empty. */
  HkStatus (*wait)(HkDeviceSim *sim, HkError *error);
  /* Queues a snapshot of the state; fetch copies it to the host while later steps run. */
  HkStatus (*record)(HkDeviceSim *sim, HkError *error);
  /* Waits for the last snapshot (or makes one) and returns it; it is valid until the next fetch. */
  HkStatus (*fetch)(HkDeviceSim *sim, HkDeviceSnapshot *snapshot, HkDeviceStepsInfo *info,
                    HkError *error);
  /* Allocates device memory for three reals a vertex, which outlives the simulation; *number
   * becomes the index of the device. */
  HkStatus (*create_array)(HkDeviceSim *sim, void **array, int *number, HkError *error);
  void (*destroy_array)(void *array);
  /* Copies absolute positions and velocities into arrays of create_array, in the model's vertex
   * order; NULL skips one. It synchronizes the whole device first, since other libraries may still
   * read the arrays, and waits until the copy is complete. */
  HkStatus (*copy_to_arrays)(HkDeviceSim *sim, void *x, void *v, HkError *error);
  /* Copies absolute positions and velocities of all vertices but constrained ones from arrays on
   * the device; NULL leaves one as it is. It synchronizes as copy_to_arrays does. */
  HkStatus (*copy_from_arrays)(HkDeviceSim *sim, const void *x, const void *v, HkError *error);
  /* Measures the bandwidth of a large copy within device memory in bytes/s, reads and writes both
   * counted. */
  HkStatus (*measure_copy)(double *speed, HkError *error);

  /* Batches of worlds. A world is moved by symplectic Euler, Verlet, or backward Euler with newton,
   * pcg and block_jacobi; positions and velocities are those of the caller's arrays, in double
   * precision, with `stride` doubles a world. Calls return when they are complete. */
  /* Bytes of device memory that worlds_create allocates. */
  double (*worlds_need)(const HkDeviceWorldsModel *model, const HkDeviceSettings *settings);
  /* Largest number of vertices of a world, which has to fit the shared memory of a thread block. */
  int64_t (*worlds_most)(const HkDeviceSettings *settings);
  HkStatus (*worlds_create)(const HkDeviceWorldsModel *model, const HkDeviceSettings *settings,
                            HkDeviceWorlds **worlds, HkError *error);
  void (*worlds_destroy)(HkDeviceWorlds **worlds);
  HkStatus (*worlds_set)(HkDeviceWorlds *worlds, const HkDeviceWorldsParameters *parameters,
                         HkError *error);
  /* Copy the states of worlds first .. first + count - 1 to the device and back; x and v are the
   * arrays of all worlds. */
  HkStatus (*worlds_upload)(HkDeviceWorlds *worlds, int64_t first, int64_t count, const double *x,
                            const double *v, HkError *error);
  HkStatus (*worlds_fetch)(HkDeviceWorlds *worlds, int64_t first, int64_t count, double *x,
                           double *v, HkError *error);
  /* Makes steps; info, which is 0 before: one entry a world, summed over these steps. */
  HkStatus (*worlds_steps)(HkDeviceWorlds *worlds, const HkDeviceWorldsTimes *times,
                           HkDeviceStepsInfo *info, HkError *error);
  /* Allocates device memory for three doubles a vertex of all worlds; destroy_array releases it. */
  HkStatus (*worlds_create_array)(HkDeviceWorlds *worlds, void **array, int *number,
                                  HkError *error);
  /* As copy_to_arrays and copy_from_arrays, for all worlds; held: pin_count flags a world. */
  HkStatus (*worlds_copy_to_arrays)(HkDeviceWorlds *worlds, void *x, void *v, HkError *error);
  HkStatus (*worlds_copy_from_arrays)(HkDeviceWorlds *worlds, const void *x, const void *v,
                                      const uint8_t *held, HkError *error);

  /* Sheets with forces and velocities in single precision, and in double. */
  const HkDeviceSheets *sheets_single, *sheets_double;
} HkDevice;

#endif
