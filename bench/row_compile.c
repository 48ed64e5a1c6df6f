/* Making the model of a large cloth, without any factorization, and one step of symplectic Euler
 * with it: seconds and bytes a vertex. */
#include "bench.h"

#include "methods.h"
#include "stats.h"
#include "text.h"

#include <math.h>
#include <sys/resource.h>

static double peak_bytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * (double)usage.ru_maxrss;
}

static void measure_step(Bench *bench, const Problem *p) {
  enum { SAMPLES = 5 };
  HkError error = {0};
  HkState *state = NULL;
  HkSim *sim = method_sim(p->model, &methods_double[0], p->peer.h, &error);
  HkStatus status = sim ? hk_state_create(p->model, &state, &error) : error.status;
  double seconds[SAMPLES] = {0};
  if (status >= 0) status = hk_sim_step(sim, state, &error);
  for (int q = 0; q < SAMPLES && status >= 0; q++) {
    double began = seconds_now();
    status = hk_sim_step(sim, state, &error);
    seconds[q] = seconds_now() - began;
  }
  if (status >= 0) {
    HkModelInfo info = hk_model_info(p->model);
    Measure m = measure_start("compile", p, "one explicit step", NULL);
    measure_times(&m, seconds, SAMPLES, NULL, 0);
    measure_traffic(bench, &m, 40.0 * p->peer.springs + 96.0 * (double)p->n);
    snprintf(m.note, sizeof m.note, "state %.0f, workspace %.0f bytes a vertex",
             (double)info.state_bytes / (double)p->n, (double)hk_sim_bytes(sim) / (double)p->n);
    bench_add(bench, &m);
  } else {
    fprintf(stderr, "%s: %s\n", p->name, error.text);
  }
  hk_sim_destroy(&sim);
  hk_state_destroy(&state);
}

static void run(Bench *bench, int size, double wanted_ms) {
  Problem p;
  if (bench_stopped()) return;
  text_status("compile: cloth %d", size);
  double h = 0.05 * sqrt(1e-4 / ((double)size * size));
  if (problem_make(&p, "cloth", size, h)) {
    Measure m = measure_start("compile", &p, "compile the model", NULL);
    m.ms = m.ms_mean = 1e3 * p.compile_seconds;
    m.wanted_ms = wanted_ms;
    snprintf(m.note, sizeof m.note, "model %.0f bytes a vertex; peak of the process %.2f GB",
             (double)hk_model_info(p.model).bytes / (double)p.n, 1e-9 * peak_bytes());
    bench_add(bench, &m);
    measure_step(bench, &p);
  }
  problem_destroy(&p);
}

void row_compile(Bench *bench) {
  run(bench, bench->quick ? 513 : 1000, bench->quick ? NAN : 2000);
  if (!bench->quick) run(bench, 3163, 25000);
}
