// The largest value that a plot shows where single values may be far off: a step during which the
// machine was busy with something else must not press all others flat.

const COMMON = 0.9; // part of the values that is shown whatever they are
const HICCUP = 3; // times the largest of those: what is above is cut off

export function usualLargest(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const common = sorted[Math.floor(COMMON * (sorted.length - 1))] ?? 0;
  return common > 0 ? HICCUP * common : Infinity;
}
