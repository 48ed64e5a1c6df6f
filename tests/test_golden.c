/* Golden hashes: the motions of ten scenes, bit for bit, as tests/golden.txt has them.
 *
 * A hash changes only on purpose, with a line in CHANGELOG.md that says which motions are others
 * and why. HOOKE_GOLDEN=FILE test_golden writes the present ones into FILE. The scenes use nothing
 * of the C library that is rounded differently from one machine to another (sin, cos) and no
 * library of others (CHOLMOD), so that the hashes hold for every compiler and number of threads.
 */
#include "world.h"

#include "base/file.h"

typedef struct Golden {
  const char *name;
  int64_t steps;
  bool
      single; /* preconditioned in single precision, where the vector width changes the last bits */
  const char *scene;
} Golden;

#define CLOTH                                                                                      \
  "'bodies': [{'shape': {'type': 'grid', 'nx': 17, 'ny': 13}, 'springs': {'k': 600, 'shear': "     \
  "true, 'bending': true, 'k_bending': 20%s}, 'mass': {'total': 0.4}, 'spin': [0.3, 1, 0.2]}], "   \
  "'pins': [{'select': 'corners'}]"
#define DAMPED ", 'damping': 0.05"
#define THREADS ", 'tension_only': true"

static const Golden goldens[] = {
    {"oscillator", 1000, false,
     "{'integrator': 'verlet', 'time': {'step': 0.001}, 'bodies': [{'shape': {'type': 'spring', "
     "'length': 1.2}, 'springs': {'k': 100, 'rest_length': 1}, 'mass': {'per_vertex': 1}}], "
     "'pins': [{'select': 'start'}], 'outputs': []}"},
    {"double_pendulum", 1000, false,
     "{'integrator': 'rk4', 'dimension': 2, 'time': {'step': 0.001}, 'bodies': [{'shape': {'type': "
     "'chain', 'n': 3, 'end': [2, 0, 0]}, 'springs': {'k': 2000}}], 'pins': [{'select': 'start'}], "
     "'forces': ['gravity', {'type': 'drag', 'linear': 0.01}], 'outputs': []}"},
    {"explicit_cloth", 400, false,
     "{'integrator': 'symplectic_euler', 'time': {'step': 0.0005}, " CLOTH ", 'forces': "
     "['gravity', {'type': 'face_wind', 'velocity': [0, 1, 6]}], 'outputs': []}"},
    {"newton_with_a_factor", 12, false,
     "{'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': "
     "'ldlt'}}, 'time': {'step': 0.03}, " CLOTH ", 'forces': ['gravity'], 'outputs': []}"},
    {"newton_with_multigrid", 12, true,
     "{'integrator': {'type': 'bdf2', 'minimizer': {'type': 'newton', 'linear': {'type': 'pcg', "
     "'preconditioner': 'multigrid'}}}, 'time': {'step': 0.02}, " CLOTH ", 'forces': ['gravity', "
     "{'type': 'wind', 'velocity': [1, 0, 4], 'per_mass': 2}], 'outputs': []}"},
    {"local_global", 12, true,
     "{'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'factor': "
     "'ldlt'}}, 'time': {'step': 0.03}, " CLOTH ", 'forces': ['gravity'], 'outputs': []}"},
    {"quasi_newton_of_threads", 12, true,
     "{'integrator': {'type': 'implicit_midpoint', 'minimizer': {'type': 'lbfgs', 'factor': "
     "'ldlt'}}, 'time': {'step': 0.01}, " CLOTH ", 'forces': ['gravity'], 'outputs': []}"},
    {"block_descent", 10, false,
     "{'integrator': {'type': 'trapezoidal', 'minimizer': 'vertex_block_descent'}, 'time': "
     "{'step': "
     "0.01}, 'bodies': [{'shape': {'type': 'block', 'nx': 7, 'ny': 5, 'nz': 6, 'neighbours': 26}, "
     "'springs': {'k': 300, 'damping': 0.2}}], 'pins': [{'select': 'bottom', 'motion': {'type': "
     "'keyframes', 'table': [[0, 0, 0, 0], [0.05, 0.1, 0, 0], [0.1, 0, 0, 0.1]]}}], 'forces': "
     "['gravity'], 'outputs': []}"},
    {"linearly_implicit_net", 60, false,
     "{'integrator': {'type': 'beta', 'linear': 'pcg'}, 'time': {'step': 0.005}, 'bodies': "
     "[{'shape': {'type': 'net', 'n': 5}, 'springs': {'k': 200}}], 'pins': [{'select': "
     "'corners'}], "
     "'forces': ['gravity', {'type': 'point_load', 'select': {'nearest': [0, 0, 0]}, 'force': [1, "
     "2, 3]}], 'outputs': []}"},
    {"adaptive_chain", 20, false,
     "{'integrator': {'type': 'backward_euler', 'minimizer': {'type': 'newton', 'linear': "
     "'ldlt'}}, 'time': {'step': 0.02, 'tolerance': 1e-4}, 'bodies': [{'shape': {'type': 'chain', "
     "'n': 21, 'end': [1, 0, 0]}, 'springs': {'k': 5000, 'damping': 1}, 'mass': {'per_vertex': "
     "0.02, 'added': [[20, 3]]}}], 'pins': [{'select': 'start', 'release': 0.2}], 'forces': "
     "['gravity', {'type': 'handle', 'select': 'end', 'k': 30, 'target': [1, 1, 0]}], 'outputs': "
     "[]}"},
};
enum { GOLDENS = sizeof goldens / sizeof goldens[0], NAME_MAX_LENGTH = 64 };

/* The springs that a scene with CLOTH in it has beside the common ones. */
static const char *springs_of(const char *name) {
  if (strcmp(name, "quasi_newton_of_threads") == 0) return THREADS;
  return strcmp(name, "newton_with_multigrid") == 0 ? DAMPED : "";
}

/* Hash of time, positions and velocities after all steps; 0 and a failed check after an error. */
static uint64_t motion_hash(const Golden *golden, int threads) {
  char text[2048];
  snprintf(text, sizeof text, golden->scene, springs_of(golden->name));
  World w = world_make(text, NULL, 0, threads);
  uint64_t hash = HK_HASH_START;
  if (!w.sim) return 0;
  world_steps(&w, golden->steps);
  size_t bytes = (size_t)hk_state_vertex_count(w.state) * 3 * sizeof(double);
  double time = hk_state_time(w.state);
  hash = hk_hash(hash, &time, sizeof time);
  hash = hk_hash(hash, hk_state_x(w.state), bytes);
  hash = hk_hash(hash, hk_state_v(w.state), bytes);
  world_destroy(&w);
  return hash;
}

/* The stored hash of a scene, or 0. */
static uint64_t stored(const char *name) {
  char line[256], found[NAME_MAX_LENGTH];
  unsigned long long hash = 0;
  FILE *file = fopen(HOOKE_SOURCE_DIR "/tests/golden.txt", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "%llx %63s", &hash, found) == 2 && strcmp(found, name) == 0) {
      fclose(file);
      return hash;
    }
  if (file) fclose(file);
  return 0;
}

TEST(motions_are_those_of_the_stored_hashes) {
  const char *path = getenv("HOOKE_GOLDEN");
  FILE *file = path ? fopen(path, "w") : NULL;
  setenv("HOOKE_SIMD", "portable", 1);
  for (int g = 0; g < GOLDENS; g++) {
    uint64_t one = motion_hash(&goldens[g], 1), three = motion_hash(&goldens[g], 3);
    if (one != three) test_fail(__FILE__, __LINE__, "%s differs with threads", goldens[g].name);
    if (file)
      fprintf(file, "%016llx %s\n", (unsigned long long)one, goldens[g].name);
    else if (one != stored(goldens[g].name))
      test_fail(__FILE__, __LINE__, "%s: the hash is %016llx, stored is %016llx", goldens[g].name,
                (unsigned long long)one, (unsigned long long)stored(goldens[g].name));
  }
  unsetenv("HOOKE_SIMD");
  if (file) fclose(file);
}

/* The vector width changes no bit of double precision. */
TEST(motions_are_the_same_with_the_vectors_of_this_machine) {
  for (int g = 0; g < GOLDENS; g++)
    if (!goldens[g].single && motion_hash(&goldens[g], 2) != stored(goldens[g].name))
      test_fail(__FILE__, __LINE__, "%s differs", goldens[g].name);
}
