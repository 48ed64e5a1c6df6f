// Symplectic Euler as it is first written down: a loop over the springs adds the pull of each to
// the forces at its two ends, then a loop over the vertices moves them.
//
//     f_i += k (l - l0) u,  f_j -= k (l - l0) u;   v += h (f / m + g),   x += h v
//
// With several threads each owns a range of vertices: it walks the springs that begin there and the
// few that come in from earlier ranges, and adds to its own vertices alone. Springs across a border
// are computed twice; nothing is locked or added up afterwards.
#include "peers.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <omp.h>
#include <vector>

struct PeerScatter {
  virtual ~PeerScatter() = default;
  virtual void set(const double *x, const double *v) = 0;
  virtual void step() = 0;
  virtual void get(double *x) const = 0;
};

namespace {

struct Range {
  int first, last;         // vertices
  int spring, spring_last; // that begin there
  std::vector<int> coming; // that only end there
};

template <typename Real> class Scatter : public PeerScatter {
public:
  Scatter(const PeerProblem &problem, int threads)
      : n(problem.vertices), i(problem.i), j(problem.j), k(problem.k, problem.k + problem.springs),
        l0(problem.l0, problem.l0 + problem.springs), inverse(problem.vertices),
        h(static_cast<Real>(problem.h)), x(3 * problem.vertices), v(3 * problem.vertices),
        f(3 * problem.vertices), ranges(threads) {
    for (int q = 0; q < n; q++) inverse[q] = problem.pinned[q] ? 0 : Real(1 / problem.mass[q]);
    for (int c = 0; c < 3; c++) g[c] = static_cast<Real>(problem.gravity[c]);
    for (int t = 0; t < threads; t++) cut(problem, t, threads);
  }

  void set(const double *new_x, const double *new_v) override {
    std::copy(new_x, new_x + 3 * n, x.begin());
    std::copy(new_v, new_v + 3 * n, v.begin());
  }

  void get(double *out) const override { std::copy(x.begin(), x.end(), out); }

  void step() override {
    if (ranges.size() == 1) {
      pull(ranges[0]);
      move(ranges[0]);
      return;
    }
#pragma omp parallel num_threads(static_cast <int>(ranges.size()))
    {
      const Range &range = ranges[omp_get_thread_num()];
      pull(range);
#pragma omp barrier
      move(range);
    }
  }

private:
  int n;
  const int *i, *j;
  std::vector<Real> k, l0, inverse;
  Real h, g[3];
  std::vector<Real> x, v, f;
  std::vector<Range> ranges;

  void cut(const PeerProblem &p, int t, int threads) {
    Range &r = ranges[t];
    r.first = static_cast<int>(static_cast<long>(n) * t / threads);
    r.last = static_cast<int>(static_cast<long>(n) * (t + 1) / threads);
    r.spring = static_cast<int>(std::lower_bound(i, i + p.springs, r.first) - i);
    r.spring_last = static_cast<int>(std::lower_bound(i, i + p.springs, r.last) - i);
    for (int s = 0; s < r.spring; s++)
      if (j[s] >= r.first && j[s] < r.last) r.coming.push_back(s);
  }

  void spring(int s, bool at_i, bool at_j) {
    const Real *a = &x[3 * i[s]], *b = &x[3 * j[s]];
    const Real d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const Real l = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]),
               pull = k[s] * (1 - l0[s] / l);
    for (int c = 0; at_i && c < 3; c++) f[3 * i[s] + c] += pull * d[c];
    for (int c = 0; at_j && c < 3; c++) f[3 * j[s] + c] -= pull * d[c];
  }

  void pull(const Range &r) {
    std::fill(f.begin() + 3 * r.first, f.begin() + 3 * r.last, Real(0));
    for (int s : r.coming) spring(s, false, true);
    for (int s = r.spring; s < r.spring_last; s++) spring(s, true, j[s] < r.last);
  }

  void move(const Range &r) {
    for (int q = r.first; q < r.last; q++)
      for (int c = 0; inverse[q] > 0 && c < 3; c++) {
        v[3 * q + c] += h * (inverse[q] * f[3 * q + c] + g[c]);
        x[3 * q + c] += h * v[3 * q + c];
      }
  }
};

} // namespace

PeerScatter *peer_scatter_create(const PeerProblem *problem, bool single, int threads) {
  if (single) return new Scatter<float>(*problem, threads);
  return new Scatter<double>(*problem, threads);
}

void peer_scatter_set(PeerScatter *peer, const double *x, const double *v) {
  peer->set(x, v);
}

void peer_scatter_step(PeerScatter *peer, int steps) {
  for (int q = 0; q < steps; q++) peer->step();
}

void peer_scatter_get(const PeerScatter *peer, double *x) {
  peer->get(x);
}

void peer_scatter_destroy(PeerScatter *peer) {
  delete peer;
}
