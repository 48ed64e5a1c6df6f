// The colors of the view, from the page's style sheet, so that light and dark are said in one place.
import { Color } from 'three';

const NAMES = [
  'view-top', 'view-bottom', 'view-grid', 'view-shadow', 'cloth-front', 'cloth-back', 'spring', 'mass',
  'pin', 'handle', 'water', 'obstacle',
] as const;

export type Palette = Record<(typeof NAMES)[number], Color>;

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const palette = {} as Palette;
  for (const name of NAMES) palette[name] = new Color(style.getPropertyValue(`--${name}`).trim() || '#888');
  return palette;
}
