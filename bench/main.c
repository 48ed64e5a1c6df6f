/* hooke_bench: Hooke and its peers on the same problems in one run; see README.md.
 *
 *     hooke_bench [--quick] [--output FOLDER] [--list] [ROW ...]
 */
#include "bench.h"

#include "signals.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Row {
  const char *name, *summary;
  void (*run)(Bench *bench);
} Row;

static const Row rows[] = {
    {"solve", "prefactored scalar solve with 3 right-hand sides against cholmod_solve2", row_solve},
    {"local_global", "one local/global iteration against Eigen's float LLT", row_local_global},
    {"linear_implicit", "one linearly implicit step against Eigen's LDLT", row_linear_implicit},
    {"explicit", "symplectic Euler against the loop over springs", row_explicit},
    {"grid", "symplectic Euler on a regular grid against the same by indices", row_grid},
    {"cloth", "one implicit step of cloth to an error against CHOLMOD Newton", row_cloth},
    {"block", "the same on blocks", row_block},
    {"irregular", "the same on a disc of triangles and a ball of tetrahedra", row_irregular},
    {"growth", "cost of a step per vertex from 81 x 81 to 1025 x 1025", row_growth},
    {"compile", "making the model, one and ten million vertices", row_compile},
    {"adjoint", "gradients of steps against the steps themselves", row_adjoint},
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Sets the environment before libraries read it: at most as many OpenMP threads as cores, and one
 * BLAS thread by default. It does not change Hooke's own threads. */
static void set_environment(char **argv) {
  char cores[16];
  if (getenv("OMP_THREAD_LIMIT") && getenv("OPENBLAS_NUM_THREADS")) return;
  snprintf(cores, sizeof cores, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
  setenv("OMP_THREAD_LIMIT", cores, 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execvp(argv[0], argv);
}

static int usage(const char *wrong) {
  if (wrong) fprintf(stderr, "hooke_bench: '%s' is no option and no row\n", wrong);
  FILE *file = wrong ? stderr : stdout;
  fprintf(file,
          "hooke_bench [--quick] [--output FOLDER] [ROW ...]\n\nRows; all if none is given\n");
  for (int q = 0; q < ROW_COUNT; q++) fprintf(file, "  %-16s %s\n", rows[q].name, rows[q].summary);
  return wrong ? 2 : 0;
}

static bool mark(const char *word, bool *wanted) {
  for (int q = 0; q < ROW_COUNT; q++)
    if (strcmp(rows[q].name, word) == 0) return wanted[q] = true;
  return false;
}

static bool make_folder(const char *folder) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return true;
  perror(folder);
  return false;
}

static int run(Bench *b, const bool *wanted, bool any) {
  signals_catch("\nends this row and writes what there is; Ctrl-C again stops at once\n");
  text_status("bandwidth of memory");
  b->one = bandwidth_measure(1);
  b->all = bandwidth_measure(0);
  text_status("%s", "");
  table_head(b);
  for (int q = 0; q < ROW_COUNT && !bench_stopped(); q++) {
    if (any && !wanted[q]) continue;
    rows[q].run(b);
    text_status("%s", "");
    table_write(b); /* after each row: nothing is lost if a later one fails */
  }
  table_foot(b);
  bool written = table_write(b) && plots_write(b);
  if (written) printf("results.csv, results.json and pictures are in %s\n", b->folder);
  return written ? 0 : 1;
}

int main(int argc, char **argv) {
  bool wanted[ROW_COUNT] = {false}, any = false;
  Bench bench = {.folder = "bench/results", .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  set_environment(argv);
  for (int q = 1; q < argc; q++) {
    if (strcmp(argv[q], "--quick") == 0)
      bench.quick = true;
    else if (strcmp(argv[q], "--output") == 0 && q + 1 < argc)
      bench.folder = argv[++q];
    else if (strcmp(argv[q], "--help") == 0 || strcmp(argv[q], "--list") == 0)
      return usage(NULL);
    else if (mark(argv[q], wanted))
      any = true;
    else
      return usage(argv[q]);
  }
  int code = make_folder(bench.folder) ? run(&bench, wanted, any) : 1;
  free(bench.measures);
  free(bench.curves);
  return code;
}
