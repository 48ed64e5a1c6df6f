/* hooke_bench_ranks: explicit steps on several processes, and the messages between them.
 *
 *     mpirun -n RANKS hooke_bench_ranks steps SHAPE SIZE STEPS [--weak] [--alone] [--runs N]
 *                                             [--integrator NAME] [--h H] [--k K]
 *     mpirun -n RANKS hooke_bench_ranks messages
 *     hooke_bench_ranks lattice SHAPE SIZE FILE [--k K]
 *
 * steps     time of STEPS steps, by rank: own work, starting the exchange of ghosts, waiting for
 *           it, waiting for sums over all ranks; bytes sent in a step. The last line is JSON.
 * messages  latency and bandwidth between ranks 0 and 1, and the time of a sum over all ranks
 * lattice   writes the model as a data file for LAMMPS; see compare_lammps.py
 *
 * SHAPE         block (SIZE^3 vertices, springs to 26 neighbors) or cloth (SIZE^2, with shear and
 *               bending springs)
 * --weak        strong scaling keeps the model, weak scaling makes it longer by the number of ranks
 * --alone       one process without parts: the CPU makes the steps with one thread
 * --runs        measured runs (5) after one that is discarded; all continue the same motion
 * --integrator  symplectic_euler (default) or verlet
 * --h, --k      step in s (0.005), stiffness in N/m (100); masses are 1 kg, distances 1 m
 */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HkRanks *all_ranks;

void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", error->text);
  if (all_ranks) all_ranks->type->abort(all_ranks, 1);
  exit(1);
}

static int usage(void) {
  fprintf(stderr, "hooke_bench_ranks steps SHAPE SIZE STEPS [--weak] [--alone] [--runs N] "
                  "[--integrator NAME] [--h H] [--k K]\n"
                  "hooke_bench_ranks messages\n"
                  "hooke_bench_ranks lattice SHAPE SIZE FILE [--k K]\n");
  return 2;
}

static Options read_options(int argc, char **argv) {
  Options o = {.shape = argv[2],
               .integrator = "symplectic_euler",
               .size = atoi(argv[3]),
               .steps = atoll(argv[4]),
               .h = 0.005,
               .k = 100,
               .runs = 5};
  for (int a = 5; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "0";
    if (strcmp(argv[a], "--weak") == 0) o.weak = true;
    if (strcmp(argv[a], "--alone") == 0) o.alone = true;
    if (strcmp(argv[a], "--runs") == 0) o.runs = atoi(value);
    if (strcmp(argv[a], "--integrator") == 0) o.integrator = value;
    if (strcmp(argv[a], "--h") == 0) o.h = atof(value);
    if (strcmp(argv[a], "--k") == 0) o.k = atof(value);
  }
  return o;
}

static void write_lattice(const Options *o, const char *path) {
  World world = world_make(o, NULL);
  world_move(&world);
  write_lammps(&world, path);
  world_destroy(&world);
}

int main(int argc, char **argv) {
  HkError error = {0};
  const char *what = argc > 1 ? argv[1] : "";
  bool steps = strcmp(what, "steps") == 0, messages = strcmp(what, "messages") == 0;
  bool lattice = strcmp(what, "lattice") == 0;
  if (!messages && (!(steps || lattice) || argc < 5)) return usage();
  if (setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0) != 0) return 1;
  Options o = {0};
  if (!messages) o = read_options(argc, argv);
  if (!messages && (o.size < 2 || o.size > 10000 || o.runs < 1 || (steps && o.steps < 1)))
    return usage();
  if (lattice) {
    write_lattice(&o, argv[4]);
    return 0;
  }
  if (!o.alone) check(hk_ranks_open(NULL, 0, NULL, &all_ranks, &error), &error);
  if (steps)
    measure_steps(&o, all_ranks);
  else
    measure_messages(all_ranks);
  hk_ranks_close(&all_ranks);
  return 0;
}
