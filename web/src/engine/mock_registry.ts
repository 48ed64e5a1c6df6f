// A few schemas for the mock engine; the real ones come from the library's registries.
import type { Method, Param, ParamKind, Registry } from './protocol';

function param(name: string, unit: string, kind: ParamKind, value: unknown, min: number | null, max: number | null, help: string, more: Partial<Param> = {}): Param {
  return { name, unit, kind, default: value, min, max, help, ...more };
}

function method(name: string, summary: string, formula: string | null, ...params: Param[]): Method {
  return { name, summary, formula, params };
}

const iterations = [
  param('iterations', '1', 'integer', 1000, 0, 1e9, 'iterations at most'),
  param('tolerance', '1', 'number', 1e-9, 0, 1, 'done when no vertex alone would move further than this part of the reach'),
];

const names = ['flag', 'curtain', 'table', 'net', 'trampoline', 'jelly_block', 'ball', 'pendulum_chain', 'hanging_chain', 'curve', 'oscillator', 'double_spring'];

export const MOCK_REGISTRY: Registry = {
  version: 'mock',
  families: {
    integrator: [
      method('forward_euler', 'first order, gains energy at every step; to compare with', 'x+ = x + h v, v+ = v + h M^-1 f(x, v)'),
      method('symplectic_euler', 'first order, energy swings but does not drift', 'v+ = v + h M^-1 f(x, v), x+ = x + h v+'),
      method('backward_euler', 'first order, stable at every step', 'x+ = argmin 1/2 (x+ - y)^T M (x+ - y) + h^2 E(x+), y = x + h v',
        param('minimizer', '1', 'method', null, null, null, 'how each step is solved', { family: 'minimizer' }),
        param('passes', '1', 'integer', 0, 0, 1000, 'how often a step is solved')),
    ],
    minimizer: [
      method('newton', "Newton's method with a line search", 'H(x) p = -dg/dx, x+ = x + a p', ...iterations),
      method('local_global', 'one constant matrix, factorized once', 'A x+ = b(d)', ...iterations,
        param('acceleration', '1', 'choice', 'anderson', null, null, 'how the iterations are made fewer', { choices: ['none', 'anderson', 'chebyshev'] })),
    ],
    force: [
      method('springs', 'the springs of all bodies', null),
      method('gravity', 'weight of every mass', 'f_i = m_i g d',
        param('g', 'm/s^2', 'number', 9.81, 0, null, 'acceleration of free fall'),
        param('direction', '1', 'vector', [0, 0, 0], null, null, 'where it pulls; 0 0 0: against the up axis')),
      method('face_wind', 'wind on every triangle', 'F = 1/2 rho R^2 A (Cd |z| e + 2 Cl z (n - z e))',
        param('velocity', 'm/s', 'vector', [5, 0, 0], null, null, 'mean velocity of the air'),
        param('gust', '1', 'number', 0, 0, 100, 'strength of the gusts')),
    ],
    part: [
      method('time', 'how long, in which steps', null,
        param('step', 's', 'number', 0, 0, 1e12, 'time step; 0 picks half the largest stable one'),
        param('tolerance', 'm', 'number', null, 1e-300, null, 'steps are halved until each moves every mass with at most this error')),
      method('springs', 'which edges become springs', 'V = 1/2 k (|xi - xj| - l0)^2',
        param('k', 'N/m', 'number', null, 0, null, 'stiffness of every spring'),
        param('EA', 'N', 'number', null, 0, null, 'stiffness times length'),
        param('shear', '1', 'boolean', false, null, null, 'springs along both diagonals of every quad'),
        param('damping', 'N s/m', 'number', 0, 0, null, 'damping along every spring')),
      method('mass', 'where the mass comes from', null,
        param('total', 'kg', 'number', null, 0, null, 'mass of the body')),
    ],
  },
  scenes: names.map((name) => ({ name, title: `The ${name.replace('_', ' ')} of the mock`, text: '{}' })),
};
