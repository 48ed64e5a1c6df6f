/* Numbers as people read them. */

const SUPERSCRIPTS = '⁻⁰¹²³⁴⁵⁶⁷⁸⁹';

/** 10 to a power, with raised digits. @param {number} exponent */
function powerOfTen(exponent) {
  return `10${String(exponent).replace(/[-\d]/g, (c) => SUPERSCRIPTS['-0123456789'.indexOf(c)])}`;
}

/** 1234567 as 1,234,567. @param {number} value */
export function countText(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * Some digits, and a power of ten where the number is very large or very small.
 * @param {number | null | undefined} value
 */
export function numberText(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) {
    const [mantissa, exponent] = value.toExponential(Math.min(digits - 1, 3)).split('e').map(Number);
    const power = powerOfTen(exponent);
    return mantissa === 1 ? power : `${signText(mantissa)}·${power}`;
  }
  if (Number.isInteger(value)) return value < 0 ? `−${countText(-value)}` : countText(value);
  return signText(Number(value.toPrecision(digits)));
}

/** With the minus sign that is as wide as a plus. @param {number} value */
export function signText(value) {
  return String(value).replace('-', '−');
}

/** 0.42 s, 12 s, 3 min 05 s, 2 h 10 min. @param {number} seconds */
export function durationText(seconds) {
  if (seconds < 1e-3) return `${numberText(1e6 * seconds, 3)} µs`;
  if (seconds < 1) return `${numberText(1000 * seconds, 3)} ms`;
  if (seconds < 60) return `${numberText(seconds, 3)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** 1, 2 or 5 times a power of ten, at least the value. @param {number} value */
export function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const factor of [1, 2, 5, 10])
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

/**
 * Prefix of a unit, with its factor, so that numbers up to `most` are easy to read.
 * @param {number} most
 * @returns {[number, string]}
 */
export function prefixFor(most) {
  /** @type {[number, string][]} */
  const prefixes = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
    [1, ''],
    [1e-3, 'm'],
    [1e-6, 'µ'],
    [1e-9, 'n'],
  ];
  if (!(most > 0) || most >= 1e12 || most < 1e-9) return [1, ''];
  return prefixes.find(([size]) => most >= size) || [1, ''];
}
