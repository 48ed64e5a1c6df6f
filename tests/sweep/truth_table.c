/* Prints the table of docs/robustness.md that says how true the answers of minimizers are.
 *
 *     truth_table [SYSTEMS]     3000 random systems if not given; exit status 1 if an answer is
 * wrong
 */
#include "truth.h"

int main(int argc, char **argv) {
  long count = argc > 1 ? strtol(argv[1], NULL, 10) : 3000;
  int64_t wrong = 0;
  printf(
      "| minimizer | steps | converged | rounding | stationary | not converged | wrong answers | "
      "largest error of a converged step | largest m |\n|---|---|---|---|---|---|---|---|---|\n");
  for (int way = 0; way < truth_count(); way++) {
    Truth t = {0};
    HkError error = {0};
    if (truth_run(way, 0, count, &t, &error) < 0) {
      fprintf(stderr, "%s\n", error.text);
      return 2;
    }
    printf("| %s | %lld | %lld | %lld | %lld | %lld | %lld | %.2f | %.2f |\n", t.name,
           (long long)t.steps, (long long)t.converged, (long long)t.rounding,
           (long long)t.stationary, (long long)t.unconverged, (long long)t.wrong, t.worst_error,
           t.worst_gradient);
    fflush(stdout);
    wrong += t.wrong;
  }
  return wrong > 0;
}
