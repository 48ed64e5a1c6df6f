/* Conjugate gradients of a world in one precision; world_solve.h includes this file once for floats
 * and once for HkReals, with
 *
 *     HK_PCG_REAL      the precision
 *     HK_PCG_VECTOR    three of them
 *     HK_PCG_VECTORS   the vectors p, r, q and d of a system
 *     HK_PCG(name)     the name of a function in this precision: difference and b of a spring are
 *                      there, in units that belong together
 *
 * q holds H p, and z = D^-1 r after it was used. Neighbors read p alone.
 */

/* Adds up `count` values over the team; every thread gets the results. Uses the set 0 or 1 of the
 * team's sums: between two calls with the same set there is another barrier of the team. */
HK_WORLD void HK_PCG(add_up)(int set, HK_PCG_REAL *value, int count) {
#ifdef __CUDA_ARCH__
  const unsigned ALL = 0xffffffffu;
  int lane = hk_team_rank() % 32, warp = hk_team_rank() / 32, warps = (hk_team_size() + 31) / 32;
  HK_PCG_REAL *sums = (HK_PCG_REAL *)hk_team_sums[set];
  for (int q = 0; q < count; q++) {
    for (int k = 16; k > 0; k /= 2) value[q] += __shfl_xor_sync(ALL, value[q], k);
    if (lane == 0) sums[q * HK_TEAM_WARPS + warp] = value[q];
  }
  __syncthreads();
  int half = 16; /* lanes in groups that each hold the values of all warps */
  while (half > 0 && half >= warps) half /= 2;
  int from = half > 0 ? lane % (2 * half) : 0;
  for (int q = 0; q < count; q++) {
    value[q] = from < warps ? sums[q * HK_TEAM_WARPS + from] : 0;
    for (int k = half; k > 0; k /= 2) value[q] += __shfl_xor_sync(ALL, value[q], k);
  }
#else
  (void)set;
  (void)value;
  (void)count;
#endif
}

/* q = H p of the vertices that a thread owns; returns its part of p . q. Constrained vertices have
 * no row. */
HK_WORLD HK_PCG_REAL HK_PCG(multiply)(const HkGpuSystem *s, const HK_PCG_VECTORS *v) {
  HK_PCG_REAL pq = 0;
  HK_TEAM_EACH(i, s->n) {
    HK_PCG_REAL m = (HK_PCG_REAL)hk_world_weight(s, i);
    if (!(m > 0)) continue;
    HK_PCG_VECTOR own = v->p[i], sum = {m * own.x, m * own.y, m * own.z};
    int first = s->row_start[i / HK_GPU_ROW] + i % HK_GPU_ROW;
    int end = s->row_start[i / HK_GPU_ROW + 1];
    HK_TEAM_UNROLL
    for (int at = first; at < end; at += HK_GPU_ROW) {
      int j = s->neighbor[at];
      HkGpuCoefficients c = s->coefficients[at];
      HK_PCG_VECTOR pj = v->p[j], d = HK_PCG(difference)(s, i, j);
      HK_PCG_VECTOR u = {own.x - pj.x, own.y - pj.y, own.z - pj.z};
      HK_PCG_REAL a = (HK_PCG_REAL)c.a;
      HK_PCG_REAL along = HK_PCG(b)(s, c) * (d.x * u.x + d.y * u.y + d.z * u.z);
      sum.x += a * u.x + along * d.x;
      sum.y += a * u.y + along * d.y;
      sum.z += a * u.z + along * d.z;
    }
    if (s->flat) sum.z = 0;
    v->q[i] = sum;
    pq += own.x * sum.x + own.y * sum.y + own.z * sum.z;
  }
  return pq;
}

/* q = z = D^-1 r; adds r . r and r . z of the vertex to sum. */
HK_WORLD void HK_PCG(precondition)(const HkGpuSystem *s, const HK_PCG_VECTORS *v, int i,
                                   HK_PCG_REAL sum[2]) {
  HkGpuInverse D = hk_world_inverse(s, i);
  HK_PCG_VECTOR r = v->r[i];
  HK_PCG_REAL xy = (HK_PCG_REAL)D.xy, xz = (HK_PCG_REAL)D.xz, yz = (HK_PCG_REAL)D.yz;
  HK_PCG_VECTOR z = {(HK_PCG_REAL)D.xx * r.x + xy * r.y + xz * r.z,
                     xy * r.x + (HK_PCG_REAL)D.yy * r.y + yz * r.z,
                     xz * r.x + yz * r.y + (HK_PCG_REAL)D.zz * r.z};
  v->q[i] = z;
  sum[0] += r.x * r.x + r.y * r.y + r.z * r.z;
  sum[1] += r.x * z.x + r.y * z.y + r.z * z.z;
}

/* p = z + beta p; constrained vertices have p = 0. */
HK_WORLD void HK_PCG(search)(const HkGpuSystem *s, const HK_PCG_VECTORS *v, HK_PCG_REAL beta) {
  HK_TEAM_EACH(i, s->n) {
    HK_PCG_VECTOR z = v->q[i], p = v->p[i];
    if (beta != 0) {
      z.x += beta * p.x;
      z.y += beta * p.y;
      z.z += beta * p.z;
    }
    v->p[i] = z;
  }
  hk_team_sync();
}

/* d += alpha p, r -= alpha q, z = D^-1 r; sum becomes r . r and r . z. */
HK_WORLD void HK_PCG(descend)(const HkGpuSystem *s, const HK_PCG_VECTORS *v, HK_PCG_REAL alpha,
                              HK_PCG_REAL sum[2]) {
  sum[0] = sum[1] = 0;
  HK_TEAM_EACH(i, s->n) {
    if (!(hk_world_weight(s, i) > 0)) continue;
    HK_PCG_VECTOR p = v->p[i], q = v->q[i], d = v->d[i], r = v->r[i];
    d.x += alpha * p.x;
    d.y += alpha * p.y;
    d.z += alpha * p.z;
    r.x -= alpha * q.x;
    r.y -= alpha * q.y;
    r.z -= alpha * q.z;
    v->d[i] = d;
    v->r[i] = r;
    HK_PCG(precondition)(s, v, i, sum);
  }
  HK_PCG(add_up)(1, sum, 2);
}

/* Iterates from d with the residual r, both 1 / scale times those of the system, until the rule of
 * conjugate_gradients.h ends it or r is `least` long. r, d and z of constrained vertices are 0. */
HK_WORLD HkGpuPcgEnd HK_PCG(iterate)(const HkGpuSystem *s, const HK_PCG_VECTORS *v, double scale,
                                     double least, HkGpuPcg *pcg) {
  HK_PCG_REAL sum[2] = {0, 0}, rz = 0, stop = (HK_PCG_REAL)(least * least);
  double square = scale * scale;
  hk_team_sync();
  HK_TEAM_EACH(i, s->n) if (hk_world_weight(s, i) > 0) HK_PCG(precondition)(s, v, i, sum);
  HK_PCG(add_up)(1, sum, 2);
  for (bool first = true;; first = false) {
    HK_PCG(search)(s, v, first ? 0 : sum[1] / rz);
    rz = sum[1];
    HK_PCG_REAL pq = HK_PCG(multiply)(s, v);
    HK_PCG(add_up)(0, &pq, 1);
    if (!(pq > 0) || !isfinite(pq)) return pq <= 0 && rz > 0 ? HK_PCG_NEGATIVE : HK_PCG_NOT_FINITE;
    HK_PCG(descend)(s, v, rz / pq, sum);
    if (!isfinite(sum[0]) || !isfinite(sum[1])) return HK_PCG_NOT_FINITE;
    HkGpuPcgSums sums = {square * (double)rz, square * (double)pq, square * (double)sum[0]};
    if (hk_gpu_pcg_ends(pcg, &sums)) return HK_PCG_ENDED;
    if (sum[0] <= stop) return HK_PCG_SHORT;
  }
}

#undef HK_PCG_REAL
#undef HK_PCG_VECTOR
#undef HK_PCG_VECTORS
#undef HK_PCG
