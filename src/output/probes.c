/* probes.csv: positions, velocities and forces of probes, one row a frame.
 *
 *     frame,time, and for each probe NAME.x .y .z (m) .vx .vy .vz (m/s) .fx .fy .fz (N)
 *
 * Positions and velocities are means over the probe's vertices, forces are their sum. Names follow
 * RFC 4180: one with a comma, a quote or an end of line stands in quotes, quotes inside doubled.
 * Ranks add up the vertices that they own, in the order of the ranks, and rank 0 writes.
 */
#include "model/part.h"
#include "output/output.h"

#include <string.h>

static const char *const file_name = "probes.csv";

typedef struct Probes {
  int every;
} Probes;

HK_EVERY_COMES_FIRST(Probes);

static const HkParam params[] = {
    HK_INTEGER(Probes, every, 1, 1, 1000000000, "write each so many frames"),
};

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  static const char *const columns[] = {".x", ".y", ".z", ".vx", ".vy", ".vz", ".fx", ".fy", ".fz"};
  FILE *file;
  if (!hk_output_is_first(o)) return HK_OK;
  HkStatus status = hk_output_append_open(o, file_name, &file, error);
  o->data = file;
  if (status < 0 || o->offset > 0) return status;
  fputs("frame,time", file);
  for (int p = 0; p < model->probe_count; p++)
    for (int c = 0; c < 9; c++) hk_output_put_title(file, "", model->probes[p].name, columns[c]);
  fputc('\n', file);
  return hk_output_append_flush(o, file, file_name, error);
}

/* Sums over the vertices of a probe: of x, v and the force, and the number of vertices. */
typedef struct Sums {
  double vector[3][3], count;
} Sums;

enum { NUMBERS = sizeof(Sums) / sizeof(double) };

static Sums sums_of(const HkFrame *frame, const HkCompiledProbe *probe) {
  const HkModel *m = frame->model;
  const double *values[] = {frame->state->x, frame->state->v, frame->force};
  Sums sums = {.count = 0};
  for (int64_t q = 0; q < probe->count; q++) {
    int64_t i = probe->vertices[q];
    if (hk_model_is_ghost(m, i)) continue;
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) sums.vector[k][c] += values[k][3 * i + c];
    sums.count++;
  }
  if (m->part) {
    double numbers[NUMBERS];
    memcpy(numbers, &sums, sizeof sums);
    hk_ranks_sum(m->part->ranks, numbers, NUMBERS);
    memcpy(&sums, numbers, sizeof sums);
  }
  return sums;
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  FILE *file = o->data; /* NULL on other ranks than the first */
  const HkModel *model = frame->model;
  if (file) fprintf(file, "%lld,%.17g", (long long)frame->index, frame->state->time);
  for (int p = 0; p < model->probe_count; p++) {
    Sums sums = sums_of(frame, &model->probes[p]);
    for (int k = 0; k < 3 && file; k++) {
      double divisor = k < 2 ? sums.count : 1;
      fprintf(file, ",%.17g,%.17g,%.17g", sums.vector[k][0] / divisor, sums.vector[k][1] / divisor,
              sums.vector[k][2] / divisor);
    }
  }
  if (!file) return HK_OK;
  fputc('\n', file);
  return hk_output_append_flush(o, file, file_name, error);
}

const HkOutputType hk_output_probes = {
    .schema = {.name = "probes",
               .summary = "probes.csv: mean position and velocity and summed force of each probe",
               HK_PARAMS(Probes, params)},
    .ranks = HK_OUTPUT_OF_ALL_RANKS,
    .files = {"probes.csv"},
    .grows = "probes.csv",
    .open = open,
    .write = write,
    .close = hk_output_file_close,
};
