/* Frames of ranks as VTK's parallel XML files: frame_000000.pvtu (or .pvtp) of rank 0 names the
 * pieces frame_000000_0000.vtu ..., one of each rank, and declares their arrays (vtk.c).
 */
#include "model/part.h"
#include "output/vtk.h"

#include <unistd.h>

static void declare(FILE *file, HkVtkType type, const char *name, int components) {
  fprintf(file, "<PDataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\"/>\n",
          hk_vtk_type_name(type), name, components);
}

static void put_list(const HkVtk *w, const HkFrame *frame, int ranks, FILE *file) {
  const HkVtkLayout *layout = w->layout;
  HkVtkType real = hk_vtk_real_type(w);
  fprintf(file,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"P%s\" version=\"1.0\" "
          "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<P%s GhostLevel=\"1\">\n"
          "<PPointData Vectors=\"velocity\">\n",
          layout->type, layout->type);
  declare(file, real, "velocity", 3);
  declare(file, real, "force", 3);
  declare(file, HK_VTK_UINT8, "vtkGhostType", 1);
  declare(file, HK_VTK_INT64, "number", 1);
  fputs("</PPointData>\n<PCellData Scalars=\"strain\">\n", file);
  declare(file, real, "strain", 1);
  declare(file, HK_VTK_UINT8, "kind", 1);
  fputs("</PCellData>\n<PPoints>\n", file);
  declare(file, real, "Points", 3);
  fputs("</PPoints>\n", file);
  for (int r = 0; r < ranks; r++)
    fprintf(file, "<Piece Source=\"frame_%06lld_%04d.%s\"/>\n", (long long)frame->index, r,
            layout->name);
  fprintf(file, "</P%s>\n</VTKFile>\n", layout->type);
}

/* Removes pieces that an earlier run on more ranks has left. */
static void remove_more(const char *path, int ranks) {
  char piece[4096];
  while (hk_ledger_piece_path(path, ranks++, piece, sizeof piece, NULL) >= 0 && unlink(piece) == 0)
    continue;
}

/* Rank 0: writes the list of pieces. */
static HkStatus write_list(HkOutput *o, const HkFrame *frame, const char *path, HkError *error) {
  const HkVtk *w = o->data;
  int ranks = o->context.ranks->count;
  char list[4096];
  HkWriter file;
  const char *dot = strrchr(path, '.');
  int length = snprintf(list, sizeof list, "%.*s.p%s", (int)(dot - path), path, w->layout->name);
  if (length < 0 || (size_t)length >= sizeof list)
    return hk_fail_at(error, HK_ERROR_IO, path, 0, 0, "the path is too long");
  HK_TRY(hk_writer_open(&file, list, error));
  put_list(w, frame, ranks, file.file);
  HK_TRY(hk_writer_commit(&file, error));
  remove_more(path, ranks);
  return hk_output_keep(o, list, error);
}

HkStatus hk_vtk_write_piece(HkOutput *o, const HkFrame *frame, const char *path, HkError *error) {
  HkRanks *ranks = o->context.ranks;
  char piece[4096];
  HkStatus status = hk_ledger_piece_path(path, ranks->rank, piece, sizeof piece, error);
  if (status >= 0) status = hk_vtk_write_file(o->data, frame, piece, error);
  HK_TRY(hk_ranks_agree(ranks, status, error));
  HK_TRY(hk_ledger_add_pieces(o->ledger, path, error));
  return hk_output_is_first(o) ? write_list(o, frame, path, error) : HK_OK;
}
