/* hooke methods: shapes, forces, methods and formats of a scene, from the registries of the
 * library. */
#include "command.h"
#include "json.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double UNBOUNDED = 1e300;

/* A method, a part of a scene or a mesh format. */
typedef struct Entry {
  int group;
  const char *name, *summary;
  const HkSchema *schema; /* NULL for mesh formats */
  bool writes;            /* of mesh formats */
} Entry;

typedef struct Settings {
  bool json;
} Settings;

static const Option options[] = {
    OPTION_FLAG(Settings, json, 0, "--json", "print a JSON list instead of text"),
};

enum { MESH_FORMAT = HK_FAMILY_COUNT, GROUP_COUNT };

/* Families in the order of HkFamily, then the mesh formats. */
static const struct {
  const char *one, *many, *place;
} groups[GROUP_COUNT] = {
    {"shape", "Shapes", "\"shape\" of a body"},
    {"force", "Forces", "in the list \"forces\""},
    {"motion", "Motions", "\"motion\" of a pin or an obstacle"},
    {"obstacle", "Obstacles", "in the list \"obstacles\""},
    {"integrator", "Integrators", "\"integrator\""},
    {"minimizer", "Minimizers", "\"minimizer\" of an implicit integrator"},
    {"linear solver", "Linear solvers", "\"linear\" of a minimizer or integrator"},
    {"preconditioner", "Preconditioners", "\"preconditioner\" of pcg"},
    {"output", "Outputs", "in the list \"outputs\""},
    {"part of a scene", "Parts of a scene", "the values that need no method"},
    {"mesh format", "Mesh formats", "\"mesh\" of a body, by the ending of the file"},
};

/* ---- Parameters ------------------------------------------------------------------------------ */

static Text default_text(const HkParam *p) {
  Text text = {0};
  const double *d = p->default_value;
  switch (p->kind) {
  case HK_PARAM_NUMBER:
  case HK_PARAM_INTEGER: snprintf(text.c, sizeof text.c, isfinite(d[0]) ? "%g" : "-", d[0]); break;
  case HK_PARAM_BOOLEAN: snprintf(text.c, sizeof text.c, "%s", d[0] != 0 ? "true" : "false"); break;
  case HK_PARAM_VECTOR: snprintf(text.c, sizeof text.c, "[%g, %g, %g]", d[0], d[1], d[2]); break;
  case HK_PARAM_CHOICE: text_choice(p->choices, (int)d[0], text.c, sizeof text.c); break;
  case HK_PARAM_TEXT:
  case HK_PARAM_TABLE:
  case HK_PARAM_SELECT: snprintf(text.c, sizeof text.c, "-"); break;
  case HK_PARAM_METHOD: {
    const char *name = hk_family_default(p->family);
    snprintf(text.c, sizeof text.c, "%s", name ? name : "-");
  }
  }
  return text;
}

static Text range_text(const HkParam *p) {
  Text text = {0};
  bool low = p->min > -UNBOUNDED, high = p->max < UNBOUNDED;
  if (p->kind == HK_PARAM_CHOICE)
    snprintf(text.c, sizeof text.c, "%s", p->choices);
  else if (p->kind == HK_PARAM_BOOLEAN)
    snprintf(text.c, sizeof text.c, "true|false");
  else if (p->kind == HK_PARAM_TEXT)
    snprintf(text.c, sizeof text.c, "text");
  else if (p->kind == HK_PARAM_SELECT)
    snprintf(text.c, sizeof text.c, "vertices");
  else if (p->kind == HK_PARAM_METHOD)
    snprintf(text.c, sizeof text.c, "a %s", groups[p->family].one);
  else if (p->kind == HK_PARAM_TABLE)
    snprintf(text.c, sizeof text.c, "rows of %d", p->columns);
  else if (p->kind == HK_PARAM_VECTOR)
    snprintf(text.c, sizeof text.c, "vector");
  else if (low && high)
    snprintf(text.c, sizeof text.c, "%g .. %g", p->min, p->max);
  else if (low)
    snprintf(text.c, sizeof text.c, ">= %g", p->min);
  else if (high)
    snprintf(text.c, sizeof text.c, "<= %g", p->max);
  return text;
}

enum { COLUMNS = 4 };

/* Writes name, unit, default and range of a parameter into cells. */
static void row_cells(const HkParam *p, Text *cells) {
  snprintf(cells[0].c, sizeof cells[0].c, "%s", p->name);
  snprintf(cells[1].c, sizeof cells[1].c, "%s", strcmp(p->unit, "1") == 0 ? "" : p->unit);
  cells[2] = default_text(p);
  cells[3] = range_text(p);
}

/* Prints the parameters; the meaning of each is beside its cells, or below them if too few columns
 * are left. */
static void print_params(const HkSchema *schema) {
  enum { MIN_MEANING = 30, MEANING_BELOW = 6 };
  static const char *const heads[COLUMNS] = {"parameter", "unit", "default", "range"};
  int widths[COLUMNS], indent = 2;
  Text cells[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) widths[c] = (int)strlen(heads[c]);
  for (int q = 0; q < schema->param_count; q++) {
    row_cells(&schema->params[q], cells);
    for (int c = 0; c < COLUMNS; c++)
      if ((int)strlen(cells[c].c) > widths[c]) widths[c] = (int)strlen(cells[c].c);
  }
  printf("\n  ");
  for (int c = 0; c < COLUMNS; c++) {
    printf("%-*s  ", widths[c], heads[c]);
    indent += widths[c] + 2;
  }
  bool beside = indent + MIN_MEANING <= text_width(stdout);
  printf("%s\n", beside ? "meaning" : "");
  for (int q = 0; q < schema->param_count; q++) {
    row_cells(&schema->params[q], cells);
    printf("  ");
    for (int c = 0; c < COLUMNS; c++) printf("%-*s  ", widths[c], cells[c].c);
    if (!beside) printf("\n%*s", MEANING_BELOW, "");
    text_wrap(stdout, schema->params[q].help, beside ? indent : MEANING_BELOW, text_width(stdout));
  }
}

static void print_entry(const Entry *e) {
  int width = text_width(stdout);
  printf("%s (%s)\n  ", e->name, groups[e->group].one);
  text_wrap(stdout, e->summary, 2, width);
  if (!e->schema) {
    printf("  Hooke reads it%s.\n", e->writes ? " and writes it" : "");
    return;
  }
  if (e->schema->formula) {
    printf("  ");
    text_wrap(stdout, e->schema->formula, 4, width);
  }
  if (e->schema->param_count > 0) print_params(e->schema);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_default(Json *json, const HkParam *p) {
  if (p->kind == HK_PARAM_NUMBER || p->kind == HK_PARAM_INTEGER)
    put_number(json, "default", p->default_value[0]);
  else if (p->kind == HK_PARAM_BOOLEAN)
    put_boolean(json, "default", p->default_value[0] != 0);
  else if (p->kind == HK_PARAM_VECTOR)
    put_numbers(json, "default", p->default_value, 3);
  else
    put_text(json, "default",
             p->kind == HK_PARAM_CHOICE || p->kind == HK_PARAM_METHOD ? default_text(p).c : NULL);
}

static void json_param(Json *json, const HkParam *p) {
  static const char *const kinds[] = {"number", "integer", "boolean", "vector", "choice",
                                      "text",   "table",   "select",  "method"};
  bool number = p->kind == HK_PARAM_NUMBER || p->kind == HK_PARAM_INTEGER;
  char word[64];
  put_begin(json, NULL, '{');
  put_text(json, "name", p->name);
  put_text(json, "type", kinds[p->kind]);
  put_text(json, "unit", p->unit);
  json_default(json, p);
  if (number && p->min > -UNBOUNDED) put_number(json, "min", p->min);
  if (number && p->max < UNBOUNDED) put_number(json, "max", p->max);
  if (p->kind == HK_PARAM_METHOD) put_text(json, "family", groups[p->family].one);
  if (p->kind == HK_PARAM_TABLE) put_integer(json, "columns", p->columns);
  if (p->kind == HK_PARAM_CHOICE) {
    put_begin(json, "choices", '[');
    for (int q = 0; text_choice(p->choices, q, word, sizeof word); q++) put_text(json, NULL, word);
    put_end(json, ']');
  }
  put_text(json, "help", p->help);
  put_end(json, '}');
}

static void json_entry(Json *json, const Entry *e) {
  put_begin(json, NULL, '{');
  put_text(json, "family", groups[e->group].one);
  put_text(json, "name", e->name);
  put_text(json, "summary", e->summary);
  if (e->schema) {
    put_text(json, "formula", e->schema->formula);
    put_begin(json, "parameters", '[');
    for (int q = 0; q < e->schema->param_count; q++) json_param(json, &e->schema->params[q]);
    put_end(json, ']');
  } else {
    put_boolean(json, "writes", e->writes);
  }
  put_end(json, '}');
}

/* ---- Entries --------------------------------------------------------------------------------- */

enum { MAX_METHODS = 512 };

/* Lists all entries in the order of the registries. */
static int collect(Entry *entries) {
  const HkSchema *schema;
  const char *name, *summary;
  bool writes;
  int count = 0;
  for (int f = 0; f < HK_FAMILY_COUNT; f++)
    for (int q = 0; count < MAX_METHODS && (schema = hk_schema_at((HkFamily)f, q)); q++)
      entries[count++] = (Entry){f, schema->name, schema->summary, schema, false};
  for (int q = 0; count < MAX_METHODS && (name = hk_mesh_format(q, &summary, &writes)); q++)
    entries[count++] = (Entry){MESH_FORMAT, name, summary, NULL, writes};
  return count;
}

static void print_list(const Entry *entries, int count) {
  int width = text_width(stdout), group = -1, longest = 0;
  for (int q = 0; q < count; q++)
    if ((int)strlen(entries[q].name) > longest) longest = (int)strlen(entries[q].name);
  for (int q = 0; q < count; q++) {
    const Entry *e = &entries[q];
    if (e->group != group)
      printf("%s%s: %s\n", q ? "\n" : "", groups[e->group].many, groups[e->group].place);
    group = e->group;
    printf("  %-*s  ", longest, e->name);
    text_wrap(stdout, e->summary, longest + 4, width);
  }
  printf("\nhooke methods NAME explains one: its equation, parameters and units.\n");
}

/* Moves the entries of that name, at most one in each family, to the front; returns their
 * number. */
static int keep_named(Entry *entries, int count, const char *name) {
  int kept = 0;
  for (int q = 0; q < count; q++)
    if (strcmp(entries[q].name, name) == 0) entries[kept++] = entries[q];
  return kept;
}

static int unknown(const Entry *entries, int count, const char *name) {
  const char *names[MAX_METHODS];
  for (int q = 0; q < count; q++) names[q] = entries[q].name;
  const char *near = hk_text_nearest(name, names, count);
  if (near) return complain(EXIT_INPUT, "there is no method '%s'; did you mean '%s'?", name, near);
  return complain(EXIT_INPUT, "there is no method '%s'; 'hooke methods' lists all", name);
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  Entry entries[MAX_METHODS];
  int count = collect(entries);
  if (word_count > 0) {
    int named = keep_named(entries, count, words[0]);
    if (named == 0) return unknown(entries, count, words[0]);
    count = named;
  }
  if (settings->json) {
    Json json = {.file = stdout};
    put_begin(&json, NULL, '[');
    for (int q = 0; q < count; q++) json_entry(&json, &entries[q]);
    put_end(&json, ']');
    printf("\n");
  } else if (word_count > 0) {
    for (int q = 0; q < count; q++) {
      if (q > 0) printf("\n");
      print_entry(&entries[q]);
    }
  } else {
    print_list(entries, count);
  }
  return EXIT_GOOD;
}

const Command command_methods = {
    .name = "methods",
    .arguments = "[NAME]",
    .summary = "list shapes, forces, integrators and other methods",
    .text = "Without a name: shapes, forces, motions, integrators, minimizers, linear solvers, "
            "preconditioners, outputs, parts of a scene and mesh formats. With one: its formula "
            "and its parameters with unit, default and range.",
    .examples = "  hooke methods\n"
                "  hooke methods gravity\n"
                "  hooke methods time\n"
                "  hooke methods --json\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 0,
    .most = 1,
    .words = WORDS_METHOD,
    .run = run,
};
