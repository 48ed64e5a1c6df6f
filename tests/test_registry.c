/* The registries against the source files, and what every schema must say.
 *
 * A file defines a method if a line of it begins with 'const TYPE hk_FAMILY_NAME', such as 'const
 * HkForceType hk_force_wind'. Files without one are the folder's common code.
 */
#include "base/schema.h"
#include "test.h"

#include <ctype.h>
#include <dirent.h>

typedef struct Folder {
  const char *path, *definition;
  int family;        /* HkFamily, or FORMATS */
  const char *other; /* another folder that has some of them, or NULL */
} Folder;

enum { FORMATS = HK_FAMILY_COUNT };

static const Folder folders[] = {
    {"src/force", "const HkForceType hk_force_", HK_FORCE, "src/contact"},
    {"src/step", "const HkStepType hk_step_", HK_STEP, NULL},
    {"src/minimize", "const HkMinimizeType hk_minimize_", HK_MINIMIZE, NULL},
    {"src/linear", "const HkLinearType hk_linear_", HK_LINEAR, NULL},
    {"src/linear/preconditioners", "const HkPreconditionType hk_precondition_", HK_PRECONDITION,
     NULL},
    {"src/motion", "const HkMotionType hk_motion_", HK_MOTION, NULL},
    {"src/obstacle", "const HkObstacleType hk_obstacle_", HK_OBSTACLE, NULL},
    {"src/output", "const HkOutputType hk_output_", HK_OUTPUT, NULL},
    {"src/mesh/shapes", "const HkShapeType hk_shape_", HK_SHAPE, NULL},
    {"src/mesh/readers", "const HkMeshFormat hk_format_", FORMATS, NULL},
};

enum { FOLDER_COUNT = sizeof folders / sizeof folders[0] };

static const char *registered_at(const Folder *folder, int index) {
  if (folder->family == FORMATS) return hk_mesh_format(index, NULL, NULL);
  const HkSchema *schema = hk_schema_at((HkFamily)folder->family, index);
  return schema ? schema->name : NULL;
}

static bool is_registered(const Folder *folder, const char *name) {
  const char *other;
  for (int q = 0; (other = registered_at(folder, q)); q++)
    if (strcmp(other, name) == 0) return true;
  return false;
}

/* The names that the files of a folder define. */
typedef struct Found {
  char names[256][64];
  int count;
} Found;

static bool is_found(const Found *found, const char *name) {
  for (int q = 0; q < found->count; q++)
    if (strcmp(found->names[q], name) == 0) return true;
  return false;
}

/* Adds what one file defines; one of the names must be that of the file. */
static void scan_file(const Folder *folder, const char *where, const char *file, Found *found) {
  char path[1024], line[1024];
  bool defines = false, own = false;
  size_t stem = strlen(file) - 2, length = strlen(folder->definition);
  snprintf(path, sizeof path, "%s/%s/%s", HOOKE_SOURCE_DIR, where, file);
  FILE *source = fopen(path, "r");
  CHECK(source != NULL);
  while (source && fgets(line, sizeof line, source)) {
    if (strncmp(line, folder->definition, length) != 0) continue;
    char *name = line + length;
    size_t end = 0;
    while (isalnum((unsigned char)name[end]) || name[end] == '_') end++;
    name[end] = 0;
    defines = true;
    own = own || (end == stem && strncmp(name, file, stem) == 0);
    if (found->count < 256) snprintf(found->names[found->count++], 64, "%s", name);
    if (!is_registered(folder, name))
      test_fail(__FILE__, __LINE__, "%s/%s defines '%s', which has no line in the folder's .def",
                where, file, name);
  }
  if (source) fclose(source);
  if (defines && !own)
    test_fail(__FILE__, __LINE__, "%s/%s does not define a method of its own name", where, file);
}

static void scan_path(const Folder *folder, const char *folder_path, Found *found) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", HOOKE_SOURCE_DIR, folder_path);
  DIR *listing = opendir(path);
  CHECK(listing != NULL);
  struct dirent *entry;
  while (listing && (entry = readdir(listing))) {
    size_t length = strlen(entry->d_name);
    if (length > 2 && strcmp(entry->d_name + length - 2, ".c") == 0)
      scan_file(folder, folder_path, entry->d_name, found);
  }
  if (listing) closedir(listing);
}

static void scan_folder(const Folder *folder) {
  static Found found;
  found.count = 0;
  scan_path(folder, folder->path, &found);
  if (folder->other) scan_path(folder, folder->other, &found);
  const char *name;
  for (int q = 0; (name = registered_at(folder, q)); q++)
    if (!is_found(&found, name))
      test_fail(__FILE__, __LINE__, "no file of %s defines '%s'", folder->path, name);
  CHECK(found.count > 0);
}

TEST(every_file_that_defines_a_method_is_registered_and_the_other_way_round) {
  for (int q = 0; q < FOLDER_COUNT; q++) scan_folder(&folders[q]);
}

/* ---- Schemas ---- */

/* One sentence: something, on one line, without a full stop that ends it or begins another. */
static bool is_sentence(const char *text) {
  size_t length = text ? strlen(text) : 0;
  return length > 3 && !strchr(text, '\n') && !strstr(text, ". ") && text[length - 1] != '.';
}

static int choice_count(const char *choices) {
  int count = 1;
  for (; *choices; choices++) count += *choices == '|';
  return count;
}

/* Units: '1' for a pure number. A vector may go without where its length says nothing. */
static bool has_unit(const HkParam *p) {
  if (!p->unit) return false;
  bool needed =
      p->kind == HK_PARAM_NUMBER || p->kind == HK_PARAM_INTEGER || p->kind == HK_PARAM_TABLE;
  return !needed || p->unit[0] != 0;
}

/* NAN stands for 'not given'. */
static bool has_sound_default(const HkParam *p) {
  double d = p->default_value[0];
  switch (p->kind) {
  case HK_PARAM_NUMBER: return p->min <= p->max && (isnan(d) || (p->min <= d && d <= p->max));
  case HK_PARAM_INTEGER: return p->min <= d && d <= p->max && d == floor(d);
  case HK_PARAM_BOOLEAN: return d == 0 || d == 1;
  case HK_PARAM_CHOICE:
    return p->choices && d >= 0 && d < choice_count(p->choices) && d == floor(d);
  case HK_PARAM_VECTOR:
    return isfinite(d) && isfinite(p->default_value[1]) && isfinite(p->default_value[2]);
  case HK_PARAM_TABLE: return p->columns >= 1;
  case HK_PARAM_TEXT:
  case HK_PARAM_SELECT: return true;
  case HK_PARAM_METHOD: return hk_schema_at(p->family, 0) != NULL;
  }
  return false;
}

static void check_params(const HkSchema *schema) {
  CHECK(schema->param_count == 0 || schema->size > 0);
  for (int q = 0; q < schema->param_count; q++) {
    const HkParam *p = &schema->params[q];
    const char *wrong = NULL;
    if (!p->help || !p->help[0] || strchr(p->help, '\n')) wrong = "help";
    if (!has_unit(p)) wrong = "unit";
    if (!has_sound_default(p)) wrong = "default or range";
    if (p->offset >= schema->size) wrong = "offset";
    if (hk_param_find(schema, p->name) != p) wrong = "name, which is there twice";
    for (const char *c = p->name; *c; c++)
      if (!isalnum((unsigned char)*c) && *c != '_') wrong = "name";
    if (wrong) test_fail(__FILE__, __LINE__, "%s.%s has a wrong %s", schema->name, p->name, wrong);
  }
}

TEST(every_parameter_has_unit_help_and_a_default_in_its_range) {
  for (int family = 0; family < HK_FAMILY_COUNT; family++)
    for (int q = 0; q < hk_schema_count((HkFamily)family); q++)
      check_params(hk_schema_at((HkFamily)family, q));
}

TEST(every_method_has_a_name_of_its_own_and_a_summary_of_one_sentence) {
  for (int family = 0; family < HK_FAMILY_COUNT; family++)
    for (int q = 0; q < hk_schema_count((HkFamily)family); q++) {
      const HkSchema *schema = hk_schema_at((HkFamily)family, q);
      CHECK(hk_schema_find((HkFamily)family, schema->name) == schema);
      if (!is_sentence(schema->summary))
        test_fail(__FILE__, __LINE__, "the summary of %s is not one sentence", schema->name);
      if (schema->formula && (!schema->formula[0] || strchr(schema->formula, '\n')))
        test_fail(__FILE__, __LINE__, "the formula of %s is not one line", schema->name);
    }
}

TEST(every_mesh_format_has_a_name_of_its_own_and_a_summary_of_one_sentence) {
  const char *name, *summary = NULL, *other;
  for (int q = 0; (name = hk_mesh_format(q, &summary, NULL)); q++) {
    if (!is_sentence(summary))
      test_fail(__FILE__, __LINE__, "the summary of %s is not one sentence", name);
    for (int r = 0; r < q && (other = hk_mesh_format(r, NULL, NULL)); r++)
      CHECK(strcmp(name, other) != 0);
  }
}

TEST(every_force_has_a_formula) {
  for (int q = 0; q < hk_schema_count(HK_FORCE); q++)
    CHECK(hk_schema_at(HK_FORCE, q)->formula != NULL);
}

TEST(every_default_can_be_set_and_copied) {
  for (int family = 0; family < HK_PART; family++)
    for (int q = 0; q < hk_schema_count((HkFamily)family); q++) {
      const HkSchema *schema = hk_schema_at((HkFamily)family, q);
      HkMethod method = {0}, copy = {0};
      MUST(hk_method_choose(&method, (HkFamily)family, schema->name, error));
      for (int r = 0; r < schema->param_count; r++) {
        const HkParam *p = &schema->params[r];
        if (p->kind == HK_PARAM_NUMBER && !isnan(p->default_value[0]))
          MUST(hk_method_set_number(&method, p->name, p->default_value[0], error));
        if (p->kind == HK_PARAM_VECTOR)
          MUST(hk_method_set_vector(&method, p->name, p->default_value, error));
      }
      MUST(hk_method_copy(&method, &copy, error));
      CHECK(copy.schema == schema);
      hk_method_clear(&method);
      hk_method_clear(&copy);
    }
}

TEST(nearest_word_counts_a_swap_of_letters_as_one_edit) {
  static const char *const names[] = {"verlet", "bdf2", "beta"};
  const char *near = hk_text_nearest("bdf", names, 3);
  CHECK(near && strcmp(near, "bdf2") == 0);
  near = hk_text_nearest("bfd2", names, 2);
  CHECK(near && strcmp(near, "bdf2") == 0);
  near = hk_text_nearest("evrelt", names, 3); /* two swaps */
  CHECK(near && strcmp(near, "verlet") == 0);
  CHECK(!hk_text_nearest("midpoint", names, 3) && !hk_text_nearest("", names, 3));
}
