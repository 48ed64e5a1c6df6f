// Colors for values at the vertices: the texture of a ramp, and the range of values that it spans.
import { DataTexture, LinearFilter, SRGBColorSpace } from 'three';
import type { Color } from '../engine/protocol';
import { RAMP_COLORS, rampBytes } from '../../shared/ramps.js';

/** The largest value of a range is at least this, so that rounding is not shown as if it were something. */
export const LEAST_RANGE = 1e-12;

export const COLOR_UNITS: Record<Color, string> = { none: '', strain: '%', speed: 'm/s', force: 'N' };

export function colorTexture(color: Color): DataTexture {
  const texture = new DataTexture(rampBytes(color), RAMP_COLORS, 1);
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
