/* Which device makes the steps where the caller leaves the choice; see choose_device.h.
 *
 * The least numbers of vertices were measured on an H200 beside 16 cores (docs/gpu.md): implicit
 * steps of 2,000 vertices take a third of the time there. An explicit step of a model that a core
 * holds in its cache is as short as the launch of a kernel. Below, a GPU may be faster yet, but by
 * less than what it costs to begin.
 */
#include "step/choose_device.h"

#include "base/memory.h"

static const int64_t IMPLICIT_MIN = 2000, EXPLICIT_MIN = 10000;

bool hk_device_pays(const HkContext *context, const HkStepType *type, int64_t vertices) {
  int64_t least = type->implicit ? IMPLICIT_MIN : EXPLICIT_MIN;
  if (vertices >= least) return true;
  hk_log(context, HK_LOG_INFO,
         "the CPU makes the steps of %lld vertices; a GPU pays from %lld on with %s",
         (long long)vertices, (long long)least, type->schema.name);
  return false;
}
