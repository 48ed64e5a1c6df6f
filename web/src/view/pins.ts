// Which pins are marked. A patch of many, as of a cloth that lies on a table, would disappear below its
// marks: of it only the border is marked, the pins with a neighbour that moves.
import type { Topology } from '../engine/protocol';

const MANY = 60;

export function markedPins(topology: Topology, pinned: number[]): number[] {
  if (pinned.length <= MANY) return pinned;
  const held = new Uint8Array(topology.vertices), border = new Uint8Array(topology.vertices), faced = new Uint8Array(topology.vertices);
  for (const vertex of pinned) held[vertex] = 1;
  const { triangles, springs } = topology;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
    faced[a] = faced[b] = faced[c] = 1;
    if (!(held[a] && held[b] && held[c])) border[a] = border[b] = border[c] = 1;
  }
  // Springs reach across faces: they count where there are none.
  for (let s = 0; s < springs.length; s += 2) {
    const [a, b] = [springs[s], springs[s + 1]];
    if (held[a] === held[b]) continue;
    if (!faced[a]) border[a] = 1;
    if (!faced[b]) border[b] = 1;
  }
  const marked = pinned.filter((vertex) => border[vertex]);
  return marked.length > 0 ? marked : pinned; // all of it is held
}
