/* probes.csv: positions, velocities and forces of probes, one row a frame.
 *
 *     frame,time, and for each probe NAME.x .y .z (m) .vx .vy .vz (m/s) .fx .fy .fz (N)
 *
 * Positions and velocities are means over the probe's vertices, forces are their sum. Names follow
 * RFC 4180: one with a comma, a quote or an end of line stands in quotes, quotes inside doubled.
 */
#include "output/output.h"

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
  HkStatus status = hk_output_append_open(o, file_name, &file, error);
  o->data = file;
  if (status < 0 || o->offset > 0) return status;
  fputs("frame,time", file);
  for (int p = 0; p < model->probe_count; p++)
    for (int c = 0; c < 9; c++) hk_output_put_title(file, "", model->probes[p].name, columns[c]);
  fputc('\n', file);
  return hk_output_append_flush(o, file, file_name, error);
}

/* Writes the sum over the probe's vertices, divided by the divisor. */
static void put_vector(FILE *file, const HkCompiledProbe *probe, const double *values,
                       double divisor) {
  double sum[3] = {0, 0, 0};
  for (int64_t q = 0; q < probe->count; q++)
    for (int c = 0; c < 3; c++) sum[c] += values[3 * (int64_t)probe->vertices[q] + c];
  fprintf(file, ",%.17g,%.17g,%.17g", sum[0] / divisor, sum[1] / divisor, sum[2] / divisor);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  FILE *file = o->data;
  const HkModel *model = frame->model;
  fprintf(file, "%lld,%.17g", (long long)frame->index, frame->state->time);
  for (int p = 0; p < model->probe_count; p++) {
    const HkCompiledProbe *probe = &model->probes[p];
    put_vector(file, probe, frame->state->x, (double)probe->count);
    put_vector(file, probe, frame->state->v, (double)probe->count);
    put_vector(file, probe, frame->force, 1);
  }
  fputc('\n', file);
  return hk_output_append_flush(o, file, file_name, error);
}

const HkOutputType hk_output_probes = {
    .schema = {.name = "probes",
               .summary = "probes.csv: mean position and velocity and summed force of each probe",
               HK_PARAMS(Probes, params)},
    .files = {"probes.csv"},
    .grows = "probes.csv",
    .open = open,
    .write = write,
    .close = hk_output_file_close,
};
