/* Many small worlds: world-steps a second of a batch, on the CPU with all threads and on a GPU.
 *
 *     hooke_bench_worlds [WORLDS [SIZE [STEPS [ROUNDS [DEVICE]]]]]      1000 30 20 5 all
 *
 * A world is a cloth of SIZE x SIZE vertices (edges, shear and bending springs; 1 m, 0.3 kg, 500 to
 * 2000 N/m, another stiffness in each world) that hangs from two corners in a wind. Each line is an
 * integrator on a device: backward_euler with h = 1/60 s as Hooke picks its methods, on the CPU
 * also with those of the GPU (newton, pcg with block_jacobi, tolerance 1e-2), and symplectic_euler
 * at a stable step. ROUNDS calls of STEPS steps follow a first call, which is not counted; the
 * figure is their median, with the smallest and the largest. DEVICE: cpu, cuda, cuda_double or all.
 */
#include "base/clock.h"
#include "hooke/batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 100 };

typedef struct Sizes {
  int worlds, size, steps, rounds;
} Sizes;

/* MuJoCo Warp, published: cloth of 900 vertices, 32 worlds. */
static const double PUBLISHED = 1712;

static void check(HkStatus status, const HkError *error) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

static HkScene *make_scene(const Sizes *sizes, const char *integrator, double h,
                           HkDeviceKind device) {
  char text[1500];
  HkScene *scene = NULL;
  HkError error = {0};
  HkContext context = hk_context_default();
  context.device = device;
  snprintf(text, sizeof text,
           "{\"time\": {\"step\": %.17g}, \"bodies\": [{\"shape\": {\"type\": \"grid\", \"nx\": "
           "%d, \"ny\": %d}, \"springs\": {\"k\": 1000, \"shear\": true, \"bending\": true}, "
           "\"mass\": 0.3}], \"pins\": [{\"select\": \"top_left\"}, {\"select\": \"top_right\"}], "
           "\"forces\": [\"gravity\", {\"type\": \"wind\", \"velocity\": [0, 0, 2]}], "
           "\"integrator\": %s, \"outputs\": []}",
           h, sizes->size, sizes->size, integrator);
  check(hk_scene_parse(&context, text, strlen(text), "scene", NULL, NULL, 0, &scene, &error),
        &error);
  return scene;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Iterations of the last step of all worlds, and how many worlds met their tolerance. */
static void print_iterations(HkBatch *batch, int worlds) {
  double newton = 0, linear = 0;
  int met = 0;
  for (int w = 0; w < worlds; w++) {
    HkWorldInfo info;
    met += hk_batch_world_info(batch, w, &info, NULL) == HK_OK;
    newton += info.last.iterations;
    linear += info.last.linear_iterations;
  }
  if (newton > 0)
    printf(", %.1f newton and %.1f linear iterations a step", newton / worlds, linear / worlds);
  if (met < worlds) printf(", %d worlds not converged or failed", worlds - met);
}

static void measure(const Sizes *sizes, const char *name, const char *integrator, double h,
                    HkDeviceKind device) {
  static const char *const devices[] = {"cpu", "cuda", "cuda_double"};
  double rate[MAX_ROUNDS];
  HkError error = {0};
  HkModel *model = NULL;
  HkBatch *batch = NULL;
  HkScene *scene = make_scene(sizes, integrator, h, device);
  double begin = hk_wall_time();
  check(hk_model_compile(scene, &model, &error), &error);
  HkStatus status = hk_batch_create(model, sizes->worlds, NULL, 0, &batch, &error);
  if (status < 0) printf("%-11s %-34s %s\n", devices[device], name, error.text);
  for (int w = 0; w < sizes->worlds && status >= 0; w++)
    check(hk_model_scale_stiffness(hk_batch_model(batch, w),
                                   0.5 * pow(4, (double)w / sizes->worlds), &error),
          &error);
  double made = hk_wall_time() - begin;
  for (int q = -1; q < sizes->rounds && status >= 0; q++) {
    double start = hk_wall_time();
    status = hk_batch_steps(batch, sizes->steps, &error);
    double seconds = hk_wall_time() - start;
    if (q >= 0) rate[q] = (double)sizes->worlds * sizes->steps / seconds;
  }
  if (batch) {
    qsort(rate, (size_t)sizes->rounds, sizeof *rate, compare);
    double median = rate[sizes->rounds / 2];
    printf("%-11s %-34s %9.0f world-steps/s (%.0f to %.0f), %.1f x MuJoCo Warp's %g, made in %.2f "
           "s, %.0f MB",
           devices[device], name, median, rate[0], rate[sizes->rounds - 1], median / PUBLISHED,
           PUBLISHED, made, (double)hk_batch_bytes(batch) / 1e6);
    print_iterations(batch, sizes->worlds);
    printf("%s\n", status < 0 ? error.text : "");
    fflush(stdout);
  }
  hk_batch_destroy(&batch);
  hk_model_destroy(&model);
  hk_scene_destroy(&scene);
}

static void measure_device(const Sizes *sizes, HkDeviceKind device) {
  static const char implicit[] =
      "{\"type\": \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"tolerance\": 0.01, "
      "\"linear\": {\"type\": \"pcg\", \"preconditioner\": \"block_jacobi\"}}}";
  measure(sizes, "backward_euler", "\"backward_euler\"", 1.0 / 60, device);
  if (device == HK_CPU) measure(sizes, "backward_euler as on the GPU", implicit, 1.0 / 60, device);
  measure(sizes, "symplectic_euler", "\"symplectic_euler\"", 2e-4, device);
}

static int argument(char **argv, int argc, int index, int otherwise, int most) {
  int value = argc > index ? atoi(argv[index]) : otherwise;
  if (value < 1 || value > most) {
    fprintf(stderr, "hooke_bench_worlds [WORLDS [SIZE [STEPS [ROUNDS [DEVICE]]]]]\n");
    exit(2);
  }
  return value;
}

int main(int argc, char **argv) {
  setenv("HOOKE_PLUGINS", BENCH_PLUGINS, 0);
  Sizes sizes = {argument(argv, argc, 1, 1000, 1000000), argument(argv, argc, 2, 30, 1000),
                 argument(argv, argc, 3, 20, 1000000), argument(argv, argc, 4, 5, MAX_ROUNDS)};
  const char *device = argc > 5 ? argv[5] : "all";
  bool all = strcmp(device, "all") == 0;
  printf("%d worlds of %d vertices, %d steps a call, median of %d calls\n", sizes.worlds,
         sizes.size * sizes.size, sizes.steps, sizes.rounds);
  if (all || strcmp(device, "cpu") == 0) measure_device(&sizes, HK_CPU);
  if (all || strcmp(device, "cuda") == 0) measure_device(&sizes, HK_CUDA);
  if (all || strcmp(device, "cuda_double") == 0) measure_device(&sizes, HK_CUDA_DOUBLE);
  return 0;
}
