/* Sheets of the device cuda_double. */
#define HK_REAL double
#define HK_SPACE hk_sheet_double
#include "sheet.cuh"

extern "C" const HkDeviceSheets hk_cuda_sheets_double;
const HkDeviceSheets hk_cuda_sheets_double = HK_CUDA_SHEETS;
