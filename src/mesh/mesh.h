/* HkMesh: vertices, cells of mixed types in the order of the file, named vertex sets.
 *
 * Cell c has the corners cell_vertex[cell_start[c] .. cell_start[c + 1] - 1]. Vertex numbers are
 * those of the file, since pins refer to them; hk_mesh_repair keeps the way back in vertex_map.
 */
#ifndef HK_MESH_MESH_H
#define HK_MESH_MESH_H

#include "base/memory.h"
#include "base/schema.h"
#include "base/text.h"

typedef struct HkVertexSet {
  char *name;
  int32_t *vertices;
  int64_t count, capacity;
} HkVertexSet;

struct HkMesh {
  HkContext context;
  double *x; /* 3 a vertex, m */
  int64_t vertex_count, vertex_capacity;
  uint8_t *cell_type;
  int64_t *cell_start; /* cells + 1 entries if there is a cell */
  int64_t cell_count, type_capacity, start_capacity;
  int32_t *cell_vertex;
  int64_t corner_count, corner_capacity;
  HkVertexSet *sets;
  int64_t set_count, set_capacity;
  int32_t *vertex_map; /* number in the file -> number here or -1; NULL: unchanged */
  int64_t file_vertex_count;
  int first_number; /* number of vertex 0 in messages: 0, or 1 in the course format */
};

/* Returns the number of corners of a cell type; 0 for polygons, which have 5 or more. */
int hk_cell_corners(HkCellType type);

/* Returns triangle, quad or polygon for a face of count corners (>= 3). */
HkCellType hk_face_type(int count);

/* Grows the capacity before elements are added, which saves time. */
HkStatus hk_mesh_reserve(HkMesh *mesh, int64_t vertices, int64_t cells, int64_t corners,
                         HkError *error);

/* Returns the bytes of memory of a mesh. */
size_t hk_mesh_bytes(const HkMesh *mesh);

/* Numbers of vertices that a repair has changed. */
typedef struct HkRepairCounts {
  int64_t welded, unused;
} HkRepairCounts;

/* Welds and drops vertices and updates vertex_map; springs.c handles repair->zero_length. */
HkStatus hk_mesh_repair(HkMesh *mesh, const HkRepair *repair, HkRepairCounts *counts,
                        HkError *error);

/* transform.c: x <- R (scale x) + translate; errors have the keys "scale", "axis" and "translate".
 */
HkStatus hk_mesh_transform(HkMesh *mesh, const HkTransform *transform, HkError *error);

/* ---- Formats: one file each in readers/ and writers/, one line each in format.def ---- */

/* Reads a whole file in memory. Errors have c->name, line and column. */
typedef HkStatus HkMeshReadFn(HkCursor c, HkMesh *mesh, HkError *error);
typedef HkStatus HkMeshWriteFn(const HkMesh *mesh, const char *path, HkError *error);

typedef struct HkMeshFormat {
  const char *name; /* ending without its dot */
  const char *summary;
  HkMeshReadFn *read;
  /* Reads the sibling files of a file on disk after read, such as X.ele of X.node; the cursor is at
   * the start of the first file and c.name is its path. NULL: the format has none. */
  HkMeshReadFn *read_siblings;
  HkMeshWriteFn *write; /* NULL: cannot be written */
  unsigned cells;       /* bit 1 << type for each cell type that the written file can hold */
} HkMeshFormat;

/* ---- Shapes: one file each in shapes/, one line each in shape.def ---- */

/* Numbers of vertices and cells of a mesh, or of a shape before it is built. */
typedef struct HkMeshCounts {
  int64_t vertices, lines, triangles, quads, solids; /* quads: and polygons */
  int64_t corners;                                   /* of all cells */
  int64_t section; /* of shapes: vertices of a cross section of the longest axis; 0: unknown */
  bool solid;      /* of shapes: not a line or a surface */
} HkMeshCounts;

static inline int64_t hk_counts_cells(const HkMeshCounts *counts) {
  return counts->lines + counts->triangles + counts->quads + counts->solids;
}

HkMeshCounts hk_mesh_counts(const HkMesh *mesh);
/* Returns the bytes of a mesh with these counts. */
double hk_counts_bytes(const HkMeshCounts *counts);

/* Counts the vertices and cells that hk_mesh_shape will make; returns an error if it cannot make
 * them. */
HkStatus hk_shape_count(const HkMethod *shape, HkMeshCounts *counts, HkError *error);

/* The part of a lattice whose vertices have the indices begin .. end - 1 along each axis. Its mesh
 * has the cells of the whole mesh that have all corners in the window, in their order and with
 * their orientation, and all vertex sets of the whole mesh, some of them empty. */
typedef struct HkWindow {
  int n[3]; /* vertices of the whole lattice along each axis; 1: the axis does not exist */
  int begin[3], end[3];
} HkWindow;

static inline int64_t hk_window_vertices(const HkWindow *w) {
  int64_t count = 1;
  for (int c = 0; c < 3; c++) count *= w->end[c] - w->begin[c];
  return count;
}

/* Whether a shape can be made in windows. */
bool hk_shape_is_lattice(const HkMethod *shape);
/* Checks the parameters of a lattice and sets n to its vertices along each axis. */
HkStatus hk_lattice_size(const HkMethod *shape, int n[3], HkError *error);
/* Counts the vertices and cells of a window of a lattice. */
void hk_window_count(const HkMethod *shape, const HkWindow *window, HkMeshCounts *counts);
/* Makes the mesh of a window of a lattice. */
HkStatus hk_mesh_window(const HkContext *context, const HkMethod *shape, const HkWindow *window,
                        HkMesh **mesh, HkError *error);

/* A shape that can be made in windows; the whole mesh is that of the window of all vertices. */
typedef struct HkLatticeType {
  void (*size)(const void *params, int n[3]);
  /* Sets *counts, which is 0 before, except the vertices and corners. */
  void (*count)(const void *params, const HkWindow *window, HkMeshCounts *counts);
  /* Fills an empty mesh, which has the capacity of the counts. */
  HkStatus (*build)(const void *params, const HkWindow *window, HkMesh *mesh, HkError *error);
} HkLatticeType;

typedef struct HkShapeType {
  HkSchema schema;
  const HkLatticeType *lattice; /* NULL: the shape has the two functions below */
  /* Sets *counts, which is 0 before, except the corners; returns an error if there are too many. */
  HkStatus (*count)(const void *params, HkMeshCounts *counts, HkError *error);
  /* Fills an empty mesh, which has the capacity of the counts. */
  HkStatus (*build)(const void *params, HkMesh *mesh, HkError *error);
} HkShapeType;

#endif
