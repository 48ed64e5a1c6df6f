/* What minimizers say of their steps is true; the sweep of docs/robustness.md does the same with
 * more systems. */
#include "truth.h"

#if TEST_SANITIZED
enum { SYSTEMS = 24 };
#else
enum { SYSTEMS = 120 };
#endif

TEST(answers_of_every_minimizer_are_true_on_random_systems) {
  for (int way = 0; way < truth_count(); way++) {
    Truth t = {0};
    MUST(truth_run(way, 0, SYSTEMS, &t, error));
    printf("    %-26s %3lld steps: %3lld converged, %2lld rounding, %3lld stationary, %3lld not; "
           "%3lld judged, worst %.2g, m %.2g, wrong %lld\n",
           t.name, (long long)t.steps, (long long)t.converged, (long long)t.rounding,
           (long long)t.stationary, (long long)t.unconverged, (long long)t.judged, t.worst_error,
           t.worst_gradient, (long long)t.wrong);
    CHECK(t.wrong == 0);
    CHECK(t.steps > SYSTEMS / 2);
  }
}
