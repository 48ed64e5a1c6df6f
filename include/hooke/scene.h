/* Meshes and scenes: what a model is compiled from. */
#ifndef HOOKE_SCENE_H
#define HOOKE_SCENE_H

#include "hooke/schema.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Mesh: vertices and cells ---------------------------------------------------------------- */

/* Types of cells; corners in the order of Gmsh. */
typedef enum HkCellType {
  HK_CELL_POINT,
  HK_CELL_LINE,
  HK_CELL_TRIANGLE,
  HK_CELL_QUAD,
  HK_CELL_POLYGON, /* five corners or more */
  HK_CELL_TET,
  HK_CELL_PYRAMID,
  HK_CELL_WEDGE,
  HK_CELL_HEX
} HkCellType;

/* Vertices and cells; opaque. */
typedef struct HkMesh HkMesh;

/* One cell of a mesh; vertices points into the mesh and counts from 0. */
typedef struct HkCell {
  HkCellType type;
  int count;
  const int32_t *vertices;
} HkCell;

/* What to mend in a mesh; everything that is done is counted and logged. */
typedef struct HkRepair {
  double weld;      /* m: vertices at most this far apart become one; < 0: none do */
  bool zero_length; /* drop springs between vertices at the same place */
  bool unused;      /* drop vertices that no cell uses */
} HkRepair;

/* Makes an empty mesh. */
HK_API HkStatus hk_mesh_create(const HkContext *context, HkMesh **mesh, HkError *error);
/* Reads a mesh file; the format is known by the ending (.obj .ply .stl .off .mesh .msh .node .tet).
 */
HK_API HkStatus hk_mesh_read(const HkContext *context, const char *path, HkMesh **mesh,
                             HkError *error);
/* Reads a mesh from memory; format is an ending without its dot, name stands in error messages. */
HK_API HkStatus hk_mesh_parse(const HkContext *context, const char *format, const void *bytes,
                              size_t size, const char *name, HkMesh **mesh, HkError *error);
/* Writes a mesh file; the format is known by the ending. */
HK_API HkStatus hk_mesh_write(const HkMesh *mesh, const char *path, HkError *error);
/* The index-th format as "obj", or NULL; *writes says whether it can be written too. */
HK_API const char *hk_mesh_format(int index, const char **summary, bool *writes);
/* Makes the mesh of a chosen shape. */
HK_API HkStatus hk_mesh_shape(const HkContext *context, const HkMethod *shape, HkMesh **mesh,
                              HkError *error);
/* Appends count vertices (m); the numbers are copied. */
HK_API HkStatus hk_mesh_add_vertices(HkMesh *mesh, const double *xyz, int64_t count,
                                     HkError *error);
/* Appends a cell; its vertices must be there already. */
HK_API HkStatus hk_mesh_add_cell(HkMesh *mesh, HkCellType type, const int32_t *vertices, int count,
                                 HkError *error);
/* Appends vertices to the set of that name, which is made where it is not there yet. */
HK_API HkStatus hk_mesh_add_set(HkMesh *mesh, const char *name, const int32_t *vertices,
                                int64_t count, HkError *error);
/* Makes a copy of a mesh. */
HK_API HkStatus hk_mesh_copy(const HkMesh *from, HkMesh **to, HkError *error);
/* Number of vertices. */
HK_API int64_t hk_mesh_vertex_count(const HkMesh *mesh);
/* Positions (m), three doubles a vertex, writable; owned by the mesh, moved by the next add. */
HK_API double *hk_mesh_vertices(HkMesh *mesh);
/* Number of cells of all types. */
HK_API int64_t hk_mesh_cell_count(const HkMesh *mesh);
/* The index-th cell, in the order of the file; a cell of no vertices where there is none. */
HK_API HkCell hk_mesh_cell(const HkMesh *mesh, int64_t index);
/* Number of named vertex sets. */
HK_API int hk_mesh_set_count(const HkMesh *mesh);
/* Name of the index-th set, or NULL; owned by the mesh. */
HK_API const char *hk_mesh_set_name(const HkMesh *mesh, int index);
/* Vertices of the named set, or NULL; owned by the mesh. */
HK_API const int32_t *hk_mesh_set(const HkMesh *mesh, const char *name, int64_t *count);
/* Releases a mesh and sets the pointer to NULL. */
HK_API void hk_mesh_destroy(HkMesh **mesh);

/* ---- Scene: what the user wrote, plain data -------------------------------------------------- */

/* Which edges become springs and how stiff they are. Give k or EA, for all kinds or for each. */
typedef struct HkSprings {
  double k;                 /* N/m */
  double EA;                /* N: k = EA / l0, the same behavior at every resolution */
  double k_shear, EA_shear; /* NAN: as the edges */
  double k_bending, EA_bending;
  bool edges;         /* every unique edge of every cell */
  bool shear;         /* both diagonals of quads */
  bool bending;       /* opposite vertices across inner edges; skip-one on quads and chains */
  double rest_length; /* m, for every spring; NAN: from the mesh */
  double rest_scale;  /* rest lengths of the mesh are multiplied by this */
  double damping;     /* N s/m, along the spring */
  bool tension_only;  /* no force when shorter than at rest, as threads */
  /* Rows 'i j k [l0 [damping]]' that set or add single springs; NULL: none. Rows between the same
   * two vertices act in parallel: k and damping add up, l0 = sum(k l0) / sum(k). */
  const char *file;
  HkTable table; /* the same as rows 'i j k l0 damping', after those of the file; below 0: k,
                  * l0 or damping as all others have it */
} HkSprings;

/* How a total mass is distributed over vertices. */
typedef enum HkMassDistribution {
  HK_MASS_EQUAL, /* the same for each vertex */
  HK_MASS_LUMPED /* by the size of the cells around a vertex */
} HkMassDistribution;

/* Where the mass comes from: give one of the first five (NAN: not given; total 1 kg if none is). */
typedef struct HkMass {
  double per_vertex;               /* kg */
  double total;                    /* kg */
  double length_density;           /* kg/m along lines */
  double area_density;             /* kg/m^2 of faces */
  double volume_density;           /* kg/m^3 of solids */
  HkMassDistribution distribution; /* of the total */
  HkTable added;                   /* rows 'vertex kg': on top, at single vertices */
} HkMass;

/* Scaled, then rotated about an axis through the origin, then moved. */
typedef struct HkTransform {
  double scale[3], axis[3];
  double angle; /* degrees */
  double translate[3];
} HkTransform;

/* Whether a body touches itself. */
typedef enum HkSelfContact {
  HK_SELF_DEFAULT, /* as the contact force says */
  HK_SELF_OFF,
  HK_SELF_ON
} HkSelfContact;

/* How a body touches others; what is not given is that of the contact force. */
typedef struct HkBodyContact {
  bool enabled;     /* false: the body touches nothing */
  double thickness; /* m; NAN: not given */
  HkSelfContact self;
  double friction;         /* coefficient of static friction; NAN: not given */
  double friction_kinetic; /* of a contact that slides; NAN: the friction above, if it is given */
} HkBodyContact;

/* One connected or unconnected piece. Give shape, mesh_file or mesh. */
typedef struct HkBody {
  const char *name;
  HkMethod shape;
  const char *mesh_file; /* relative to the scene file */
  HkMesh *mesh;
  HkTransform transform;
  double stretch[3];  /* starting positions about the center, times this; rest lengths stay */
  double velocity[3]; /* m/s at the start */
  double spin[3];     /* rad/s at the start, about the center of mass */
  HkSprings springs;
  HkMass mass;
  HkRepair repair;
  HkBodyContact contact;
} HkBody;

/* Vertices whose motion is given. */
typedef struct HkPin {
  HkSelect select;
  HkMethod motion; /* none: fixed */
  double release;  /* s: free from then on; INFINITY: never */
} HkPin;

/* What bodies touch: a shape, and how it moves as a whole. */
typedef struct HkObstacle {
  const char *name; /* unlike those of all other obstacles and bodies; NULL: "obstacle0" ... */
  HkMethod shape;   /* of the family HK_OBSTACLE, at its place at time 0 */
  HkMethod motion;  /* none: fixed */
  double friction;  /* coefficient of static friction; NAN: that of the contact force */
  double friction_kinetic; /* of a contact that slides; NAN: the friction above, if it is given */
  bool two_sided;          /* a plane or grid pushes a vertex to the side where it stands */
  bool contact;            /* false: bodies pass through it */
} HkObstacle;

/* What holds between two bodies, a body and an obstacle, or a body and itself. */
typedef struct HkPair {
  const char *between[2];  /* names of bodies and obstacles; "ground": that of the contact force */
  double friction;         /* coefficient of static friction; NAN: sqrt of the product of theirs */
  double friction_kinetic; /* of a contact that slides; NAN: the friction above, if it is given */
  bool contact;            /* false: the two pass through each other */
} HkPair;

/* How the equations treat pinned vertices: the motion is the same. */
typedef enum HkPinMethod {
  HK_PINS_ELIMINATE, /* only free coordinates are unknowns */
  HK_PINS_REACTION   /* pins stay unknowns, each with the force that holds it */
} HkPinMethod;

/* Vertices whose motion is written to probes.csv at each frame. */
typedef struct HkProbe {
  const char *name;
  HkSelect select;
} HkProbe;

/* How long, in which steps. */
typedef struct HkTime {
  double duration;          /* s */
  double step;              /* s; 0: picked by stability; made to divide a frame evenly */
  double frames_per_second; /* 1/s */
  double energy_bound;      /* J: a run beyond it has blown up; NAN: estimated */
  double tolerance;    /* m: error of a step; steps are halved until it is met; NAN: as given */
  double default_step; /* s: taken if step is 0 and the integrator is stable at it; NAN: none */
} HkTime;

/* What was read or made. Its fields may be edited freely, and lists grow by hk_scene_add_*, which
 * copies all that it is given. A scene frees its own copies alone, never what a caller has assigned
 * to a field: such a string, array or mesh stays the caller's, is not copied, and must outlive the
 * scene. Methods are the exception: they are chosen, set and cleared by hk_method_*. */
typedef struct HkScene {
  HkContext context;
  const char *title;
  const char *folder; /* relative file names start here */
  int dimension;      /* 3, or 2: z is not an unknown */
  HkAxis up;          /* the axis that points up; y by default */
  HkTime time;
  HkMethod step; /* the integrator */
  HkBody *bodies;
  int body_count;
  HkPin *pins;
  int pin_count;
  HkPinMethod pin_method;
  HkObstacle *obstacles;
  int obstacle_count;
  HkPair *pairs;
  int pair_count;
  HkMethod *forces;
  int force_count;
  HkMethod *outputs;
  int output_count;
  HkProbe *probes;
  int probe_count;
  struct HkSceneStore *store; /* what the scene owns and the text that it was read from; opaque */
} HkScene;

/* A body without a mesh, 1 kg, k = 1000 N/m. */
HK_API HkBody hk_body_default(void);
/* A pin that selects nothing, fixed for ever. */
HK_API HkPin hk_pin_default(void);
/* An obstacle without a shape, fixed, one-sided, with the friction of the contact force. */
HK_API HkObstacle hk_obstacle_default(void);
/* A pair without names that touches, with the friction of its two. */
HK_API HkPair hk_pair_default(void);
/* 10 s at 30 frames a second, step picked by stability. */
HK_API HkTime hk_time_default(void);

/* Makes an empty scene: 3D, y up, symplectic_euler, no forces, no outputs. */
HK_API HkStatus hk_scene_create(const HkContext *context, HkScene **scene, HkError *error);
/* Reads a scene file (JSON, with // comments allowed). sets: "time.step=0.01" ..., applied before.
 */
HK_API HkStatus hk_scene_read(const HkContext *context, const char *path, const char *const *sets,
                              int set_count, HkScene **scene, HkError *error);
/* Reads a scene from text; name stands in error messages, folder is where file names start. */
HK_API HkStatus hk_scene_parse(const HkContext *context, const char *text, size_t size,
                               const char *name, const char *folder, const char *const *sets,
                               int set_count, HkScene **scene, HkError *error);
/* The scene as JSON text with every value in it; *text is freed with hk_text_destroy. */
HK_API HkStatus hk_scene_format(const HkScene *scene, char **text, HkError *error);
/* JSON Schema of the scene format for editors; *text is freed with hk_text_destroy. */
HK_API HkStatus hk_scene_schema(char **text, HkError *error);
/* Releases a text that the library made and sets the pointer to NULL. */
HK_API void hk_text_destroy(char **text);
/* Appends a copy of a body, with its mesh and shape; its number is put into *index unless that is
 * NULL, as by all hk_scene_add_*: it is then scene->bodies[index]. */
HK_API HkStatus hk_scene_add_body(HkScene *scene, const HkBody *body, int *index, HkError *error);
/* Appends a copy of a pin, with its motion. */
HK_API HkStatus hk_scene_add_pin(HkScene *scene, const HkPin *pin, int *index, HkError *error);
/* Appends a copy of an obstacle, with its shape and motion. */
HK_API HkStatus hk_scene_add_obstacle(HkScene *scene, const HkObstacle *obstacle, int *index,
                                      HkError *error);
/* Appends a copy of a pair; the model checks that its names exist. */
HK_API HkStatus hk_scene_add_pair(HkScene *scene, const HkPair *pair, int *index, HkError *error);
/* Appends a force with its default parameters: hk_method_set_number(&scene->forces[index], ...). */
HK_API HkStatus hk_scene_add_force(HkScene *scene, const char *name, int *index, HkError *error);
/* Appends an output with its default parameters. */
HK_API HkStatus hk_scene_add_output(HkScene *scene, const char *name, int *index, HkError *error);
/* Appends a copy of a probe. */
HK_API HkStatus hk_scene_add_probe(HkScene *scene, const HkProbe *probe, int *index,
                                   HkError *error);
/* Returns a copy of size bytes that the scene owns, to be assigned to a field: a string with its
 * end, the values of a table, a list of indices. NULL after an error. */
HK_API const void *hk_scene_keep(HkScene *scene, const void *data, size_t size, HkError *error);
/* Releases a scene with all that it holds and sets the pointer to NULL. */
HK_API void hk_scene_destroy(HkScene **scene);

/* The index-th built-in scene: its JSON text, name and one-sentence title; NULL past the last. */
HK_API const char *hk_scene_builtin(int index, const char **name, const char **title);

#ifdef __cplusplus
}
#endif
#endif
