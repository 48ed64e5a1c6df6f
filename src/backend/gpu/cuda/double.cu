/* The kernels in double precision: the device cuda_double, for checks. */
#define HK_REAL double
#define HK_SPACE hk_double
#include "device.cuh"

extern "C" const HkDevice hk_cuda_double;
const HkDevice hk_cuda_double = HK_CUDA_DEVICE;
