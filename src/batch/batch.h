/* HkBatch: worlds of one model; include/hooke/batch.h has its interface. */
#ifndef HK_BATCH_BATCH_H
#define HK_BATCH_BATCH_H

#include "batch/shared_context.h"
#include "hooke/batch.h"
#include "step/sim.h"

#include <stdatomic.h>
#ifdef HK_WITH_THREADS
#include <pthread.h>
#endif

typedef struct HkWorld {
  HkModel *model;
  HkState *state; /* x and v are rows of the arrays of the batch */
  HkSim *sim;
  HkStatus status; /* of the last hk_batch_steps */
  int64_t steps;   /* made by it */
  int64_t goal;    /* steps that it was asked for */
  HkError *error;  /* of the status; NULL: it is no error, or there was no memory for its text */
} HkWorld;

struct HkBatchDevice;

struct HkBatch {
  HkSharedContext *shared;
  HkContext context;    /* of the worlds */
  const HkModel *model; /* of the first world */
  HkDeviceKind kind;    /* who moves the worlds; never HK_AUTO */
  int threads;
  int64_t count, stride; /* worlds; doubles from one row of x to the next */
  HkWorld *worlds;
  double *x, *v;                /* count rows */
  struct HkBatchDevice *device; /* NULL: the CPU moves the worlds */
  HkCancelFn *cancel;
  void *cancel_user;
#ifdef HK_WITH_THREADS
  pthread_t caller; /* the thread that is in hk_batch_steps */
#endif
  bool is_stepping;        /* a thread is in hk_batch_steps */
  _Atomic bool is_stopped; /* cancel has returned true in this call of hk_batch_steps */
};

/* steps.c: keeps the text of an error; without memory only the status remains. */
void hk_world_keep_error(HkBatch *batch, HkWorld *world, const HkError *error);

#endif
