/* vtp/frame_000000.vtp ... and vtp.pvd: each frame as VTK PolyData, for ParaView.
 *
 * Lines are the springs, Polys the faces; a solid without faces is drawn by its boundary triangles.
 * The fields are those of vtk.c.
 */
#include "output/vtk.h"

static void count(HkVtk *w) {
  hk_stream_printf(&w->stream,
                   " NumberOfVerts=\"0\" NumberOfLines=\"%lld\" NumberOfStrips=\"0\" "
                   "NumberOfPolys=\"%lld\"",
                   (long long)(w->spring_count + w->drawn.line_count),
                   (long long)w->drawn.face_count);
}

static void cells(HkVtk *w) {
  const HkDrawn *d = &w->drawn;
  hk_stream_printf(&w->stream, "<Lines>\n");
  hk_vtk_put_cells(w, true, 0, d->line_count, 2 * d->line_count);
  hk_stream_printf(&w->stream, "</Lines>\n<Polys>\n");
  hk_vtk_put_cells(w, false, d->line_count, d->count, d->corners - 2 * d->line_count);
  hk_stream_printf(&w->stream, "</Polys>\n");
}

static const HkVtkLayout layout = {.name = "vtp",
                                   .type = "PolyData",
                                   .what = HK_DRAW_FACES | HK_DRAW_BOUNDARY,
                                   .count = count,
                                   .cells = cells};

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  return hk_vtk_open(o, model, &layout, error);
}

const HkOutputType hk_output_vtp = {
    .schema = {.name = "vtp",
               .summary = "vtp.pvd and vtp/frame_000000.vtp ...: springs and faces for ParaView",
               HK_PARAMS(HkVtkParams, hk_vtk_params)},
    .ranks = HK_OUTPUT_OF_ALL_RANKS,
    .files = {"vtp.pvd"},
    .grows = "vtp.pvd",
    .singles = hk_vtk_singles,
    .open = open,
    .write = hk_vtk_write,
    .close = hk_vtk_close,
};
