/* Worlds in double precision: implicit steps, and the device cuda_double. */
#define HK_REAL double
#define HK_SPACE hk_worlds_double
#include "worlds.cuh"

extern "C" const HkCudaWorlds hk_cuda_worlds_double;
const HkCudaWorlds hk_cuda_worlds_double = HK_CUDA_WORLDS;
