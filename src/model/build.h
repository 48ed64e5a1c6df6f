/* The parts of compiling a model, in the order in which compile.c calls them. */
#ifndef HK_MODEL_BUILD_H
#define HK_MODEL_BUILD_H

#include "base/file.h"
#include "model/model.h"

/* body.c: reads, repairs and places the mesh of a body and appends it with springs and masses. */
HkStatus hk_model_add_body(HkModel *model, const HkScene *scene, int index, HkError *error);

/* need.c: estimates of the springs of a body, and of the least bytes that it still allocates; made:
 * its mesh exists already. */
double hk_body_springs(const HkBody *body, const HkMeshCounts *counts);
double hk_body_need(const HkBody *body, const HkMeshCounts *counts, bool made);

/* springs.c: springs of a mesh whose vertices begin at first. */
HkStatus hk_model_add_springs(HkModel *model, const HkMesh *mesh, const HkBody *body,
                              const char *folder, int64_t first, HkError *error);

/* Stiffness (N/m), rest length (m) and damping (N s/m) of one spring. */
typedef struct HkSpringValues {
  double k, l0, damping;
} HkSpringValues;

/* parallel.c: makes *sum the one spring that acts as it and another spring in parallel. */
HkStatus hk_spring_add_parallel(HkSpringValues *sum, const HkSpringValues *spring, bool tension,
                                HkError *error);

/* masses.c: masses (kg) of the vertices of a mesh. */
HkStatus hk_body_masses(const HkMesh *mesh, const HkBody *body, double *mass, HkError *error);

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
