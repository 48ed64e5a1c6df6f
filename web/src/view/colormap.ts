// Colors for values at the vertices: strain has two signs and a gray middle, which stands out from a
// light and from a dark sky; speed and force grow
// from dark to bright. The same stops make the texture on the model and the bar of the legend.
import { DataTexture, LinearFilter, SRGBColorSpace } from 'three';
import type { Color } from '../engine/protocol';

const DIVERGING = ['#1f5fa8', '#5f97cb', '#9a958b', '#dc7b5b', '#b3202c'];
const GROWING = ['#241a52', '#6b2382', '#bf3a72', '#f07c4f', '#fbe18c'];

/** The largest value of a range is at least this, so that rounding is not shown as if it were something. */
export const LEAST_RANGE = 1e-12;

export const COLOR_UNITS: Record<Color, string> = { none: '', strain: '%', speed: 'm/s', force: 'N' };

export function stops(color: Color): string[] {
  return color === 'strain' ? DIVERGING : GROWING;
}

export function gradient(color: Color): string {
  return `linear-gradient(to right, ${stops(color).join(', ')})`;
}

function channels(hex: string): number[] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** A row of 256 colors. */
export function colorTexture(color: Color): DataTexture {
  const colors = stops(color).map(channels);
  const data = new Uint8Array(256 * 4);
  for (let q = 0; q < 256; q++) {
    const place = (q / 255) * (colors.length - 1);
    const low = Math.min(colors.length - 2, Math.floor(place));
    for (let c = 0; c < 3; c++)
      data[4 * q + c] = colors[low][c] + (place - low) * (colors[low + 1][c] - colors[low][c]);
    data[4 * q + 3] = 255;
  }
  const texture = new DataTexture(data, 256, 1);
  texture.colorSpace = SRGBColorSpace;
  texture.magFilter = texture.minFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** The range that the colors span. It widens at once and shrinks slowly, so that nothing flickers. */
export class ColorRange {
  low = 0;
  high = 1;
  private isWild = false;

  constructor(readonly color: Color) { this.forget(); }

  forget(): void {
    this.low = 0;
    this.high = 0;
    this.isWild = false;
  }

  /** isWild: of a motion that has blown up, which sets the range only until another one does. */
  follow(min: number, max: number, isWild = false): void {
    if (isWild && this.high > LEAST_RANGE) return;
    if (this.isWild && !isWild) this.forget();
    this.isWild = isWild;
    const reach = this.color === 'strain' ? Math.max(Math.abs(min), Math.abs(max)) : max;
    if (!Number.isFinite(reach)) return;
    this.high = Math.max(reach, this.high + 0.01 * (reach - this.high), LEAST_RANGE);
    this.low = this.color === 'strain' ? -this.high : 0;
  }
}
