/* Hooke: mass-spring systems. The whole public interface, in the order of the road
 *
 *     file --> HkScene --> HkModel --> HkSim + HkState --> frames, energies, pictures
 *             (editable)  (constant)   (one step at a time)
 *
 * SI units everywhere: m, kg, s, N, J. Vectors are three doubles, arrays of vectors x y z x y z ...
 *
 * Whatever can fail returns an HkStatus and explains itself in an HkError that the caller owns
 * (NULL if the text is not wanted). Whatever is created is destroyed by its hk_*_destroy, which
 * takes the address of the pointer and sets it to NULL. Meshes, models, states, simulations and
 * runs take their memory from an HkContext, the small editable parts of a scene from the C library.
 * There is no global state: objects that do not point to each other may be used by different
 * threads at once, with the same bits as one after the other. One number belongs to the process,
 * not to Hooke: while a simulation factorizes or solves with CHOLMOD, the number of threads of
 * OpenBLAS is 1, also for other callers of OpenBLAS. The worker threads of loops are shared by all.
 *
 * What callers promise: pointers are valid, and not NULL unless a comment allows it; arrays hold as
 * many entries as their count says, and may be NULL where it is 0. All else is checked: numbers,
 * counts, indices, states of another model, structs filled in C. What returns an HkStatus answers
 * HK_ERROR_INVALID and changes nothing; what returns a pointer answers NULL; what can do neither
 * says in its comment what it leaves.
 */
#ifndef HOOKE_HOOKE_H
#define HOOKE_HOOKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(HK_BUILD) && defined(__GNUC__)
#define HK_API __attribute__((visibility("default")))
#else
#define HK_API
#endif

/* ---- Version ------------------------------------------------------------------------------- */

#define HK_VERSION_MAJOR 0
#define HK_VERSION_MINOR 1
#define HK_VERSION_PATCH 0
#define HK_VERSION "0.1.0"

/* Version of the library that is linked, as "major.minor.patch"; static text. */
HK_API const char *hk_version(void);

/* ---- Status and errors --------------------------------------------------------------------- */

/* 0 is good, negative is an error, positive is a good end with something to know. */
typedef enum HkStatus {
  HK_OK = 0,
  HK_DONE = 1,               /* a run has no frame left */
  HK_NOT_CONVERGED = 2,      /* a step was made, but its equations are not met to the tolerance */
  HK_ERROR_INVALID = -1,     /* an argument or a value makes no sense */
  HK_ERROR_MEMORY = -2,      /* memory could not be had */
  HK_ERROR_IO = -3,          /* a file cannot be opened, read or written */
  HK_ERROR_FORMAT = -4,      /* a file's content is wrong */
  HK_ERROR_UNSUPPORTED = -5, /* valid, but not something Hooke does */
  HK_ERROR_BLOWUP = -6,      /* the motion is no longer finite or its energy left the bound */
  HK_ERROR_CANCELLED = -7    /* the caller's HkCancelFn has ended a step; the step is not made */
} HkStatus;

/* What went wrong, in one sentence with a way out; owned by the caller. */
typedef struct HkError {
  HkStatus status;
  int line, column; /* from 1; 0 where there is none */
  char file[512];   /* "" where there is none */
  char text[1536];  /* the whole message, the place included */
} HkError;

/* Name of a status, such as "HK_ERROR_IO"; static text. */
HK_API const char *hk_status_name(HkStatus status);

/* ---- Context: memory, log, threads ----------------------------------------------------------- */

/* How much a log line matters. */
typedef enum HkLogLevel { HK_LOG_INFO, HK_LOG_WARNING } HkLogLevel;

/* Who makes the steps of a simulation. */
typedef enum HkDeviceKind {
  HK_CPU,  /* this machine */
  HK_CUDA, /* an NVIDIA card, by the plug-in libhooke_cuda (docs/gpu.md), in single precision: steps
            * are then made while the caller goes on, and a blow-up is told after someone has looked
            * at the state */
  HK_CUDA_DOUBLE /* the same in double precision, slowly: to check with */
} HkDeviceKind;

/* Where an object takes memory from, whom it tells, how many threads it uses. Every create copies
 * it, so it may be a temporary; NULL stands for hk_context_default(). */
typedef struct HkContext {
  /* Like realloc: p NULL allocates, bytes 0 frees and returns NULL. Called from the caller's
   * thread. */
  void *(*resize)(void *memory_user, void *p, size_t bytes);
  void *memory_user;
  /* Receives one line without its end; NULL: nobody is told. The library itself never prints. */
  void (*log)(void *log_user, HkLogLevel level, const char *text);
  void *log_user;
  int threads; /* 0: as many as the machine offers; results do not depend on it */
  HkDeviceKind device;
} HkContext;

/* The C library's memory, no log, all cores. */
HK_API HkContext hk_context_default(void);

/* ---- Schemas: what can be set, with units ---------------------------------------------------- */

/* Families of methods, each with a registry. */
typedef enum HkFamily {
  HK_SHAPE,        /* procedural meshes */
  HK_FORCE,        /* what pulls at the masses */
  HK_MOTION,       /* how a pin moves */
  HK_STEP,         /* time integrators */
  HK_MINIMIZE,     /* minimisers that solve an implicit step */
  HK_LINEAR,       /* solvers of linear systems */
  HK_PRECONDITION, /* preconditioners of pcg */
  HK_OUTPUT,       /* exporters */
  HK_PART,         /* the fixed parts of a scene: time, springs, mass ... */
  HK_FAMILY_COUNT
} HkFamily;

/* What kind of value a parameter holds, and as which C type. */
typedef enum HkParamKind {
  HK_PARAM_NUMBER,  /* double; NAN stands for 'not given' */
  HK_PARAM_INTEGER, /* int */
  HK_PARAM_BOOLEAN, /* bool */
  HK_PARAM_VECTOR,  /* double[3] */
  HK_PARAM_CHOICE,  /* int, the index into choices */
  HK_PARAM_TEXT,    /* const char *, owned; NULL stands for 'not given' */
  HK_PARAM_TABLE,   /* HkTable, rows of numbers, owned */
  HK_PARAM_SELECT,  /* HkSelect, owned */
  HK_PARAM_METHOD   /* HkMethod of a family, owned; none stands for the family's default */
} HkParamKind;

/* One parameter: its place in the parameter struct, default and range. */
typedef struct HkParam {
  const char *name, *unit, *help;
  HkParamKind kind;
  size_t offset;
  double standard[3];  /* the default */
  double min, max;     /* inclusive */
  const char *choices; /* "a|b|c" for HK_PARAM_CHOICE */
  int columns;         /* of a table */
  HkFamily family;     /* of a method */
  const char *former;  /* name in earlier versions, which is still read; NULL: none */
} HkParam;

/* A method or a part of a scene, and what can be set in it. */
typedef struct HkSchema {
  const char *name;    /* the word in the scene file and the name of the source file */
  const char *summary; /* one sentence */
  const char *formula; /* the equation in one line, or NULL */
  const HkParam *params;
  int param_count;
  size_t size; /* bytes of the parameter struct */
} HkSchema;

/* Rows of numbers, such as keyframes; owned by the struct that holds it. */
typedef struct HkTable {
  double *values; /* rows x columns of the parameter */
  int rows;
} HkTable;

/* Ways to say which vertices are meant. */
typedef enum HkSelectKind {
  HK_SELECT_NONE,
  HK_SELECT_ALL,
  HK_SELECT_INDICES, /* counted from 0, in the order of the body's mesh file */
  HK_SELECT_BOX,     /* point .. other, inclusive */
  HK_SELECT_SPHERE,  /* centre point, radius value */
  HK_SELECT_LOWEST,  /* along axis, within the tolerance value */
  HK_SELECT_HIGHEST,
  HK_SELECT_NEAREST, /* the one vertex nearest to point */
  HK_SELECT_SET,     /* a named set of the body's mesh */
  HK_SELECT_VERTICES /* indices counted from 0 over all bodies, as in states */
} HkSelectKind;

/* Which vertices are meant, in the positions at time 0 (m); owned by the struct that holds it. */
typedef struct HkSelect {
  HkSelectKind kind;
  const char *body; /* name of the body; NULL: all bodies, or the only one for indices */
  const char *set;
  int32_t *indices;
  int64_t count;
  double point[3], other[3], value;
  int axis; /* 0 x, 1 y, 2 z */
} HkSelect;

/* A method that was chosen, with its parameters. */
typedef struct HkMethod {
  const HkSchema *schema; /* NULL: none */
  void *params;           /* schema->size bytes, owned */
} HkMethod;

/* Name of a family: "shape", "force" ...; static text. */
HK_API const char *hk_family_name(HkFamily family);
/* Number of registered methods of a family. */
HK_API int hk_schema_count(HkFamily family);
/* The index-th schema of a family, or NULL; static. */
HK_API const HkSchema *hk_schema_at(HkFamily family, int index);
/* The schema of that name, or NULL; static. */
HK_API const HkSchema *hk_schema_find(HkFamily family, const char *name);
/* The name that a misspelled word probably stands for, for 'did you mean'; NULL if none is within 1
 * + length / 3 letters to insert, remove, change or swap with the next one. */
HK_API const char *hk_text_nearest(const char *word, const char *const *names, int count);

/* Name of the method that a nested one stands for when none is given, such as "newton", or NULL;
 * static text. */
HK_API const char *hk_family_default(HkFamily family);

/* Sets method to the named one with its default parameters, releasing what it held before. */
HK_API HkStatus hk_method_choose(HkMethod *method, HkFamily family, const char *name,
                                 HkError *error);
/* Sets one number, integer, boolean (0 or 1) or choice (index); the range is checked. */
HK_API HkStatus hk_method_set_number(HkMethod *method, const char *param, double value,
                                     HkError *error);
/* Sets one vector of three numbers. */
HK_API HkStatus hk_method_set_vector(HkMethod *method, const char *param, const double value[3],
                                     HkError *error);
/* Sets one text, or a choice by its word; the text is copied. */
HK_API HkStatus hk_method_set_text(HkMethod *method, const char *param, const char *value,
                                   HkError *error);
/* Sets one table of rows x columns numbers; they are copied. */
HK_API HkStatus hk_method_set_table(HkMethod *method, const char *param, const double *values,
                                    int rows, HkError *error);
/* Sets one selection; it is copied. */
HK_API HkStatus hk_method_set_select(HkMethod *method, const char *param, const HkSelect *value,
                                     HkError *error);
/* Sets one nested method, such as the minimizer of an integrator, to the named one with its default
 * parameters, and returns it for setting them; NULL after an error. Owned by method. */
HK_API HkMethod *hk_method_set_method(HkMethod *method, const char *param, const char *name,
                                      HkError *error);
/* Sets method to what a text in the JSON of scenes says: "gravity" in its quotes, or {"type":
 * "gravity", "g": 1.62}; name stands in error messages and may be NULL. After an error method is
 * as it was. */
HK_API HkStatus hk_method_parse(HkMethod *method, HkFamily family, const char *text, size_t size,
                                const char *name, HkError *error);
/* The method as JSON text with every value in it; *text is freed with hk_text_destroy. */
HK_API HkStatus hk_method_format(const HkMethod *method, char **text, HkError *error);
/* Releases the parameters and sets the method to none. */
HK_API void hk_method_clear(HkMethod *method);
/* Makes a copy, with the methods in it; `to` is overwritten. */
HK_API HkStatus hk_method_copy(const HkMethod *from, HkMethod *to, HkError *error);

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
  double EA;                /* N: k = EA / l0, the same behaviour at every resolution */
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

/* Where the mass comes from: give one of the first five (NAN: not given; total 1 kg if none is). */
typedef struct HkMass {
  double per_vertex;     /* kg */
  double total;          /* kg */
  double length_density; /* kg/m along lines */
  double area_density;   /* kg/m^2 of faces */
  double volume_density; /* kg/m^3 of solids */
  int distribution;      /* of the total: 0 equal, 1 lumped by size of the cells around a vertex */
  HkTable added;         /* rows 'vertex kg': on top, at single vertices */
} HkMass;

/* Scaled, then rotated about an axis through the origin, then moved. */
typedef struct HkTransform {
  double scale[3], axis[3];
  double angle; /* degrees */
  double translate[3];
} HkTransform;

/* One connected or unconnected piece. Give shape, mesh_file or mesh. */
typedef struct HkBody {
  const char *name;
  HkMethod shape;
  const char *mesh_file; /* relative to the scene file */
  HkMesh *mesh;          /* owned by the scene once added */
  HkTransform transform;
  double stretch[3];  /* starting positions about the centre, times this; rest lengths stay */
  double velocity[3]; /* m/s at the start */
  double spin[3];     /* rad/s at the start, about the centre of mass */
  HkSprings springs;
  HkMass mass;
  HkRepair repair;
} HkBody;

/* Vertices whose motion is given. */
typedef struct HkPin {
  HkSelect select;
  HkMethod motion; /* none: fixed */
  double release;  /* s: free from then on; INFINITY: never */
} HkPin;

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

/* Owned by hk_scene_create/_read/_parse; edit the fields freely, add with hk_scene_add_*. */
typedef struct HkScene {
  HkContext context;
  char *title;
  char *folder;  /* relative file names start here */
  int dimension; /* 3, or 2: z is not an unknown */
  int up;        /* axis 0, 1, 2 that points up; 1 by default */
  /* Where it was read from, for error messages; NULL if it was made in C. */
  char *source_name, *source_text, *source_root;
  char **source_sets; /* assignments PATH=VALUE that changed the text before it was read */
  int source_set_count;
  bool is_course_format; /* errors name the keys of {"obj", "b", "k", "m"}, vertices from 1 */
  HkTime time;
  HkMethod step; /* the integrator */
  HkBody *bodies;
  int body_count;
  HkPin *pins;
  int pin_count;
  HkPinMethod pin_method;
  HkMethod *forces;
  int force_count;
  HkMethod *outputs;
  int output_count;
  HkProbe *probes;
  int probe_count;
} HkScene;

/* A body without a mesh, 1 kg, k = 1000 N/m. */
HK_API HkBody hk_body_default(void);
/* A pin that selects nothing, fixed for ever. */
HK_API HkPin hk_pin_default(void);
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
/* Appends a copy; body->mesh and body->shape move into the scene. */
HK_API HkStatus hk_scene_add_body(HkScene *scene, HkBody *body, HkError *error);
/* Appends a copy; the selection is copied, pin->motion moves into the scene. */
HK_API HkStatus hk_scene_add_pin(HkScene *scene, HkPin *pin, HkError *error);
/* Appends a force by name and returns it for setting its parameters; owned by the scene. */
HK_API HkMethod *hk_scene_add_force(HkScene *scene, const char *name, HkError *error);
/* Appends an output by name and returns it for setting its parameters; owned by the scene. */
HK_API HkMethod *hk_scene_add_output(HkScene *scene, const char *name, HkError *error);
/* Appends a probe; name and selection are copied. */
HK_API HkStatus hk_scene_add_probe(HkScene *scene, const char *name, const HkSelect *select,
                                   HkError *error);
/* Releases a scene with all that it holds and sets the pointer to NULL. */
HK_API void hk_scene_destroy(HkScene **scene);

/* The index-th built-in scene: its JSON text, name and one-sentence title; NULL past the last. */
HK_API const char *hk_scene_builtin(int index, const char **name, const char **title);

/* ---- Model: the compiled system, constant ---------------------------------------------------- */

/* The compiled system; opaque. Constant but for live changes (below), and may then be shared by
 * threads. */
typedef struct HkModel HkModel;

/* Springs as arrays; owned by the model. */
typedef struct HkSpringView {
  int64_t count;
  const int32_t *i, *j;   /* end vertices, i < j */
  const double *k, *l0;   /* N/m, m */
  const double *damping;  /* N s/m, or NULL if there is none */
  const uint8_t *kind;    /* 0 edge, 1 shear, 2 bending, 3 from a file */
  const uint8_t *tension; /* 1: tension only, or NULL if there is none */
  const uint8_t *broken;  /* 1: pulls at nothing, or NULL if there is none */
} HkSpringView;

/* Counts, sizes and ranges of a model. */
typedef struct HkModelInfo {
  int64_t vertices, springs, faces, pinned;
  int bodies, dimension;
  double mass;                   /* kg, in all */
  double mass_min, mass_max;     /* kg, of one vertex */
  double k_min, k_max;           /* N/m */
  double length_min, length_max; /* m, rest lengths */
  double box_min[3], box_max[3]; /* m, at the start */
  size_t bytes;                  /* memory of the model */
  size_t state_bytes;            /* memory of a new state; hk_state_bytes tells that of any */
  int threads;                   /* that work on it */
  const char *vectors;           /* their instruction set: "avx512", "avx2" or "portable" */
} HkModelInfo;

/* Compiles a scene: meshes are read, springs and masses made, everything checked. */
HK_API HkStatus hk_model_compile(const HkScene *scene, HkModel **model, HkError *error);
/* Counts, sizes and ranges; walks over the whole model. */
HK_API HkModelInfo hk_model_info(const HkModel *model);
/* The springs, one for two vertices, sorted by i and then j; the arrays are owned by the model. */
HK_API HkSpringView hk_model_springs(const HkModel *model);
/* Name of the index-th body, or NULL, and its vertices first .. first + count - 1. */
HK_API const char *hk_model_body(const HkModel *model, int index, int64_t *first, int64_t *count);
/* Name of the index-th vertex set of a body, or NULL, and how many vertices it holds. */
HK_API const char *hk_model_set_name(const HkModel *model, int body, int index, int64_t *count);
/* Masses (kg), one a vertex; owned by the model. */
HK_API const double *hk_model_masses(const HkModel *model);
/* Strain of each vertex at the positions x (m, three numbers a vertex): the mean of (l - l0) / l0
 * over its springs with l0 > 0 that are no bending springs; 0 where it has none. Pictures, the page
 * and reports take their colors from it. */
HK_API void hk_model_strains(const HkModel *model, const double *x, double *strain);
/* Strain of each vertex as by hk_model_strains, of positions in single precision. */
HK_API void hk_model_strains_single(const HkModel *model, const float *x, float *strain);
/* The pinned vertices, each once, in rising order; owned by the model. */
HK_API const int32_t *hk_model_pins(const HkModel *model, int64_t *count);
/* Triangles for drawing and for the wind, three vertices a face; owned by the model. */
HK_API const int32_t *hk_model_faces(const HkModel *model, int64_t *count);
/* The vertices of a selection, in rising order; *vertices is freed with hk_selection_destroy. */
HK_API HkStatus hk_model_select(const HkModel *model, const HkSelect *select, int32_t **vertices,
                                int64_t *count, HkError *error);
/* Releases the vertices of hk_model_select and sets the pointer to NULL. */
HK_API void hk_selection_destroy(const HkModel *model, int32_t **vertices);
/* Releases a model, after its simulations, and sets the pointer to NULL. */
HK_API void hk_model_destroy(HkModel **model);

/* ---- State: time, positions, velocities ------------------------------------------------------ */

/* Where a system is; opaque but for its arrays. */
typedef struct HkState HkState;

/* The start of a model; the state keeps no pointer to it. */
HK_API HkStatus hk_state_create(const HkModel *model, HkState **state, HkError *error);
/* Copies from into to; an error unless both come from the same model. */
HK_API HkStatus hk_state_copy(const HkState *from, HkState *to, HkError *error);
/* Positions (m), three doubles a vertex, writable between steps; owned by the state. */
HK_API double *hk_state_x(HkState *state);
/* Velocities (m/s), three doubles a vertex, writable between steps; owned by the state. */
HK_API double *hk_state_v(HkState *state);
/* Number of vertices. */
HK_API int64_t hk_state_vertex_count(const HkState *state);
/* Time (s). */
HK_API double hk_state_time(const HkState *state);
/* Sets the time (s), finite, which motions and time-dependent forces follow. bdf2, which remembers
 * the step before, starts anew from here: to be called, with the same time if it stays, after
 * positions or velocities were written between its steps. */
HK_API void hk_state_set_time(HkState *state, double time);
/* Gives a state springs of its own from now on: stiffness k (N/m), rest length l0 (m), damping (N
 * s/m) and which are broken (1), one number a spring in the order of hk_model_springs; NULL leaves
 * an array as it is. The numbers are copied; they are saved, copied and resumed with the state, and
 * may be set again between steps. Steps in single precision and on devices refuse such a state. */
HK_API HkStatus hk_state_set_springs(HkState *state, const HkModel *model, const double *k,
                                     const double *l0, const double *damping, const uint8_t *broken,
                                     HkError *error);
/* The springs of the model count again. */
HK_API void hk_state_reset_springs(HkState *state);
/* The springs that count for a state, owned by it or by its model; valid until they are set again;
 * none for a state of another model. */
HK_API HkSpringView hk_state_springs(const HkState *state, const HkModel *model);
/* Writes a state to a file (versioned, checksummed, to a temporary name that is then renamed). */
HK_API HkStatus hk_state_save(const HkState *state, const char *path, HkError *error);
/* Reads what hk_state_save wrote into a state of the same model. */
HK_API HkStatus hk_state_load(HkState *state, const char *path, HkError *error);
/* How many bytes hk_state_pack writes. */
HK_API size_t hk_state_packed_size(const HkState *state);
/* The state as bytes, in the byte order of the machine: to keep, or to send to another process. */
HK_API void hk_state_pack(const HkState *state, char *bytes);
/* Makes a state from what hk_state_pack wrote. It fits the model that it came from, and those that
 * are compiled from the same scene. */
HK_API HkStatus hk_state_from_bytes(const HkContext *context, const char *bytes, size_t size,
                                    HkState **state, HkError *error);
/* Memory of the state: of a new one, and as much again once an integrator has left the step before
 * in it. */
HK_API size_t hk_state_bytes(const HkState *state);
/* Releases a state and sets the pointer to NULL. */
HK_API void hk_state_destroy(HkState **state);

/* Energies (J), momenta and extremes of a state. */
typedef struct HkStateInfo {
  double time;
  double kinetic, spring, gravity, other, total;
  double momentum[3];            /* kg m/s */
  double angular_momentum[3];    /* kg m^2/s, about the origin */
  double strain_min, strain_max; /* (l - l0) / l0 over springs with l0 > 0 */
  double speed_max;              /* m/s */
} HkStateInfo;

/* ---- Simulation: one step at a time ---------------------------------------------------------- */

/* An integrator with its workspace; opaque. One for each thread that steps. */
typedef struct HkSim HkSim;

/* Prepares to move a model with an integrator (NULL: the scene's) at step h (s; 0: the scene's, or
 * one picked by stability where that has none). */
HK_API HkStatus hk_sim_create(const HkModel *model, const HkMethod *step, double h, HkSim **sim,
                              HkError *error);
/* Moves the state by one step; HK_ERROR_BLOWUP when it is no longer finite or beyond the bound,
 * HK_NOT_CONVERGED (a good end) when an implicit step was made but not solved to its tolerance,
 * HK_ERROR_CANCELLED when the callback of hk_sim_set_cancel ended it. */
HK_API HkStatus hk_sim_step(HkSim *sim, HkState *state, HkError *error);
/* Moves the state by count steps as that many calls of hk_sim_step do, bit for bit, and faster
 * where the integrator keeps the state in another form between steps. It stops at the first error.
 */
HK_API HkStatus hk_sim_steps(HkSim *sim, HkState *state, int64_t count, HkError *error);
/* The integrator with all that is nested in it: what was not given is as Hooke has picked it for
 * this model. Owned by the simulation. */
HK_API const HkMethod *hk_sim_method(const HkSim *sim);
/* The step (s). */
HK_API double hk_sim_h(const HkSim *sim);
/* Changes the step (s), above 0. */
HK_API HkStatus hk_sim_set_h(HkSim *sim, double h, HkError *error);
/* Largest stable step (s) of the integrator for small motions near a state, where forces are
 * linear; INFINITY if there is no largest one, 0 if none is stable. */
HK_API HkStatus hk_sim_stable_step(HkSim *sim, const HkState *state, double *h, HkError *error);
/* What holds of the steps of an integrator where hk_sim_stable_step returns INFINITY, as a sentence
 * without its full stop; "" for explicit ones. Owned by the library. */
HK_API const char *hk_method_stability(const HkMethod *step);

/* Why the solver of an implicit step stopped (docs/theory.md, section 6). The first four answers
 * meet the equations of the step to the tolerance or to rounding; with the last two hk_sim_step
 * returns HK_NOT_CONVERGED. */
typedef enum HkStop {
  HK_STOP_NONE,       /* there was nothing to solve: the integrator is explicit */
  HK_STOP_CONVERGED,  /* gradient <= tolerance at a minimum: the Hessian is positive definite and
                       * the Newton direction is shorter than tolerance times the motion */
  HK_STOP_ROUNDING,   /* the gradient is at the rounding of the coordinates, as at rest */
  HK_STOP_STATIONARY, /* gradient <= tolerance, but x is not known to be a minimum: the Hessian is
                       * indefinite or nearly singular (buckling, a flat valley, several minima), or
                       * the minimizer does not compute it */
  HK_STOP_ITERATIONS, /* the maximum number of iterations is reached */
  HK_STOP_STALLED     /* no step length along the search direction lowers the energy */
} HkStop;

/* How a step was solved. */
typedef struct HkStepInfo {
  int substeps, rejected; /* of an adaptive step: parts that were kept and thrown away */
  int iterations;         /* of the minimizer; 1 for a linearly implicit integrator */
  int linear_iterations;  /* of the linear solver, all together; a direct solve counts as one */
  int evaluations;        /* of the gradient */
  int projections;        /* how often the Hessian was not positive definite and was projected */
  double gradient; /* the relative gradient m = |M^-1 dg/dx|_M / |x - x_n|_M, without unit, with
                    * |d|_M = sqrt(sum m_i |d_i|^2): the unbalanced force would change the step by
                    * this part of its own motion; 0 for explicit integrators, and where nothing
                    * moves but for rounding; INFINITY where the minimizer found no way to move */
  double residual; /* of the last linear solve, |b - A x| / |b| */
  HkStop reason;
} HkStepInfo;

/* Name of a reason to stop, such as "converged"; static text. */
HK_API const char *hk_stop_name(HkStop reason);
/* How the last step was solved. */
HK_API HkStepInfo hk_sim_step_info(const HkSim *sim);

/* One iteration of a minimizer. */
typedef struct HkIteration {
  int iteration;   /* 0: the starting guess */
  double change;   /* kg m^2: g(x) - g(start), the energy that an implicit step minimises */
  double gradient; /* as in HkStepInfo */
  double seconds;  /* since the start, without what this call takes */
  const double *x; /* m, three a vertex: the iterate */
} HkIteration;

/* Returns whether to go on; false ends the iterations of this step with x as it is. */
typedef bool HkTraceFn(void *user, const HkIteration *iteration);
/* Has every iteration of the minimizer told to trace from now on; NULL: to nobody. */
HK_API HkStatus hk_sim_set_trace(HkSim *sim, HkTraceFn *trace, void *user, HkError *error);

/* Returns whether to end the step that is being made. Called many times in a step, by the thread
 * that makes it: it must be fast, and may read what another thread or a signal handler has set, as
 * an atomic value. It must not use the simulation, nor the state. */
typedef bool HkCancelFn(void *user);
/* Calls cancel before each step, at each iteration of minimizers and linear solvers and at each
 * part of an adaptive step; NULL removes the callback. Once it returns true, hk_sim_step and
 * hk_sim_steps return HK_ERROR_CANCELLED with the state at the end of the last whole step, from
 * which the same simulation, or another one, continues with the same bits. Not interrupted are the
 * analysis of a factorization (in the first step, and when other pins hold), a factorization by
 * CHOLMOD, and steps that a device has begun. */
HK_API void hk_sim_set_cancel(HkSim *sim, HkCancelFn *cancel, void *user);

/* Energies and momenta of a state; all NAN for a state of another model. */
HK_API void hk_sim_state_info(HkSim *sim, const HkState *state, HkStateInfo *report);
/* All forces on all vertices (N) at a state, into three doubles a vertex of the simulation's model;
 * all NAN for a state of another model. */
HK_API void hk_sim_forces(HkSim *sim, const HkState *state, double *f);
/* What holds each pinned vertex on its motion (N) at a state, R = m a - f with a the acceleration
 * of the motion, into three doubles a vertex in the order of hk_model_pins; 0 for released ones,
 * NAN for a state of another model. */
HK_API void hk_sim_reactions(HkSim *sim, const HkState *state, double *R);
/* The gradient dE/dx (N) of the potential energy E at a state, into three doubles a vertex: minus
 * the force at rest of all forces that have a potential (springs without damping, gravity,
 * buoyancy, point_load, handle). Pinned vertices count as free. All NAN for a state of another
 * model. */
HK_API void hk_sim_energy_gradient(HkSim *sim, const HkState *state, double *gradient);

/* A square sparse matrix as triplets: value[q] stands at row[q], column[q], counted from 0. Sorted
 * by row and then column, each place once; values may be 0. */
typedef struct HkTriplets {
  int64_t size;  /* rows, and columns */
  int64_t count; /* entries */
  int32_t *row, *column;
  double *value;
} HkTriplets;

/* The stiffness matrix K = df/dx = -d2E/dx2 (N/m) of all forces that have a potential, at a state:
 * 3 n x 3 n for n vertices, symmetric, coordinate c of vertex i at 3 i + c. It is the true
 * derivative: compressed springs are not projected, so that -K may be indefinite. Rows and columns
 * of pinned vertices, and of z in two dimensions, are included as if they were free; the caller
 * removes them. The mass matrix is diagonal, with hk_model_masses(model)[i] at 3 i + c. *K belongs
 * to the caller, may outlive the simulation, and is destroyed by hk_triplets_destroy. */
HK_API HkStatus hk_sim_stiffness(HkSim *sim, const HkState *state, HkTriplets **K, HkError *error);
/* Releases a matrix and sets the pointer to NULL. */
HK_API void hk_triplets_destroy(HkTriplets **matrix);
/* Memory that it holds now. Factorisations and the like come with the first step, and stay. */
HK_API size_t hk_sim_bytes(const HkSim *sim);
/* Releases a simulation and sets the pointer to NULL. */
HK_API void hk_sim_destroy(HkSim **sim);

/* ---- Arrays on a device: for programs that compute there, too ----------------------------------
 *
 * A state whose steps a device makes lies there in an order and a form of its own. These calls copy
 * it, within the device, into arrays that everybody can read, and back. An array belongs to the
 * caller and may outlive simulation, state and model; its content is that of the last call.
 */

/* Which array of a state. */
typedef enum HkArrayKind { HK_POSITIONS, HK_VELOCITIES } HkArrayKind;

/* Three numbers a vertex in the memory of a device, in the order of the model. */
typedef struct HkDeviceArray {
  void *data;         /* an address there; may be written there */
  int64_t count;      /* of vertices */
  int bytes;          /* of a number: 4 (float), or 8 (double) with HK_CUDA_DOUBLE */
  int device, number; /* as DLPack has them: 2 is a CUDA card, 1 this machine; and which of them */
} HkDeviceArray;

/* Writes positions (m) or velocities (m/s) of a state into an array on the device of a simulation;
 * the array is made where *array is NULL, and destroyed by hk_device_array_destroy.
 * HK_ERROR_UNSUPPORTED where the simulation makes its steps on this machine. Waits for all that
 * runs on the device, by others too, and until the array is complete. */
HK_API HkStatus hk_sim_read_device(HkSim *sim, HkState *state, HkArrayKind kind,
                                   HkDeviceArray **array, HkError *error);
/* Takes positions or velocities of a state from the device: from any address there, of numbers as
 * in an HkDeviceArray of this simulation. Held pins stay where they are. Waits likewise. */
HK_API HkStatus hk_sim_write_device(HkSim *sim, HkState *state, HkArrayKind kind, const void *data,
                                    HkError *error);
/* Releases an array on a device and sets the pointer to NULL. */
HK_API void hk_device_array_destroy(HkDeviceArray **array);

/* ---- Live changes: between steps, for interactive use ------------------------------------------
 *
 * A model may be changed between steps by the one thread that uses it and its simulations. States
 * stay valid and go on from where they are; simulations notice at their next step and make anew
 * only what depends on the change. A change that fails changes nothing. The step is changed by
 * hk_sim_set_h; for another integrator make another simulation of the same model and go on with the
 * same state.
 */

/* Makes every spring factor (above 0) times as stiff. */
HK_API HkStatus hk_model_scale_stiffness(HkModel *model, double factor, HkError *error);
/* Gives every spring the stiffness k (N/m). */
HK_API HkStatus hk_model_set_stiffness(HkModel *model, double k, HkError *error);

/* Gives every vertex its mass (kg, above 0): hk_model_masses reads them. */
HK_API HkStatus hk_model_set_masses(HkModel *model, const double *mass, HkError *error);

/* Number of forces: the springs are force 0, then come those of the scene in its order. */
HK_API int hk_model_force_count(const HkModel *model);
/* The index-th force with its parameters, or NULL; owned by the model. */
HK_API const HkMethod *hk_model_force(const HkModel *model, int index);
/* Appends a force, which is copied; its number is put into *index unless that is NULL. */
HK_API HkStatus hk_model_add_force(HkModel *model, const HkMethod *force, int *index,
                                   HkError *error);
/* Puts a force, which is copied, in the place of another one: a new gravity, a wind that turns, a
 * handle that is dragged on. Not of the springs. */
HK_API HkStatus hk_model_set_force(HkModel *model, int index, const HkMethod *force,
                                   HkError *error);
/* Removes a force but for the springs; those behind it move up by one. */
HK_API HkStatus hk_model_remove_force(HkModel *model, int index, HkError *error);

/* ---- Forces of the caller -----------------------------------------------------------------------
 *
 * A force that a program computes itself: an energy with its gradient and Hessian, or a force
 * without a potential. It takes part in every integrator, minimizer and linear solver as the
 * built-in ones do; devices refuse it. Callbacks are called by the thread that steps.
 */

/* Where a force is evaluated. */
typedef struct HkForceAt {
  int64_t vertices;
  double t;            /* s */
  const double *x, *v; /* m, m/s, three a vertex; v is NULL where only the part of the force that
                        * has a potential is asked for */
  void *state;         /* what create_state made for this simulation, or NULL */
} HkForceAt;

/* Receives blocks of 3 x 3 numbers; opaque. */
typedef struct HkForceBlockSink HkForceBlockSink;
/* Adds a block, row by row, at vertices i and j, which may be any two of the model, also one that
 * no spring connects; blocks at the same vertices add up. An index that is out of range is an error
 * of the step. */
HK_API void hk_force_add_block(HkForceBlockSink *sink, int32_t i, int32_t j, const double block[9]);

/* What a force consists of; the fields that are NULL are left out. Start from
 * hk_force_functions_default. */
typedef struct HkForceFunctions {
  size_t size;        /* bytes of this struct, as the caller knows it */
  const char *name;   /* for messages and reports; copied */
  bool uses_velocity; /* the force depends on v */
  /* Potential energy E (J); NULL: the force has none, and implicit steps take it as constant. */
  double (*energy)(void *user, const HkForceAt *at);
  /* f += the force (N), three numbers a vertex. Must be given. -dE/dx where there is an energy, and
   * whatever depends on v if v is not NULL. */
  void (*add)(void *user, const HkForceAt *at, double *f);
  /* All blocks of the Hessian d2E/dx_i dx_j (N/m), which is symmetric. Positive semidefinite is
   * best: a projection of the true one will do. NULL: 0. */
  void (*hessian)(void *user, const HkForceAt *at, HkForceBlockSink *sink);
  /* Blocks of a symmetric, positive semidefinite C near -df_i/dv_j (N s/m), by which implicit steps
   * damp; NULL: 0. */
  void (*damping)(void *user, const HkForceAt *at, HkForceBlockSink *sink);
  /* State of one simulation; an error ends its creation, or the step. */
  HkStatus (*create_state)(void *user, void **state, HkError *error);
  void (*destroy_state)(void *user, void *state);
  /* Before a step by h (s) from at, and after it at its end; an error of end_step leaves the state
   * at the end of the step. */
  HkStatus (*begin_step)(void *user, const HkForceAt *at, double h, HkError *error);
  HkStatus (*end_step)(void *user, const HkForceAt *at, double h, HkError *error);
  /* Before a minimizer evaluates anything at a new iterate. */
  HkStatus (*begin_iterate)(void *user, const HkForceAt *at, HkError *error);
  /* Shortens the move of all vertices or of some from at->x to `to`, so that the straight path
   * between the two is allowed; returns whether it has changed `to`. */
  bool (*filter)(void *user, const HkForceAt *at, double *to);
  /* Releases user, once the force is removed or the model destroyed and no simulation has state of
   * it, or at once after an error. */
  void (*destroy)(void *user);
} HkForceFunctions;

/* No function, and the size of the struct. */
HK_API HkForceFunctions hk_force_functions_default(void);
/* Appends a force of the caller, which is then removed by hk_model_remove_force; its number is put
 * into *index unless that is NULL. */
HK_API HkStatus hk_model_add_custom_force(HkModel *model, const HkForceFunctions *functions,
                                          void *user, int *index, HkError *error);
/* Appends a force that is an array of the caller (N, three numbers a vertex), which is read each
 * time forces are evaluated, and must outlive the model or the force. Implicit steps take it as
 * constant. */
HK_API HkStatus hk_model_add_force_array(HkModel *model, const double *force, int *index,
                                         HkError *error);

/* Gives a pin of the scene (from 0) another motion, which is copied; NULL: fixed. Its vertices are
 * where the motion has them from the next step on, at once. The release stays. */
HK_API HkStatus hk_model_set_motion(HkModel *model, int pin, const HkMethod *motion,
                                    HkError *error);
/* Lets a pinned vertex go; it keeps its velocity. */
HK_API HkStatus hk_state_release_pin(HkState *state, const HkModel *model, int32_t vertex,
                                     HkError *error);
/* Holds a pinned vertex again, where its motion has it now, also after its release. */
HK_API HkStatus hk_state_hold_pin(HkState *state, const HkModel *model, int32_t vertex,
                                  HkError *error);

/* The vertex nearest to a point, or -1 if there is none, and its distance (m). */
HK_API int32_t hk_state_nearest(const HkState *state, const double point[3], double *distance);
/* Of the vertices within a radius (m) of a ray the first one along it, else the one nearest to the
 * ray, in front of its origin; -1 if there is none. *along (m, unless NULL) is how far from the
 * origin. The direction may have any length but 0. */
HK_API int32_t hk_state_nearest_to_ray(const HkState *state, const double origin[3],
                                       const double direction[3], double radius, double *along);

/* ---- Run: frames into files, with checkpoints ------------------------------------------------ */

/* A scene on its way into files; opaque. */
typedef struct HkRun HkRun;

/* What a run does that blows up: it stops, or starts over with half the step or less. */
typedef enum HkOnBlowup { HK_BLOWUP_STOP, HK_BLOWUP_HALVE } HkOnBlowup;

/* How far a run is. */
typedef struct HkProgress {
  int64_t frame, frames;  /* written so far without the first, to write in all */
  int64_t step, substeps; /* done within this frame, in each frame */
  int64_t steps;          /* of this run of the program */
  int64_t stationary;     /* of these steps: HK_STOP_STATIONARY */
  int64_t unconverged;    /* of these steps: their equations are not met to the tolerance */
  int halvings;           /* of the step, after blow-ups */
  double time, duration;  /* s */
  double part;            /* of the present step that an adaptive one has done so far, 0 to 1 */
  double h;               /* s, the step */
  double stable_h;        /* s, the largest stable step at the start */
  double stepping;        /* s of the clock in steps so far, or in waiting for those of a device */
  double writing;         /* s of the clock in outputs and checkpoints; a device steps meanwhile */
} HkProgress;

/* How to run. */
typedef struct HkRunOptions {
  const char *folder; /* made where it is not there; NULL: nothing is written */
  bool resume;        /* go on from the checkpoint in the folder */
  bool force;         /* replace an earlier run in the folder */
  HkOnBlowup on_blowup;
  double checkpoint_seconds; /* of wall time between checkpoints; 0: at each frame */
  bool report;               /* gather frames for hk_run_report; needs the folder */
  const char *command;       /* a command line that repeats the run, for the report; or NULL */
  /* Told ten times a second at most where the run is, also within a frame; NULL: nobody is. */
  void (*progress)(void *progress_user, const HkProgress *progress);
  void *progress_user;
  /* Asked whether to end early: between the parts of hk_run_create (model, simulation, stable step,
   * files), and within frames and steps, as by hk_sim_set_cancel; NULL: nobody is. */
  HkCancelFn *cancel;
  void *cancel_user;
} HkRunOptions;

/* Nothing is written, a blow-up stops the run, checkpoints every 5 s. */
HK_API HkRunOptions hk_run_options_default(void);
/* Compiles the scene, opens the outputs and writes frame 0, or takes up a checkpoint.
 * HK_ERROR_CANCELLED, with no file written, when the options' cancel has ended it. */
HK_API HkStatus hk_run_create(const HkScene *scene, const HkRunOptions *options, HkRun **run,
                              HkError *error);
/* Simulates and writes one frame; HK_DONE when there is none left. HK_ERROR_BLOWUP, and nothing is
 * written, if a number of the frame is not finite or does not fit into an output.
 * HK_ERROR_CANCELLED when the options' cancel has ended it within the frame: the run stands at the
 * last whole step then, may write its checkpoint there, and continues with the next call. */
HK_API HkStatus hk_run_frame(HkRun *run, HkError *error);
/* Writes the checkpoint now, so that a run may stop here; nothing is written after an error. */
HK_API HkStatus hk_run_checkpoint(HkRun *run, HkError *error);
/* Writes a checkpoint and releases the folder, which another run may then resume; this one makes no
 * more frames. Until then, or until hk_run_destroy, the folder is locked. */
HK_API HkStatus hk_run_close(HkRun *run, HkError *error);
/* Writes report.html, one page that shows what was simulated so far: to be called at the end, and
 * also after an error, which the page then tells. Only where the options asked for a report. */
HK_API HkStatus hk_run_report(HkRun *run, HkError *error);
/* How far the run is. */
HK_API HkProgress hk_run_progress(const HkRun *run);
/* The run's model, owned by the run. */
HK_API const HkModel *hk_run_model(const HkRun *run);
/* The run's simulation, owned by the run. */
HK_API HkSim *hk_run_sim(HkRun *run);
/* The run's state, owned by the run; valid until the next frame. */
HK_API HkState *hk_run_state(HkRun *run);
/* Closes every file; what was written stays. */
HK_API void hk_run_destroy(HkRun **run);

/* ---- Viewer: the states of any simulation as one page -------------------------------------------
 *
 * For motions that no run makes: those of a program that steps, changes and drags by itself.
 */

/* States on their way into a page; opaque. Memory and page stay bounded: what is too much is left
 * out, as in a report. */
typedef struct HkViewer HkViewer;

/* Prepares to show states of a model of the scene. frames: how many there will be, about; bytes:
 * what the page may take, 6e6 or more; 0: 30e6. The model must outlive the viewer. */
HK_API HkStatus hk_viewer_create(const HkScene *scene, const HkModel *model, int64_t frames,
                                 double bytes, HkViewer **viewer, HkError *error);
/* Appends a state and its energies. */
HK_API HkStatus hk_viewer_add(HkViewer *viewer, HkSim *sim, const HkState *state, HkError *error);
/* Writes the page, HTML in one file; sim tells by which method the states were made. */
HK_API HkStatus hk_viewer_write(const HkViewer *viewer, const HkSim *sim, const char *path,
                                HkError *error);
/* Releases a viewer and sets the pointer to NULL. */
HK_API void hk_viewer_destroy(HkViewer **viewer);

#ifdef __cplusplus
}
#endif
#endif
