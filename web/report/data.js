'use strict';
/* The data of the page: facts, frames and rows, as src/report/page.h describes them. */

const facts = JSON.parse(document.getElementById('data-facts').textContent);

/* The bytes of one of the scripts with base64 in them. */
function bytesOf(id) {
  const text = atob(document.getElementById(`data-${id}`).textContent);
  const bytes = new Uint8Array(text.length);
  for (let q = 0; q < text.length; q++) bytes[q] = text.charCodeAt(q);
  return bytes;
}

/* ---- Rows: one a frame, or fewer ---- */

const rows = (() => {
  const names = facts.rows.columns;
  const values = new Float64Array(bytesOf('rows').buffer);
  const count = values.length / names.length;
  const columns = {count};
  names.forEach((name, c) => {
    columns[name] = Float64Array.from({length: count}, (_, q) => values[q * names.length + c]);
  });
  return columns;
})();

/* ---- Frames ---- */

const HEAD = {index: 0, time: 1, low: 2, high: 5, strain: 8, speed: 9, size: 10};

/* The axes of the picture (right, up, towards the eye) as axes of the scene: number and sign. */
const axes = (() => {
  const flat = facts.model.dimension === 2;
  if (facts.model.up === 2 && !flat)
    return [
      [0, 1],
      [2, 1],
      [1, -1],
    ];
  if (facts.model.up === 0)
    return flat
      ? [
          [1, -1],
          [0, 1],
          [2, 1],
        ]
      : [
          [2, 1],
          [0, 1],
          [1, 1],
        ];
  return [
    [0, 1],
    [1, 1],
    [2, 1],
  ];
})();

const motion = (() => {
  const bytes = bytesOf('shapes');
  const heads = new Float64Array(bytesOf('heads').buffer);
  const count = heads.length / HEAD.size;
  const times = Float64Array.from({length: count}, (_, q) => heads[q * HEAD.size + HEAD.time]);
  return {
    n: facts.drawn.vertices,
    count,
    times,
    heads,
    bytes,
    words: new Uint16Array(bytes.buffer) /* four a vertex, the last one being two bytes */,
    faces: new Int32Array(bytesOf('faces').buffer),
    springs: new Int32Array(bytesOf('springs').buffer),
    pins: new Int32Array(bytesOf('pins').buffer),
    releases: new Float64Array(bytesOf('releases').buffer),
    start: count > 0 ? times[0] : 0,
    end: count > 0 ? times[count - 1] : 0,
  };
})();

function headOf(frame, column) {
  return motion.heads[frame * HEAD.size + column];
}

/* The frame at or before a time. */
function frameAt(time) {
  let low = 0,
    high = motion.count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (motion.times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The box of all frames in axes of the picture. Frames many times larger than most are explosions:
 * they would leave the rest as a dot. */
const box = (() => {
  const sizes = [],
    all = [];
  for (let f = 0; f < motion.count; f++) {
    const one = {low: [], high: []};
    for (const [axis, sign] of axes) {
      const a = sign * headOf(f, HEAD.low + axis),
        b = sign * headOf(f, HEAD.high + axis);
      one.low.push(Math.min(a, b));
      one.high.push(Math.max(a, b));
    }
    all.push(one);
    sizes.push(Math.hypot(...one.high.map((h, c) => h - one.low[c])));
  }
  const usual = sizes.slice().sort((a, b) => a - b)[Math.floor(sizes.length / 2)] || 0;
  const low = [Infinity, Infinity, Infinity],
    high = [-Infinity, -Infinity, -Infinity];
  all.forEach((one, f) => {
    if (sizes[f] > 5 * usual && f > 0) return;
    for (let c = 0; c < 3; c++) {
      low[c] = Math.min(low[c], one.low[c]);
      high[c] = Math.max(high[c], one.high[c]);
    }
  });
  if (!(low[0] <= high[0]))
    return {low: [0, 0, 0], high: [1, 1, 1], center: [0.5, 0.5, 0.5], size: 1};
  const center = low.map((l, c) => (l + high[c]) / 2);
  return {low, high, center, size: Math.hypot(...high.map((h, c) => h - low[c])) || 1};
})();

/* The obstacles: surfaces at time 0 in axes of the scene, and poses. */
const obstacles = (() => {
  const heads = new Int32Array(bytesOf('obstacle-heads').buffer),
    x = new Float64Array(bytesOf('obstacle-x').buffer),
    triangles = new Int32Array(bytesOf('obstacle-triangles').buffer),
    poses = new Float64Array(bytesOf('obstacle-poses').buffer);
  const list = [];
  let vertexAt = 0,
    triangleAt = 0,
    poseAt = 0;
  for (let q = 0; q < heads.length; q += 4) {
    const [vertices, faces, endless, poseCount] = heads.subarray(q, q + 4);
    const one = {
      endless: endless === 1,
      x: x.subarray(6 * vertexAt, 6 * (vertexAt + vertices)),
      triangles: triangles.subarray(4 * triangleAt, 4 * (triangleAt + faces)),
      poses: poses.subarray(12 * poseAt, 12 * (poseAt + poseCount)),
    };
    vertexAt += vertices;
    triangleAt += faces;
    poseAt += poseCount;
    list.push(one);
  }
  return list;
})();

/* The pose of an obstacle at a time, as 12 numbers; linear between two frames. */
function poseAt(obstacle, time) {
  const count = obstacle.poses.length / 12;
  if (count <= 1) return obstacle.poses;
  const a = Math.min(frameAt(time), count - 1),
    b = Math.min(a + 1, count - 1);
  const span = motion.times[b] - motion.times[a];
  const part = span > 0 ? Math.min(1, Math.max(0, (time - motion.times[a]) / span)) : 0;
  return Float64Array.from(
    {length: 12},
    (_, q) => (1 - part) * obstacle.poses[12 * a + q] + part * obstacle.poses[12 * b + q],
  );
}

/* The box of a picture also shows the obstacles that have an end, at the first and the last frame. */
(() => {
  for (const one of obstacles)
    for (let v = 0; v < one.x.length && !one.endless; v += 6)
      for (const p of [one.poses.subarray(0, 12), one.poses.subarray(one.poses.length - 12)])
        axes.forEach(([axis, sign], c) => {
          const at =
            p[9 + axis] +
            p[3 * axis] * one.x[v] +
            p[3 * axis + 1] * one.x[v + 1] +
            p[3 * axis + 2] * one.x[v + 2];
          box.low[c] = Math.min(box.low[c], sign * at);
          box.high[c] = Math.max(box.high[c], sign * at);
        });
  if (obstacles.some((one) => !one.endless)) {
    box.center = box.low.map((l, c) => (l + box.high[c]) / 2);
    box.size = Math.hypot(...box.high.map((h, c) => h - box.low[c])) || 1;
  }
})();

/* What each byte of a frame's strains or speeds stands for, times a factor. */
function valueTable(frame, color, factor) {
  const strain = color === 'strain';
  const most = factor * headOf(frame, strain ? HEAD.strain : HEAD.speed);
  return Float64Array.from({length: 256}, (_, byte) => {
    const part = strain ? (byte - 128) / 127 : byte / 255;
    return strain ? most * part * Math.abs(part) : most * part;
  });
}

/* Positions about the center of the box, and the value for the color, four numbers a vertex, at a
 * time; linear between two frames. */
function fillShape(time, color, out) {
  const a = frameAt(time),
    b = Math.min(a + 1, motion.count - 1);
  const span = motion.times[b] - motion.times[a];
  const part = span > 0 ? Math.min(1, Math.max(0, (time - motion.times[a]) / span)) : 0;
  const n = motion.n,
    words = motion.words,
    bytes = motion.bytes;
  for (let c = 0; c < 3; c++) {
    const [axis, sign] = axes[c];
    const lowA = headOf(a, HEAD.low + axis),
      lowB = headOf(b, HEAD.low + axis);
    const stepA = (sign * (1 - part) * (headOf(a, HEAD.high + axis) - lowA)) / 65535;
    const stepB = (sign * part * (headOf(b, HEAD.high + axis) - lowB)) / 65535;
    const low = sign * ((1 - part) * lowA + part * lowB) - box.center[c];
    let fromA = 4 * n * a + axis,
      fromB = 4 * n * b + axis;
    for (let q = 0, to = c; q < n; q++, to += 4, fromA += 4, fromB += 4)
      out[to] = low + stepA * words[fromA] + stepB * words[fromB];
  }
  if (color === 'none') return;
  const offset = color === 'strain' ? 6 : 7;
  const tableA = valueTable(a, color, 1 - part);
  const tableB = valueTable(b, color, part);
  let fromA = 8 * n * a + offset;
  let fromB = 8 * n * b + offset;
  for (let q = 0; q < n; q++, fromA += 8, fromB += 8)
    out[4 * q + 3] = tableA[bytes[fromA]] + tableB[bytes[fromB]];
}

/* Corners of faces: faces that meet smoothly at a vertex share one, those across a sharp edge do
 * not, so that each has its own normal. `vertex` is that of each corner, `faces` three a face. */
const corners = (() => {
  const faces = motion.faces,
    count = faces.length / 3,
    smooth = Math.cos(Math.PI / 4.5);
  const start = new Int32Array(motion.n + 1),
    around = new Int32Array(faces.length);
  const x = new Float32Array(4 * motion.n),
    normals = new Float32Array(3 * count);
  if (count > 0) fillShape(motion.start, 'none', x);
  for (let f = 0; f < count; f++) {
    const [a, b, c] = [0, 1, 2].map((k) => 4 * faces[3 * f + k]);
    const u = [0, 1, 2].map((k) => x[b + k] - x[a + k]),
      v = [0, 1, 2].map((k) => x[c + k] - x[a + k]);
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const size = Math.hypot(...n) || 1;
    for (let k = 0; k < 3; k++) normals[3 * f + k] = n[k] / size;
  }
  for (const vertex of faces) start[vertex + 1]++;
  for (let q = 0; q < motion.n; q++) start[q + 1] += start[q];
  const next = start.slice();
  faces.forEach((vertex, place) => {
    around[next[vertex]++] = place;
  });
  const vertexOf = [],
    cornerOf = new Uint32Array(faces.length);
  for (let q = 0; q < motion.n; q++) {
    const groups = []; /* number of the corner, and the normal of its first face */
    for (let e = start[q]; e < start[q + 1]; e++) {
      const n = 3 * Math.floor(around[e] / 3);
      let group = groups.find(
        ([, m]) =>
          normals[n] * normals[m] +
            normals[n + 1] * normals[m + 1] +
            normals[n + 2] * normals[m + 2] >=
          smooth,
      );
      if (!group) groups.push((group = [vertexOf.push(q) - 1, n]));
      cornerOf[around[e]] = group[0];
    }
  }
  return {vertex: Int32Array.from(vertexOf), faces: cornerOf};
})();

/* The strain either way, or the speed, that the colors end with: few vertices of some frames are
 * beyond it, since single ones would leave all others without color. */
function valueRange(color) {
  const values = [];
  const frames = Math.min(motion.count, 24);
  const vertices = Math.min(motion.n, 1500);
  const offset = color === 'strain' ? 6 : 7;
  for (let f = 0; f < frames; f++) {
    const frame = Math.floor(((f + 1) * motion.count) / frames) - 1;
    const table = valueTable(frame, color, 1);
    for (let q = 0; q < vertices; q++) {
      const vertex = Math.floor((q * motion.n) / vertices);
      values.push(Math.abs(table[motion.bytes[8 * (motion.n * frame + vertex) + offset]]));
    }
  }
  values.sort((a, b) => a - b);
  const range = values[Math.floor(0.985 * values.length)] || values[values.length - 1] || 0;
  return Math.max(range, color === 'strain' ? 1e-7 : 1e-9); /* below that there is rounding alone */
}
