/* vtu/frame_000000.vtu ... and vtu.pvd: each frame as a VTK UnstructuredGrid, for ParaView.
 *
 * Cells are the springs as lines, then the faces, then the solids (tetrahedra, pyramids, wedges,
 * hexahedra). Their corners keep the order of the mesh, that of Gmsh and of VTK 9.7; VTK up to 9.5
 * sees wedges inside out, which shows in the direction of their normals alone. The fields are those
 * of vtk.c.
 */
#include "output/vtk.h"

/* VTK's number of an HkCellType. */
static int vtk_type(HkCellType type) {
  static const int numbers[] = {1, 3, 5, 9, 7, 10, 14, 13, 12};
  return numbers[type];
}

static void count(HkVtk *w) {
  hk_stream_printf(&w->stream, " NumberOfCells=\"%lld\"",
                   (long long)(w->spring_count + w->drawn.count));
}

static void cells(HkVtk *w) {
  const HkDrawn *d = &w->drawn;
  hk_stream_printf(&w->stream, "<Cells>\n");
  hk_vtk_put_cells(w, true, 0, d->count, d->corners);
  hk_vtk_begin(w, HK_VTK_UINT8, "types", 1, w->spring_count + d->count);
  for (int64_t s = 0; s < w->spring_count; s++) hk_vtk_put_int(w, vtk_type(HK_CELL_LINE));
  for (int64_t q = 0; q < d->count; q++) hk_vtk_put_int(w, vtk_type(hk_drawn_cell(d, q).type));
  hk_vtk_end(w);
  hk_stream_printf(&w->stream, "</Cells>\n");
}

static const HkVtkLayout layout = {.name = "vtu",
                                   .type = "UnstructuredGrid",
                                   .what = HK_DRAW_FACES | HK_DRAW_SOLIDS,
                                   .count = count,
                                   .cells = cells};

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  return hk_vtk_open(o, model, &layout, error);
}

const HkOutputType hk_output_vtu = {
    .schema = {.name = "vtu",
               .summary =
                   "vtu.pvd and vtu/frame_000000.vtu ...: springs, faces, solids for ParaView",
               HK_PARAMS(HkVtkParams, hk_vtk_params)},
    .ranks = HK_OUTPUT_OF_ALL_RANKS,
    .files = {"vtu.pvd"},
    .grows = "vtu.pvd",
    .singles = hk_vtk_singles,
    .open = open,
    .write = hk_vtk_write,
    .close = hk_vtk_close,
};
