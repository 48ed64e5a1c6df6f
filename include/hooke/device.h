/* Devices that make steps, such as a GPU: whether there is one, and arrays in its memory, for
 * programs that compute there, too. */
#ifndef HOOKE_DEVICE_H
#define HOOKE_DEVICE_H

#include "hooke/hooke.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks that a device can be used: that its plug-in is there and finds a device.
 * HK_ERROR_UNSUPPORTED otherwise. HK_CPU and HK_AUTO can always be used. */
HK_API HkStatus hk_device_check(HkDeviceKind device, HkError *error);

/* ---- Arrays on a device: for programs that compute there, too ----------------------------------
 *
 * A state whose steps a device makes lies there in an order and a form of its own. These calls copy
 * it, within the device, into arrays that everybody can read, and back. An array belongs to the
 * caller and may outlive simulation, state and model; its content is that of the last call.
 */

/* Which array of a state. */
typedef enum HkArrayKind { HK_POSITIONS, HK_VELOCITIES } HkArrayKind;

/* Where an array lies, with the numbers that DLPack has for it. */
typedef enum HkMemoryKind { HK_MEMORY_CPU = 1, HK_MEMORY_CUDA = 2 } HkMemoryKind;

/* Three numbers a vertex in the memory of a device, in the order of the model. */
typedef struct HkDeviceArray {
  void *data;    /* an address there; may be written there */
  int64_t count; /* of vertices; of a batch those of all worlds, one world after the other */
  int bytes;     /* of a number: 8 (double) with HK_CUDA_DOUBLE and where newton uses multigrid, the
                  * default of backward_euler from 1,000 vertices on; else 4 (float) */
  HkMemoryKind memory;
  int device; /* which of its kind, from 0 */
} HkDeviceArray;

/* Writes positions (m) or velocities (m/s) of a state into an array on the device of a simulation;
 * the array is made where *array is NULL, and destroyed by hk_device_array_destroy.
 * HK_ERROR_UNSUPPORTED where the simulation makes its steps on this machine. Waits for all that
 * runs on the device, by others too, and until the array is complete. */
HK_API HkStatus hk_sim_read_device(HkSim *sim, HkState *state, HkArrayKind kind,
                                   HkDeviceArray **array, HkError *error);
/* Takes positions or velocities of a state from the device: from any address there, of numbers
 * with the `bytes` of an HkDeviceArray of this simulation. Held pins stay where they are. Waits
 * as hk_sim_read_device does. */
HK_API HkStatus hk_sim_write_device(HkSim *sim, HkState *state, HkArrayKind kind, const void *data,
                                    HkError *error);
/* Releases an array on a device and sets the pointer to NULL. */
HK_API void hk_device_array_destroy(HkDeviceArray **array);

#ifdef __cplusplus
}
#endif
#endif
