/* Messages between two ranks and sums over all, as the library sends them (base/ranks.h). */
#include "cluster.h"
#include "measure/statistics.h"
#include "measure/stopwatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 21, MOST_BYTES = 16 << 20 };

/* Buffers of one rank, and how much it sends to each rank and receives from it. */
typedef struct Mail {
  HkRanks *ranks;
  char *out, *in;
  int64_t *out_bytes, *in_bytes;
} Mail;

static void send(const Mail *m, int from, int to, int64_t bytes) {
  int count = hk_ranks_count(m->ranks), rank = hk_ranks_rank(m->ranks);
  memset(m->out_bytes, 0, (size_t)count * sizeof *m->out_bytes);
  memset(m->in_bytes, 0, (size_t)count * sizeof *m->in_bytes);
  if (rank == from) m->out_bytes[to] = bytes;
  if (rank == to) m->in_bytes[from] = bytes;
  m->ranks->type->exchange(m->ranks, m->out, m->out_bytes, m->in, m->in_bytes);
}

/* Seconds from a message to the answer of the same size, halved; on rank 0. */
static double one_way(const Mail *m, int64_t bytes, int repeats) {
  double start = seconds_now();
  for (int k = 0; k < repeats; k++) {
    send(m, 0, 1, bytes);
    send(m, 1, 0, bytes);
  }
  return (seconds_now() - start) / repeats / 2;
}

static void measure_pair(const Mail *m) {
  bool prints = hk_ranks_rank(m->ranks) == 0;
  if (prints) printf("   bytes   us one way  (least)      MB/s\n");
  for (int64_t bytes = 8; bytes <= MOST_BYTES; bytes *= 4) {
    double seconds[ROUNDS];
    int repeats = bytes < 65536 ? 100 : 4;
    one_way(m, bytes, repeats);
    for (int q = 0; q < ROUNDS; q++) seconds[q] = one_way(m, bytes, repeats);
    Statistics s = statistics_of(seconds, ROUNDS);
    if (prints)
      printf("%8lld %12.2f %8.2f %9.0f\n", (long long)bytes, 1e6 * s.median, 1e6 * s.smallest,
             1e-6 * (double)bytes / s.median);
  }
}

static void measure_sums(HkRanks *ranks) {
  enum { REPEATS = 200 };
  double seconds[ROUNDS], value = 1;
  for (int q = -1; q < ROUNDS; q++) {
    double start = seconds_now();
    for (int k = 0; k < REPEATS; k++) {
      value = 1;
      hk_ranks_sum(ranks, &value, 1);
    }
    if (q >= 0) seconds[q] = (seconds_now() - start) / REPEATS;
  }
  Statistics s = statistics_of(seconds, ROUNDS);
  if (hk_ranks_rank(ranks) == 0)
    printf("a sum over %.0f ranks: %.2f us (least %.2f)\n", value, 1e6 * s.median,
           1e6 * s.smallest);
}

void measure_messages(HkRanks *ranks) {
  size_t count = (size_t)hk_ranks_count(ranks);
  Mail m = {.ranks = ranks,
            .out = calloc(1, MOST_BYTES),
            .in = calloc(1, MOST_BYTES),
            .out_bytes = calloc(count, sizeof *m.out_bytes),
            .in_bytes = calloc(count, sizeof *m.in_bytes)};
  if (!m.out || !m.in || !m.out_bytes || !m.in_bytes) exit(1);
  if (count > 1) measure_pair(&m);
  measure_sums(ranks);
  free(m.out);
  free(m.in);
  free(m.out_bytes);
  free(m.in_bytes);
}
