/* A library of forces with one defect, or with a force that keeps state or memory; a macro selects
 * which. */
#include <hooke/extend.h>

#include <stdlib.h>
#include <string.h>

typedef struct Force {
  const HkForceHost *host;
} Force;

#if defined(WITH_MEMORY)

/* The state of a simulation is the number of steps of the HkState; the force pushes by it. */
static void add(void *user, const HkForceAt *at, double *f) {
  const int64_t *steps = at->state;
  (void)user;
  for (int64_t i = 0; i < at->vertices; i++) f[3 * i + 2] += 1e-3 * (double)*steps;
}

static HkStatus end_step(void *user, const HkForceAt *at, double h, HkError *error) {
  int64_t *steps = at->state;
  (void)user;
  (void)h;
  (void)error;
  ++*steps;
  return HK_OK;
}

static size_t save(void *user, const HkForceAt *at, void *bytes, size_t capacity) {
  (void)user;
  if (capacity >= sizeof(int64_t)) memcpy(bytes, at->state, sizeof(int64_t));
  return sizeof(int64_t);
}

static HkStatus load(void *user, const HkForceAt *at, const void *bytes, size_t size,
                     HkError *error) {
  int64_t *steps = at->state;
  const Force *force = user;
  if (size != 0 && size != sizeof *steps)
    return force->host->fail(error, HK_ERROR_FORMAT, "the memory is not a number of steps");
  *steps = 0;
  memcpy(steps, size ? bytes : steps, size);
  return HK_OK;
}

#else

static void add(void *user, const HkForceAt *at, double *f) {
  (void)user;
  (void)at;
  (void)f;
}

#endif

static HkStatus create_state(void *user, void **state, HkError *error) {
  (void)user;
  (void)error;
  *state = calloc(1, sizeof(int64_t));
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
  Force *force = malloc(sizeof *force);
  *force = (Force){host};
  *user = force;
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
#if defined(WITH_MEMORY)
  functions->end_step = end_step;
  functions->save = save;
  functions->load = load;
#endif
#if defined(WITH_STATE) || defined(WITH_MEMORY)
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
