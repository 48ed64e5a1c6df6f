// How the page and an engine talk: requests are JSON text with "id" and "ask", answers JSON text or
// binary. The same messages go to a Web Worker and through a WebSocket. Numbers are little-endian,
// as on every machine that browsers run on, so that typed arrays look straight into a message.

export type ParamKind =
  | 'number' | 'integer' | 'boolean' | 'vector' | 'choice' | 'text' | 'table' | 'select' | 'method';

/** One parameter of a method, as the registry describes it; null stands for 'none' or 'not given'. */
export interface Param {
  name: string;
  unit: string;
  help: string;
  kind: ParamKind;
  default: unknown;
  min: number | null;
  max: number | null;
  choices?: string[];
  family?: string;
}

export interface Method {
  name: string;
  summary: string;
  formula: string | null;
  params: Param[];
}

export interface SceneEntry {
  name: string;
  title: string;
  text: string;
}

export interface Registry {
  version: string;
  families: Record<string, Method[]>;
  scenes: SceneEntry[];
}

/** A method as it is set: its name and its parameters, nested methods included. */
export type MethodValue = { type: string } & Record<string, unknown>;

export interface Info {
  title: string;
  name: string;
  scene: string;
  sets: string[];
  vertices: number;
  springs: number;
  triangles: number;
  bodies: number;
  dimension: number;
  box_min: number[];
  box_max: number[];
  mass: number;
  length_min: number | null; // m, of the springs at rest
  threads: number;
  vectors: string; // the instruction set, such as "avx2"
  step: number;
  stable_step: number | null;
  stability: string; // what holds where stable_step is null
  fps: number;
  integrator: MethodValue;
  forces: MethodValue[];
  pinned: number[];
  obstacles: string[]; // names; the ground is the last one
  throw_refusal: string; // why no body can be thrown; '' where one can
  notes: string[];
}

/** What to load: one of the first four. */
export interface Source {
  home?: boolean; // what 'hooke view' was started with
  builtin?: string;
  scene?: string;
  file?: string;
  name?: string;
}

export interface Topology {
  vertices: number;
  triangles: Uint32Array;
  springs: Uint32Array;
}

export type Color = 'none' | 'strain' | 'speed' | 'force';

export interface FrameRequest {
  seconds?: number;
  steps?: number;
  budget: number;
  color: Color;
}

/** One frame; x and values look into the message, which nobody else keeps. */
export interface Frame {
  vertices: number;
  blownUp: boolean;
  unconverged: boolean;
  /** A step meets its tolerance and is not known to be a minimum. */
  stationary: boolean;
  /** There was no space for an obstacle that a person moves; it waits. */
  late: boolean;
  time: number;
  step: number;
  kinetic: number;
  spring: number;
  gravity: number;
  other: number;
  total: number;
  strainMin: number;
  strainMax: number;
  speedMax: number;
  milliseconds: number;
  iterations: number;
  linearIterations: number;
  gradient: number;
  stepsMade: number;
  stepsInAll: number;
  grabbed: number;
  valueMin: number;
  valueMax: number;
  x: Float32Array;
  values: Float32Array | null;
  /** 12 numbers an obstacle: x = R x0 + T, R by rows, then T. */
  poses: Float32Array;
}

/** The surface of an obstacle where it is at time 0. */
export interface ObstacleShape {
  x: Float32Array;
  normals: Float32Array;
  triangles: Uint32Array;
  shades: Uint8Array; // of each triangle, 1: a dark square of a plane
  endless: boolean; // part of a plane
  movable: boolean;
}

export interface Placed {
  obstacle: number;
  point: number[]; // m, from its place in the scene
}

/** A throw at a target, as far as it is found. */
export interface Throw {
  time: number; // s, whole steps
  velocity: number[]; // m/s
  path: number[]; // m: of the center, three numbers a point
  distance: number | null; // m, from the end of the path to the target; null: not known yet
  iterations: number;
  part: number; // of the flight under way
  done: boolean;
}

export interface Grab {
  vertex: number;
  point: number[];
}

export interface Pin {
  vertex: number;
  held: boolean;
  pinned: number[];
}

const MAGIC_TOPOLOGY = 0x50544b48;
const MAGIC_FRAME = 0x52464b48;
const MAGIC_OBSTACLES = 0x424f4b48;
const MAGIC_SAVE = 0x56534b48;
const MAGIC_PUT = 0x54554b48;
const FRAME_NUMBERS = 20;
const FRAME_HEADER = 16 + 8 * FRAME_NUMBERS;

/** The engine takes no larger files. */
export const MAX_PUT = 64 * 1024 * 1024;

export function encodeRequest(id: number, ask: string, fields: object): string {
  return JSON.stringify({ id, ask, ...fields });
}

export function encodePut(id: number, name: string, bytes: Uint8Array): ArrayBuffer {
  const nameBytes = new TextEncoder().encode(name);
  const message = new Uint8Array(12 + nameBytes.length + bytes.length);
  new Uint32Array(message.buffer, 0, 3).set([MAGIC_PUT, id, nameBytes.length]);
  message.set(nameBytes, 12);
  message.set(bytes, 12 + nameBytes.length);
  return message.buffer;
}

/** The number of the request that a binary answer belongs to. */
export function binaryId(message: ArrayBuffer): number {
  return message.byteLength >= 8 ? new Uint32Array(message, 4, 1)[0] : 0;
}

function expect(message: ArrayBuffer, magic: number, size: number, what: string): void {
  if (message.byteLength < size || new Uint32Array(message, 0, 1)[0] !== magic)
    throw new Error(`The engine's answer is no ${what}; page and engine are of different versions.`);
}

export function decodeTopology(message: ArrayBuffer): Topology {
  expect(message, MAGIC_TOPOLOGY, 24, 'topology');
  const [, , vertices, triangles, springs] = new Uint32Array(message, 0, 6);
  expect(message, MAGIC_TOPOLOGY, 24 + 12 * triangles + 8 * springs, 'topology');
  return {
    vertices,
    triangles: new Uint32Array(message, 24, 3 * triangles),
    springs: new Uint32Array(message, 24 + 12 * triangles, 2 * springs),
  };
}

export function decodeFrame(message: ArrayBuffer): Frame {
  expect(message, MAGIC_FRAME, FRAME_HEADER, 'frame');
  const [, , vertices, flags] = new Uint32Array(message, 0, 4);
  const hasValues = (flags & 4) !== 0;
  expect(message, MAGIC_FRAME, FRAME_HEADER + vertices * (hasValues ? 16 : 12), 'frame');
  const n = new Float64Array(message, 16, FRAME_NUMBERS);
  const posesAt = FRAME_HEADER + vertices * (hasValues ? 16 : 12);
  expect(message, MAGIC_FRAME, posesAt + 48 * n[19], 'frame');
  return {
    vertices,
    blownUp: (flags & 1) !== 0,
    unconverged: (flags & 2) !== 0,
    stationary: (flags & 8) !== 0,
    late: (flags & 16) !== 0,
    time: n[0], step: n[1],
    kinetic: n[2], spring: n[3], gravity: n[4], other: n[5], total: n[6],
    strainMin: n[7], strainMax: n[8], speedMax: n[9],
    milliseconds: n[10], iterations: n[11], linearIterations: n[12], gradient: n[13],
    stepsMade: n[14], stepsInAll: n[15], grabbed: n[16], valueMin: n[17], valueMax: n[18],
    x: new Float32Array(message, FRAME_HEADER, 3 * vertices),
    values: hasValues
      ? new Float32Array(message, FRAME_HEADER + 12 * vertices, vertices)
      : null,
    poses: new Float32Array(message, posesAt, 12 * n[19]),
  };
}

export function decodeObstacles(message: ArrayBuffer): ObstacleShape[] {
  expect(message, MAGIC_OBSTACLES, 12, 'list of obstacles');
  const count = new Uint32Array(message, 8, 1)[0];
  let at = 12;
  return Array.from({ length: count }, () => {
    expect(message, MAGIC_OBSTACLES, at + 12, 'list of obstacles');
    const [vertices, triangles, flags] = new Uint32Array(message, at, 3);
    const x = at + 12, normals = x + 12 * vertices, corners = normals + 12 * vertices, shades = corners + 12 * triangles;
    at = shades + 4 * Math.ceil(triangles / 4);
    expect(message, MAGIC_OBSTACLES, at, 'list of obstacles');
    return {
      x: new Float32Array(message, x, 3 * vertices),
      normals: new Float32Array(message, normals, 3 * vertices),
      triangles: new Uint32Array(message, corners, 3 * triangles),
      shades: new Uint8Array(message, shades, triangles),
      endless: (flags & 1) !== 0,
      movable: (flags & 2) !== 0,
    };
  });
}

export function decodeSave(message: ArrayBuffer): Uint8Array {
  expect(message, MAGIC_SAVE, 8, 'file');
  return new Uint8Array(message, 8);
}
