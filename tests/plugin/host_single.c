/* The host's device in single precision. */
#define HK_REAL float
#include "host_steps.h"

extern const HkDevice host_single;
const HkDevice host_single = {.create = create,
                              .destroy = destroy,
                              .set_h = set_h,
                              .upload = upload,
                              .steps = steps,
                              .record = record,
                              .fetch = fetch,
                              .create_array = create_array,
                              .copy_to_arrays = copy_to_arrays,
                              .copy_from_arrays = copy_from_arrays};
