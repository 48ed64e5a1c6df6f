/* The functions of worlds in one precision, between worlds_single.cu, worlds_double.cu and
 * plugin.cu.
 */
#ifndef HK_CUDA_WORLDS_H
#define HK_CUDA_WORLDS_H

#include "backend/device.h"

typedef struct HkCudaWorlds {
  double (*need)(const HkDeviceWorldsModel *, const HkDeviceSettings *);
  int64_t (*most)(const HkDeviceSettings *);
  HkStatus (*create)(const HkDeviceWorldsModel *, const HkDeviceSettings *, HkDeviceWorlds **,
                     HkError *);
  void (*destroy)(HkDeviceWorlds **);
  HkStatus (*set)(HkDeviceWorlds *, const HkDeviceWorldsParameters *, HkError *);
  HkStatus (*upload)(HkDeviceWorlds *, int64_t, int64_t, const double *, const double *, HkError *);
  HkStatus (*fetch)(HkDeviceWorlds *, int64_t, int64_t, double *, double *, HkError *);
  HkStatus (*steps)(HkDeviceWorlds *, const HkDeviceWorldsTimes *, HkDeviceStepsInfo *, HkError *);
  HkStatus (*create_array)(HkDeviceWorlds *, void **, int *, HkError *);
  HkStatus (*copy_to_arrays)(HkDeviceWorlds *, void *, void *, HkError *);
  HkStatus (*copy_from_arrays)(HkDeviceWorlds *, const void *, const void *, const uint8_t *,
                               HkError *);
} HkCudaWorlds;

#endif
