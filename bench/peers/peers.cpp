// What the peers are called.
#include "peers.h"

const char *peer_setting_name(PeerOrdering ordering, PeerThreads threads) {
  static const char *const names[PEER_ORDERING_COUNT][PEER_THREADS_COUNT] = {
      {"AMD, 1 thread", "AMD, OpenMP", "AMD, BLAS threads"},
      {"METIS, 1 thread", "METIS, OpenMP", "METIS, BLAS threads"}};
  return names[ordering][threads];
}
