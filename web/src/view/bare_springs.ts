// The springs of those parts of a model that have no triangles, such as a net or a rope beside a ball.
// Parts are what springs hold together: the inner springs of a solid belong to its surface.
import type { Topology } from '../engine/protocol';

export function bareSprings({ vertices, triangles, springs }: Topology): Uint32Array {
  if (!triangles.length) return springs;
  const parent = Uint32Array.from({ length: vertices }, (_, vertex) => vertex);
  const root = (vertex: number): number => {
    while (parent[vertex] !== vertex) vertex = parent[vertex] = parent[parent[vertex]];
    return vertex;
  };
  for (let s = 0; s < springs.length; s += 2) parent[root(springs[s])] = root(springs[s + 1]);
  const covered = new Uint8Array(vertices);
  for (const vertex of triangles) covered[root(vertex)] = 1;
  return springs.filter((_, q) => !covered[root(springs[q])]);
}
