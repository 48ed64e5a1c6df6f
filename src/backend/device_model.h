/* HkModel as a device wants it: device.h. */
#ifndef HK_BACKEND_DEVICE_MODEL_H
#define HK_BACKEND_DEVICE_MODEL_H

#include "backend/device.h"
#include "force/force.h"

/* The arrays of an HkDeviceModel, which belong to it. */
typedef struct HkDeviceArrays {
  HkGpuLayout *layout;
  double *mass, *pin_x0;
  int32_t *pin_place, *pin_motion, *face, *face_start, *face_at;
  int32_t *gripped, *grip_start, *grip;
} HkDeviceArrays;

HkStatus hk_device_model_create(const HkModel *model, const HkGpuWishes *wishes,
                                HkDeviceModel *device, HkDeviceArrays *arrays, HkError *error);
void hk_device_model_destroy(const HkModel *model, HkDeviceArrays *arrays);
/* Whether springs and media alone move vertices: no wind on faces, no grips, no pin that moves. */
bool hk_device_is_plain(const HkModel *model);

/* device_times.c: which forces a device does; the others are refused by name. */
HkStatus hk_device_check_forces(const HkModel *model, HkError *error);
/* HK_GPU_DRAGS and so on of the model's forces. */
int hk_device_medium_parts(const HkModel *model);
/* Whether any face_wind blows. */
bool hk_device_has_air(const HkModel *model);
/* Writes what forces know of a time: HK_GPU_MOMENT_REALS, and HK_DEVICE_GRIP_REALS for each grip.
 */
void hk_device_moment(const HkModel *model, const double origin[3], double t, double *moment,
                      double *grips);
/* Writes HK_DEVICE_MOTION_REALS for each motion at a time. */
void hk_device_motions(const HkModel *model, double t, double *motions);

#endif
