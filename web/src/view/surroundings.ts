// Where a model will be once it moves, estimated from its start: what hangs falls, what stands stays. The
// first view and the floor are laid out by it; the view then follows what really happens.
import type { Info } from '../engine/protocol';
import { groundHeight, type SceneData } from '../scene_data';
import type { Surroundings } from './backdrop';

export interface Layout {
  surroundings: Surroundings;
  min: number[];
  max: number[];
}

/** Whether all pins are at the bottom, as under something that stands on a table. */
function stands(info: Info, up: number, x: Float32Array): boolean {
  const tolerance = 0.01 * (info.box_max[up] - info.box_min[up]);
  return info.pinned.length > 2 && tolerance > 0 &&
    info.pinned.every((vertex) => x[3 * vertex + up] <= info.box_min[up] + tolerance);
}

/** x: the positions at the start. */
export function layOut(info: Info, scene: SceneData, x: Float32Array): Layout {
  const up = scene.up;
  const min = [...info.box_min], max = [...info.box_max];
  const extent = min.map((low, axis) => max[axis] - low);
  const tall = extent[up];
  const wide = Math.max(...extent.filter((_, axis) => axis !== up));
  const falls = scene.forces.some((force) => force.type === 'gravity');
  const pins = info.pinned.length;
  const largest = Math.max(tall, wide, 1e-9);
  // A sheet on a few nails or a rope on one swings down by its whole width, a rope between two nails
  // or a sheet that is held all around sags.
  const hangs = pins === 1 || (pins <= 4 && info.triangles > 0);
  if (falls && pins > 0 && tall < 0.25 * wide) min[up] -= (hangs ? 0.9 : 0.35) * wide;
  const fluid = scene.forces.find((force) => force.type === 'buoyancy');
  const water = fluid ? Number(fluid.level ?? 0) : null;
  if (water !== null) min[up] = Math.min(min[up], water - 0.5 * largest);
  const ground = groundHeight(scene);
  if (ground !== null) min[up] = Math.min(max[up], ground);
  const center = min.map((low, axis) => (low + max[axis]) / 2) as [number, number, number];
  const size = Math.max(...min.map((low, axis) => max[axis] - low), 1e-9);
  return {
    surroundings: {
      up, flat: info.dimension === 2, center, size, water,
      floor: ground ?? min[up] - (stands(info, up, x) ? 0 : 0.18 * size),
    },
    min, max,
  };
}
