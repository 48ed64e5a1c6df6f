// The local/global method (Liu et al. 2013) as most implementations have it: single precision, one
// matrix of 3n x 3n, factorized once by Eigen::SimplicialLLT.
//
//     local    d_s = l0 (x_i - x_j) / |x_i - x_j|
//     global   (M + h^2 L) x = M y + h^2 J d,   y = x_n + h v + h^2 g
//
// Rows and columns of pinned vertices are those of the identity; their springs stand on the right.
#include "spring.hpp"

#include <Eigen/Sparse>
#include <vector>

using Matrix = Eigen::SparseMatrix<float>;
using Vector = Eigen::VectorXf;

struct PeerLocalGlobal {
  PeerProblem p;
  Eigen::SimplicialLLT<Matrix> solver;
  Vector inertia, b, x;      // M y; the right-hand side; where it is
  Eigen::VectorXd predicted; // y
};

static Matrix global_matrix(const PeerProblem &p) {
  std::vector<Eigen::Triplet<float>> triplets;
  auto add = [&](int row, int column, double value) {
    for (int c = 0; c < 3; c++)
      triplets.emplace_back(3 * row + c, 3 * column + c, static_cast<float>(value));
  };
  for (int q = 0; q < p.vertices; q++) add(q, q, p.pinned[q] ? 1 : p.mass[q]);
  for (int s = 0; s < p.springs; s++) {
    const int i = p.i[s], j = p.j[s];
    const double entry = p.h * p.h * p.k[s];
    if (!p.pinned[i]) add(i, i, entry);
    if (!p.pinned[j]) add(j, j, entry);
    if (p.pinned[i] || p.pinned[j]) continue;
    add(i, j, -entry);
    add(j, i, -entry);
  }
  Matrix A(3 * p.vertices, 3 * p.vertices);
  A.setFromTriplets(triplets.begin(), triplets.end());
  return A;
}

PeerLocalGlobal *peer_local_global_create(const PeerProblem *problem) {
  auto *peer = new PeerLocalGlobal;
  const int n = problem->vertices;
  peer->p = *problem;
  peer->solver.compute(global_matrix(*problem));
  peer->inertia.resize(3 * n);
  peer->b.resize(3 * n);
  peer->x.resize(3 * n);
  peer->predicted.resize(3 * n);
  if (peer->solver.info() == Eigen::Success) return peer;
  delete peer;
  return nullptr;
}

void peer_local_global_begin(PeerLocalGlobal *peer, const double *x, const double *v,
                             const double *guess) {
  const PeerProblem &p = peer->p;
  for (int q = 0; q < p.vertices; q++) {
    const Vec3 y = at(x, q) + p.h * at(v, q) + p.h * p.h * gravity(p);
    peer->predicted.segment<3>(3 * q) = y;
    const Vec3 inertia = p.pinned[q] ? at(x, q) : Vec3(p.mass[q] * y);
    peer->inertia.segment<3>(3 * q) = inertia.cast<float>();
    peer->x.segment<3>(3 * q) = at(guess, q).cast<float>();
  }
}

void peer_local_global_iterate(PeerLocalGlobal *peer) {
  const PeerProblem &p = peer->p;
  Vector &b = peer->b;
  const Vector &x = peer->x;
  b = peer->inertia;
  for (int s = 0; s < p.springs; s++) {
    const int i = p.i[s], j = p.j[s];
    const float entry = static_cast<float>(p.h * p.h * p.k[s]);
    const Eigen::Vector3f d = x.segment<3>(3 * i) - x.segment<3>(3 * j);
    const Eigen::Vector3f pull = entry * static_cast<float>(p.l0[s]) / d.norm() * d;
    if (!p.pinned[i]) b.segment<3>(3 * i) += pull;
    if (!p.pinned[j]) b.segment<3>(3 * j) -= pull;
    if (p.pinned[i] && !p.pinned[j]) b.segment<3>(3 * j) += entry * x.segment<3>(3 * i);
    if (p.pinned[j] && !p.pinned[i]) b.segment<3>(3 * i) += entry * x.segment<3>(3 * j);
  }
  peer->x = peer->solver.solve(b);
}

// |A x - b| with the d of the guess.
static double residual(const PeerLocalGlobal &peer, const double *guess, const double *x) {
  const PeerProblem &p = peer.p;
  Eigen::VectorXd r(3 * p.vertices);
  for (int q = 0; q < p.vertices; q++)
    r.segment<3>(3 * q) = p.mass[q] * (at(x, q) - peer.predicted.segment<3>(3 * q));
  for (int s = 0; s < p.springs; s++) {
    const int i = p.i[s], j = p.j[s];
    const Vec3 d = p.l0[s] * (at(guess, i) - at(guess, j)).normalized();
    const Vec3 pull = p.h * p.h * p.k[s] * (at(x, i) - at(x, j) - d);
    r.segment<3>(3 * i) += pull;
    r.segment<3>(3 * j) -= pull;
  }
  for (int q = 0; q < p.vertices; q++)
    if (p.pinned[q]) r.segment<3>(3 * q).setZero();
  return r.norm();
}

double peer_local_global_residual(const PeerLocalGlobal *peer, const double *guess,
                                  const double *x) {
  return residual(*peer, guess, x) / residual(*peer, guess, guess);
}

void peer_local_global_get(const PeerLocalGlobal *peer, double *x) {
  for (int q = 0; q < 3 * peer->p.vertices; q++) x[q] = static_cast<double>(peer->x[q]);
}

void peer_local_global_destroy(PeerLocalGlobal *peer) {
  delete peer;
}
