/* Allocates the levels of multigrid in device memory; gpu/hierarchy.h has their layout. */
#ifndef HK_CUDA_CREATE_MULTIGRID_CUH
#define HK_CUDA_CREATE_MULTIGRID_CUH

#include "create.cuh"
#include "cycle.cuh"

namespace HK_SPACE {

template <class T>
static HkStatus keep_copy(Simulation *s, const T **p, const T *from, int64_t count,
                          HkError *error) {
  T *made;
  HK_CUDA_TRY(allocate_copy(&made, from, count, error));
  keep(s, made);
  *p = made;
  return HK_OK;
}

template <class T>
static HkStatus keep_new(Simulation *s, T **p, int64_t count, HkError *error) {
  HK_CUDA_TRY(allocate(p, count, error));
  keep(s, *p);
  return HK_OK;
}

static HkStatus create_lists(Simulation *s, const HkGpuLists *from, HkGpuListsAt *to,
                             HkError *error) {
  int64_t entries = hk_gpu_list_entries(from), slices = hk_gpu_slices(from->rows);
  if (!from->start) return HK_OK;
  HK_CUDA_TRY(keep_copy(s, &to->start, (const int32_t *)from->start, slices + 1, error));
  HK_CUDA_TRY(keep_copy(s, &to->index, (const int32_t *)from->index, entries, error));
  return keep_copy(s, &to->weight, (const float *)from->weight, entries, error);
}

/* fine: level 0, whose vectors b and x are those of conjugate gradients. */
static HkStatus create_matrix(Simulation *s, const HkGpuLevel *from, bool fine, Level *to,
                              HkError *error) {
  const double FINE_BOUND = 2;
  int64_t n = from->n, entries = hk_gpu_level_entries(from), slices = hk_gpu_slices(n);
  HkGpuMatrix *A = &to->A;
  A->n = (int32_t)n;
  HK_CUDA_TRY(keep_copy(s, &A->start, (const int32_t *)from->start, slices + 1, error));
  HK_CUDA_TRY(keep_copy(s, &A->column, (const int32_t *)from->column, entries, error));
  HK_CUDA_TRY(keep_new(s, &A->spring, fine ? entries : 0, error));
  HK_CUDA_TRY(keep_new(s, &A->block, fine ? 0 : entries, error));
  HK_CUDA_TRY(keep_new(s, &A->rest, fine ? 0 : entries, error));
  if (!fine && entries > 0)
    clear_entries<<<blocks_for(entries, BLOCK_THREADS), BLOCK_THREADS>>>(*A, entries);
  HK_CUDA(cudaGetLastError(), "launch its kernels");
  HK_CUDA_TRY(keep_new(s, &A->R, 2 * n, error));
  HK_CUDA_TRY(keep_new(s, &A->D, n, error));
  HK_CUDA_TRY(keep_new(s, &A->D_rest, n, error));
  HK_CUDA_TRY(allocate_copy(&A->bound, &FINE_BOUND, 1, error));
  keep(s, A->bound);
  HK_CUDA_TRY(keep_new(s, &to->norm, 1, error));
  HkGpuFour **vectors[] = {&to->x, &to->before, &to->b, &to->power[0], &to->power[1]};
  for (int q = 0; q < (fine ? 3 : 5); q++) HK_CUDA_TRY(keep_new(s, vectors[q], n, error));
  to->r = to->before; /* the residual is needed only between the two smoothers of a cycle */
  return HK_OK;
}

static HkStatus create_level(Simulation *s, const HkGpuLevel *from, bool fine, Level *to,
                             HkError *error) {
  const HkGpuLists *lists[] = {&from->prolong,   &from->restrict_to, &from->pair_entries,
                               &from->pair_rows, &from->row_rows,    &from->row_entries};
  HkGpuListsAt *at[] = {&to->prolong,   &to->restrict_to, &to->pair_entries,
                        &to->pair_rows, &to->row_rows,    &to->row_entries};
  to->cycles = from->cycles;
  to->pair_count = (int)from->pair_count;
  HK_CUDA_TRY(create_matrix(s, from, fine, to, error));
  HK_CUDA_TRY(keep_copy(s, &to->pair, (const int32_t *)from->pair, 2 * from->pair_count, error));
  for (int q = 0; q < 6; q++) HK_CUDA_TRY(create_lists(s, lists[q], at[q], error));
  return HK_OK;
}

/* Chooses the levels whose cycle is one kernel: small ones, with one cycle for each cycle on the
 * level before it. */
static void choose_small(Multigrid *m) {
  m->first_small = m->count;
  for (int k = m->count - 1; k > 0 && m->level[k].A.n <= SMALL_ROWS; k--) {
    bool twice = k + 1 < m->count && m->level[k + 1].cycles > 1;
    if (twice || m->count - k > SMALL_LEVELS_MAX) break;
    m->first_small = k;
  }
  m->small.count = m->count - m->first_small;
  m->small.exact = m->exact;
  m->small.inverse = m->inverse;
  for (int k = 0; k < m->small.count; k++) m->small.level[k] = m->level[m->first_small + k];
}

/* Directions in single precision stand in the memory of those in double precision. */
static void share_directions(Simulation *s) {
  HkGpuFour **to = s->multigrid->direction;
  Real4 *from[] = {s->newton.p, s->newton.p_next, s->newton.z};
  if (!solves_in_single(s)) return;
  for (int q = 0; q < DIRECTIONS; q++) to[q] = (HkGpuFour *)from[q / 2] + q % 2 * (int64_t)s->n;
}

static HkStatus create_args(Simulation *s, double scale, HkError *error) {
  LinearizeArgs *a = &s->multigrid->args;
  const Level *fine = &s->multigrid->level[0];
  int64_t n = s->n, blocks = 2 * (int64_t)NEWTON_BLOCKS;
  for (int k = 1; k < s->multigrid->count; k++) { /* of iterate_power */
    int64_t own = rows_blocks(s->multigrid->level[k].A.n, lanes_of(s->multigrid, k));
    if (own > blocks) blocks = own;
  }
  if (s->springs.brick_count > blocks) blocks = s->springs.brick_count;
  a->A = fine->A;
  a->scale = (HkReal)scale;
  a->b = fine->b;
  a->z = fine->x;
  HK_CUDA_TRY(keep_new(s, &a->gradient, 3 * n, error));
  HK_CUDA_TRY(keep_new(s, &a->along, 3 * n, error));
  HK_CUDA_TRY(keep_new(s, &a->sums.part, HK_GPU_LOOK_VALUES * blocks, error));
  a->sums.stride = (int)blocks;
  return keep_new(s, &a->sums.arrived, 1, error);
}

/* The queue beside that of the steps, with sums of its own. */
static HkStatus create_side(Simulation *s, HkError *error) {
  Multigrid *m = s->multigrid;
  m->side_sums.stride = m->args.sums.stride;
  HK_CUDA_TRY(keep_new(s, &m->side_sums.part, m->side_sums.stride, error));
  HK_CUDA_TRY(keep_new(s, &m->side_sums.arrived, 1, error));
  HK_CUDA(cudaStreamCreateWithFlags(&m->side, cudaStreamNonBlocking), "make a queue");
  HK_CUDA(cudaEventCreateWithFlags(&m->fork, cudaEventDisableTiming), "make an event");
  HK_CUDA(cudaEventCreateWithFlags(&m->join, cudaEventDisableTiming), "make an event");
  return HK_OK;
}

/* Allocates y' without media for further passes, and the step before with snapshots of it. */
static HkStatus create_history(Simulation *s, HkError *error) {
  int64_t n = s->n;
  size_t bytes = (size_t)(3 * n) * sizeof(HkReal);
  bool passes = s->settings.passes > 1 && s->uses_majorizer;
  HK_CUDA_TRY(keep_new(s, &s->bare, passes ? n : 0, error));
  if (!hk_device_remembers(&s->settings)) return HK_OK;
  HK_CUDA_TRY(keep_new(s, &s->v_old, 3 * n, error));
  HK_CUDA_TRY(keep_new(s, &s->record_v_old, 3 * n, error));
  HK_CUDA(cudaMallocHost(&s->host_v_old, bytes), "allocate host memory");
  if (!hk_device_needs_x_old(&s->settings)) return HK_OK;
  HK_CUDA_TRY(keep_new(s, &s->start, n, error));
  HK_CUDA_TRY(keep_new(s, &s->before, s->general ? n : 0, error));
  HK_CUDA_TRY(keep_new(s, &s->record_x_old, 3 * n, error));
  HK_CUDA(cudaMallocHost(&s->host_x_old, bytes), "allocate host memory");
  return HK_OK;
}

static HkStatus create_multigrid(Simulation *s, const HkDeviceModel *m, HkError *error) {
  const HkGpuHierarchy *h = m->hierarchy;
  if (!h) return HK_OK;
  Multigrid *made = (Multigrid *)calloc(1, sizeof *made);
  if (!made) return fail(error, HK_ERROR_MEMORY, "out of memory for multigrid");
  s->multigrid = made;
  s->total_mass = m->total_mass;
  made->count = h->count;
  made->exact = h->exact;
  for (int k = 0; k < h->count; k++)
    HK_CUDA_TRY(create_level(s, &h->level[k], k == 0, &made->level[k], error));
  int last = made->level[h->count - 1].A.n;
  HK_CUDA_TRY(keep_new(s, &made->inverse, h->exact ? 9 * (int64_t)last * last : 0, error));
  if (h->exact)
    HK_CUDA(cudaFuncSetAttribute(invert_dense, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)dense_shared(last)),
            "set up its kernels");
  const void *fine[] = {(const void *)pick_fine<FINE_FIRST>(s),
                        (const void *)pick_fine<FINE_NEXT>(s),
                        (const void *)pick_fine<FINE_LAST>(s),
                        (const void *)pick_fine<FINE_RESIDUAL>(s),
                        (const void *)pick_single(s)};
  for (int q = 0; q < 5 && fine[q]; q++)
    HK_CUDA(cudaFuncSetAttribute(fine[q], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)single_shared(s->most_local)),
            "set up its kernels");
  if (fine[0])
    HK_CUDA(cudaFuncSetAttribute((const void *)pick_linearize(s),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)linearize_shared(s->most_local)),
            "set up its kernels");
  share_directions(s);
  HK_CUDA_TRY(keep_new(s, &made->fixed, fine[0] ? s->n : 0, error));
  choose_small(made);
  HK_CUDA_TRY(create_history(s, error));
  HK_CUDA_TRY(create_args(s, h->scale, error));
  return create_side(s, error);
}

static void destroy_multigrid(Simulation *s) {
  Multigrid *m = s->multigrid;
  if (!m) return;
  drop_multigrid_graphs(s);
  if (m->side) cudaStreamDestroy(m->side);
  if (m->fork) cudaEventDestroy(m->fork);
  if (m->join) cudaEventDestroy(m->join);
  free(m);
  s->multigrid = NULL;
}

} // namespace HK_SPACE

#endif
