/* The kernels in single precision: the device cuda. */
#define HK_REAL float
#define HK_SPACE hk_single
#include "device.cuh"

extern "C" const HkDevice hk_cuda_single;
const HkDevice hk_cuda_single = HK_CUDA_DEVICE;
