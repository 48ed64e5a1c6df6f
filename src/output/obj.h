/* One frame as a Wavefront OBJ file, for the outputs obj and pc2. */
#ifndef HK_OUTPUT_OBJ_H
#define HK_OUTPUT_OBJ_H

#include "base/stream.h"
#include "output/drawn.h"
#include "output/output.h"
#include "output/torn.h"

typedef struct HkObjWriter {
  HkDrawn drawn;
  HkEdgeSprings edges; /* of drawn; made for the first frame with broken springs */
  HkTorn torn;
  HkStream stream;
  bool precise;      /* 17 digits instead of 9 */
  bool every_vertex; /* writes an l line for vertices that no other line names */
  /* With every_vertex, 1 for vertices that an f or l line names; on ranks only the first has it, of
   * all vertices of the model. */
  uint8_t *used;
} HkObjWriter;

/* every_vertex: also writes an l line for each vertex that no other line names, since Blender drops
 * such vertices and renumbers the others. */
HkStatus hk_obj_create(const HkContext *context, const HkModel *model, bool precise,
                       bool every_vertex, HkObjWriter *w, HkError *error);
void hk_obj_destroy(const HkContext *context, HkObjWriter *w);

/* Writes the file under a temporary name and renames it. Ranks call it together, and rank 0 writes.
 */
HkStatus hk_obj_write(HkObjWriter *w, const HkFrame *frame, const char *path, HkError *error);
/* obj_parts.c: what hk_obj_write does on ranks. */
HkStatus hk_obj_write_parts(HkObjWriter *w, const HkFrame *frame, const char *path, HkError *error);

/* The first line of a file, and a line v. */
void hk_obj_put_head(HkStream *s, const HkFrame *frame);
void hk_obj_put_vertex(HkStream *s, const double x[3], bool precise);

#endif
