/* The host's device in double precision. */
#define HK_REAL double
#include "host_steps.h"

extern const HkDevice host_double;
const HkDevice host_double = {.create = create,
                              .destroy = destroy,
                              .set_h = set_h,
                              .upload = upload,
                              .steps = steps,
                              .record = record,
                              .fetch = fetch,
                              .create_array = create_array,
                              .copy_to_arrays = copy_to_arrays,
                              .copy_from_arrays = copy_from_arrays};
