// Which vertex is under the pointer: the nearest corner of the first triangle that the ray meets, which
// is what one sees there. Where it meets none, of the vertices within some pixels of the ray the front
// ones count, and of these the one nearest to the ray.

export interface Ray {
  origin: [number, number, number];
  direction: [number, number, number]; // of length 1
}

const DEPTH = 1.03; // what counts as the front, as a factor on the nearest distance

function nearRay(x: Float32Array, ray: Ray, angle: number): number {
  const [ox, oy, oz] = ray.origin, [dx, dy, dz] = ray.direction;
  let front = Infinity;
  const near: number[] = [];
  for (let i = 0; i < x.length; i += 3) {
    const wx = x[i] - ox, wy = x[i + 1] - oy, wz = x[i + 2] - oz;
    const along = wx * dx + wy * dy + wz * dz;
    if (along <= 0) continue;
    const distance2 = wx * wx + wy * wy + wz * wz - along * along;
    if (distance2 > (angle * along) ** 2) continue;
    near.push(i / 3, along, distance2 / (along * along));
    if (along < front) front = along;
  }
  let best = -1, least = Infinity;
  for (let q = 0; q < near.length; q += 3) {
    if (near[q + 1] > DEPTH * front || near[q + 2] >= least) continue;
    best = near[q];
    least = near[q + 2];
  }
  return best;
}

/** Distance along the ray to a triangle and where in it (barycentric u, v), or null. */
function meet(x: Float32Array, a: number, b: number, c: number, ray: Ray): [number, number, number] | null {
  const [ox, oy, oz] = ray.origin, [dx, dy, dz] = ray.direction;
  const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
  const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
  const px = dy * vz - dz * vy, py = dz * vx - dx * vz, pz = dx * vy - dy * vx;
  const det = ux * px + uy * py + uz * pz;
  if (det === 0) return null;
  const tx = ox - x[a], ty = oy - x[a + 1], tz = oz - x[a + 2];
  const u = (tx * px + ty * py + tz * pz) / det;
  if (u < 0 || u > 1) return null;
  const qx = ty * uz - tz * uy, qy = tz * ux - tx * uz, qz = tx * uy - ty * ux;
  const v = (dx * qx + dy * qy + dz * qz) / det;
  if (v < 0 || u + v > 1) return null;
  const along = (vx * qx + vy * qy + vz * qz) / det;
  return along > 0 ? [along, u, v] : null;
}

/** Distance along the ray to the first triangle, or Infinity. */
export function firstHit(x: Float32Array, triangles: Uint32Array, ray: Ray): number {
  let nearest = Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const hit = meet(x, 3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2], ray);
    if (hit && hit[0] < nearest) nearest = hit[0];
  }
  return nearest;
}

function onTriangle(x: Float32Array, triangles: Uint32Array, ray: Ray): number {
  let best = -1, nearest = Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const hit = meet(x, 3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2], ray);
    if (!hit || hit[0] >= nearest) continue;
    const [along, u, v] = hit;
    const w = 1 - u - v;
    nearest = along;
    best = triangles[t + (w >= u && w >= v ? 0 : u >= v ? 1 : 2)];
  }
  return best;
}

/** angle: how far from the ray, per distance. */
export function pickVertex(x: Float32Array, triangles: Uint32Array | null, ray: Ray, angle: number): number {
  const met = triangles ? onTriangle(x, triangles, ray) : -1;
  return met >= 0 ? met : nearRay(x, ray, angle);
}
