/* NAME.pvd: ParaView's list of the frames of an output with their times.
 *
 * Each frame overwrites the closing tags, so that the file is complete after each frame without
 * rewriting it. o->offset is the position of the closing tags.
 */
#ifndef HK_OUTPUT_PVD_H
#define HK_OUTPUT_PVD_H

#include "output/output.h"

/* Creates name.pvd, or continues it at o->offset. */
HkStatus hk_pvd_open(HkOutput *o, const char *name, FILE **file, HkError *error);
/* Adds the frame's file NAME/frame_000000.ENDING; on ranks its ending is pENDING. */
HkStatus hk_pvd_add(HkOutput *o, const char *name, FILE *file, const HkFrame *frame,
                    HkError *error);
HkStatus hk_pvd_close(const HkOutput *o, const char *name, FILE **file, HkError *error);

#endif
