// How a slider spans the values of a parameter. The registry's range is used where it is a useful one;
// many are open or span twelve decades, and then the slider spans some decades about the value that
// it starts with: by ratios for stiffness, mass, times and tolerances, evenly for lengths, speeds and
// accelerations. Zero, where it is allowed, is at the left end of every scale.
import type { Param } from '../engine/protocol';

export interface Scale {
  /** Position 0 .. 1 of a value, and back. */
  position(value: number): number;
  value(position: number): number;
  low: number;
  high: number;
}

const EVEN_UNITS = ['m', 'm/s', 'm/s^2', 'rad/s', 'degrees', 'rad'];
const DECADES = 3;
const ZERO = 0.04; // of a slider by ratios stands for zero

function evenScale(low: number, high: number): Scale {
  return {
    low, high,
    position: (value) => Math.min(1, Math.max(0, (value - low) / (high - low))),
    value: (position) => low + position * (high - low),
  };
}

function ratioScale(low: number, high: number, withZero: boolean): Scale {
  const start = withZero ? ZERO : 0;
  const span = Math.log(high / low);
  return {
    low: withZero ? 0 : low, high,
    position: (value) =>
      value < low ? 0 : Math.min(1, start + ((1 - start) * Math.log(value / low)) / span),
    value: (position) =>
      position < start ? 0 : low * Math.exp((span * (position - start)) / (1 - start)),
  };
}

/** A value near which the slider is useful. */
function reference(param: Param, value: number): number {
  if (value !== 0) return Math.abs(value);
  if (typeof param.default === 'number' && param.default !== 0) return Math.abs(param.default);
  return param.max !== null && param.max <= 1 ? param.max : 1;
}

export function scaleOf(param: Param, value: number): Scale {
  const near = reference(param, value);
  const low = param.min, high = param.max;
  if (low === null || low < 0) {
    const reach = 3 * near;
    return evenScale(Math.max(low ?? -reach, -reach), Math.min(high ?? reach, reach));
  }
  if (low > 0 && high !== null && high >= 100 * low && high <= 1e6 * low) return ratioScale(low, high, false);
  if (high !== null && high <= 20 * near && high - low > 0) return evenScale(low, high);
  if (EVEN_UNITS.includes(param.unit)) return evenScale(low, Math.min(high ?? Infinity, 3 * near));
  const ratio = 10 ** DECADES;
  const least = param.kind === 'integer' ? Math.max(1, low) : Math.max(low, near / ratio);
  return ratioScale(least, Math.min(high ?? Infinity, near * ratio), low === 0);
}
