/* One frame as a Wavefront OBJ file, for the outputs obj and pc2. */
#ifndef HK_OUTPUT_OBJ_H
#define HK_OUTPUT_OBJ_H

#include "base/stream.h"
#include "output/drawn.h"
#include "output/output.h"

typedef struct HkObjWriter {
  HkDrawn drawn;
  HkStream stream;
  bool precise;  /* 17 digits instead of 9 */
  uint8_t *used; /* 1 for vertices that an f or l line names; NULL unless every_vertex */
} HkObjWriter;

/* every_vertex: also writes an l line for each vertex that no other line names, since Blender drops
 * such vertices and renumbers the others. */
HkStatus hk_obj_create(const HkContext *context, const HkModel *model, bool precise,
                       bool every_vertex, HkObjWriter *w, HkError *error);
void hk_obj_destroy(const HkContext *context, HkObjWriter *w);

/* Writes the file under a temporary name and renames it. */
HkStatus hk_obj_write(HkObjWriter *w, const HkFrame *frame, const char *path, HkError *error);

#endif
