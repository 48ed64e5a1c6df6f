/* Schemas: which methods there are and what can be set in them, with units and ranges. Methods are
 * chosen and set through them, by name. */
#ifndef HOOKE_SCHEMA_H
#define HOOKE_SCHEMA_H

#include "hooke/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Schemas: what can be set, with units ---------------------------------------------------- */

/* Families of methods, each with a registry. */
typedef enum HkFamily {
  HK_SHAPE,        /* procedural meshes */
  HK_FORCE,        /* what pulls at the masses */
  HK_MOTION,       /* how a pin or an obstacle moves */
  HK_OBSTACLE,     /* what bodies touch */
  HK_STEP,         /* time integrators */
  HK_MINIMIZE,     /* minimizers that solve an implicit step */
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
  double default_value[3];
  double min, max;      /* inclusive */
  const char *choices;  /* "a|b|c" for HK_PARAM_CHOICE */
  int columns;          /* of a table */
  HkFamily family;      /* of a method */
  const char *old_name; /* in earlier versions, which is still read; NULL: none */
} HkParam;

/* A method or a part of a scene, and what can be set in it. */
typedef struct HkSchema {
  const char *name;    /* the word in the scene file and the name of the source file */
  const char *summary; /* one sentence */
  const char *formula; /* the equation in one line, or NULL */
  const HkParam *params;
  int param_count;
  size_t size;      /* bytes of the parameter struct */
  bool needs_ranks; /* works on the device petsc alone (hooke/ranks.h) */
} HkSchema;

/* Rows of numbers, such as keyframes; owned by the struct that holds it. */
typedef struct HkTable {
  double *values; /* rows x columns of the parameter */
  int rows;
} HkTable;

/* An axis of coordinates. */
typedef enum HkAxis { HK_AXIS_X, HK_AXIS_Y, HK_AXIS_Z } HkAxis;

/* Ways to say which vertices are meant. */
typedef enum HkSelectKind {
  HK_SELECT_NONE,
  HK_SELECT_ALL,
  HK_SELECT_INDICES, /* counted from 0, in the order of the body's mesh file */
  HK_SELECT_BOX,     /* point .. other, inclusive */
  HK_SELECT_SPHERE,  /* center point, radius value */
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
  HkAxis axis;
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

#ifdef __cplusplus
}
#endif
#endif
