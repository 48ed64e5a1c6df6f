/* Arrays of VTK's XML files, as Hooke writes them; see vtk_arrays.h.
 *
 *     <DataArray type="Float32" Name="velocity" NumberOfComponents="3" NumberOfTuples="81"
 *      format="binary">
 *     AAAA...                         base64 of a UInt64, the number of bytes, and of the numbers
 *     </DataArray>
 *
 * all little endian, Float32 or Float64. Other files of VTK may differ in every respect, and are
 * refused.
 */
#include "vtk_arrays.h"

#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static HkStatus broken(const VtkFile *file, const char *name, HkError *error) {
  return text_fail(error, HK_ERROR_FORMAT,
                   "%s: has no whole array '%s' of this run; run again with --force, or render the "
                   "scene, which simulates it",
                   file->path, name);
}

HkStatus vtk_open(const char *path, VtkFile *file, HkError *error) {
  snprintf(file->path, sizeof file->path, "%s", path);
  file->text = NULL;
  FILE *stream = text_open(path);
  long size = -1;
  if (stream && fseek(stream, 0, SEEK_END) == 0) size = ftell(stream);
  if (size >= 0) file->text = malloc((size_t)size + 1);
  bool whole = file->text && fseek(stream, 0, SEEK_SET) == 0 &&
               fread(file->text, 1, (size_t)size, stream) == (size_t)size;
  int reason = errno;
  if (stream) fclose(stream);
  if (whole) {
    file->text[size] = 0;
    return HK_OK;
  }
  bool memory = size >= 0 && !file->text;
  vtk_close(file);
  return text_fail(error, memory ? HK_ERROR_MEMORY : HK_ERROR_IO, "%s: cannot read: %s", path,
                   memory ? "no memory" : strerror(reason));
}

void vtk_close(VtkFile *file) {
  free(file->text);
  file->text = NULL;
}

/* ---- Base64 ---------------------------------------------------------------------------------- */

/* Decoder of base64, four letters at a time; ends at the first invalid letter. */
typedef struct Decoder {
  const char *at;
  unsigned char bytes[3];
  int have, taken;
} Decoder;

static int letter_value(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

static bool fill(Decoder *d) {
  uint32_t bits = 0;
  int letters = 0;
  for (; letters < 4 && letter_value(d->at[letters]) >= 0; letters++)
    bits = bits << 6 | (uint32_t)letter_value(d->at[letters]);
  if (letters < 2) return false;
  bits <<= 6 * (4 - letters);
  d->at += letters;
  for (int q = 0; q < 3; q++) d->bytes[q] = (unsigned char)(bits >> (16 - 8 * q));
  d->have = letters - 1;
  d->taken = 0;
  return true;
}

/* Reads the next number of `size` bytes, little endian; returns false at the end. */
static bool read_number(Decoder *d, int size, uint64_t *value) {
  *value = 0;
  for (int q = 0; q < size; q++) {
    if (d->taken == d->have && !fill(d)) return false;
    *value |= (uint64_t)d->bytes[d->taken++] << (8 * q);
  }
  return true;
}

static float number_of(uint64_t bits, bool wide) {
  double number;
  float narrow;
  uint32_t low = (uint32_t)bits;
  memcpy(&number, &bits, sizeof number);
  memcpy(&narrow, &low, sizeof narrow);
  return wide ? (float)number : narrow;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Finds the tag of the array of that name, and whether its numbers have 64 bits; NULL if there is
 * none. */
static const char *find_array(const char *text, const char *name, bool *wide) {
  static const char tag[] = "<DataArray type=\"Float";
  char wanted[2][64];
  for (int q = 0; q < 2; q++)
    snprintf(wanted[q], sizeof wanted[q], "%s\" Name=\"%s\"", q ? "64" : "32", name);
  for (const char *at = text; (at = strstr(at, tag)); at += sizeof tag - 1)
    for (int q = 0; q < 2; q++) { /* strncmp does not read past the end of the text */
      if (strncmp(at + sizeof tag - 1, wanted[q], strlen(wanted[q])) != 0) continue;
      *wide = q == 1;
      return at;
    }
  return NULL;
}

HkStatus vtk_read(const VtkFile *file, const char *name, int64_t count, float *values,
                  HkError *error) {
  uint64_t bytes, bits;
  bool wide = false;
  const char *at = find_array(file->text, name, &wide), *end = at ? strchr(at, '>') : NULL;
  if (!end) return broken(file, name, error);
  Decoder decoder = {.at = end + 1 + strspn(end + 1, "\r\n")};
  if (!read_number(&decoder, 8, &bytes) || bytes != (uint64_t)count * (wide ? 8 : 4))
    return broken(file, name, error);
  for (int64_t q = 0; q < count; q++) {
    if (!read_number(&decoder, wide ? 8 : 4, &bits)) return broken(file, name, error);
    values[q] = number_of(bits, wide);
  }
  return HK_OK;
}
