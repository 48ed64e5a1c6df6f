// CHOLMOD, and who may use the cores while it works; see PeerThreads in peers.h. Debian's CHOLMOD
// asks for four OpenMP threads whatever the machine: OMP_THREAD_LIMIT, which bench/main.c sets
// before anything starts, keeps them to the cores there are.
#ifndef HOOKE_BENCH_CORES_HPP
#define HOOKE_BENCH_CORES_HPP

#include "peers.h"

#include <cholmod.h>
#include <dlfcn.h>
#include <omp.h>

inline void start_cholmod(cholmod_common *common, PeerOrdering ordering) {
  cholmod_start(common);
  common->print = 0;
  common->nmethods = 1;
  common->method[0].ordering = ordering == PEER_METIS ? CHOLMOD_METIS : CHOLMOD_AMD;
  common->postorder = 1;
  common->quick_return_if_not_posdef = 1;
}

// For as long as it lives.
class Cores {
public:
  explicit Cores(PeerThreads threads) : levels(omp_get_max_active_levels()) {
    omp_set_max_active_levels(threads == PEER_LOOPS ? 1 : 0);
    set_blas(threads == PEER_BLAS ? omp_get_num_procs() : 1);
  }
  ~Cores() {
    set_blas(1);
    omp_set_max_active_levels(levels);
  }
  Cores(const Cores &) = delete;
  Cores &operator=(const Cores &) = delete;

private:
  int levels;

  // Only OpenBLAS knows this call; the reference BLAS has no threads.
  static void set_blas(int count) {
    using Set = void (*)(int);
    static const Set set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
    if (set) set(count);
  }
};

#endif
