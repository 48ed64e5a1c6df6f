/* Loads plug-ins for devices at run time (libhooke_cuda.so), so that Hooke builds and runs without
 * one.
 *
 * The search path is: the folder that the variable HOOKE_PLUGINS names, the folder of the program
 * or library that contains this code, ../lib of that folder, and the system's library path.
 */
#define _GNU_SOURCE /* dladdr, which glibc, musl, BSD and macOS have */
#include "backend/plugin.h"

#include "hooke/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __wasi__

HkStatus hk_plugin_find(HkDeviceKind kind, const HkDevice **device, HkError *error) {
  (void)kind;
  *device = NULL;
  return hk_fail(error, HK_ERROR_UNSUPPORTED, "there are no devices in a browser");
}

#else

#include <dlfcn.h>
#include <unistd.h>

static const char NAME[] = "libhooke_cuda.so";

/* Writes the folder that this code was loaded from, with its last slash. */
static void own_folder(char *folder, size_t size) {
  Dl_info info;
  folder[0] = 0;
  if (!dladdr((const void *)&NAME, &info) || !info.dli_fname) return;
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

static void *load(const char *folder, const char *between, char *why, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s%s", folder, between, NAME);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *problem = library ? NULL : dlerror();
  /* Keep the message only if the file exists but cannot be loaded. */
  if (problem && !strstr(problem, "No such file")) snprintf(why, size, "%s", problem);
  return library;
}

static void *find_library(char *why, size_t size) {
  char folder[4000];
  const char *told = getenv("HOOKE_PLUGINS");
  void *library = told ? load(told, "/", why, size) : NULL;
  own_folder(folder, sizeof folder);
  if (!library && folder[0]) library = load(folder, "", why, size);
  if (!library && folder[0]) library = load(folder, "../lib/", why, size);
  return library ? library : load("", "", why, size);
}

HkStatus hk_plugin_find(HkDeviceKind kind, const HkDevice **device, HkError *error) {
  char why[800] = "the CMake option HOOKE_CUDA builds it; put it beside the program or the "
                  "library, or into the folder that HOOKE_PLUGINS names";
  (void)kind; /* HK_CUDA and HK_CUDA_DOUBLE share one plug-in */
  *device = NULL;
  void *library = find_library(why, sizeof why);
  if (!library)
    return hk_fail(error, HK_ERROR_UNSUPPORTED, "there is no plug-in %s for the device cuda: %s",
                   NAME, why);
  const HkDevice *found = dlsym(library, HK_DEVICE_SYMBOL);
  if (!found || found->version != HK_DEVICE_VERSION)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "the plug-in %s belongs to another version of Hooke; build both from the same "
                   "sources",
                   NAME);
  *device = found;
  return HK_OK;
}

#endif

HkStatus hk_device_check(HkDeviceKind kind, HkError *error) {
  const HkDevice *device;
  HkDeviceInfo info;
  if (kind == HK_CPU || kind == HK_AUTO) return HK_OK;
  HK_TRY(hk_plugin_find(kind, &device, error));
  return device->info(&info, error);
}
