/* HkModel in the form that a device needs (device.h). */
#ifndef HK_BACKEND_DEVICE_MODEL_H
#define HK_BACKEND_DEVICE_MODEL_H

#include "backend/device.h"
#include "force/force.h"

/* The arrays that an HkDeviceModel points to; hk_device_model_destroy frees them. */
typedef struct HkDeviceArrays {
  HkGpuLayout *layout;
  HkGpuHierarchy *hierarchy;
  double *mass, *pin_x0;
  int32_t *pin_place, *pin_motion, *face, *face_start, *face_at;
  int32_t *gripped, *grip_start, *grip;
} HkDeviceArrays;

/* multigrid: with a hierarchy. Positions then are relative to the origin of coordinates: a state
 * that is fetched and uploaded again has the same bits. */
HkStatus hk_device_model_create(const HkModel *model, const HkGpuLayoutOptions *options,
                                bool multigrid, HkDeviceModel *device, HkDeviceArrays *arrays,
                                HkError *error);
void hk_device_model_destroy(const HkModel *model, HkDeviceArrays *arrays);
/* Returns whether only springs and media act on vertices: no wind on faces, no grips, no moving
 * pin. */
bool hk_device_is_plain(const HkModel *model);

/* device_times.c: HK_ERROR_UNSUPPORTED names a force that devices do not support. */
HkStatus hk_device_check_forces(const HkModel *model, HkError *error);
/* Returns the flags HK_GPU_LINEAR_DRAG, HK_GPU_QUADRATIC_DRAG, HK_GPU_BUOYANCY of the model's
 * forces. */
int hk_device_medium_parts(const HkModel *model);
/* Returns whether the model has a force 'face_wind'. */
bool hk_device_has_air(const HkModel *model);
/* Writes the parameters of forces at time t in s: HK_GPU_MOMENT_REALS, and HK_DEVICE_GRIP_REALS for
 * each grip. */
void hk_device_moment(const HkModel *model, const double origin[3], double t, double *moment,
                      double *grips);
/* Writes HK_DEVICE_MOTION_REALS for each motion at time t in s. */
void hk_device_motions(const HkModel *model, double t, double *motions);

#endif
