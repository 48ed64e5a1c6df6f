/* Rectangular sheets of cloth on a GPU, up to billions of vertices. */
#ifndef HOOKE_SHEET_H
#define HOOKE_SHEET_H

#include "hooke/hooke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sheet: a regular cloth that no model could hold -------------------------------------------
 *
 * All springs of one direction of a regular cloth are the same, so that a sheet stores none of
 * them: 60 bytes of device memory a vertex, and nothing a vertex on the host. Positions are doubles
 * on the device; velocities and forces are floats with HK_CUDA, doubles with HK_CUDA_DOUBLE (72
 * bytes a vertex).
 *
 * The scene has one body, a grid of quads with equal springs that have no damping; pins that are
 * fixed for ever and select named sets of the grid (top, corners, top_left ...); the forces
 * gravity, wind, drag and buoyancy; and the integrator symplectic_euler. What else it contains is
 * refused by its name. Outputs and probes are not used.
 */

/* A sheet with its state; opaque. */
typedef struct HkSheet HkSheet;

/* A rectangle of a sheet: vertices (i + every a, j + every b) for 0 <= a < ni and 0 <= b < nj, in
 * rows of ni vertices; i counts along the first axis of the grid. */
typedef struct HkSheetWindow {
  int64_t i, j, ni, nj;
  int64_t every; /* at least 1 */
} HkSheetWindow;

/* Where a sheet stands. */
typedef struct HkSheetInfo {
  int64_t nx, ny;                  /* vertices along both axes */
  int64_t springs;                 /* of the whole sheet */
  int64_t steps;                   /* so far */
  double time, h;                  /* s */
  double kinetic, spring, gravity; /* J */
  double device_bytes;             /* of device memory */
} HkSheetInfo;

/* Makes a sheet at time 0 on the device of the scene's context, which is not HK_CPU. A step of 0 in
 * the scene is picked by stability. HK_ERROR_UNSUPPORTED names what a sheet does not support,
 * HK_ERROR_MEMORY says how much device memory it needs. */
HK_API HkStatus hk_sheet_create(const HkScene *scene, HkSheet **sheet, HkError *error);
/* Makes `count` steps and waits for them. HK_ERROR_BLOWUP if the kinetic energy is then not finite.
 */
HK_API HkStatus hk_sheet_steps(HkSheet *sheet, int64_t count, HkError *error);
/* Copies positions (m) and velocities (m/s) of the vertices of a window to the caller, three
 * doubles a vertex; NULL skips one. */
HK_API HkStatus hk_sheet_read(HkSheet *sheet, const HkSheetWindow *window, double *x, double *v,
                              HkError *error);
/* Sets positions and velocities of the vertices of a window, except those of pins; NULL leaves one
 * as it is. */
HK_API HkStatus hk_sheet_write(HkSheet *sheet, const HkSheetWindow *window, const double *x,
                               const double *v, HkError *error);
/* Sums up the energies on the device. */
HK_API HkStatus hk_sheet_info(HkSheet *sheet, HkSheetInfo *info, HkError *error);
/* Releases a sheet with its device memory and sets the pointer to NULL. */
HK_API void hk_sheet_destroy(HkSheet **sheet);

#ifdef __cplusplus
}
#endif
#endif
