/* Sheets on the host's device, tile by tile: gpu/sheet.h. */
#ifndef HOOKE_TEST_HOST_SHEET_H
#define HOOKE_TEST_HOST_SHEET_H

#include "backend/gpu/sheet.h"

#include <math.h>
#include <stdlib.h>

typedef struct Sheet {
  HkDeviceSheetModel model;
  HkGpuSheet sheet;
  double *x[2];
  HkReal *v;
  int at;
} Sheet;

static double need(const HkDeviceSheetModel *m) {
  HkGpuSheet s = hk_gpu_sheet(m);
  return (double)s.plane * (2 * 3 * sizeof(double) + 3 * sizeof(HkReal));
}

static HkStatus create(const HkDeviceSheetModel *m, HkDeviceSheet **sheet, HkError *error) {
  Sheet *s = calloc(1, sizeof *s);
  (void)error;
  s->model = *m;
  s->sheet = hk_gpu_sheet(m);
  size_t numbers = 3 * (size_t)s->sheet.plane;
  s->x[0] = calloc(numbers, sizeof *s->x[0]);
  s->x[1] = calloc(numbers, sizeof *s->x[1]);
  s->v = calloc(numbers, sizeof *s->v);
  for (int32_t j = 0; j < m->ny; j++)
    for (int32_t i = 0; i < m->nx; i++) {
      double x[3], v[3];
      hk_gpu_sheet_start(m, i, j, x, v);
      for (int c = 0; c < 3; c++) {
        s->x[0][c * s->sheet.plane + j * s->sheet.stride + i] = x[c];
        s->v[c * s->sheet.plane + j * s->sheet.stride + i] = (HkReal)v[c];
      }
    }
  *sheet = (HkDeviceSheet *)s;
  return HK_OK;
}

static void destroy(HkDeviceSheet **sheet) {
  Sheet *s = (Sheet *)*sheet;
  free(s->x[0]);
  free(s->x[1]);
  free(s->v);
  free(s);
  *sheet = NULL;
}

/* Positions of a tile and its halo relative to a vertex in its middle. */
static void load_tile(const Sheet *s, int32_t first_i, int32_t first_j, HkReal *tile) {
  const HkGpuSheet *g = &s->sheet;
  int32_t i = first_i + HK_GPU_TILE_X / 2, j = first_j + HK_GPU_TILE_Y / 2;
  i = i < g->nx - 1 ? i : g->nx - 1;
  j = j < g->ny - 1 ? j : g->ny - 1;
  int64_t middle = j * g->stride + i;
  for (int q = 0; q < HK_GPU_TILE_SIZE; q++) {
    i = first_i + q % HK_GPU_TILE_STRIDE - HK_GPU_TILE_HALO;
    j = first_j + q / HK_GPU_TILE_STRIDE - HK_GPU_TILE_HALO;
    for (int c = 0; c < 3; c++) {
      const double *x = s->x[s->at] + c * g->plane;
      tile[c * HK_GPU_TILE_SIZE + q] = (HkReal)NAN; /* outside of the sheet: never read */
      if (hk_gpu_sheet_has(g->nx, g->ny, i, j))
        tile[c * HK_GPU_TILE_SIZE + q] = (HkReal)(x[j * g->stride + i] - x[middle]);
    }
  }
}

static void move_vertex(Sheet *s, const HkGpuMoment *moment, const HkReal *tile, int at, int32_t i,
                        int32_t j, bool inner) {
  const HkGpuSheet *g = &s->sheet;
  int64_t q = j * g->stride + i;
  double x[3];
  HkGpuVector v = {s->v[q], s->v[q + g->plane], s->v[q + 2 * g->plane]};
  for (int c = 0; c < 3; c++) x[c] = s->x[s->at][c * g->plane + q];
  hk_gpu_sheet_move(g, &moment->medium, g->inverse[hk_gpu_sheet_class(g->nx, g->ny, i, j)],
                    hk_gpu_sheet_force(g, tile, at, i, j, inner), x, &v);
  for (int c = 0; c < 3; c++) s->x[1 - s->at][c * g->plane + q] = x[c];
  s->v[q] = v.x;
  s->v[q + g->plane] = v.y;
  s->v[q + 2 * g->plane] = v.z;
}

static HkStatus steps(HkDeviceSheet *sheet, int64_t count, const double *moment, HkError *error) {
  Sheet *s = (Sheet *)sheet;
  const HkGpuSheet *g = &s->sheet;
  HkReal tile[3 * HK_GPU_TILE_SIZE];
  (void)error;
  for (int64_t step = 0; step < count; step++, s->at = 1 - s->at) {
    HkGpuMoment now;
    for (int q = 0; q < (int)HK_GPU_MOMENT_REALS; q++)
      ((HkReal *)&now)[q] = (HkReal)moment[step * HK_GPU_MOMENT_REALS + q];
    for (int64_t t = 0; t < hk_gpu_sheet_tiles(g); t++) {
      int32_t first_i = (int32_t)(t % g->tiles) * HK_GPU_TILE_X;
      int32_t first_j = (int32_t)(t / g->tiles) * HK_GPU_TILE_Y;
      load_tile(s, first_i, first_j, tile);
      for (int32_t b = 0; b < HK_GPU_TILE_Y && first_j + b < g->ny; b++)
        for (int32_t a = 0; a < HK_GPU_TILE_X && first_i + a < g->nx; a++)
          move_vertex(s, &now, tile,
                      (b + HK_GPU_TILE_HALO) * HK_GPU_TILE_STRIDE + a + HK_GPU_TILE_HALO,
                      first_i + a, first_j + b, hk_gpu_sheet_inner(g, first_i, first_j));
    }
  }
  return HK_OK;
}

/* Returns the place of vertex k of a window. */
static int64_t place_of(const Sheet *s, const HkSheetWindow *w, int64_t k) {
  return (w->j + w->every * (k / w->ni)) * s->sheet.stride + w->i + w->every * (k % w->ni);
}

static HkStatus read(HkDeviceSheet *sheet, const HkSheetWindow *w, double *x, double *v,
                     HkError *error) {
  Sheet *s = (Sheet *)sheet;
  (void)error;
  for (int64_t k = 0; k < 3 * w->ni * w->nj; k++) {
    int64_t q = k % 3 * s->sheet.plane + place_of(s, w, k / 3);
    if (x) x[k] = s->x[s->at][q];
    if (v) v[k] = (double)s->v[q];
  }
  return HK_OK;
}

static HkStatus write(HkDeviceSheet *sheet, const HkSheetWindow *w, const double *x,
                      const double *v, HkError *error) {
  Sheet *s = (Sheet *)sheet;
  const HkGpuSheet *g = &s->sheet;
  (void)error;
  for (int64_t k = 0; k < 3 * w->ni * w->nj; k++) {
    int64_t at = place_of(s, w, k / 3), q = k % 3 * g->plane + at;
    if (g->inverse[hk_gpu_sheet_class(g->nx, g->ny, (int32_t)(at % g->stride),
                                      (int32_t)(at / g->stride))] == 0)
      continue;
    if (x) s->x[s->at][q] = x[k];
    if (v) s->v[q] = (HkReal)v[k];
  }
  return HK_OK;
}

static HkStatus sums(HkDeviceSheet *sheet, double all[5], HkError *error) {
  Sheet *s = (Sheet *)sheet;
  (void)error;
  for (int k = 0; k < 5; k++) all[k] = 0;
  for (int32_t j = 0; j < s->model.ny; j++)
    for (int32_t i = 0; i < s->model.nx; i++)
      hk_gpu_sheet_sums(&s->model, s->x[s->at], s->v, s->sheet.stride, s->sheet.plane, i, j, all);
  return HK_OK;
}

#define HOST_SHEETS                                                                                \
  { need, create, destroy, steps, read, write, sums }

#endif
