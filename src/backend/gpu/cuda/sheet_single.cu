/* Sheets of the device cuda: forces and velocities in single precision. */
#define HK_REAL float
#define HK_SPACE hk_sheet_single
#include "sheet.cuh"

extern "C" const HkDeviceSheets hk_cuda_sheets_single;
const HkDeviceSheets hk_cuda_sheets_single = HK_CUDA_SHEETS;
