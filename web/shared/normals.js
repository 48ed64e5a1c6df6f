/* Smooth normals: the sum of the normals of the triangles at a corner, weighted by their area because the cross
 * product already is. They are not normalized: the shader does that. */

/**
 * @param {Float32Array} x positions, m
 * @param {ArrayLike<number>} triangles three corners each
 * @param {Float32Array} normals receives those of the corners
 * @param {number} stride numbers of a position and of a normal: 3, or 4 of which the last is not used
 * @param {ArrayLike<number> | null} vertexOf vertex of each corner; null: corners are vertices
 */
export function addNormals(x, triangles, normals, stride, vertexOf) {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const p = triangles[t],
      q = triangles[t + 1],
      r = triangles[t + 2];
    const a = stride * (vertexOf ? vertexOf[p] : p),
      b = stride * (vertexOf ? vertexOf[q] : q),
      c = stride * (vertexOf ? vertexOf[r] : r);
    const ux = x[b] - x[a],
      uy = x[b + 1] - x[a + 1],
      uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a],
      vy = x[c + 1] - x[a + 1],
      vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy,
      ny = uz * vx - ux * vz,
      nz = ux * vy - uy * vx;
    for (let k = 0; k < 3; k++) {
      const corner = stride * triangles[t + k];
      normals[corner] += nx;
      normals[corner + 1] += ny;
      normals[corner + 2] += nz;
    }
  }
}
