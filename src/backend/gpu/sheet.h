/* Arithmetic of a regular cloth whose springs are not stored (backend/device_sheet.h). CUDA kernels
 * and the tests without a GPU compile the same code.
 *
 *     v+ = v + h (a + M^-1 sum_d f_d),   x+ = x + h v+
 *
 * Symplectic Euler moves a tile of vertices at a time. Positions are doubles; forces are computed
 * from positions relative to a vertex of the tile, in HkReals: neighbors are some spacings apart
 * from it, so that differences keep 1e-6 of a spacing in floats, whatever the size of the sheet.
 * Positions of a tile and its halo stand in three planes of HK_GPU_TILE_SIZE HkReals.
 *
 * Bytes of a step a vertex: x 24 and v 12, each read and written, 72.
 */
#ifndef HK_BACKEND_GPU_SHEET_H
#define HK_BACKEND_GPU_SHEET_H

#include "backend/device_sheet.h"
#include "backend/gpu/media.h"

enum {
  HK_GPU_TILE_X = 32,
  HK_GPU_TILE_Y = 8,
  HK_GPU_TILE_HALO = 2, /* the longest spring */
  HK_GPU_TILE_STRIDE = HK_GPU_TILE_X + 2 * HK_GPU_TILE_HALO,
  HK_GPU_TILE_SIZE = HK_GPU_TILE_STRIDE * (HK_GPU_TILE_Y + 2 * HK_GPU_TILE_HALO)
};

/* A sheet in the precision of its forces. */
typedef struct HkGpuSheet {
  int32_t nx, ny;
  int64_t stride, plane; /* numbers from one row of a coordinate to the next, and from one
                            coordinate to the next */
  int32_t tiles;         /* along a row */
  HkReal k[HK_SHEET_DIRECTIONS], kl0[HK_SHEET_DIRECTIONS];
  HkReal inverse[HK_SHEET_CLASSES]; /* 1/kg; 0: fixed */
  HkReal h;
  int parts, flat;
} HkGpuSheet;

static inline HkGpuSheet hk_gpu_sheet(const HkDeviceSheetModel *m) {
  HkGpuSheet s = {0};
  s.nx = m->nx;
  s.ny = m->ny;
  s.tiles = (m->nx + HK_GPU_TILE_X - 1) / HK_GPU_TILE_X;
  s.stride = (int64_t)s.tiles * HK_GPU_TILE_X;
  s.plane = s.stride * m->ny;
  for (int d = 0; d < HK_SHEET_DIRECTIONS; d++) {
    s.k[d] = (HkReal)m->k[d];
    s.kl0[d] = (HkReal)(m->k[d] * m->l0[d]);
  }
  for (int c = 0; c < HK_SHEET_CLASSES; c++)
    s.inverse[c] = m->fixed[c] ? 0 : (HkReal)(1 / m->mass[c]);
  s.h = (HkReal)m->h;
  s.parts = m->medium_parts;
  s.flat = m->flat;
  return s;
}

static inline int64_t hk_gpu_sheet_tiles(const HkGpuSheet *s) {
  return (int64_t)s->tiles * ((s->ny + HK_GPU_TILE_Y - 1) / HK_GPU_TILE_Y);
}

/* Returns the class of a vertex (backend/device_sheet.h). */
HK_HOST_DEVICE int hk_gpu_sheet_class(int32_t nx, int32_t ny, int32_t i, int32_t j) {
  return 3 * ((j > 0) + (j == ny - 1)) + (i > 0) + (i == nx - 1);
}

HK_HOST_DEVICE bool hk_gpu_sheet_has(int32_t nx, int32_t ny, int32_t i, int32_t j) {
  return i >= 0 && i < nx && j >= 0 && j < ny;
}

/* ---- Forces ---- */

/* Adds the force of the spring to the neighbor `apart` places further in the tile. */
HK_HOST_DEVICE void hk_gpu_sheet_pull(const HkGpuSheet *s, const HkReal *tile, int at, int apart,
                                      int direction, HkGpuVector *f) {
  const HkReal *y = tile + HK_GPU_TILE_SIZE, *z = y + HK_GPU_TILE_SIZE;
  HkGpuVector d = {tile[at + apart] - tile[at], y[at + apart] - y[at], z[at + apart] - z[at]};
  hk_gpu_spring_force(d, s->k[direction], s->kl0[direction], f);
}

/* Adds the forces of both springs of a direction, where vertex (i, j) has them; inner: it has. */
HK_HOST_DEVICE void hk_gpu_sheet_pull_both(const HkGpuSheet *s, const HkReal *tile, int at,
                                           int32_t i, int32_t j, bool inner, int direction, int di,
                                           int dj, HkGpuVector *f) {
  const int apart = dj * HK_GPU_TILE_STRIDE + di;
  if (s->k[direction] == 0) return;
  if (inner || hk_gpu_sheet_has(s->nx, s->ny, i + di, j + dj))
    hk_gpu_sheet_pull(s, tile, at, apart, direction, f);
  if (inner || hk_gpu_sheet_has(s->nx, s->ny, i - di, j - dj))
    hk_gpu_sheet_pull(s, tile, at, -apart, direction, f);
}

/* Returns whether no vertex of a tile is near an edge of the sheet. */
HK_HOST_DEVICE bool hk_gpu_sheet_inner(const HkGpuSheet *s, int32_t first_i, int32_t first_j) {
  return first_i >= HK_GPU_TILE_HALO && first_j >= HK_GPU_TILE_HALO &&
         first_i + HK_GPU_TILE_X + HK_GPU_TILE_HALO <= s->nx &&
         first_j + HK_GPU_TILE_Y + HK_GPU_TILE_HALO <= s->ny;
}

/* Returns the force (N) of all springs on vertex (i, j), which stands at `at` in its tile; inner:
 * of the tile. */
HK_HOST_DEVICE HkGpuVector hk_gpu_sheet_force(const HkGpuSheet *s, const HkReal *tile, int at,
                                              int32_t i, int32_t j, bool inner) {
  HkGpuVector f = {0, 0, 0};
  hk_gpu_sheet_pull_both(s, tile, at, i, j, inner, 0, 1, 0, &f);
  hk_gpu_sheet_pull_both(s, tile, at, i, j, inner, 1, 0, 1, &f);
  hk_gpu_sheet_pull_both(s, tile, at, i, j, inner, 2, 1, 1, &f);
  hk_gpu_sheet_pull_both(s, tile, at, i, j, inner, 3, 1, -1, &f);
  hk_gpu_sheet_pull_both(s, tile, at, i, j, inner, 4, 2, 0, &f);
  hk_gpu_sheet_pull_both(s, tile, at, i, j, inner, 5, 0, 2, &f);
  return f;
}

/* Moves a vertex with force f; x is absolute. */
HK_HOST_DEVICE void hk_gpu_sheet_move(const HkGpuSheet *s, const HkGpuMedium *medium,
                                      HkReal inverse, HkGpuVector f, double x[3], HkGpuVector *v) {
  if (inverse == 0) return;
  HkGpuVector a = medium->g;
  if (s->parts)
    a = hk_gpu_medium_acceleration(medium, s->parts, inverse,
                                   hk_gpu_vector((HkReal)x[0], (HkReal)x[1], (HkReal)x[2]), *v);
  hk_gpu_axpy(inverse, f, &a);
  if (s->flat) a.z = 0;
  hk_gpu_axpy(s->h, a, v);
  x[0] += (double)(s->h * v->x);
  x[1] += (double)(s->h * v->y);
  x[2] += (double)(s->h * v->z);
}

/* ---- Energies ---- */

/* Returns the energy (J) of the spring from (i, j) to (i + di, j + dj), if there is one. */
HK_HOST_DEVICE double hk_gpu_sheet_spring(const HkDeviceSheetModel *m, const double *x,
                                          int64_t stride, int64_t plane, int32_t i, int32_t j,
                                          int direction, int di, int dj) {
  if (m->k[direction] == 0 || !hk_gpu_sheet_has(m->nx, m->ny, i + di, j + dj)) return 0;
  const int64_t at = (int64_t)j * stride + i, to = at + (int64_t)dj * stride + di;
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const double d = x[c * plane + to] - x[c * plane + at];
    square += d * d;
  }
  const double longer = sqrt(square) - m->l0[direction];
  return 0.5 * m->k[direction] * longer * longer;
}

/* Adds kinetic energy, the energy of the springs that begin at (i, j), and m x to the sums. */
HK_HOST_DEVICE void hk_gpu_sheet_sums(const HkDeviceSheetModel *m, const double *x, const HkReal *v,
                                      int64_t stride, int64_t plane, int32_t i, int32_t j,
                                      double sums[5]) {
  const int64_t at = (int64_t)j * stride + i;
  const double mass = m->mass[hk_gpu_sheet_class(m->nx, m->ny, i, j)];
  double square = 0;
  for (int c = 0; c < 3; c++) {
    const double w = (double)v[c * plane + at];
    square += w * w;
    sums[2 + c] += mass * x[c * plane + at];
  }
  sums[0] += 0.5 * mass * square;
  sums[1] += hk_gpu_sheet_spring(m, x, stride, plane, i, j, 0, 1, 0);
  sums[1] += hk_gpu_sheet_spring(m, x, stride, plane, i, j, 1, 0, 1);
  sums[1] += hk_gpu_sheet_spring(m, x, stride, plane, i, j, 2, 1, 1);
  sums[1] += hk_gpu_sheet_spring(m, x, stride, plane, i, j, 3, 1, -1);
  sums[1] += hk_gpu_sheet_spring(m, x, stride, plane, i, j, 4, 2, 0);
  sums[1] += hk_gpu_sheet_spring(m, x, stride, plane, i, j, 5, 0, 2);
}

/* Sets position and velocity of vertex (i, j) at the start. */
HK_HOST_DEVICE void hk_gpu_sheet_start(const HkDeviceSheetModel *m, int32_t i, int32_t j,
                                       double x[3], double v[3]) {
  const bool fixed = m->fixed[hk_gpu_sheet_class(m->nx, m->ny, i, j)];
  for (int c = 0; c < 3; c++) {
    x[c] = m->corner[c] + (i * m->along[c] + j * m->across[c]);
    v[c] = fixed ? 0 : m->velocity[c];
  }
}

#endif
