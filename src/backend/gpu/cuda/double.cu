/* The same kernels in double precision, to check with. */
#define HK_REAL double
#define HK_SPACE hk_double
#include "device.cuh"

extern "C" const HkDevice hk_cuda_double;
const HkDevice hk_cuda_double = HK_CUDA_DEVICE;
