/* NAME.pvd: ParaView's list of the frames of an output with their times.
 *
 * It grows by overwriting its closing tags, so that it is a whole file after each frame and is
 * never written anew. o->offset stands just before the closing tags.
 */
#ifndef HK_OUTPUT_PVD_H
#define HK_OUTPUT_PVD_H

#include "output/output.h"

/* Makes name.pvd, or takes it up at o->offset. */
HkStatus hk_pvd_open(HkOutput *o, const char *name, FILE **file, HkError *error);
/* Adds the frame's file NAME/frame_000000.NAME. */
HkStatus hk_pvd_add(HkOutput *o, const char *name, FILE *file, const HkFrame *frame,
                    HkError *error);
HkStatus hk_pvd_close(const HkOutput *o, const char *name, FILE **file, HkError *error);

#endif
