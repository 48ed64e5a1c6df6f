/* Sheets of the host's device in double precision. */
#define HK_REAL double
#include "host_sheet.h"

extern const HkDeviceSheets host_sheets_double;
const HkDeviceSheets host_sheets_double = HOST_SHEETS;
