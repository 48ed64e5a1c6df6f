/* HkModel: the compiled system. Threads and devices share it; it is constant except for the changes
 * of live.c. */
#ifndef HK_MODEL_MODEL_H
#define HK_MODEL_MODEL_H

#include "base/memory.h"
#include "base/schema.h"
#include "base/threads.h"
#include "mesh/mesh.h"
#include "motion/motion.h"
#include "obstacle/obstacle.h"

struct HkForceType;

/* A body's vertices are first .. first + count - 1. */
typedef struct HkBodyRange {
  char *name;
  int64_t first, count;
  int64_t first_number, total; /* in the whole model: first and count unless it is made in parts */
  HkBodyContact contact;
  HkMesh *names; /* a mesh that only keeps sets and vertex_map, for selections */
} HkBodyRange;

typedef struct HkCompiledForce {
  const struct HkForceType *type;
  HkMethod method; /* own copy of the parameters */
  void *data;      /* from the force's compile, or NULL */
  int64_t id;      /* unique among all forces that were ever compiled into the model */
} HkCompiledForce;

typedef struct HkCompiledMotion {
  const HkMotionType *type;
  HkMethod method;
  double release; /* s */
} HkCompiledMotion;

typedef struct HkCompiledObstacle {
  char *name;
  const HkObstacleType *type;
  HkMethod method; /* own copy of the parameters */
  HkCompiledMotion motion;
  HkObstacleFeatures features;       /* at their place at time 0; none if the type has a distance */
  void *data;                        /* from the type's create, or NULL */
  double friction, friction_kinetic; /* as in HkObstacle */
  bool two_sided, contact;
} HkCompiledObstacle;

/* What holds between two groups a <= b. A group is the number of a body, body_count + the number of
 * an obstacle, or, of the ground, body_count + obstacle_count. */
typedef struct HkCompiledPair {
  int a, b;
  double friction, friction_kinetic; /* as in HkPair */
  bool contact;
} HkCompiledPair;

typedef struct HkCompiledProbe {
  char *name;
  int32_t *vertices;
  int64_t count;
} HkCompiledProbe;

/* Capacities of the arrays that grow while bodies are added. */
typedef struct HkModelCapacity {
  int64_t vertices, springs, cells, corners, faces;
} HkModelCapacity;

/* Springs between vertices i < j, at most one for each pair. */
typedef struct HkSpringArrays {
  int64_t count;
  int32_t *i, *j;
  double *k, *l0;   /* N/m, m */
  double *damping;  /* N s/m; NULL: none has any */
  uint8_t *kind;    /* HK_SPRING_* */
  uint8_t *tension; /* 1: tension only; NULL: none is */
  int64_t version;  /* grows whenever k or damping changes */
} HkSpringArrays;

struct HkModel {
  HkContext context;
  const HkModel *origin; /* of a copy (copy.c): it shares constant arrays; NULL: none */
  int threads;           /* >= 1 */
  int dimension, up;
  char *folder; /* of the scene: relative names of files start there; NULL: the working folder */

  int64_t n;    /* vertices */
  double *x0;   /* m, 3 a vertex, at the start */
  double *v0;   /* m/s */
  double *mass; /* kg */
  double total_mass;

  HkSpringArrays springs; /* sorted by i and then j */

  /* Neighbors of vertex i: adj_start[i] .. adj_start[i + 1] - 1, by rising neighbor number.
   * Forces are gathered along it, so that no two threads write to one vertex. */
  int64_t *adj_start;
  int32_t *adj_vertex, *adj_spring;

  /* Cells of all bodies with the numbers of the model, for output. */
  int64_t cell_count;
  uint8_t *cell_type;
  int64_t *cell_start;
  int32_t *cell_vertex;

  /* Triangles, for the wind and for drawing. face_at lists the faces around vertex i as 3 f +
   * corner at face_start[i] ..; NULL until a force calls hk_model_need_faces. */
  int64_t face_count;
  int32_t *face;
  int64_t *face_start, *face_at;

  /* Pinned vertices, each once, by rising number. */
  int64_t pin_count;
  int32_t *pin_vertex;
  int32_t *pin_motion; /* into motions */
  HkCompiledMotion *motions;
  int motion_count;
  HkPinMethod pin_method;

  HkCompiledObstacle *obstacles;
  int obstacle_count;

  HkCompiledPair *pairs; /* by rising a and then b */
  int pair_count;

  HkCompiledForce *forces; /* springs first */
  int force_count;
  int64_t force_ids;       /* largest id so far */
  bool velocity_dependent; /* any force depends on v */

  HkCompiledProbe *probes;
  int probe_count;
  HkBodyRange *bodies;
  int body_count;

  /* Versions, which grow with each live change, as springs.version does; 0 after compiling. */
  int64_t forces_version, motions_version, masses_version;

  HkMethod step; /* what the scene chose */
  HkTime time;
  uint64_t fingerprint; /* of vertices, springs, pins and obstacles: a state fits only its own
                         * model. Forces and settings may differ; a run compares its whole scene,
                         * see run/record.c */
  HkModelCapacity capacity;
  struct HkPart *part; /* of this rank; NULL: the model is whole */
};

/* Returns a number that differs after each live change. */
static inline int64_t hk_model_version(const HkModel *m) {
  return m->springs.version + m->forces_version + m->motions_version + m->masses_version;
}

/* copy.c: a copy for one thread, with live changes of its own, which shares what never changes with
 * the model; the model has to outlive it. HK_ERROR_UNSUPPORTED for forces of the caller. */
HkStatus hk_model_copy(const HkModel *model, const HkContext *context, HkModel **copy,
                       HkError *error);

/* bytes.c: returns the bytes that the model holds now. */
size_t hk_model_bytes(const HkModel *model);

/* obstacles.c: x (m) becomes the position at time t (s) of the point of an obstacle that is at x0
 * at time 0. */
void hk_obstacle_place(const HkCompiledObstacle *obstacle, double t, const double x0[3],
                       double x[3]);
/* The pose at time t: x(t) = R x0 + T for every point of the obstacle, with a rotation R (rows). */
void hk_obstacle_pose(const HkCompiledObstacle *obstacle, double t, double R[9], double T[3]);

/* Returns the index of the first pin whose vertex is at least `vertex`. */
int64_t hk_model_first_pin(const HkModel *model, int64_t vertex);

/* origin becomes the origin of positions in single precision: the center of a model that is far
 * from 0, else 0. */
void hk_model_origin(const HkModel *model, double origin[3]);

/* Makes face_start and face_at, unless they exist. */
HkStatus hk_model_need_faces(HkModel *model, HkError *error);

#endif
