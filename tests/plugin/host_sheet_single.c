/* Sheets of the host's device in single precision. */
#define HK_REAL float
#include "host_sheet.h"

extern const HkDeviceSheets host_sheets_single;
const HkDeviceSheets host_sheets_single = HOST_SHEETS;
