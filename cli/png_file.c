/* Pictures as PNG files, by libpng; see png_file.h. */
#include "png_file.h"

#include "text.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

HkStatus png_write(const Target *target, const unsigned char *rgba, int width, int height,
                   HkError *error) {
  size_t pixels = (size_t)width * (size_t)height;
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = PNG_FORMAT_RGB};
  unsigned char *rgb = malloc(3 * pixels);
  if (!rgb) return text_fail(error, HK_ERROR_MEMORY, "no memory for %s", target->path);
  for (size_t q = 0; q < pixels; q++) memcpy(rgb + 3 * q, rgba + 4 * q, 3);
  errno = 0;
  bool good = png_image_write_to_file(&image, target->temporary, 0, rgb, 0, NULL);
  int reason = errno;
  free(rgb);
  if (good) return HK_OK;
  return text_fail(error, HK_ERROR_IO, "%s: cannot write: %s", target->path,
                   reason ? strerror(reason) : image.message);
}
