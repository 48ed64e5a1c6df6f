/* A ball of tetrahedra around the origin, in shells of an icosahedron.
 *
 * The icosahedron, with a corner at the top (+y), is 20 tetrahedra from the center to a face, each
 * nearly regular. Each is cut into shells^3 small ones: with corners a, b, c of a face, the
 * vertices of shell r = 1 .. shells stand at
 *
 *     radius r / shells w / |w|,   w = ((r - i - j) a + i b + j c) / r,   i, j >= 0, i + j <= r
 *
 * Between two shells lie r (r + 1) / 2 tetrahedra that stand on the outer one, (r - 1) (r - 2) / 2
 * that stand on the inner one, and r (r - 1) / 2 octahedra, cut into four along their shortest
 * diagonal. No tetrahedron has more than one face on the surface, so none is flattened; the worst
 * quality stays above 0.6 (1: regular) at every resolution. Counts, with n = shells:
 *     vertices (10 n^3 + 15 n^2 + 11 n + 3) / 3, tetrahedra 20 n^3, on the surface 10 n^2 + 2
 * Shell r starts with the 12 corners, then come 30 edges of r - 1, then 20 faces of
 * (r - 1) (r - 2) / 2 vertices. Sets: boundary, center, top, bottom (largest and smallest y).
 */
#include "base/vec.h"
#include "mesh/shapes/lattice.h"

#include <string.h>

typedef struct Ball {
  double radius;
  int shells;
} Ball;

static const HkParam params[] = {
    HK_NUMBER(Ball, radius, "m", 0.5, HK_LENGTH_MIN, HK_LENGTH_MAX, "radius"),
    HK_INTEGER(Ball, shells, 4, 1, 500, "shells of vertices around the center"),
};

enum { CORNERS = 12, EDGES = 30, FACES = 20 };

typedef struct Icosahedron {
  double corner[CORNERS][3]; /* on the unit sphere */
  int face[FACES][3];        /* corners, counterclockwise from outside */
  int edge[FACES][3];        /* edges of a face: from corner 0 to 1, 1 to 2, 2 to 0 */
  int edge_start[EDGES];     /* the corner that an edge's vertices count from */
} Icosahedron;

/* Corner 0 is the top, 1 .. 5 the upper ring, 6 .. 10 the lower one, 11 the bottom. */
static void make_corners_and_faces(Icosahedron *ico) {
  const double high = 1 / sqrt(5), wide = 2 / sqrt(5);
  memset(ico->corner, 0, sizeof ico->corner);
  ico->corner[0][1] = 1;
  ico->corner[11][1] = -1;
  for (int q = 0; q < 5; q++) {
    double upper = 2 * M_PI * q / 5, lower = 2 * M_PI * (q + 0.5) / 5;
    double ring[2][3] = {{wide * sin(upper), high, wide * cos(upper)},
                         {wide * sin(lower), -high, wide * cos(lower)}};
    memcpy(ico->corner[1 + q], ring[0], sizeof ring[0]);
    memcpy(ico->corner[6 + q], ring[1], sizeof ring[1]);
    int u = 1 + q, u_next = 1 + (q + 1) % 5, l = 6 + q, l_next = 6 + (q + 1) % 5;
    int faces[4][3] = {{0, u, u_next}, {u, l, u_next}, {u_next, l, l_next}, {11, l_next, l}};
    memcpy(ico->face[4 * q], faces, sizeof faces);
  }
}

static void make_edges(Icosahedron *ico) {
  int number[CORNERS][CORNERS], count = 0;
  memset(number, -1, sizeof number);
  for (int f = 0; f < FACES; f++)
    for (int e = 0; e < 3; e++) {
      int a = ico->face[f][e], b = ico->face[f][(e + 1) % 3];
      if (number[b][a] < 0) {
        ico->edge_start[count] = a;
        number[a][b] = number[b][a] = count++;
      }
      ico->edge[f][e] = number[a][b];
    }
}

/* Vertices within shells 0 .. r. */
static int64_t count_within(int64_t r) {
  return r < 0 ? 0 : (10 * r * r * r + 15 * r * r + 11 * r + 3) / 3;
}

/* Number of vertex (i, j) of face f on shell r. */
static int32_t vertex_index(const Icosahedron *ico, int r, int f, int i, int j) {
  if (r == 0) return 0;
  const int weight[3] = {r - i - j, i, j};
  int64_t start = count_within(r - 1), inner = r - 1;
  for (int e = 0; e < 3; e++)
    if (weight[e] == r) return (int32_t)(start + ico->face[f][e]);
  for (int e = 0; e < 3; e++) {
    if (weight[(e + 2) % 3] != 0) continue;
    int edge = ico->edge[f][e];
    bool along = ico->edge_start[edge] == ico->face[f][e];
    int step = along ? weight[(e + 1) % 3] : weight[e];
    return (int32_t)(start + CORNERS + edge * inner + step - 1);
  }
  /* Row j = 1 has r - 2 vertices within the face, each further row one less. */
  int64_t row = (int64_t)(j - 1) * (r - 2) - (int64_t)(j - 1) * (j - 2) / 2;
  return (int32_t)(start + CORNERS + EDGES * inner + f * (inner * (inner - 1) / 2) + row + i - 1);
}

/* Sets the positions of a shell. Each face sets its vertices, so that vertices of several faces are
 * set again, with a result that differs by rounding at most. */
static void place_shell(const Ball *p, const Icosahedron *ico, int r, HkMesh *mesh) {
  double radius = p->radius * r / p->shells;
  for (int f = 0; f < FACES; f++)
    for (int j = 0; j <= r; j++)
      for (int i = 0; i + j <= r; i++) {
        double w[3] = {0, 0, 0}, *x = mesh->x + 3 * (int64_t)vertex_index(ico, r, f, i, j);
        hk_axpy(r - i - j, ico->corner[ico->face[f][0]], w);
        hk_axpy(i, ico->corner[ico->face[f][1]], w);
        hk_axpy(j, ico->corner[ico->face[f][2]], w);
        hk_unit(w, x);
        for (int c = 0; c < 3; c++) x[c] *= radius;
      }
}

/* Vertex in[q] is opposite to out[q]: four tetrahedra around the shortest of three diagonals. */
static HkStatus add_octahedron(HkMesh *mesh, const int32_t in[3], const int32_t out[3],
                               HkError *error) {
  int best = 0;
  double length[3];
  for (int q = 0; q < 3; q++) {
    length[q] = hk_distance(mesh->x + 3 * (int64_t)in[q], mesh->x + 3 * (int64_t)out[q]);
    /* Of equal diagonals the first one, independent of rounding. */
    if (length[q] < (1 - 1e-9) * length[best]) best = q;
  }
  int next = (best + 1) % 3, last = (best + 2) % 3;
  const int32_t circle[4] = {in[last], out[next], out[last], in[next]};
  for (int q = 0; q < 4; q++) {
    const int32_t tet[4] = {in[best], circle[q], circle[(q + 1) % 4], out[best]};
    HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TET, tet, 4, error));
  }
  return HK_OK;
}

/* The tetrahedra of one face between shells r - 1 and r. */
static HkStatus add_layer(const Icosahedron *ico, int r, int f, HkMesh *mesh, HkError *error) {
  for (int j = 0; j < r; j++)
    for (int i = 0; i + j < r; i++) {
      int32_t in = vertex_index(ico, r - 1, f, i, j);
      int32_t out = vertex_index(ico, r, f, i, j);
      int32_t out_i = vertex_index(ico, r, f, i + 1, j);
      int32_t out_j = vertex_index(ico, r, f, i, j + 1);
      HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TET, (int32_t[]){in, out, out_i, out_j}, 4, error));
      if (i + j + 1 == r) continue;
      int32_t in_i = vertex_index(ico, r - 1, f, i + 1, j);
      int32_t in_j = vertex_index(ico, r - 1, f, i, j + 1);
      int32_t out_ij = vertex_index(ico, r, f, i + 1, j + 1);
      HK_TRY(add_octahedron(mesh, (int32_t[]){in, in_i, in_j}, (int32_t[]){out_ij, out_j, out_i},
                            error));
      if (i + j + 2 == r) continue;
      int32_t in_ij = vertex_index(ico, r - 1, f, i + 1, j + 1);
      HK_TRY(hk_mesh_add_cell(mesh, HK_CELL_TET, (int32_t[]){in_i, in_ij, in_j, out_ij}, 4, error));
    }
  return HK_OK;
}

static HkStatus count(const void *chosen, HkMeshCounts *counts, HkError *error) {
  const Ball *p = chosen;
  (void)error;
  counts->vertices = count_within(p->shells);
  counts->section = counts->vertices / (2 * p->shells + 1);
  counts->solid = true;
  counts->solids = (int64_t)FACES * p->shells * p->shells * p->shells;
  return HK_OK;
}

static HkStatus build(const void *chosen, HkMesh *mesh, HkError *error) {
  const Ball *p = chosen;
  int64_t vertices = count_within(p->shells), inside = count_within(p->shells - 1);
  Icosahedron ico;
  make_corners_and_faces(&ico);
  make_edges(&ico);
  HK_TRY(hk_mesh_add_vertices(mesh, (double[]){0, 0, 0}, 1, error));
  mesh->vertex_count = vertices;
  for (int r = 1; r <= p->shells; r++) place_shell(p, &ico, r, mesh);
  for (int r = 1; r <= p->shells; r++)
    for (int f = 0; f < FACES; f++) HK_TRY(add_layer(&ico, r, f, mesh, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "boundary", inside, vertices - inside, error));
  HK_TRY(hk_mesh_add_range_set(mesh, "center", 0, 1, error));
  HK_TRY(hk_mesh_add_extreme_set(mesh, "top", 1, 1, error));
  return hk_mesh_add_extreme_set(mesh, "bottom", 1, -1, error);
}

const HkShapeType hk_shape_ball = {
    .schema = {.name = "ball",
               .summary = "a ball of tetrahedra in shells of an icosahedron",
               .formula = "shell r: 10 r^2 + 2 vertices at radius r / shells radius",
               HK_PARAMS(Ball, params)},
    .count = count,
    .build = build,
};
