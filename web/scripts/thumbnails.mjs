// A small line drawing of each built-in scene after a moment of motion, made with the WebAssembly
// engine: public/thumbs/NAME.svg. Faces are filled by how they lie in the light, springs drawn as
// lines. They have no color but that of the text around them, and differ by their opacity.
//
//   node scripts/thumbnails.mjs
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadEngine } from './load_engine.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WIDTH = 240, HEIGHT = 160, MARGIN = 10;
const MOST_FACES = 700; // a picture of some centimeters shows no more
const FRAMES = { default: 1.1, ball: 1.3, throw: 0.35, hanging_chain: 3, oscillator: 0.1, double_spring: 0.45, trampoline: 1.02, jelly_block: 0.4, curtain: 1.6, table: 1.2, cloth_on_ball: 0.9, stack_of_sheets: 0.5, towel: 1.9, rope_knot: 0.9, jelly_pit: 0.9, net_and_ball: 0.5, dominoes: 0.6, curve: 0.14 };

/** Turns a point into the picture's plane: x to the right, y down, z towards the eye. */
function projection(flat) {
  const azimuth = flat ? 0 : 0.55, elevation = flat ? 0 : 0.28;
  const [sa, ca, se, ce] = [Math.sin(azimuth), Math.cos(azimuth), Math.sin(elevation), Math.cos(elevation)];
  return ([x, y, z]) => {
    const right = ca * x - sa * z, front = sa * x + ca * z;
    return [right, -(ce * y - se * front), se * y + ce * front];
  };
}

/** Calls act(pixel, depth) for the pixels of a face. */
function eachPixel([[ax, ay, az], [bx, by, bz], [cx, cy, cz]], act) {
  const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
  const range = (p, q, r, most) => [Math.max(0, Math.floor(Math.min(p, q, r))), Math.min(most - 1, Math.ceil(Math.max(p, q, r)))];
  const [left, right] = range(ax, bx, cx, WIDTH), [top, bottom] = range(ay, by, cy, HEIGHT);
  if (Math.abs(area) < 1e-9) return;
  for (let y = top; y <= bottom; y++)
    for (let x = left; x <= right; x++) {
      const v = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area, w = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area;
      if (v >= 0 && w >= 0 && v + w <= 1) act(y * WIDTH + x, az + v * (bz - az) + w * (cz - az));
    }
}

/** The faces that are not behind others, which would show through them: only opacity counts. */
function seen(faces) {
  const near = new Float64Array(WIDTH * HEIGHT).fill(-Infinity);
  for (const { corners } of faces) eachPixel(corners, (pixel, depth) => { near[pixel] = Math.max(near[pixel], depth); });
  return faces.filter(({ corners }) => {
    let all = 0, shown = 0;
    eachPixel(corners, (pixel, depth) => {
      all++;
      if (depth > near[pixel] - 3) shown++;
    });
    return 4 * shown >= all;
  });
}

/** Every n-th vertex in both directions of a fine grid would need its shape; faces are thinned instead. */
function drawFaces(points, triangles, project) {
  const light = [-0.36, -0.62, 0.7];
  const faces = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((q) => points[triangles[t + q]]);
    const u = b.map((part, q) => part - a[q]), v = c.map((part, q) => part - a[q]);
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const size = Math.hypot(...n) || 1;
    const bright = Math.abs(n.reduce((sum, part, q) => sum + part * light[q], 0)) / size;
    faces.push({ corners: [a, b, c], depth: a[2] + b[2] + c[2], shade: Math.round(8 * bright) / 8 });
  }
  faces.sort((one, other) => one.depth - other.depth);
  return seen(faces).map(({ corners, shade }) => ({ corners, opacity: 0.25 + 0.55 * (1 - shade) }));
}

/** Springs of parts that have no triangles. */
function bareSprings({ triangles, springs }) {
  if (!triangles.length) return springs;
  const parent = new Map();
  const root = (vertex) => {
    while (parent.has(vertex)) vertex = parent.get(vertex);
    return vertex;
  };
  for (let s = 0; s < springs.length; s += 2) {
    const [a, b] = [root(springs[s]), root(springs[s + 1])];
    if (a !== b) parent.set(a, b);
  }
  const covered = new Set(Array.from(triangles, root));
  return springs.filter((_, q) => !covered.has(root(springs[q])));
}

function svg(shapes) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}"><g id="drawing" fill="currentColor">${shapes}</g></svg>\n`;
}

function path(points) { return 'M' + points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L'); }

/** A zigzag between two points, as springs are drawn. */
function coil([ax, ay], [bx, by]) {
  const length = Math.hypot(bx - ax, by - ay), nx = -(by - ay) / length, ny = (bx - ax) / length;
  const points = [[ax, ay]];
  for (let q = 0; q <= 16; q++) {
    const t = 0.15 + (0.7 * q) / 16, side = q === 0 || q === 16 ? 0 : q % 2 ? 7 : -7;
    points.push([ax + t * (bx - ax) + side * nx, ay + t * (by - ay) + side * ny]);
  }
  return path([...points, [bx, by]]);
}

/** The model with the obstacles that have an end, where the frame has them, as more vertices and triangles. */
function withObstacles(frame, topology, shapes) {
  const x = [...frame.x], triangles = [...topology.triangles];
  shapes.forEach((shape, q) => {
    if (shape.endless) return;
    const p = frame.poses.subarray(12 * q, 12 * q + 12), first = x.length / 3;
    for (let i = 0; i < shape.x.length; i += 3)
      for (let c = 0; c < 3; c++) x.push(p[3 * c] * shape.x[i] + p[3 * c + 1] * shape.x[i + 1] + p[3 * c + 2] * shape.x[i + 2] + p[9 + c]);
    for (const vertex of shape.triangles) triangles.push(first + vertex);
  });
  return { x, topology: { ...topology, triangles } };
}

function draw(x, topology, pinned, flat) {
  const project = projection(flat);
  const raw = [];
  for (let i = 0; i < x.length; i += 3) raw.push(project([x[i], x[i + 1], x[i + 2]]));
  const low = [0, 1].map((c) => Math.min(...raw.map((p) => p[c]))), high = [0, 1].map((c) => Math.max(...raw.map((p) => p[c])));
  const scale = Math.min((WIDTH - 2 * MARGIN) / (high[0] - low[0] || 1), (HEIGHT - 2 * MARGIN) / (high[1] - low[1] || 1), 1e6);
  const points = raw.map((p) => [
    WIDTH / 2 + scale * (p[0] - (low[0] + high[0]) / 2), HEIGHT / 2 + scale * (p[1] - (low[1] + high[1]) / 2), scale * p[2]]);
  const few = topology.springs.length <= 8 && topology.triangles.length === 0;
  let shapes = '';
  const bare = bareSprings(topology);
  if (topology.triangles.length) {
    const groups = new Map(); // runs of the same opacity share an element, in the order of depth
    let last = null;
    for (const { corners, opacity } of drawFaces(points, topology.triangles, project)) {
      if (!last || last.opacity !== opacity) groups.set(groups.size, (last = { opacity, d: '' }));
      last.d += path(corners) + 'z';
    }
    for (const { opacity, d } of groups.values()) shapes += `<path d="${d}" fill-opacity="${opacity.toFixed(2)}"/>`;
  }
  if (bare.length) {
    let d = '';
    for (let s = 0; s < bare.length; s += 2) {
      const [a, b] = [points[bare[s]], points[bare[s + 1]]];
      d += few ? coil(a, b) : path([a, b]);
    }
    shapes += `<path d="${d}" fill="none" stroke="currentColor" stroke-width="${few ? 2 : 1.6}" stroke-linejoin="round"/>`;
    const radius = few ? 8 : points.length < 200 ? 2 : 0;
    if (radius && !topology.triangles.length) shapes += points.map(([px, py]) => `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="${radius}"/>`).join('');
  }
  return svg(shapes + (pinned.length > 40 ? [] : pinned).map((v) => `<path d="M${points[v][0].toFixed(1)} ${(points[v][1] - 4).toFixed(1)}l4 4l-4 4l-4 -4z"/>`).join(''));
}

const wasm = here('../public/hooke.wasm');
const folder = here('../public/thumbs');
rmSync(folder, { recursive: true, force: true });
if (!existsSync(wasm)) {
  console.log('thumbnails: none, public/hooke.wasm is not there');
  process.exit(0);
}
mkdirSync(folder, { recursive: true });
const engine = await loadEngine(wasm);
const { scenes } = engine.ask({ ask: 'registry' });
for (const { name } of scenes) {
  // Fine meshes are drawn coarser, from the start.
  const coarse = { curtain: ['bodies[0].shape.nx=25', 'bodies[0].shape.ny=25'], flag: ['bodies[0].shape.nx=25', 'bodies[0].shape.ny=17'] }[name] ?? [];
  const info = engine.ask({ ask: 'load', builtin: name, sets: coarse });
  const topology = engine.protocol.decodeTopology(engine.ask({ ask: 'topology' }));
  const seconds = FRAMES[name] ?? FRAMES.default;
  let frame = engine.protocol.decodeFrame(engine.ask({ ask: 'frame', seconds, budget: 20, color: 'none' }));
  if (frame.blownUp) {
    engine.ask({ ask: 'reset' });
    frame = engine.protocol.decodeFrame(engine.ask({ ask: 'frame', steps: 0, budget: 1, color: 'none' }));
  }
  const shapes = info.obstacles.length ? engine.protocol.decodeObstacles(engine.ask({ ask: 'obstacles' })) : [];
  const all = withObstacles(frame, topology, shapes);
  const thin = topology.triangles.length / 3 > 4 * MOST_FACES;
  if (thin) console.log(`thumbnails: ${name} has ${topology.triangles.length / 3} faces`);
  writeFileSync(here(`../public/thumbs/${name}.svg`), draw(all.x, all.topology, info.pinned, info.dimension === 2));
}
console.log(`thumbnails: ${scenes.length}`);
// The service of esbuild sometimes outlives its work, and Node would wait for it forever.
process.exit(0);
