/* Loads plug-ins at run time (libhooke_cuda.so for GPUs, libhooke_petsc.so for ranks), so that
 * Hooke builds and runs without them.
 *
 * The search path is: the folder that the variable HOOKE_PLUGINS names, the folder of the program
 * or library that contains this code, ../lib of that folder, and the system's library path.
 */
#define _GNU_SOURCE /* dladdr, which glibc, musl, BSD and macOS have */
#include "backend/plugin.h"

#include "base/ranks.h"
#include "hooke/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A plug-in: its file, the device that it is for, the CMake option that builds it, and the symbol
 * that it defines, which begins with the version of the interface. */
typedef struct Plugin {
  const char *file, *device, *option, *symbol;
  int version;
} Plugin;

static const Plugin cuda = {"libhooke_cuda.so", "cuda", "HOOKE_CUDA", HK_DEVICE_SYMBOL,
                            HK_DEVICE_VERSION};
static const Plugin petsc = {"libhooke_petsc.so", "petsc", "HOOKE_PETSC", HK_RANKS_SYMBOL,
                             HK_RANKS_VERSION};

#ifdef __wasi__

static HkStatus find(const Plugin *plugin, const void **found, HkError *error) {
  *found = NULL;
  return hk_fail(error, HK_ERROR_UNSUPPORTED, "there is no device %s in a browser", plugin->device);
}

#else

#include <dlfcn.h>
#include <unistd.h>

/* Writes the folder that this code was loaded from, with its last slash. */
static void own_folder(char *folder, size_t size) {
  Dl_info info;
  folder[0] = 0;
  if (!dladdr((const void *)&cuda, &info) || !info.dli_fname) return;
  /* dladdr has no folder for a program that was started through PATH; /proc has it. */
  char program[4000];
  ssize_t length =
      strchr(info.dli_fname, '/') ? -1 : readlink("/proc/self/exe", program, sizeof program - 1);
  if (length > 0) {
    program[length] = 0;
    info.dli_fname = program;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  if (slash) snprintf(folder, size, "%.*s", (int)(slash - info.dli_fname + 1), info.dli_fname);
}

static void *load(const char *file, const char *folder, const char *between, char *why,
                  size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", folder, between, file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *problem = library ? NULL : dlerror();
  /* Keep the message only if the file exists but cannot be loaded. */
  if (problem && !strstr(problem, "No such file")) snprintf(why, size, "%s", problem);
  return library;
}

static void *find_library(const char *file, char *why, size_t size) {
  char folder[4000];
  const char *told = getenv("HOOKE_PLUGINS");
  void *library = told ? load(file, told, "/", why, size) : NULL;
  own_folder(folder, sizeof folder);
  if (!library && folder[0]) library = load(file, folder, "", why, size);
  if (!library && folder[0]) library = load(file, folder, "../lib/", why, size);
  return library ? library : load(file, "", "", why, size);
}

static HkStatus find(const Plugin *plugin, const void **found, HkError *error) {
  char why[800];
  snprintf(why, sizeof why,
           "the CMake option %s builds it; put it beside the program or the library, or into the "
           "folder that HOOKE_PLUGINS names",
           plugin->option);
  *found = NULL;
  void *library = find_library(plugin->file, why, sizeof why);
  if (!library)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "there is no plug-in %s for the device %s: %s",
                   plugin->file, plugin->device, why);
  const int *version = dlsym(library, plugin->symbol);
  if (!version || *version != plugin->version)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the plug-in %s belongs to another version of Hooke; build both from the same "
                   "sources",
                   plugin->file);
  *found = version;
  return HK_OK;
}

#endif

HkStatus hk_plugin_find(HkDeviceKind kind, const HkDevice **device, HkError *error) {
  const void *found;
  (void)kind; /* HK_CUDA and HK_CUDA_DOUBLE share one plug-in */
  HkStatus status = find(&cuda, &found, error);
  *device = found;
  return status;
}

HkStatus hk_ranks_open(const void *communicator, int count, char **arguments, HkRanks **ranks,
                       HkError *error) {
  const void *found;
  *ranks = NULL;
  HK_TRY(find(&petsc, &found, error));
  return ((const HkRanksType *)found)->open(communicator, count, arguments, ranks, error);
}

HkStatus hk_device_check(HkDeviceKind kind, HkError *error) {
  const HkDevice *device;
  HkDeviceInfo info;
  if (kind == HK_CPU || kind == HK_AUTO) return HK_OK;
  if (kind == HK_PETSC) {
    const void *found;
    return find(&petsc, &found, error);
  }
  HK_TRY(hk_plugin_find(kind, &device, error));
  return device->info(&info, error);
}
