/* Many small worlds: copies of one model, each with its own parameters, pins, forces and state,
 * that are stepped together. */
#ifndef HOOKE_BATCH_H
#define HOOKE_BATCH_H

#include "hooke/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Batch: N worlds of one model --------------------------------------------------------------
 *
 * The worlds have the vertices, springs and pins of the model in common. Each has a model, a state
 * and a simulation of its own, to which every call of hooke/hooke.h applies: live changes
 * (stiffness, masses, forces, motions), released pins, energies, reactions. On the CPU worker
 * threads share the worlds and one thread steps a world: its bits are those of the same model
 * stepped alone, whatever the number of threads.
 */

/* Worlds that are stepped together; opaque. */
typedef struct HkBatch HkBatch;

/* Makes `count` worlds that start as the model is now, with an integrator (NULL: the scene's) and a
 * step h (s; 0: the scene's, or one picked by stability). The model has to outlive the batch; live
 * changes of it do not reach the worlds, nor theirs the model. HK_ERROR_UNSUPPORTED where the model
 * has forces of the caller (hooke/extend.h): add them to the models of the worlds. They are then
 * called by several threads at once, as is `log` of the context, and its `resize`, one call at a
 * time. */
HK_API HkStatus hk_batch_create(const HkModel *model, int64_t count, const HkMethod *step, double h,
                                HkBatch **batch, HkError *error);
/* Makes `count` worlds of which world w is a copy of models[w]; the same model may stand there
 * several times. The models have the same number of vertices and may differ in all else. step NULL
 * and h 0: those of each model. The models have to outlive the batch; memory and log are those of
 * the context of models[0]. */
HK_API HkStatus hk_batch_create_from(const HkModel *const *models, int64_t count,
                                     const HkMethod *step, double h, HkBatch **batch,
                                     HkError *error);
/* Who moves the worlds: HkContext.device of the first model, or what was picked where that is
 * HK_AUTO. */
HK_API HkDeviceKind hk_batch_device(const HkBatch *batch);
/* Number of worlds. */
HK_API int64_t hk_batch_count(const HkBatch *batch);
/* Model, state and simulation of a world, or NULL where there is no such world; owned by the batch.
 * A world may also be stepped alone, by its simulation. */
HK_API HkModel *hk_batch_model(HkBatch *batch, int64_t world);
HK_API HkState *hk_batch_state(HkBatch *batch, int64_t world);
HK_API HkSim *hk_batch_sim(HkBatch *batch, int64_t world);
/* Positions (m) and velocities (m/s) of all worlds, writable between steps; owned by the batch.
 * Coordinate c of vertex i of world w stands at [w * *stride + 3 * i + c]. The arrays do not move.
 * Where a device makes the steps, call this again after steps and before the arrays are used. */
HK_API double *hk_batch_x(HkBatch *batch, int64_t *stride);
HK_API double *hk_batch_v(HkBatch *batch, int64_t *stride);

/* Moves every world by `count` steps, each as hk_sim_steps does. A world whose step fails stops
 * there, and the others continue. Returns the first error of the worlds in their order, with the
 * number of the world in its text, else HK_NOT_CONVERGED if a step of any world did not converge,
 * else HK_OK. hk_batch_world_info has the result of each world. */
HK_API HkStatus hk_batch_steps(HkBatch *batch, int64_t count, HkError *error);
/* Moves world w by counts[w] steps, otherwise as hk_batch_steps. */
HK_API HkStatus hk_batch_steps_each(HkBatch *batch, const int64_t *counts, HkError *error);
/* Calls cancel as hk_sim_set_cancel does for each world, on the thread that calls hk_batch_steps
 * alone; NULL removes the callback. Once it returns true, hk_batch_steps returns
 * HK_ERROR_CANCELLED. Each world is then at the end of its last whole step, some further than
 * others: HkWorldInfo.steps says how far. */
HK_API void hk_batch_set_cancel(HkBatch *batch, HkCancelFn *cancel, void *user);

/* What the last hk_batch_steps did with a world. */
typedef struct HkWorldInfo {
  HkStatus status; /* as hk_sim_steps returns it */
  int64_t steps;   /* that were made */
  HkStepInfo last; /* how the last step was solved */
} HkWorldInfo;

/* Writes what the last hk_batch_steps did with a world, and returns its status; where that is an
 * error, *error (may be NULL) becomes its text. HK_ERROR_INVALID where there is no such world. */
HK_API HkStatus hk_batch_world_info(const HkBatch *batch, int64_t world, HkWorldInfo *info,
                                    HkError *error);
/* Energies and momenta of all worlds, into one HkStateInfo a world. */
HK_API void hk_batch_state_info(HkBatch *batch, HkStateInfo *info);
/* Positions (m) and velocities (m/s) of chosen vertices of all worlds: coordinate c of vertices[q]
 * of world w becomes x[3 * (w * count + q) + c]; x or v may be NULL. */
HK_API HkStatus hk_batch_probe(HkBatch *batch, const int32_t *vertices, int64_t count, double *x,
                               double *v, HkError *error);
/* Writes positions (m) or velocities (m/s) of all worlds into an array on the device of the batch,
 * in double precision, one world after the other: as hk_sim_read_device does for a state. */
HK_API HkStatus hk_batch_read_device(HkBatch *batch, HkArrayKind kind, HkDeviceArray **array,
                                     HkError *error);
/* Takes positions or velocities of all worlds from the device, from any address there of doubles in
 * the order of hk_batch_read_device. Held pins stay where they are. */
HK_API HkStatus hk_batch_write_device(HkBatch *batch, HkArrayKind kind, const void *data,
                                      HkError *error);
/* Estimate of the memory of one world of a model (bytes), before a batch is made: its part of the
 * arrays, its copy of the model, and a simulation by an integrator (NULL: the scene's). Forces that
 * hold lists, such as contact, take more once steps are made. */
HK_API double hk_batch_world_need(const HkModel *model, const HkMethod *step);
/* Memory that the batch holds now, without the model that it was made from. */
HK_API size_t hk_batch_bytes(const HkBatch *batch);
/* Releases a batch with all its worlds and sets the pointer to NULL. */
HK_API void hk_batch_destroy(HkBatch **batch);

#ifdef __cplusplus
}
#endif
#endif
