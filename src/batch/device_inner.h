/* The parts of a batch on a device: device_worlds.c makes the worlds of the plug-in and sends what
 * they have of their own, device.c moves them. */
#ifndef HK_BATCH_DEVICE_INNER_H
#define HK_BATCH_DEVICE_INNER_H

#include "backend/gpu/world_graph.h"
#include "batch/device.h"

/* The device's side of a world. */
typedef struct HkHeldWorld {
  HkStateHolder holder; /* the state points to it while the device holds it */
  HkBatchDevice *device;
  int64_t world;
  bool here; /* the arrays on the host are up to date */
  /* Fixed pins stay on the device where the state has them. strayed: the caller had moved one when
   * the state was uploaded. returned: a step was made since, which moves them back on the host. */
  bool strayed, returned;
  int64_t round; /* steps of this round */

  /* What the parameters on the device were made from; is_dirty: they are not there yet. */
  int64_t version, springs_version, edits;
  double h;
  bool is_dirty;
  bool fits; /* its springs have the types of the graph */

  /* What follows from its model and its springs: as in HkDeviceWorldsModel. */
  bool general, pins_move, varies; /* varies: a force of the medium depends on time */
  int medium_parts, grips;
  int64_t grip_entries;
} HkHeldWorld;

struct HkBatchDevice {
  HkBatch *batch;
  const HkDevice *device;
  HkDeviceSettings settings;
  HkDeviceWorlds *worlds;
  HkWorldGraph *graph;
  HkDeviceWorldsModel model;
  HkHeldWorld *held;
  int64_t rows;    /* of tables */
  int64_t moments; /* rows of `moment`: 1 if there are no grips and no medium depends on time */
  double *moment, *grips, *middle, *end;
  int32_t *counts;
  uint8_t *pin_held;
  /* Parameters of all worlds: HkDeviceWorldsParameters. */
  double *h, *origin, *total_mass, *mass, *type, *pin_x0;
  int32_t *grip_start, *grip;
  HkDeviceStepsInfo *info;
  HkStatus pending; /* error of a copy, which the next steps return */
  HkError error;
};

/* device_worlds.c: an error that names what worlds on a device do not support. */
HkStatus hk_batch_device_check(const HkBatchDevice *device, HkError *error);
/* Sends what has changed in worlds since the last call; makes the worlds of the plug-in where there
 * are none, or where they no longer fit. */
HkStatus hk_batch_device_renew(HkBatchDevice *device, HkError *error);
/* Releases all that depends on the worlds. */
void hk_batch_device_release(HkBatchDevice *device);

#endif
