/* solver.csv: solve info of the steps since the previous row, one row a frame.
 *
 *     frame,time                     time in s
 *     steps,substeps,rejected        parts that adaptive steps kept and threw away
 *     iterations,worst_iterations    of the minimizer in all, in the step with most
 *     linear_iterations,projections  of the linear solver; indefinite Hessians
 *     gradient                       largest relative gradient m at the end of a step
 *                                    (minimize/stopping.c), without unit; inf where no vertex could
 *                                    be moved
 *     stationary                     steps that meet the tolerance and are not known to be minima
 *     unconverged,reason             steps that do not meet it; why the last one ended
 *
 * and for models with contact
 *
 *     contacts,least_gap             at the frame; m, inf where nothing touches
 *     friction_work                  J, since the start
 *
 * Explicit integrators have zeros and the reason "none". The file has no wall times, so that the
 * same run writes the same bytes, and no number of searches, which a resumed run has more of.
 */
#include "force/force.h"
#include "output/output.h"

static const char *const file_name = "solver.csv";

typedef struct Solver {
  int every;
} Solver;

HK_EVERY_COMES_FIRST(Solver);

static const HkParam params[] = {
    HK_INTEGER(Solver, every, 1, 1, 1000000000, "write each so many frames"),
};

static HkStatus open(HkOutput *o, const HkModel *model, HkError *error) {
  FILE *file;
  HkStatus status = hk_output_append_open(o, file_name, &file, error);
  o->data = file;
  if (status < 0 || o->offset > 0) return status;
  fputs("frame,time,steps,substeps,rejected,iterations,worst_iterations,linear_iterations,"
        "projections,gradient,stationary,unconverged,reason",
        file);
  fputs(hk_forces_have_contacts(model) ? ",contacts,least_gap,friction_work\n" : "\n", file);
  return hk_output_append_flush(o, file, file_name, error);
}

static HkStatus write(HkOutput *o, const HkFrame *frame, HkError *error) {
  const HkTally *t = &o->tally;
  const int64_t counts[] = {t->steps,      t->substeps,         t->rejected,
                            t->iterations, t->worst_iterations, t->linear_iterations,
                            t->projections};
  fprintf(o->data, "%lld,%.17g", (long long)frame->index, frame->state->time);
  for (size_t q = 0; q < sizeof counts / sizeof counts[0]; q++)
    fprintf(o->data, ",%lld", (long long)counts[q]);
  fprintf(o->data, ",%.17g,%lld,%lld,%s", t->gradient, (long long)t->stationary,
          (long long)t->unconverged, hk_stop_name((HkStop)t->reason));
  const HkContactView *c = frame->contacts;
  if (c) fprintf(o->data, ",%lld,%.17g,%.17g", (long long)c->count, c->least_gap, c->friction_work);
  fputc('\n', o->data);
  return hk_output_append_flush(o, o->data, file_name, error);
}

const HkOutputType hk_output_solver = {
    .schema = {.name = "solver",
               .summary = "solver.csv: iterations, gradients and steps that did not converge",
               HK_PARAMS(Solver, params)},
    .ranks = HK_OUTPUT_OF_FIRST_RANK,
    .files = {"solver.csv"},
    .grows = "solver.csv",
    .open = open,
    .write = write,
    .close = hk_output_file_close,
};
