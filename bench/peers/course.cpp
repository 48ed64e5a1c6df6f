// Linearly implicit Euler as courses teach it (Baraff and Witkin 1998):
//
//     (M - h^2 K) dv = h (f + h K v),   v += dv,   x += h v
//
// K = df/dx with springs under pressure slack across their length: the matrix is positive definite.
// The matrix is put together from triplets and factorized by Eigen::SimplicialLDLT in each step.
// Rows and columns of pinned vertices are those of the identity.
#include "spring.hpp"

#include <Eigen/Sparse>
#include <vector>

using Matrix = Eigen::SparseMatrix<double>;
using Triplet = Eigen::Triplet<double>;

struct PeerCourse {
  PeerProblem p;
};

PeerCourse *peer_course_create(const PeerProblem *problem) {
  return new PeerCourse{*problem};
}

static void add_block(std::vector<Triplet> &triplets, int row, int column, const Mat3 &block) {
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) triplets.emplace_back(3 * row + r, 3 * column + c, block(r, c));
}

bool peer_course_step(PeerCourse *peer, double *x, double *v) {
  const PeerProblem &p = peer->p;
  const int n = p.vertices;
  const double h = p.h;
  std::vector<Triplet> triplets;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(3 * n);
  for (int q = 0; q < n; q++) {
    add_block(triplets, q, q, (p.pinned[q] ? 1 : p.mass[q]) * Mat3::Identity());
    b.segment<3>(3 * q) += h * p.mass[q] * gravity(p);
  }
  for (int s = 0; s < p.springs; s++) {
    const int i = p.i[s], j = p.j[s];
    const Vec3 d = at(x, i) - at(x, j);
    const Mat3 k = spring_stiffness(p, s, d, true);
    const Vec3 push = h * spring_force(p, s, d) - h * h * (k * (at(v, i) - at(v, j)));
    b.segment<3>(3 * i) += push;
    b.segment<3>(3 * j) -= push;
    if (!p.pinned[i]) add_block(triplets, i, i, h * h * k);
    if (!p.pinned[j]) add_block(triplets, j, j, h * h * k);
    if (p.pinned[i] || p.pinned[j]) continue;
    add_block(triplets, i, j, -h * h * k);
    add_block(triplets, j, i, -h * h * k);
  }
  for (int q = 0; q < n; q++)
    if (p.pinned[q]) b.segment<3>(3 * q).setZero();
  Matrix A(3 * n, 3 * n);
  A.setFromTriplets(triplets.begin(), triplets.end());
  Eigen::SimplicialLDLT<Matrix> solver(A);
  if (solver.info() != Eigen::Success) return false;
  const Eigen::VectorXd dv = solver.solve(b);
  for (int q = 0; q < 3 * n; q++) {
    v[q] += dv[q];
    x[q] += h * v[q];
  }
  return true;
}

void peer_course_destroy(PeerCourse *peer) {
  delete peer;
}
