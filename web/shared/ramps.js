/* Color maps of values at the vertices, on the model and in the bar of the legend. Strain has two signs and a
 * gray middle that stands out from a light and from a dark background; speed and force grow from dark to
 * bright. */

const DIVERGING = ['#1f5fa8', '#5f97cb', '#9a958b', '#dc7b5b', '#b3202c'];
const GROWING = ['#241a52', '#6b2382', '#bf3a72', '#f07c4f', '#fbe18c'];

/** Number of colors in a texture. */
export const RAMP_COLORS = 256;

/** @param {string} color 'strain', 'speed' or 'force' */
function rampStops(color) {
  return color === 'strain' ? DIVERGING : GROWING;
}

/** @param {string} hex */
function channelsOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** RAMP_COLORS colors in sRGB from the lowest value to the highest, four bytes each. @param {string} color */
export function rampBytes(color) {
  const colors = rampStops(color).map(channelsOf);
  const bytes = new Uint8Array(4 * RAMP_COLORS);
  for (let q = 0; q < RAMP_COLORS; q++) {
    const place = (q / (RAMP_COLORS - 1)) * (colors.length - 1);
    const low = Math.min(colors.length - 2, Math.floor(place));
    for (let c = 0; c < 3; c++)
      bytes[4 * q + c] = colors[low][c] + (place - low) * (colors[low + 1][c] - colors[low][c]);
    bytes[4 * q + 3] = 255;
  }
  return bytes;
}

/** The ramp as a background in CSS, from left to right. @param {string} color */
export function rampGradient(color) {
  return `linear-gradient(to right, ${rampStops(color).join(', ')})`;
}
