/* energies.csv: one row a frame with time (s), energies (J), momenta and extremes.
 *
 * Models whose springs can yield or break have the column `dissipated` (J), what that has taken
 * since the start. Models with contact have two columns more: `contact` (J), the part of contact in
 * `other`, and `friction_work` (J), what friction has taken since the start.
 */
#include "force/force.h"
#include "output/output.h"

static const char *const file_name = "energies.csv";

typedef struct Energies {
  int every;
} Energies;

HK_EVERY_COMES_FIRST(Energies);

static const HkParam params[] = {
    HK_INTEGER(Energies, every, 1, 1, 1000000000, "write each so many frames"),
};

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  FILE *file;
  HkStatus status = hk_output_append_open(o, file_name, &file, error);
  o->data = file;
  if (status < 0 || o->offset > 0) return status;
  fprintf(file,
          "frame,time,kinetic,spring,gravity,other,total,px,py,pz,Lx,Ly,Lz,strain_min,"
          "strain_max,speed_max%s%s\n",
          hk_forces_lose(model) ? ",dissipated" : "",
          hk_forces_have_contacts(model) ? ",contact,friction_work" : "");
  return hk_output_append_flush(o, file, file_name, error);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  const HkStateInfo *r = frame->info;
  const double *p = r->momentum, *L = r->angular_momentum;
  fprintf(o->data,
          "%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
          "%.17g,%.17g",
          (long long)frame->index, r->time, r->kinetic, r->spring, r->gravity, r->other, r->total,
          p[0], p[1], p[2], L[0], L[1], L[2], r->strain_min, r->strain_max, r->speed_max);
  const HkContactView *contacts = frame->contacts;
  if (hk_forces_lose(frame->model)) fprintf(o->data, ",%.17g", r->dissipated);
  if (contacts) fprintf(o->data, ",%.17g,%.17g", contacts->energy, contacts->friction_work);
  fputc('\n', o->data);
  return hk_output_append_flush(o, o->data, file_name, error);
}

const HkOutputType hk_output_energies = {
    .schema = {.name = "energies",
               .summary = "energies.csv: kinetic, spring, gravity and total energy, momenta",
               HK_PARAMS(Energies, params)},
    .ranks = HK_OUTPUT_OF_FIRST_RANK,
    .files = {"energies.csv"},
    .grows = "energies.csv",
    .open = open,
    .write = write,
    .close = hk_output_file_close,
};
