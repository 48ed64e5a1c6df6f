// The scene as the engine returns it, read for the controls: which bodies and forces there are and what
// is set in them. Paths such as bodies[0].springs.k are those of this JSON.
import type { MethodValue } from './engine/protocol';

export type Values = Record<string, unknown>;

export interface BodyData {
  name: string;
  springs: Values;
  mass: Values;
}

export interface SceneData {
  up: number;
  time: Values;
  bodies: BodyData[];
  forces: MethodValue[];
  obstacles: MethodValue[];
}

function asMethod(value: unknown): MethodValue {
  return typeof value === 'string' ? { type: value } : (value as MethodValue);
}

function asValues(value: unknown): Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/** A force with the values that the engine uses where the scene gives none: gravity without a direction
 * pulls against the up axis. */
export function forceAsUsed(force: MethodValue, up: number): MethodValue {
  const given = Array.isArray(force.direction) && force.direction.some((part) => part !== 0);
  if (force.type !== 'gravity' || given) return force;
  return { ...force, direction: [0, 1, 2].map((axis) => (axis === up ? -1 : 0)) };
}

/** The height of the ground of the force contact, or null. */
export function groundHeight(scene: SceneData): number | null {
  const contact = scene.forces.find((force) => force.type === 'contact' && force.ground === true);
  return contact ? Number(contact.height ?? 0) : null;
}

/** The files that a scene reads: meshes, springs and obstacles. */
export function filesOf(text: string): string[] {
  const root = asValues(JSON.parse(text));
  const bodies = Array.isArray(root.bodies) ? root.bodies.map(asValues) : [];
  const obstacles = Array.isArray(root.obstacles) ? root.obstacles.map(asValues) : [];
  return [...bodies.flatMap((body) => [body.mesh, asValues(body.springs).file]), ...obstacles.map((one) => one.file)]
    .filter((name): name is string => typeof name === 'string' && name !== '');
}

export function readScene(text: string): SceneData {
  let root: Values = {};
  try {
    root = asValues(JSON.parse(text));
  } catch {
    // The engine could read it, so that it plays; only its controls are missing.
  }
  const bodies = Array.isArray(root.bodies) ? root.bodies.map(asValues) : [];
  return {
    up: Math.max(0, ['x', 'y', 'z'].indexOf(String(root.up ?? 'y'))),
    time: asValues(root.time),
    bodies: bodies.map((body, q) => ({
      name: String(body.name ?? `body ${q + 1}`),
      springs: asValues(body.springs),
      mass: typeof body.mass === 'number' ? { total: body.mass } : asValues(body.mass),
    })),
    forces: Array.isArray(root.forces) ? root.forces.map(asMethod) : [],
    obstacles: Array.isArray(root.obstacles) ? root.obstacles.map(asMethod) : [],
  };
}
