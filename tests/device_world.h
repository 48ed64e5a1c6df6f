/* Simulations on a device beside those on the host, for tests.
 *
 * Without a GPU the device is a plug-in that emulates one on the host (tests/plugin), in the
 * layouts and with the arithmetic of the GPUs; with HOOKE_PLUGINS set to the folder of the real
 * one, the same tests look at the GPU. */
#ifndef HOOKE_TEST_DEVICE_WORLD_H
#define HOOKE_TEST_DEVICE_WORLD_H

#include "world.h"

/* How a world is moved, and where. */
typedef struct DeviceWish {
  const char *integrator; /* or "descent", "jacobi", "newton", "multigrid" (newton with it) for
                           * backward_euler by these, solved to rounding, as is "bdf2" by newton
                           * with multigrid; NULL: the scene's */
  HkDeviceKind device;
} DeviceWish;

/* The plug-in that needs no GPU, unless another one is asked for from outside. */
void device_use_plugin(void);
/* Returns whether the plug-in is that of a real GPU. */
bool device_is_gpu(void);
/* From a scene's text, with one value set from outside unless that is NULL. */
HkStatus device_make(const char *text, const char *set, const DeviceWish *wish, World *w,
                     HkError *error);
/* The furthest that a vertex is from where it is in the other world, in parts of the model's size.
 */
double device_difference(World *a, World *b);
/* Moves a scene here and there, and fails with the name unless both end at the same places. */
void device_compare(const char *name, const char *text, const char *set, const char *integrator,
                    HkDeviceKind device, int64_t steps, double tolerance);

#endif
