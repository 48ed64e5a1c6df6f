// Backward Euler by Newton's method with CHOLMOD: the x that minimizes
//
//     g(x) = 1/2 (x - y)^T M (x - y) + h^2 E(x),   y = x_n + h v + h^2 g
//
// from the guess x_n + h v. The 3n x 3n Hessian is analyzed once and factorized, by supernodes, in
// each iteration: the true one, and where that is not positive definite the clamped one. The step
// is halved until it meets Armijo's rule. Rows and columns of pinned vertices are those of the
// identity.
#include "cores.hpp"
#include "spring.hpp"

#include <algorithm>
#include <vector>

struct PeerNewton {
  PeerProblem p;
  PeerThreads threads = PEER_ALONE;
  cholmod_common common;
  cholmod_sparse *A = nullptr; // the lower triangle
  cholmod_factor *L = nullptr;
  cholmod_dense *b = nullptr, *z = nullptr, *w = nullptr, *e = nullptr;
  std::vector<int> block; // of each spring, within the columns of its vertex i; -1: a pin is there
  std::vector<double> x, y, gradient, next, next_gradient;
  double energy = 0, first = 0, size = 0;
};

// ---- The Hessian --------------------------------------------------------------------------------

// Column 3 i + c holds the rows c .. 2 of the diagonal block, then three for each spring to a later
// free vertex; springs are sorted by j.
static bool make_pattern(PeerNewton &m) {
  const PeerProblem &p = m.p;
  const int n = p.vertices;
  std::vector<int> count(n, 0);
  m.block.assign(p.springs, -1);
  for (int s = 0; s < p.springs; s++)
    if (!p.pinned[p.i[s]] && !p.pinned[p.j[s]]) m.block[s] = count[p.i[s]]++;
  size_t entries = 0;
  for (int q = 0; q < n; q++) entries += 6 + 9 * static_cast<size_t>(count[q]);
  m.A = cholmod_allocate_sparse(3 * n, 3 * n, entries, 1, 1, -1, CHOLMOD_REAL, &m.common);
  if (!m.A) return false;
  int *start = static_cast<int *>(m.A->p), *row = static_cast<int *>(m.A->i), at = 0;
  for (int q = 0; q < n; q++)
    for (int c = 0; c < 3; c++) {
      start[3 * q + c] = at;
      for (int r = c; r < 3; r++) row[at + r - c] = 3 * q + r;
      at += 3 - c + 3 * count[q];
    }
  start[3 * n] = at;
  for (int s = 0; s < p.springs; s++)
    for (int c = 0; m.block[s] >= 0 && c < 3; c++)
      for (int r = 0; r < 3; r++)
        row[start[3 * p.i[s] + c] + 3 - c + 3 * m.block[s] + r] = 3 * p.j[s] + r;
  return true;
}

static void assemble(PeerNewton &m, bool clamp) {
  const PeerProblem &p = m.p;
  const int *start = static_cast<int *>(m.A->p);
  double *value = static_cast<double *>(m.A->x);
  std::fill(value, value + m.A->nzmax, 0);
  for (int q = 0; q < p.vertices; q++)
    for (int c = 0; c < 3; c++) value[start[3 * q + c]] = p.pinned[q] ? 1 : p.mass[q];
  for (int s = 0; s < p.springs; s++) {
    const int ends[2] = {p.i[s], p.j[s]};
    const Vec3 d = at(m.x.data(), ends[0]) - at(m.x.data(), ends[1]);
    const Mat3 k = p.h * p.h * spring_stiffness(p, s, d, clamp);
    for (int q : ends)
      for (int c = 0; !p.pinned[q] && c < 3; c++)
        for (int r = c; r < 3; r++) value[start[3 * q + c] + r - c] += k(r, c);
    for (int c = 0; m.block[s] >= 0 && c < 3; c++)
      for (int r = 0; r < 3; r++)
        value[start[3 * ends[0] + c] + 3 - c + 3 * m.block[s] + r] -= k(r, c);
  }
}

static bool factorize(PeerNewton &m, bool clamp) {
  assemble(m, clamp);
  cholmod_factorize(m.A, m.L, &m.common);
  return m.common.status >= CHOLMOD_OK && m.L->minor == m.L->n;
}

// ---- The energy ---------------------------------------------------------------------------------

// g and its gradient.
static double evaluate(const PeerNewton &m, const std::vector<double> &x,
                       std::vector<double> &gradient) {
  const PeerProblem &p = m.p;
  const double h2 = p.h * p.h;
  double energy = 0;
  for (int q = 0; q < p.vertices; q++)
    for (int c = 3 * q; c < 3 * q + 3; c++) {
      const double off = x[c] - m.y[c];
      gradient[c] = p.mass[q] * off;
      energy += 0.5 * p.mass[q] * off * off;
    }
  for (int s = 0; s < p.springs; s++) {
    const Vec3 d = at(x.data(), p.i[s]) - at(x.data(), p.j[s]);
    const double l = d.norm(), stretch = l - p.l0[s];
    const Vec3 pull = h2 * p.k[s] * stretch / l * d;
    energy += 0.5 * h2 * p.k[s] * stretch * stretch;
    for (int c = 0; c < 3; c++) {
      gradient[3 * p.i[s] + c] += pull[c];
      gradient[3 * p.j[s] + c] -= pull[c];
    }
  }
  for (int q = 0; q < p.vertices; q++)
    if (p.pinned[q]) std::fill_n(&gradient[3 * q], 3, 0.0);
  return energy;
}

static double norm(const std::vector<double> &v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size())).norm();
}

// ---- Iterations ---------------------------------------------------------------------------------

PeerNewton *peer_newton_create(const PeerProblem *problem, PeerOrdering ordering) {
  auto *m = new PeerNewton;
  m->p = *problem;
  const size_t size = 3 * static_cast<size_t>(problem->vertices);
  for (std::vector<double> *v : {&m->x, &m->y, &m->gradient, &m->next, &m->next_gradient})
    v->assign(size, 0);
  cholmod_common *c = &m->common;
  start_cholmod(c, ordering);
  c->supernodal = CHOLMOD_SUPERNODAL;
  m->b = cholmod_allocate_dense(size, 1, size, CHOLMOD_REAL, c);
  if (m->b && make_pattern(*m)) m->L = cholmod_analyze(m->A, c);
  if (m->L) return m;
  peer_newton_destroy(m);
  return nullptr;
}

void peer_newton_set_threads(PeerNewton *m, PeerThreads threads) {
  m->threads = threads;
}

void peer_newton_begin(PeerNewton *m, const double *x, const double *v) {
  const PeerProblem &p = m->p;
  for (int q = 0; q < p.vertices; q++)
    for (int c = 0; c < 3; c++) {
      const double ahead = p.pinned[q] ? 0 : p.h * v[3 * q + c];
      m->x[3 * q + c] = x[3 * q + c] + ahead;
      m->y[3 * q + c] = m->x[3 * q + c] + p.h * p.h * p.gravity[c];
    }
  m->energy = evaluate(*m, m->x, m->gradient);
  m->first = m->size = norm(m->gradient);
}

bool peer_newton_iterate(PeerNewton *m) {
  const Cores cores(m->threads);
  const size_t size = m->x.size();
  if (!factorize(*m, false) && !factorize(*m, true)) return false;
  std::copy(m->gradient.begin(), m->gradient.end(), static_cast<double *>(m->b->x));
  if (!cholmod_solve2(CHOLMOD_A, m->L, m->b, nullptr, &m->z, nullptr, &m->w, &m->e, &m->common))
    return false;
  const double *step = static_cast<const double *>(m->z->x);
  double slope = 0;
  for (size_t q = 0; q < size; q++) slope -= step[q] * m->gradient[q];
  for (double a = 1; a > 1e-9; a *= 0.5) {
    for (size_t q = 0; q < size; q++) m->next[q] = m->x[q] - a * step[q];
    const double energy = evaluate(*m, m->next, m->next_gradient);
    // Where the slope is below the rounding of g, the full step is as good as any.
    if (energy > m->energy + 1e-4 * a * slope && -a * slope > 1e-13 * m->energy) continue;
    m->energy = energy;
    m->x.swap(m->next);
    m->gradient.swap(m->next_gradient);
    m->size = norm(m->gradient);
    return true;
  }
  return false;
}

const double *peer_newton_x(const PeerNewton *m) {
  return m->x.data();
}

double peer_newton_gradient(const PeerNewton *m) {
  return m->size / m->first;
}

double peer_newton_entries(const PeerNewton *m) {
  return static_cast<double>(m->L->xsize);
}

void peer_newton_destroy(PeerNewton *m) {
  if (!m) return;
  cholmod_free_sparse(&m->A, &m->common);
  cholmod_free_factor(&m->L, &m->common);
  cholmod_free_dense(&m->b, &m->common);
  cholmod_free_dense(&m->z, &m->common);
  cholmod_free_dense(&m->w, &m->common);
  cholmod_free_dense(&m->e, &m->common);
  cholmod_finish(&m->common);
  delete m;
}
