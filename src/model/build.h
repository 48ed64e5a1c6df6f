/* The parts of compiling a model, in the order in which compile.c calls them. */
#ifndef HK_MODEL_BUILD_H
#define HK_MODEL_BUILD_H

#include "base/file.h"
#include "model/model.h"

/* body.c: reads, repairs and places the mesh of a body and appends it with springs and masses. */
HkStatus hk_model_add_body(HkModel *model, const HkScene *scene, int index, HkError *error);

/* What the mesh of a window does not say of the whole mesh of a body (windows.c). Functions that
 * take it get NULL for a whole mesh. */
typedef struct HkWholeMesh {
  HkMeshCounts counts;
  double furthest;         /* m: the largest absolute coordinate */
  double measure;          /* m, m^2 or m^3: the sum by which a lumped total mass is divided */
  const HkMesh *beginning; /* a window with the first pair of vertices of each direction */
  const int64_t *number;   /* of each vertex of the window in the whole mesh, for messages */
} HkWholeMesh;

/* body.c: the steps of hk_model_add_body that windows take, too: checks the settings of a body;
 * checks the memory that a mesh with these counts needs, which is made already or not yet; places a
 * mesh; appends it with springs, masses and faces; appends the range of a body whose vertices begin
 * at first, which keeps the vertex sets of the mesh; makes an error that of the body. */
HkStatus hk_body_check(const HkBody *body, HkError *error);
HkStatus hk_body_check_memory(const HkContext *context, const HkBody *body,
                              const HkMeshCounts *counts, bool made, HkError *error);
HkStatus hk_model_append_mesh(HkModel *model, const HkScene *scene, const HkBody *body,
                              HkMesh *mesh, const HkWholeMesh *whole, HkError *error);
HkStatus hk_model_append_range(HkModel *model, const HkScene *scene, int index, int64_t first,
                               HkMesh *mesh, HkError *error);
HkStatus hk_body_blame(const HkScene *scene, int index, const HkError *inner, HkError *error);
/* Returns the largest absolute coordinate (m) of a mesh. */
double hk_mesh_furthest(const HkMesh *mesh);
/* In two dimensions z must be 0; sets it to 0 where it is rounding error beside the size (m).
 * number: of each vertex in messages; NULL: its index. */
HkStatus hk_mesh_flatten(HkMesh *mesh, double size, const int64_t *number, HkError *error);

/* need.c: estimates of the springs of a body, and of the least bytes that it still allocates; made:
 * its mesh exists already. */
double hk_body_springs(const HkBody *body, const HkMeshCounts *counts);
double hk_body_need(const HkBody *body, const HkMeshCounts *counts, bool made);

/* springs.c: springs of a mesh whose vertices begin at first. */
HkStatus hk_model_add_springs(HkModel *model, const HkMesh *mesh, const HkBody *body,
                              const char *folder, int64_t first, const HkWholeMesh *whole,
                              HkError *error);

/* Stiffness (N/m), rest length (m) and damping (N s/m) of one spring. */
typedef struct HkSpringValues {
  double k, l0, damping;
} HkSpringValues;

/* parallel.c: makes *sum the one spring that acts as it and another spring in parallel. */
HkStatus hk_spring_add_parallel(HkSpringValues *sum, const HkSpringValues *spring, bool tension,
                                HkError *error);

/* masses.c: masses (kg) of the vertices of a mesh. */
HkStatus hk_body_masses(const HkMesh *mesh, const HkBody *body, const HkWholeMesh *whole,
                        double *mass, HkError *error);
/* Whether a total mass is divided by the measures of cells; else all vertices get the same. */
bool hk_body_is_lumped(const HkBody *body);
/* The highest dimension of the cells that counts have. */
int hk_counts_dimension(const HkMeshCounts *counts);

/* faces.c: appends the triangles of a mesh whose vertices begin at first. */
HkStatus hk_model_add_faces(HkModel *model, const HkMesh *mesh, int64_t first, HkError *error);

/* pins.c: copies and checks a motion (none: fixed); *motion holds nothing after an error. */
HkStatus hk_motion_compile(const HkModel *model, const HkMethod *method, HkCompiledMotion *motion,
                           HkError *error);

/* obstacles.c: compiles the obstacles of a scene, releases them, returns their bytes, and updates
 * the hash h by their shapes. */
HkStatus hk_model_add_obstacles(HkModel *model, const HkScene *scene, HkError *error);
void hk_obstacles_release(HkModel *model);
size_t hk_obstacles_bytes(const HkModel *model);
uint64_t hk_obstacles_hash(const HkModel *model, uint64_t h);

/* pairs.c: compiles what holds between two bodies or obstacles. */
HkStatus hk_model_add_pairs(HkModel *model, const HkScene *scene, HkError *error);

/* compile.c: logs a warning where more than one gravity acts, with the sum of their accelerations:
 * a second one is legal, but mostly an oversight. */
void hk_model_warn_gravities(const HkModel *model);

/* Writes the name of a body for messages. */
const char *hk_body_name(const HkBody *body, int index, char *buffer, size_t size);

#endif
