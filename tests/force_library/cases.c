/* A library of forces with one defect, or with a force that keeps state; a macro selects which. */
#include <hooke/extend.h>

#include <stdlib.h>

static void add(void *user, const HkForceAt *at, double *f) {
  (void)user;
  (void)at;
  (void)f;
}

static HkStatus create_state(void *user, void **state, HkError *error) {
  (void)user;
  (void)error;
  *state = malloc(1);
  return HK_OK;
}

static void destroy_state(void *user, void *state) {
  (void)user;
  free(state);
}

static HkStatus create(const HkForceHost *host, const HkModel *model, const char *settings,
                       HkForceFunctions *functions, void **user, HkError *error) {
  (void)model;
  (void)settings;
  *user = malloc(1);
  functions->destroy = free;
#if defined(NO_REASON)
  (void)host;
  (void)error;
  free(*user);
  return HK_ERROR_UNSUPPORTED;
#else
  if (host->version != HK_FORCE_LIBRARY_VERSION || host->size < sizeof *host)
    return host->fail(error, HK_ERROR_INVALID, "the host is of another version");
#endif
#if !defined(NO_ADD)
  functions->add = add;
#endif
#if defined(WITH_STATE)
  functions->create_state = create_state;
  functions->destroy_state = destroy_state;
#else
  (void)create_state;
  (void)destroy_state;
#endif
  return HK_OK;
}

#if defined(NO_SYMBOL)
#define hooke_force_library another_name
const HkForceLibrary *another_name(void);
#endif

const HkForceLibrary *hooke_force_library(void) {
  static const HkLibraryForce forces[] = {
#if defined(NO_NAME)
    {NULL, NULL, create}
#elif defined(NO_CREATE)
    {"one", NULL, NULL}
#else
    {"one", NULL, create}
#endif
  };
  static HkForceLibrary library = {HK_FORCE_LIBRARY_VERSION, sizeof library, 1, forces};
  (void)add;
  (void)create;
#if defined(NO_TABLE)
  return NULL;
#elif defined(OTHER_VERSION)
  library.version++;
#elif defined(SMALL_TABLE)
  library.size--;
#elif defined(NEGATIVE_COUNT)
  library.count = -1;
#elif defined(NO_LIST)
  library.forces = NULL;
#endif
  return &library;
}
