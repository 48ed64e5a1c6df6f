// Stiffness of one spring and other lines that the peers share.
#ifndef HOOKE_BENCH_SPRING_HPP
#define HOOKE_BENCH_SPRING_HPP

#include "peers.h"

#include <Eigen/Dense>

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;

inline Vec3 at(const double *x, int vertex) {
  return Vec3(x[3 * vertex], x[3 * vertex + 1], x[3 * vertex + 2]);
}

// Second derivative of 1/2 k (l - l0)^2 by x_i: k (1 - l0 / l) I + k (l0 / l) u u^T. Clamped: the
// part that is negative under pressure is left out, so that it is positive semidefinite.
inline Mat3 spring_stiffness(const PeerProblem &p, int s, const Vec3 &d, bool clamp) {
  double l2 = d.squaredNorm(), l = std::sqrt(l2), side = p.k[s] * (1 - p.l0[s] / l);
  if (clamp && side < 0) side = 0;
  return side * Mat3::Identity() + (p.k[s] - side) / l2 * d * d.transpose();
}

// Force on the spring's vertex i.
inline Vec3 spring_force(const PeerProblem &p, int s, const Vec3 &d) {
  return -p.k[s] * (1 - p.l0[s] / d.norm()) * d;
}

inline Vec3 gravity(const PeerProblem &p) {
  return Vec3(p.gravity[0], p.gravity[1], p.gravity[2]);
}

#endif
