/* Which pins are marked. A patch of many, as of a cloth that lies on a table, would disappear below its marks:
 * of it only the border is marked, the pins with a neighbor that moves or is released earlier. */

/** Up to this number all pins are marked. */
const ALL_MARKED_MAX_PINS = 60;

/**
 * @typedef {object} PinnedMesh
 * @property {number} vertices their number
 * @property {ArrayLike<number>} triangles three vertices each
 * @property {ArrayLike<number>} springs two vertices each
 */

/**
 * Places in the list `pins` of those that are marked.
 * @param {PinnedMesh} mesh
 * @param {ArrayLike<number>} pins vertices
 * @param {ArrayLike<number> | null} releases s at which each of them is released; null: never
 * @returns {number[]}
 */
export function markedPins(mesh, pins, releases) {
  const all = Array.from(pins, (_, q) => q);
  if (all.length <= ALL_MARKED_MAX_PINS) return all;
  const {vertices, triangles, springs} = mesh;
  const release = new Float64Array(vertices).fill(-Infinity);
  const border = new Uint8Array(vertices),
    faced = new Uint8Array(vertices);
  for (const q of all) release[pins[q]] = releases ? releases[q] : Infinity;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t],
      b = triangles[t + 1],
      c = triangles[t + 2];
    const earliest = Math.min(release[a], release[b], release[c]);
    faced[a] = faced[b] = faced[c] = 1;
    if (release[a] > earliest) border[a] = 1;
    if (release[b] > earliest) border[b] = 1;
    if (release[c] > earliest) border[c] = 1;
  }
  /* Springs reach across faces: they count at vertices without one. */
  for (let s = 0; s < springs.length; s += 2) {
    const a = springs[s],
      b = springs[s + 1];
    if (release[a] > release[b] && !faced[a]) border[a] = 1;
    if (release[b] > release[a] && !faced[b]) border[b] = 1;
  }
  const marked = all.filter((q) => border[pins[q]]);
  return marked.length > 0 ? marked : all; /* the whole mesh is pinned */
}
