/* libFuzzer target of the reader of VTK files (hooke render): whatever the bytes are, an array is
 * whole or there is an error with a text, and nothing behind the text is read.
 */
#include "vtk_arrays.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  enum { MAX_VALUES = 12 };
  static const char *const names[] = {"Points", "velocity"};
  float values[MAX_VALUES];
  VtkFile file = {.path = "fuzz.vtp", .text = malloc(size + 1)};
  if (!file.text) return 0;
  if (size > 0) memcpy(file.text, bytes, size);
  file.text[size] = 0;
  for (int q = 0; q < 2; q++)
    for (int64_t count = 0; count <= MAX_VALUES; count += 6) {
      HkError error = {0};
      HkStatus status = vtk_read(&file, names[q], count, values, &error);
      if (status < 0 && (error.status != status || error.text[0] == 0)) abort();
    }
  vtk_close(&file);
  return 0;
}
