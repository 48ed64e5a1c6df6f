/* Forces of a shared library that the user wrote; see hooke/extend.h.
 *
 * The library returns a table of forces, and one of them fills callbacks as
 * hk_model_add_custom_force takes them: from then on it is a force of the caller (custom.c). Each
 * compiled force holds a reference of dlopen to its library, which the system counts, so that the
 * code stays loaded while a model or a simulation may call it.
 *
 * Loading a library runs its code with all rights of the process. A scene may do so only where the
 * context allows it.
 */
#include "force/force.h"
#include "model/build.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

typedef struct HkLibraryParams {
  const char *file, *name, *settings;
} HkLibraryParams;

static const HkParam params[] = {
    HK_TEXT(HkLibraryParams, file, "shared library, relative to the scene file"),
    HK_TEXT(HkLibraryParams, name, "name of the force in the library"),
    HK_TEXT(HkLibraryParams, settings, "text for the library, which defines its form"),
};

#ifdef __wasi__

HkStatus hk_force_compile_library(HkModel *m, const char *path, const char *name,
                                  const char *settings, HkCompiledForce *force, HkError *error) {
  (void)m;
  (void)path;
  (void)name;
  (void)settings;
  *force = (HkCompiledForce){0};
  return hk_fail_key(error, HK_ERROR_UNSUPPORTED, "file",
                     "a browser cannot load shared libraries; run the scene by the program or by a "
                     "library of Hooke that is built for this machine");
}

static HkStatus resolve(HkModel *m, HkCompiledForce *force, HkError *error) {
  HkCompiledForce none;
  (void)force;
  return hk_force_compile_library(m, NULL, NULL, NULL, &none, error);
}

#else

#include <dlfcn.h>
#include <stdlib.h>

/* A change of a struct that Hooke and libraries exchange needs another HK_FORCE_LIBRARY_VERSION.
 * The sizes are those of 64-bit systems. */
#define IS_UNCHANGED(type, bytes) (sizeof(void *) != 8 || sizeof(type) == (bytes))
_Static_assert(HK_FORCE_LIBRARY_VERSION == 2, "update the sizes below");
_Static_assert(IS_UNCHANGED(HkForceLibrary, 32), "raise HK_FORCE_LIBRARY_VERSION");
_Static_assert(IS_UNCHANGED(HkLibraryForce, 24), "raise HK_FORCE_LIBRARY_VERSION");
_Static_assert(IS_UNCHANGED(HkForceHost, 80), "raise HK_FORCE_LIBRARY_VERSION");
_Static_assert(IS_UNCHANGED(HkForceFunctions, 128), "raise HK_FORCE_LIBRARY_VERSION");
_Static_assert(IS_UNCHANGED(HkForceAt, 48), "raise HK_FORCE_LIBRARY_VERSION");
_Static_assert(IS_UNCHANGED(HkError, 2320), "raise HK_FORCE_LIBRARY_VERSION");
_Static_assert(IS_UNCHANGED(HkSelect, 104), "raise HK_FORCE_LIBRARY_VERSION");

static const char SYMBOL[] = "hooke_force_library";

/* ---- What libraries receive ---- */

static HkStatus fail(HkError *error, HkStatus status, const char *message) {
  return hk_fail(error, status < 0 ? status : HK_ERROR_INVALID, "%s", message);
}

static int64_t vertex_count(const HkModel *m) {
  return m->n;
}

static const double *positions(const HkModel *m) {
  return m->x0;
}

static const HkForceHost host = {
    .version = HK_FORCE_LIBRARY_VERSION,
    .size = sizeof host,
    .add_block = hk_force_add_block,
    .fail = fail,
    .vertex_count = vertex_count,
    .positions = positions,
    .masses = hk_model_masses,
    .faces = hk_model_faces,
    .select = hk_model_select,
    .destroy_selection = hk_selection_destroy,
};

/* ---- Opening ---- */

/* A library with its file, for messages. */
typedef struct Library {
  void *handle;
  const char *path;
  const HkForceLibrary *table;
} Library;

static void close_library(void *handle) {
  dlclose(handle);
}

static HkStatus check_entries(const Library *library, HkError *error) {
  const HkForceLibrary *table = library->table;
  if (table->count < 0 || (table->count > 0 && !table->forces))
    return hk_fail_key(
        error, HK_ERROR_FORMAT, "file",
        "the library %s says that it has %d forces, but has no list of them; correct "
        "what %s returns",
        library->path, table->count, SYMBOL);
  for (int q = 0; q < table->count; q++)
    if (!table->forces[q].name || !table->forces[q].create)
      return hk_fail_key(error, HK_ERROR_FORMAT, "file",
                         "force %d of the library %s has no %s; correct what %s returns", q,
                         library->path, table->forces[q].name ? "function create" : "name", SYMBOL);
  return HK_OK;
}

/* version and size come first in every version of the struct. */
static HkStatus check_table(const Library *library, HkError *error) {
  const HkForceLibrary *table = library->table;
  if (!table)
    return hk_fail_key(error, HK_ERROR_FORMAT, "file",
                       "%s of the library %s returns no table of forces; correct it", SYMBOL,
                       library->path);
  if (table->version != HK_FORCE_LIBRARY_VERSION || table->size < sizeof *table)
    return hk_fail_key(error, HK_ERROR_FORMAT, "file",
                       "the library %s was compiled for version %d of force libraries (%zu bytes), "
                       "this Hooke has version %d (%zu bytes); compile it again with the headers "
                       "of this Hooke",
                       library->path, table->version, table->size, HK_FORCE_LIBRARY_VERSION,
                       sizeof *table);
  return check_entries(library, error);
}

static HkStatus find_table(Library *library, HkError *error) {
  /* POSIX gives functions as data pointers; C has no cast between the two. */
  const HkForceLibrary *(*function)(void) = NULL;
  void *symbol = dlsym(library->handle, SYMBOL);
  if (!symbol)
    return hk_fail_key(error, HK_ERROR_FORMAT, "file",
                       "the library %s does not export the function %s, so that it has no forces "
                       "for Hooke; define it as hooke/extend.h says",
                       library->path, SYMBOL);
  memcpy(&function, &symbol, sizeof function);
  library->table = function();
  return check_table(library, error);
}

/* Opens the file and checks what it says of itself. A name without a slash would be looked for
 * among the libraries of the system. */
static HkStatus open_library(const char *path, Library *library, HkError *error) {
  char named[4096];
  *library = (Library){.path = path};
  int length = snprintf(named, sizeof named, "%s%s", strchr(path, '/') ? "" : "./", path);
  if (length >= (int)sizeof named)
    return hk_fail_key(error, HK_ERROR_IO, "file", "the path is too long");
  library->handle = dlopen(named, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    const char *problem = dlerror();
    return hk_fail_key(
        error, HK_ERROR_IO, "file",
        "cannot load the force library: %s; build it for this machine, and check the "
        "path: in a scene a relative one starts at the scene file",
        problem ? problem : path);
  }
  HkStatus status = find_table(library, error);
  if (status < 0) close_library(library->handle);
  return status;
}

/* ---- Creating ---- */

static HkStatus refuse_name(const Library *library, const char *name, HkError *error) {
  enum { NAMES_MAX = 64 };
  const char *names[NAMES_MAX] = {NULL};
  char known[512] = "";
  int count = 0;
  for (; count < library->table->count && count < NAMES_MAX; count++) {
    const HkLibraryForce *entry = &library->table->forces[count];
    size_t used = strlen(known);
    names[count] = entry->name;
    snprintf(known + used, sizeof known - used, "%s'%s'%s%s%s", count ? ", " : "", entry->name,
             entry->summary ? " (" : "", entry->summary ? entry->summary : "",
             entry->summary ? ")" : "");
  }
  const char *near = hk_text_nearest(name, names, count);
  if (near)
    return hk_fail_key(error, HK_ERROR_INVALID, "name",
                       "the library %s has no force '%s'; did you mean '%s'?", library->path, name,
                       near);
  return hk_fail_key(error, HK_ERROR_INVALID, "name", "the library %s has no force '%s'; it has %s",
                     library->path, name, count ? known : "none");
}

static const HkLibraryForce *find_force(const Library *library, const char *name) {
  for (int q = 0; q < library->table->count; q++)
    if (strcmp(library->table->forces[q].name, name) == 0) return &library->table->forces[q];
  return NULL;
}

/* Has the library fill the callbacks. Its numbers are read with a decimal point. */
static HkStatus fill(HkModel *m, const HkLibraryForce *entry, const char *settings,
                     HkForceFunctions *functions, void **user, HkError *error) {
  HkError inner = {0};
  *functions = hk_force_functions_default();
  functions->name = entry->name;
  *user = NULL;
  HkLocale locale = hk_locale_enter();
  HkStatus status = entry->create(&host, m, settings, functions, user, &inner);
  hk_locale_leave(&locale);
  if (status >= 0) return HK_OK;
  return hk_fail_key(error, status, "settings", "force '%s' of the library: %s", entry->name,
                     inner.text[0] ? inner.text : "it could not be created, and gives no reason");
}

static HkStatus create(HkModel *m, const Library *library, const HkLibraryParams *p,
                       HkCompiledForce *force, HkError *error) {
  HkForceFunctions functions;
  HkCompiledForce custom;
  HkError inner = {0};
  void *user;
  const HkLibraryForce *entry = find_force(library, p->name);
  if (!entry) return refuse_name(library, p->name, error);
  HK_TRY(fill(m, entry, p->settings, &functions, &user, error));
  HkStatus status = hk_force_compile_custom(m, &functions, user, &custom, &inner);
  if (status < 0)
    return hk_fail_key(error, status, "file", "force '%s' of the library %s: %s", entry->name,
                       library->path, inner.text);
  hk_force_custom_own(&custom, library->handle, close_library);
  force->type = custom.type;
  force->data = custom.data;
  return HK_OK;
}

/* Loads the file and makes the force of its parameters, which are in force->method. */
static HkStatus load(HkModel *m, const char *path, HkCompiledForce *force, HkError *error) {
  const HkLibraryParams *p = force->method.params;
  Library library;
  HK_TRY(open_library(path, &library, error));
  HkStatus status = create(m, &library, p, force, error);
  if (status < 0) close_library(library.handle);
  return status;
}

static HkStatus resolve(HkModel *m, HkCompiledForce *force, HkError *error) {
  const HkLibraryParams *p = force->method.params;
  char path[4096];
  if (!p->file)
    return hk_fail_key(error, HK_ERROR_INVALID, "file", "give the file of the shared library");
  if (!p->name)
    return hk_fail_key(error, HK_ERROR_INVALID, "name", "give the name of the force in %s",
                       p->file);
  if (!m->context.libraries)
    return hk_fail_key(error, HK_ERROR_UNSUPPORTED, "file",
                       "%s is machine code, which a scene loads only where the option 'libraries' "
                       "allows it; set that option if you trust the file",
                       p->file);
  HK_TRY(hk_join_path(m->folder, p->file, path, sizeof path, error));
  return load(m, path, force, error);
}

/* The method that describes the force, with the absolute path: it stays right wherever the scene
 * and the working folder are. */
static HkStatus describe(const char *path, const char *name, const char *settings, HkMethod *method,
                         HkError *error) {
  char *absolute = realpath(path, NULL);
  HkStatus status = hk_method_choose(method, HK_FORCE, "library", error);
  if (status >= 0) status = hk_method_set_text(method, "file", absolute ? absolute : path, error);
  if (status >= 0) status = hk_method_set_text(method, "name", name, error);
  if (status >= 0 && settings) status = hk_method_set_text(method, "settings", settings, error);
  free(absolute);
  return status;
}

HkStatus hk_force_compile_library(HkModel *m, const char *path, const char *name,
                                  const char *settings, HkCompiledForce *force, HkError *error) {
  *force = (HkCompiledForce){0};
  HkStatus status = describe(path, name, settings, &force->method, error);
  if (status >= 0) status = load(m, path, force, error);
  force->id = ++m->force_ids;
  if (status < 0) hk_force_release(m, force);
  return status;
}

#endif

const HkForceType hk_force_library = {
    .schema = {.name = "library",
               .summary = "a force of a shared library that the user wrote",
               .formula = "f_i = -dE/dx_i and what else the library defines",
               HK_PARAMS(HkLibraryParams, params)},
    .slot = HK_ENERGY_OTHER,
    .resolve = resolve,
};
