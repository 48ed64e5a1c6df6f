/* The interface between Hooke and a plug-in for sheets (hooke/sheet.h): regular cloth whose springs
 * are not stored. */
#ifndef HK_BACKEND_DEVICE_SHEET_H
#define HK_BACKEND_DEVICE_SHEET_H

#include "hooke/sheet.h"

/* Springs of a vertex (i, j) that end at (i + di, j + dj), by direction: (1, 0), (0, 1), (1, 1),
 * (1, -1), (2, 0), (0, 2). */
enum { HK_SHEET_DIRECTIONS = 6 };

/* Masses and pins are those of the classes of vertices: 3 b + a, where a is 0 for i = 0, 2 for i =
 * nx - 1 and 1 between, and b the same of j. */
enum { HK_SHEET_CLASSES = 9 };

/* Constants of a sheet. */
typedef struct HkDeviceSheetModel {
  int32_t nx, ny;                        /* vertices along both axes */
  double corner[3], along[3], across[3]; /* m: vertex (i, j) starts at corner + i along + j across
                                          */
  double velocity[3];                    /* m/s, of all free vertices at the start */
  double k[HK_SHEET_DIRECTIONS], l0[HK_SHEET_DIRECTIONS]; /* N/m, m; k 0: there is no such spring */
  double mass[HK_SHEET_CLASSES];                          /* kg */
  bool fixed[HK_SHEET_CLASSES];
  int medium_parts; /* flags of gpu/media.h */
  bool flat;        /* two dimensions: z stays */
  double h;         /* s */
} HkDeviceSheetModel;

typedef struct HkDeviceSheet HkDeviceSheet;

/* Calls return when they are complete. */
typedef struct HkDeviceSheets {
  /* Bytes of device memory that create allocates. */
  double (*need)(const HkDeviceSheetModel *model);
  HkStatus (*create)(const HkDeviceSheetModel *model, HkDeviceSheet **sheet, HkError *error);
  void (*destroy)(HkDeviceSheet **sheet);
  /* moment: HK_GPU_MOMENT_REALS a step (gpu/media.h). */
  HkStatus (*steps)(HkDeviceSheet *sheet, int64_t count, const double *moment, HkError *error);
  /* The window is valid; NULL skips x or v. */
  HkStatus (*read)(HkDeviceSheet *sheet, const HkSheetWindow *window, double *x, double *v,
                   HkError *error);
  HkStatus (*write)(HkDeviceSheet *sheet, const HkSheetWindow *window, const double *x,
                    const double *v, HkError *error);
  /* Kinetic energy, energy of springs, and sum of m x (kg m). */
  HkStatus (*sums)(HkDeviceSheet *sheet, double sums[5], HkError *error);
} HkDeviceSheets;

#endif
