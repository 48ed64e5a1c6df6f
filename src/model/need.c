/* Lower bound of the memory of a body, from the counts of its mesh.
 *
 * The number of springs is estimated. Lines are springs themselves. An edge belongs to two faces at
 * most (3/2 edges a triangle, 2 a quad), in a solid to about five tetrahedra (6/5 edges each); a
 * quad has two diagonals; and each inner edge has one spring across it that resists bending. Only
 * meshes with edges of more than two faces have fewer springs.
 *
 * Memory peaks either while springs are made, when the mesh still exists, or at the end.
 */
#include "model/build.h"

double hk_body_springs(const HkBody *body, const HkMeshCounts *c) {
  const HkSprings *s = &body->springs;
  double faces = 1.5 * (double)c->triangles + 2 * (double)c->quads, springs = 0;
  bool surface = c->lines == 0 && c->solids == 0;
  if (s->edges) springs += c->lines > 0 ? (double)c->lines : faces + 1.2 * (double)c->solids;
  if (s->shear && surface) springs += 2 * (double)c->quads;
  if (s->bending && surface) springs += faces;
  return springs;
}

double hk_body_need(const HkBody *body, const HkMeshCounts *counts, bool made) {
  const HkSprings *s = &body->springs;
  const HkModel *m = NULL; /* for the sizes of what it holds */
  double springs = hk_body_springs(body, counts), n = (double)counts->vertices;
  double spring = sizeof *m->springs.i + sizeof *m->springs.j + sizeof *m->springs.k +
                  sizeof *m->springs.l0 + sizeof *m->springs.kind;
  if (s->damping > 0) spring += sizeof *m->springs.damping;
  if (s->tension_only) spring += sizeof *m->springs.tension;
  double mesh = hk_counts_bytes(counts), pair = 2 * sizeof *m->springs.i + sizeof *m->springs.kind;
  double own = mesh - n * 3 * sizeof *m->x0; /* the copy of the cells */
  own += n * (3 * sizeof *m->x0 + 3 * sizeof *m->v0 + sizeof *m->mass) + springs * spring;
  double making = own + springs * pair + (made ? 0 : mesh);
  double faces = (double)counts->triangles + 2 * (double)counts->quads;
  double end = own + n * sizeof *m->adj_start + faces * 3 * sizeof *m->face +
               2 * springs * (sizeof *m->adj_vertex + sizeof *m->adj_spring);
  return making > end ? making : end;
}
