// Smooth normals: each vertex takes the sum of the normals of its triangles, weighted by their area
// because the cross product already is. Not normalised: the shader does that.

/** Above so many triangles the shader's flat normals are used, and the page stays smooth itself. */
export const SMOOTH_LIMIT = 200_000;

/** Whether triangles enclose a body: every edge has two of them. Then no back is ever seen. */
export function isClosed(triangles: Uint32Array, vertices: number): boolean {
  if (triangles.length === 0 || triangles.length > 3 * SMOOTH_LIMIT) return false;
  const open = new Set<number>();
  for (let t = 0; t < triangles.length; t++) {
    const a = triangles[t], b = triangles[t % 3 === 2 ? t - 2 : t + 1];
    const edge = Math.min(a, b) * vertices + Math.max(a, b);
    if (!open.delete(edge)) open.add(edge);
  }
  return open.size === 0;
}

export function addNormals(x: Float32Array, triangles: Uint32Array, normals: Float32Array): void {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t], b = 3 * triangles[t + 1], c = 3 * triangles[t + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    normals[a] += nx; normals[a + 1] += ny; normals[a + 2] += nz;
    normals[b] += nx; normals[b + 1] += ny; normals[b + 2] += nz;
    normals[c] += nx; normals[c + 1] += ny; normals[c + 2] += nz;
  }
}
