/* Worlds in single precision: explicit steps of the device cuda. */
#define HK_REAL float
#define HK_SPACE hk_worlds_single
#include "worlds.cuh"

extern "C" const HkCudaWorlds hk_cuda_worlds_single;
const HkCudaWorlds hk_cuda_worlds_single = HK_CUDA_WORLDS;
