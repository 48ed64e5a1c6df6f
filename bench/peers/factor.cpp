// The constant matrix M + h^2 L of the local/global method, n x n, factorized once by CHOLMOD and
// solved with three right-hand sides at a time by cholmod_solve2. Rows and columns of pinned
// vertices are those of the identity.
#include "cores.hpp"

struct PeerFactor {
  PeerProblem p;
  PeerThreads threads = PEER_ALONE;
  cholmod_common common;
  cholmod_factor *L = nullptr;
  cholmod_dense *b = nullptr, *z = nullptr, *y = nullptr, *e = nullptr;
};

static cholmod_sparse *matrix(const PeerProblem &p, cholmod_common *common) {
  const size_t n = static_cast<size_t>(p.vertices), entries = n + static_cast<size_t>(p.springs);
  cholmod_triplet *t = cholmod_allocate_triplet(n, n, entries + 2 * static_cast<size_t>(p.springs),
                                                -1, CHOLMOD_REAL, common);
  if (!t) return nullptr;
  auto add = [&](int row, int column, double value) {
    static_cast<int *>(t->i)[t->nnz] = row;
    static_cast<int *>(t->j)[t->nnz] = column;
    static_cast<double *>(t->x)[t->nnz++] = value;
  };
  for (int q = 0; q < p.vertices; q++) add(q, q, p.pinned[q] ? 1 : p.mass[q]);
  for (int s = 0; s < p.springs; s++) {
    const double entry = p.h * p.h * p.k[s];
    if (!p.pinned[p.i[s]]) add(p.i[s], p.i[s], entry);
    if (!p.pinned[p.j[s]]) add(p.j[s], p.j[s], entry);
    if (!p.pinned[p.i[s]] && !p.pinned[p.j[s]]) add(p.j[s], p.i[s], -entry);
  }
  cholmod_sparse *A = cholmod_triplet_to_sparse(t, t->nnz, common);
  cholmod_free_triplet(&t, common);
  return A;
}

PeerFactor *peer_factor_create(const PeerProblem *problem, PeerOrdering ordering) {
  const Cores cores(PEER_LOOPS);
  auto *peer = new PeerFactor;
  peer->p = *problem;
  cholmod_common *c = &peer->common;
  start_cholmod(c, ordering);
  cholmod_sparse *A = matrix(*problem, c);
  const size_t n = static_cast<size_t>(problem->vertices);
  peer->b = cholmod_allocate_dense(n, 3, n, CHOLMOD_REAL, c);
  if (A && peer->b) peer->L = cholmod_analyze(A, c);
  const bool good = peer->L && cholmod_factorize(A, peer->L, c) && c->status == CHOLMOD_OK;
  cholmod_free_sparse(&A, c);
  if (good) return peer;
  peer_factor_destroy(peer);
  return nullptr;
}

void peer_factor_set_threads(PeerFactor *peer, PeerThreads threads) {
  peer->threads = threads;
}

void peer_factor_set(PeerFactor *peer, const double *b) {
  const int n = peer->p.vertices;
  for (int c = 0; c < 3; c++)
    for (int q = 0; q < n; q++)
      static_cast<double *>(peer->b->x)[static_cast<size_t>(c) * n + q] = b[3 * q + c];
}

void peer_factor_solve(PeerFactor *peer) {
  const Cores cores(peer->threads);
  cholmod_solve2(CHOLMOD_A, peer->L, peer->b, nullptr, &peer->z, nullptr, &peer->y, &peer->e,
                 &peer->common);
}

void peer_factor_get(const PeerFactor *peer, double *z) {
  const int n = peer->p.vertices;
  for (int c = 0; c < 3; c++)
    for (int q = 0; q < n; q++)
      z[3 * q + c] = static_cast<const double *>(peer->z->x)[static_cast<size_t>(c) * n + q];
}

double peer_factor_entries(const PeerFactor *peer) {
  return static_cast<double>(peer->L->is_super ? peer->L->xsize : peer->L->nzmax);
}

void peer_factor_destroy(PeerFactor *peer) {
  if (!peer) return;
  cholmod_free_factor(&peer->L, &peer->common);
  cholmod_free_dense(&peer->b, &peer->common);
  cholmod_free_dense(&peer->z, &peer->common);
  cholmod_free_dense(&peer->y, &peer->common);
  cholmod_free_dense(&peer->e, &peer->common);
  cholmod_finish(&peer->common);
  delete peer;
}
