/* What models, states and simulations report as their memory is what they take, whatever the
 * method; steps take no more, and all of it is given back. */
#include "test.h"

#include "hooke/extend.h"
#include "linear/factor.h"
#include "step/need.h"
#include "step/sim.h"

#if defined(__linux__) && defined(__GLIBC__) && !defined(TEST_SANITIZED)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define KNOWS_MALLOC 1
#endif
#endif

/* ---- Memory that is counted ---- */

/* Of one owner; what it has taken is charged to it whoever gives it back. */
typedef struct Meter {
  size_t held;
  int64_t calls;
} Meter;

typedef union Header {
  struct {
    Meter *meter;
    size_t bytes;
  } of;
  max_align_t aligned;
} Header;

static void *metered(void *user, void *p, size_t bytes) {
  Header *block = p ? (Header *)p - 1 : NULL;
  Meter *meter = block ? block->of.meter : user;
  if (block) meter->held -= block->of.bytes;
  if (bytes == 0) {
    free(block);
    return NULL;
  }
  meter->calls++;
  block = realloc(block, sizeof *block + bytes);
  if (!block) abort();
  block->of.meter = meter;
  block->of.bytes = bytes;
  meter->held += bytes;
  return block + 1;
}

/* ---- Worlds ---- */

typedef struct Measured {
  HkScene *scene;
  HkModel *model;
  HkState *state;
  HkSim *sim;
  Meter of_model, of_state, of_sim;
} Measured;

static HkStatus make(Measured *w, const char *text, HkError *error) {
  HkContext context = {.resize = metered, .memory_user = &w->of_model, .threads = 1};
  size_t size = strlen(text);
  HkStatus status = hk_scene_parse(&context, text, size, "scene", NULL, NULL, 0, &w->scene, error);
  w->of_model = (Meter){0}; /* what the scene itself takes */
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  if (status < 0) return status;
  w->model->context.memory_user = &w->of_state;
  status = hk_state_create(w->model, &w->state, error);
  w->model->context.memory_user = &w->of_sim;
  if (status >= 0) status = hk_sim_create(w->model, NULL, 0, &w->sim, error);
  return status;
}

static void clear(Measured *w) {
  hk_state_destroy(&w->state);
  hk_sim_destroy(&w->sim);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
}

static HkStatus steps(Measured *w, int count, HkError *error) {
  for (int q = 0; q < count; q++) {
    HkStatus status = hk_sim_step(w->sim, w->state, error);
    if (status < 0) return status;
  }
  return HK_OK;
}

static void check_size(const char *name, const char *part, size_t reported, size_t taken) {
  if (reported != taken)
    test_fail(name, 0, "the %s reports %zu bytes and has taken %zu", part, reported, taken);
}

/* A part of a scene that says how to step. */
typedef struct Case {
  const char *name, *integrator, *body;
} Case;

#define CLOTH                                                                                      \
  "{'shape': {'type': 'grid', 'nx': 50, 'ny': 50}, 'mass': 1, "                                    \
  "'springs': {'k': 1000, 'shear': true, 'bending': true}}"
#define DISC "{'shape': {'type': 'disc', 'rings': 30}, 'mass': 1, 'springs': {'k': 1000}}"
#define JELLY "{'shape': {'type': 'block', 'nx': 13, 'ny': 13, 'nz': 13}, 'springs': {'k': 1000}}"
#define BALL "{'shape': {'type': 'ball', 'shells': 8}, 'springs': {'k': 1000}}"

#define SOLVED(minimizer) "{'type': 'backward_euler', 'minimizer': {" minimizer "}}"
#define NEWTON(linear) SOLVED("'type': 'newton', 'iterations': 3, 'linear': {" linear "}")
#define PCG(preconditioner) NEWTON("'type': 'pcg', 'preconditioner': '" preconditioner "'")
#define LOCAL(more) SOLVED("'type': 'local_global', 'iterations': 5, " more)

/* Nothing of these comes from elsewhere than the context. */
static const Case cases[] = {
    {"symplectic_euler", "'symplectic_euler'", CLOTH},
    {"symplectic_euler of a ball", "'symplectic_euler'", BALL},
    {"symplectic_euler single", "{'type': 'symplectic_euler', 'precision': 'single'}", CLOTH},
    {"verlet single of a ball", "{'type': 'verlet', 'precision': 'single'}", BALL},
    {"verlet", "'verlet'", DISC},
    {"rk4", "'rk4'", CLOTH},
    {"backward_euler of a cloth", "'backward_euler'", CLOTH},
    {"backward_euler of a disc", "'backward_euler'", DISC},
    {"newton ldlt", NEWTON("'type': 'ldlt'"), DISC},
    {"newton cg", NEWTON("'type': 'cg'"), DISC},
    {"newton cg assembled", NEWTON("'type': 'cg', 'product': 'assembled'"), DISC},
    {"newton gauss_seidel", NEWTON("'type': 'gauss_seidel', 'iterations': 9"), DISC},
    {"newton block_jacobi", PCG("block_jacobi"), CLOTH},
    {"newton jacobi", PCG("jacobi"), CLOTH},
    {"newton ic0", PCG("ic0"), BALL},
    {"newton ssor", PCG("ssor"), CLOTH},
    {"newton multigrid of a ball", PCG("multigrid"), BALL},
    {"newton multigrid of a jelly", PCG("multigrid"), JELLY},
    {"local_global none", LOCAL("'factor': 'ldlt', 'acceleration': 'none'"), CLOTH},
    {"local_global anderson", LOCAL("'factor': 'ldlt', 'acceleration': 'anderson'"), BALL},
    {"local_global chebyshev", LOCAL("'factor': 'ldlt', 'acceleration': 'chebyshev'"), JELLY},
    {"local_global double", LOCAL("'factor': 'ldlt', 'precision': 'double'"), JELLY},
    {"vertex_block_descent", SOLVED("'type': 'vertex_block_descent', 'iterations': 5"), JELLY},
    {"jacobi", SOLVED("'type': 'jacobi', 'iterations': 5"), BALL},
    {"gradient_descent", SOLVED("'type': 'gradient_descent', 'iterations': 5"), CLOTH},
    {"lbfgs", SOLVED("'type': 'lbfgs', 'iterations': 5, 'factor': 'ldlt'"), CLOTH},
    {"linear_implicit_euler", "'linear_implicit_euler'", CLOTH},
    {"linear_implicit_euler ldlt", "{'type': 'linear_implicit_euler', 'linear': 'ldlt'}", CLOTH},
    {"bdf2", "'bdf2'", CLOTH},
    {"implicit_midpoint", "'implicit_midpoint'", DISC},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* Plain, or with all that makes a step take more. */
static void write_scene(const Case *c, bool full, char *text, size_t size) {
  const char *forces = full ? ", {'type': 'drag', 'linear': 1e-4}, {'type': 'handle', 'k': 3, "
                              "'select': {'nearest': [0, 0, 0]}, 'target': [0, 0.1, 0]}"
                            : "";
  const char *springs = strstr(c->body, "'springs': {");
  int head = (int)(springs - c->body) + (int)strlen("'springs': {");
  snprintf(text, size,
           "{'integrator': %s, 'bodies': [%.*s%s%s], 'time': {'step': 0.0005}, 'outputs': [], "
           "'pins': [{'select': {'lowest': {'axis': 'x'}}}], 'forces': ['gravity'%s]}",
           c->integrator, head, c->body, full ? "'damping': 0.001, " : "", c->body + head, forces);
}

/* Where every access is watched, less of it: sizes are the same there. */
#ifdef TEST_SANITIZED
enum { MORE_STEPS = 1, EVERY = 4 };
#else
enum { MORE_STEPS = 7, EVERY = 1 };
#endif

static void check_case(const Case *c, bool full) {
  char text[1024], name[128];
  Measured w = {0};
  write_scene(c, full, text, sizeof text);
  snprintf(name, sizeof name, "%s%s", c->name, full ? ", damped" : "");
  MUST(make(&w, test_json(text), error));
  check_size(name, "new simulation", hk_sim_bytes(w.sim), w.of_sim.held);
  check_size(name, "new state", hk_state_bytes(w.state), w.of_state.held);
  CHECK(hk_model_info(w.model).state_bytes == w.of_state.held);
  MUST(steps(&w, 2, error));
  int64_t calls = w.of_sim.calls + w.of_state.calls;
  MUST(steps(&w, 1, error));
  check_size(name, "model", hk_model_info(w.model).bytes, w.of_model.held);
  check_size(name, "state", hk_state_bytes(w.state), w.of_state.held);
  check_size(name, "simulation", hk_sim_bytes(w.sim), w.of_sim.held);
  MUST(steps(&w, MORE_STEPS, error));
  if (w.of_sim.calls + w.of_state.calls != calls) test_fail(name, 0, "takes memory in a step");
  clear(&w);
  if (w.of_model.held + w.of_state.held + w.of_sim.held > 0)
    test_fail(name, 0, "not all memory was given back");
}

TEST(every_method_reports_the_memory_that_it_takes) {
  for (int q = 0; q < CASES; q++) check_case(&cases[q], false);
}

TEST(damping_drag_and_handles_are_reported_too) {
  for (int q = 0; q < CASES; q++) check_case(&cases[q], true);
}

TEST(the_record_of_contacts_is_reported_too) {
  Measured w = {0};
  HkContactView view;
  MUST(make(&w,
            test_json("{'bodies': [{'shape': {'type': 'grid', 'nx': 5, 'ny': 5, 'plane': 'xz'}, "
                      "'transform': {'translate': [0, 0.001, 0]}}], 'obstacles': [{'type': 'ball', "
                      "'center': [0, 5, 0]}], 'forces': ['gravity', {'type': 'contact', 'ground': "
                      "true}], 'integrator': " NEWTON("'type': 'ldlt'") ", 'time': {'step': "
                                                                        "0.01}, 'outputs': []}"),
            error));
  MUST(steps(&w, 3, error));
  MUST(hk_sim_contacts(w.sim, w.state, &view, error));
  CHECK(view.count == 25);
  check_size("contacts", "simulation", hk_sim_bytes(w.sim), w.of_sim.held);
  int64_t calls = w.of_sim.calls;
  MUST(hk_sim_contacts(w.sim, w.state, &view, error));
  CHECK(w.of_sim.calls == calls);
  clear(&w);
  CHECK(w.of_model.held + w.of_state.held + w.of_sim.held == 0);
}

TEST(obstacles_are_reported_too) {
  static const char *const forces[] = {"'gravity'", "'contact'",
                                       "{'type': 'contact', 'ground': true, 'height': -9}"};
  for (int k = 0; k < 3; k++) {
    char text[400];
    Measured w = {0};
    snprintf(text, sizeof text,
             "{'bodies': [{'shape': 'chain'}], 'outputs': [], 'forces': [%s], 'obstacles': "
             "['plane', {'type': 'ball', 'name': 'marble'}, 'capsule', 'box', 'cylinder']}",
             forces[k]);
    MUST(make(&w, test_json(text), error));
    check_size(forces[k], "model", hk_model_info(w.model).bytes, w.of_model.held);
    clear(&w);
    CHECK(w.of_model.held == 0);
  }
}

#define SHEET(name, height)                                                                        \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': 9, 'ny': 8, 'width': 0.3, 'height': 0.3, " \
  "'plane': 'xz'}, 'transform': {'translate': [0.01, " height                                      \
  ", 0.02], 'axis': [0, 1, 0], 'angle': 9}, 'mass': 0.1, 'springs': {'k': 1000, 'shear': true}}"

static bool is_explicit(const Case *c) {
  return strstr(c->name, "symplectic") || strstr(c->name, "verlet") || strstr(c->name, "rk4");
}

/* Lists of contacts grow while things touch, in every part that has some. */
TEST(contact_is_reported_too) {
  for (int q = 0; q < CASES; q++) {
    char text[2048];
    Measured w = {0};
    const Case *c = &cases[q];
    bool implicit = strstr(c->integrator, "'linear'") || strstr(c->integrator, "'minimizer'");
    if (!implicit && !is_explicit(c)) continue; /* its default is cholesky for few vertices */
    snprintf(text, sizeof text,
             "{'integrator': %s, 'bodies': [" SHEET("a", "0.0025") "," SHEET(
                 "b", "0.005") "], 'time': {'step': %g}, 'outputs': [], 'forces': ['gravity', "
                               "{'type': 'contact', 'ground': true}]}",
             c->integrator, implicit ? 0.01 : 0.0005);
    MUST(make(&w, test_json(text), error));
    check_size(c->name, "new simulation in contact", hk_sim_bytes(w.sim), w.of_sim.held);
    for (int k = 0; k < 4; k++) {
      MUST(steps(&w, implicit ? 2 : 12, error));
      check_size(c->name, "simulation in contact", hk_sim_bytes(w.sim), w.of_sim.held);
    }
    clear(&w);
    if (w.of_model.held + w.of_state.held + w.of_sim.held > 0)
      test_fail(c->name, 0, "not all memory was given back");
  }
}

/* ---- Memory of forces ---- */

enum { MEMORY_BYTES = 1000 };

static void no_force(void *user, const HkForceAt *at, double *f) {
  (void)user, (void)at, (void)f;
}

static size_t save(void *user, const HkForceAt *at, void *bytes, size_t capacity) {
  (void)user, (void)at;
  if (capacity >= MEMORY_BYTES) memset(bytes, 1, MEMORY_BYTES);
  return MEMORY_BYTES;
}

static HkStatus load(void *user, const HkForceAt *at, const void *bytes, size_t size,
                     HkError *error) {
  (void)user, (void)at, (void)bytes, (void)error;
  CHECK(size == 0 || size == MEMORY_BYTES);
  return HK_OK;
}

TEST(memory_of_forces_is_reported_too) {
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    Measured w = {0};
    HkForceFunctions f = hk_force_functions_default();
    char text[512];
    f.add = no_force;
    f.save = save;
    f.load = load;
    snprintf(text, sizeof text,
             "{'integrator': 'backward_euler', 'time': {'step': 0.01%s}, 'bodies': [{'shape': "
             "'chain'}], 'outputs': []}",
             adaptive ? ", 'tolerance': 1e-3" : "");
    MUST(make(&w, test_json(text), error));
    w.model->context.memory_user = &w.of_model;
    for (int q = 0; q < 3; q++) MUST(hk_model_add_custom_force(w.model, &f, NULL, NULL, error));
    w.model->context.memory_user = &w.of_sim;
    MUST(steps(&w, 2, error));
    int64_t calls = w.of_sim.calls + w.of_state.calls;
    MUST(steps(&w, 5, error));
    CHECK(w.of_sim.calls + w.of_state.calls == calls);
    CHECK(w.of_state.held > 3 * MEMORY_BYTES);
    check_size("memory of forces", "state", hk_state_bytes(w.state), w.of_state.held);
    check_size("memory of forces", "simulation", hk_sim_bytes(w.sim), w.of_sim.held);
    clear(&w);
    CHECK(w.of_model.held + w.of_state.held + w.of_sim.held == 0);
  }
}

/* ---- What is known before ---- */

/* Never more than is taken, or what fits would be refused; and not much less, but for the springs
 * of explicit steps, which take next to nothing where they are alike. */
static void check_need(const Case *c, bool full) {
  char text[1024], name[128];
  Measured w = {0};
  HkProportions p;
  write_scene(c, full, text, sizeof text);
  snprintf(name, sizeof name, "%s%s", c->name, full ? ", damped" : "");
  MUST(make(&w, test_json(text), error));
  MUST(hk_model_proportions(w.model, &p, error));
  MUST(steps(&w, 1, error));
  double need = hk_step_need(&p, &w.model->step), taken = (double)hk_sim_bytes(w.sim);
  bool implicit = isinf(w.sim->type->stable_step(w.sim->method.params, 1, 0));
  if (!(need <= taken && need > (implicit ? 0.4 : 0.05) * taken))
    test_fail(name, 0, "%.0f bytes were expected, %.0f are taken", need, taken);
  clear(&w);
}

TEST(what_a_simulation_takes_is_known_before) {
  for (int q = 0; q < CASES; q += EVERY) {
    check_need(&cases[q], false);
    check_need(&cases[q], true);
  }
}

/* ---- Factors from CHOLMOD, which takes its memory from malloc ---- */

#ifdef KNOWS_MALLOC
static size_t in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static void check_outside(const Case *c) {
  char text[1024];
  Measured w = {0};
  HkSim *sim = NULL;
  HkState *state = NULL;
  write_scene(c, false, text, sizeof text);
  MUST(make(&w, test_json(text), error));
  /* The first simulation warms up what libraries keep for themselves. */
  MUST(steps(&w, 3, error));
  MUST(hk_state_create(w.model, &state, error));
  MUST(hk_sim_step(w.sim, state, error));
  size_t before = in_use();
  MUST(hk_sim_create(w.model, NULL, 0, &sim, error));
  for (int q = 0; q < 3; q++) MUST(hk_sim_step(sim, state, error));
  double taken = (double)(in_use() - before), reported = (double)hk_sim_bytes(sim);
  if (fabs(reported - taken) > 0.03 * taken)
    test_fail(c->name, 0, "the simulation reports %.0f bytes and has taken %.0f", reported, taken);
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
  clear(&w);
}

TEST(factors_from_cholmod_are_reported_within_three_percent) {
  static const Case outside[] = {
      {"newton cholesky", NEWTON("'type': 'cholesky'"), DISC},
      {"newton cholesky of a ball", NEWTON("'type': 'cholesky'"), BALL},
      {"backward_euler of a jelly", "'backward_euler'", JELLY},
      {"backward_euler of a ball", "'backward_euler'", BALL},
      {"newton prefactored", PCG("prefactored"), CLOTH},
      {"local_global double", LOCAL("'precision': 'double'"), JELLY},
      {"lbfgs", SOLVED("'type': 'lbfgs', 'iterations': 5"), CLOTH},
  };
  if (hk_factor_default() != HK_FACTOR_CHOLMOD) SKIP("this build has no CHOLMOD");
  for (size_t q = 0; q < sizeof outside / sizeof outside[0]; q++) check_outside(&outside[q]);
}
#endif
