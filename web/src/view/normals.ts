// Which surfaces have smooth normals, and which have a back that is seen.

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
