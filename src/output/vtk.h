/* Code of the outputs vtp, vtu and contacts: VTK's XML files, their data arrays and their .pvd.
 *
 * On ranks each rank writes a piece frame_000000_0003.vtu with the springs and cells that count
 * there and all vertices that they need; rank 0 lists the pieces in frame_000000.pvtu.
 *
 * Arrays stand inline as base64 of a UInt64 count of bytes and the values, little endian.
 */
#ifndef HK_OUTPUT_VTK_H
#define HK_OUTPUT_VTK_H

#include "base/stream.h"
#include "output/drawn.h"
#include "output/output.h"
#include "output/torn.h"

typedef struct HkVtkParams {
  int every;
  bool precise, springs;
} HkVtkParams;

HK_EVERY_COMES_FIRST(HkVtkParams);

enum { HK_VTK_PARAM_COUNT = 3 };
extern const HkParam hk_vtk_params[HK_VTK_PARAM_COUNT];

typedef enum HkVtkType {
  HK_VTK_FLOAT32,
  HK_VTK_FLOAT64,
  HK_VTK_INT32,
  HK_VTK_INT64,
  HK_VTK_UINT8
} HkVtkType;

typedef struct HkVtk HkVtk;

/* Differences between vtp and vtu. */
typedef struct HkVtkLayout {
  const char *name;        /* "vtp": folder and ending */
  const char *type;        /* "PolyData" */
  unsigned what;           /* HK_DRAW_* beside the springs or lines */
  void (*count)(HkVtk *w); /* the attributes of the Piece tag that count cells */
  void (*cells)(HkVtk *w); /* the sections that hold the cells */
} HkVtkLayout;

/* Number of the drawn spring q. */
#define HK_VTK_SPRING(w, q) ((w)->spring ? (int64_t)(w)->spring[q] : (q))

struct HkVtk {
  const HkVtkLayout *layout;
  HkVtkParams params;
  const HkModel *model;
  FILE *pvd;
  HkStream stream;
  HkDrawn drawn; /* of a frame: all cells, or those of torn */
  HkEdgeSprings edges;
  HkDrawn all;
  HkEdgeSprings all_edges;
  HkTorn torn;
  double *strain;       /* of every spring */
  int64_t spring_count; /* springs that are drawn: all or none, of a part those that count there */
  int32_t *spring;      /* their numbers; NULL: drawn spring s is spring s */
  int32_t *own_springs; /* of a part: those that count there */
  HkVtkType index_type; /* of connectivity and offsets */
  HkVtkType array_type; /* of the array being written */
  size_t staged;
  unsigned char stage[12288];
};

unsigned hk_vtk_singles(const HkOutput *o);
HkStatus hk_vtk_open(HkOutput *o, const HkModel *model, const HkVtkLayout *layout, HkError *error);
HkStatus hk_vtk_write(HkOutput *o, const HkFrame *frame, HkError *error);
HkStatus hk_vtk_close(HkOutput *o, HkError *error);

/* Writes a frame, or the piece of this rank, as one file. */
HkStatus hk_vtk_write_file(HkVtk *w, const HkFrame *frame, const char *path, HkError *error);
/* vtk_pieces.c: writes the piece of each rank, and on rank 0 the list of pieces, whose path is that
 * of the frame with a p before its ending. Collective. */
HkStatus hk_vtk_write_piece(HkOutput *o, const HkFrame *frame, const char *path, HkError *error);

/* The beginning of a file of one piece, up to the number of its points; FieldData has the time (s).
 */
void hk_vtk_put_head(HkVtk *w, const char *type, double time, int64_t points);

const char *hk_vtk_type_name(HkVtkType type);
static inline HkVtkType hk_vtk_real_type(const HkVtk *w) {
  return w->params.precise ? HK_VTK_FLOAT64 : HK_VTK_FLOAT32;
}
/* One DataArray: begin, its tuples x components values one by one, end. */
void hk_vtk_begin(HkVtk *w, HkVtkType type, const char *name, int components, int64_t tuples);
void hk_vtk_put_int(HkVtk *w, int64_t value);
void hk_vtk_put_real(HkVtk *w, double value);
void hk_vtk_end(HkVtk *w);

/* connectivity and offsets of the drawn springs (if springs) and of drawn cells begin .. end - 1,
 * which have so many corners. */
void hk_vtk_put_cells(HkVtk *w, bool springs, int64_t begin, int64_t end, int64_t corners);

#endif
