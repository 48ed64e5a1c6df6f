/* Parameter structs that describe themselves.
 *
 * A method keeps its parameters in a plain C struct and lists them once, in a table made with the
 * macros below. The table provides defaults, range checks, the scene parser and writer, the JSON
 * Schema and the documentation.
 *
 *     typedef struct Drag { double linear; } Drag;
 *     static const HkParam params[] = {
 *         HK_NUMBER(Drag, linear, "N s/m", 0.1, 0, HK_MAX, "force per speed on each vertex")};
 */
#ifndef HK_BASE_SCHEMA_H
#define HK_BASE_SCHEMA_H

#include "base/status.h"

#include <math.h>

#define HK_MAX 1e300

#define HK_NUMBER(S, field, unit, standard, min, max, help)                                        \
  {                                                                                                \
#field, unit, help, HK_PARAM_NUMBER, offsetof(S, field),                                       \
        {standard, 0, 0 }, min, max, 0, 0, 0, 0                                                    \
  }
/* A number whose name was `former` in version 0.1; the parser accepts both names. */
#define HK_RENAMED(S, field, former, unit, standard, min, max, help)                               \
  {                                                                                                \
#field, unit, help, HK_PARAM_NUMBER, offsetof(S, field),                                       \
        {standard, 0, 0 }, min, max, 0, 0, 0, #former                                              \
  }
#define HK_INTEGER(S, field, standard, min, max, help)                                             \
  {                                                                                                \
#field, "1", help, HK_PARAM_INTEGER, offsetof(S, field),                                       \
        {standard, 0, 0 }, min, max, 0, 0, 0, 0                                                    \
  }
#define HK_BOOLEAN(S, field, standard, help)                                                       \
  { #field, "", help, HK_PARAM_BOOLEAN, offsetof(S, field), {standard, 0, 0 }, 0, 1, 0, 0, 0, 0 }
#define HK_VECTOR(S, field, unit, x, y, z, help)                                                   \
  {                                                                                                \
#field, unit, help, HK_PARAM_VECTOR, offsetof(S, field),                                       \
        {x, y, z }, -HK_MAX, HK_MAX, 0, 0, 0, 0                                                    \
  }
#define HK_CHOICE(S, field, standard, words, help)                                                 \
  { #field, "", help, HK_PARAM_CHOICE, offsetof(S, field), {standard, 0, 0 }, 0, 0, words, 0, 0, 0 }
#define HK_TEXT(S, field, help)                                                                    \
  { #field, "", help, HK_PARAM_TEXT, offsetof(S, field), {0, 0, 0 }, 0, 0, 0, 0, 0, 0 }
#define HK_TABLE(S, field, unit, columns, help)                                                    \
  {                                                                                                \
#field, unit, help, HK_PARAM_TABLE, offsetof(S, field),                                        \
        {0, 0, 0 }, -HK_MAX, HK_MAX, 0, columns, 0, 0                                              \
  }
#define HK_SELECT(S, field, help)                                                                  \
  { #field, "", help, HK_PARAM_SELECT, offsetof(S, field), {0, 0, 0 }, 0, 0, 0, 0, 0, 0 }
#define HK_METHOD(S, field, family, help)                                                          \
  { #field, "", help, HK_PARAM_METHOD, offsetof(S, field), {0, 0, 0 }, 0, 0, 0, 0, family, 0 }

/* Initializes .params, .param_count and .size of a schema. */
#define HK_PARAMS(S, table)                                                                        \
  .params = (table), .param_count = (int)(sizeof(table) / sizeof(table)[0]), .size = sizeof(S)

/* Return the index-th schema of a family or NULL; each is defined in the family's folder. */
const HkSchema *hk_shape_schema(int index);
const HkSchema *hk_force_schema(int index);
const HkSchema *hk_motion_schema(int index);
const HkSchema *hk_obstacle_schema(int index);
const HkSchema *hk_step_schema(int index);
const HkSchema *hk_minimize_schema(int index);
const HkSchema *hk_linear_schema(int index);
const HkSchema *hk_precondition_schema(int index);
const HkSchema *hk_output_schema(int index);
const HkSchema *hk_part_schema(int index);

/* Returns "cholesky" in a build with CHOLMOD, else "ldlt"; defined in linear/. */
const char *hk_linear_default(void);

/* hk_family_noun returns the noun for a method of a family, as "linear solver"; hk_article the
 * article of a noun, "a" or "an". */
const char *hk_family_noun(HkFamily family);
const char *hk_article(const char *noun);

/* Returns whether methods of a family are nested in other methods only; such a family has a
 * default. */
static inline bool hk_is_nested_family(HkFamily family) {
  return family == HK_MINIMIZE || family == HK_LINEAR || family == HK_PRECONDITION;
}

/* Fails because devices do not support a method; instead: those that they do. */
HkStatus hk_fail_device(HkFamily family, const char *name, const char *instead, HkError *error);
/* Returns the parameter with that current or former name, or NULL. */
const HkParam *hk_param_find(const HkSchema *schema, const char *name);

/* Sets every parameter to its default; params are schema->size bytes, which may be uninitialized.
 */
void hk_params_default(const HkSchema *schema, void *params);
/* Frees texts, tables, selections and nested methods. */
void hk_params_clear(const HkSchema *schema, void *params);
/* Makes a deep copy into params, whose old content is not freed. */
HkStatus hk_params_copy(const HkSchema *schema, const void *from, void *to, HkError *error);

/* Checks the range of one parameter and sets it; the key of an error is its name. */
HkStatus hk_param_set_number(const HkParam *param, void *params, double value, HkError *error);

/* registry.c: whether a method of this schema belongs to a family. */
bool hk_schema_is_of(HkFamily family, const HkSchema *schema);

/* check.c: returns an error if a struct that was filled in C violates its table: numbers out of
 * range, NaN and infinities, tables without values. path is that of the struct in a scene, for the
 * keys of errors; "" if the caller puts it before them. */
HkStatus hk_params_check(const HkSchema *schema, const void *params, const char *path,
                         HkError *error);
/* Checks the parameters of a method, which must belong to the family; a method without schema
 * passes. */
HkStatus hk_method_check(const HkMethod *method, HkFamily family, const char *path, HkError *error);
/* Returns an error if a table with rows has no values, or values that are not finite. */
HkStatus hk_table_check_rows(const HkTable *table, int columns, const char *name, HkError *error);
/* hk_select_check returns an error if the kind, axis, list or numbers of a selection are invalid;
 * the model checks that the vertices exist. hk_select_check_list checks the list of indices only.
 */
HkStatus hk_select_check(const HkSelect *select, HkError *error);
HkStatus hk_select_check_list(const HkSelect *select, HkError *error);

/* hk_choice_index returns the index of a word in "a|b|c", or -1; hk_choice_word writes the word of
 * an index. */
int hk_choice_index(const char *choices, const char *word);
void hk_choice_word(const char *choices, int index, char *word, size_t size);

HkStatus hk_select_copy(const HkSelect *from, HkSelect *to, HkError *error);
void hk_select_clear(HkSelect *select);

#endif
