/* HkSheet: the side of the host (hooke/sheet.h). The device has the state; the host has a sample of
 * the sheet (sample.c), from which it evaluates forces that depend on time.
 */
#include "backend/device_model.h"
#include "backend/gpu/media.h"
#include "backend/plugin.h"
#include "base/status.h"
#include "sheet/sample.h"

enum { ROUND = 256 }; /* steps for which forces are evaluated at a time */

struct HkSheet {
  HkContext context;
  HkModel *sample;
  HkDeviceSheetModel model;
  const HkDeviceSheets *device;
  HkDeviceSheet *on_device;
  double *moment; /* of ROUND steps */
  int64_t steps;
  double device_bytes;
};

/* The step length is that of the sample, whose springs and masses are those of the sheet. */
static HkStatus find_step(HkSheet *s, HkError *error) {
  HkSim *sim = NULL;
  HK_TRY(hk_sim_create(s->sample, NULL, 0, &sim, error));
  s->model.h = hk_sim_h(sim);
  hk_sim_destroy(&sim);
  return HK_OK;
}

static HkStatus find_device(HkSheet *s, HkDeviceKind kind, HkError *error) {
  const HkDevice *device;
  HkDeviceInfo info;
  if (kind == HK_CPU)
    return hk_fail(error, HK_ERROR_UNSUPPORTED,
                   "a sheet needs a device; a model of the same scene runs on the CPU");
  HK_TRY(hk_plugin_find(kind, &device, error));
  HK_TRY(device->info(&info, error));
  s->device = kind == HK_CUDA_DOUBLE ? device->sheets_double : device->sheets_single;
  s->device_bytes = s->device->need(&s->model);
  if (s->device_bytes > info.bytes_free)
    return hk_fail(
        error, HK_ERROR_MEMORY,
        "a sheet of %d x %d vertices needs %.3g GB of device memory; %s has %.3g GB free",
        s->model.nx, s->model.ny, 1e-9 * s->device_bytes, info.name, 1e-9 * info.bytes_free);
  hk_log(&s->context, HK_LOG_INFO,
         "a sheet of %d x %d vertices on %s with %.3g GB of device memory", s->model.nx,
         s->model.ny, info.name, 1e-9 * s->device_bytes);
  return HK_OK;
}

static HkStatus fill(HkSheet *s, const HkScene *scene, HkError *error) {
  HK_TRY(hk_sheet_sample(scene, &s->sample, &s->model, error));
  HK_TRY(find_step(s, error));
  HK_TRY(find_device(s, s->context.device, error));
  HK_TRY(hk_alloc(&s->context, &s->moment, ROUND * HK_GPU_MOMENT_REALS, sizeof *s->moment,
                  "the tables of a sheet", error));
  return s->device->create(&s->model, &s->on_device, error);
}

HkStatus hk_sheet_create(const HkScene *scene, HkSheet **sheet, HkError *error) {
  HkContext context = hk_context_or_default(&scene->context);
  *sheet = NULL;
  HK_TRY(hk_alloc(&context, sheet, 1, sizeof **sheet, "a sheet", error));
  (*sheet)->context = context;
  HkStatus status = fill(*sheet, scene, error);
  if (status < 0) hk_sheet_destroy(sheet);
  return status;
}

void hk_sheet_destroy(HkSheet **sheet) {
  HkSheet *s = *sheet;
  if (!s) return;
  HkContext context = s->context;
  if (s->on_device) s->device->destroy(&s->on_device);
  hk_free(&context, &s->moment);
  hk_model_destroy(&s->sample);
  hk_free(&context, sheet);
}

/* ---- Steps ---- */

static double time_at(const HkSheet *s, int64_t step) {
  return (double)step * s->model.h;
}

static HkStatus make_round(HkSheet *s, int64_t count, HkError *error) {
  const double origin[3] = {0, 0, 0};
  for (int64_t q = 0; q < count; q++)
    hk_device_moment(s->sample, origin, time_at(s, s->steps + q),
                     s->moment + q * HK_GPU_MOMENT_REALS, NULL);
  HK_TRY(s->device->steps(s->on_device, count, s->moment, error));
  s->steps += count;
  return HK_OK;
}

HkStatus hk_sheet_steps(HkSheet *s, int64_t count, HkError *error) {
  double sums[5];
  if (count < 0)
    return hk_fail(error, HK_ERROR_INVALID, "%lld steps: the number must not be negative",
                   (long long)count);
  if (count == 0) return HK_OK;
  for (int64_t left = count; left > 0; left -= ROUND)
    HK_TRY(make_round(s, left < ROUND ? left : ROUND, error));
  HK_TRY(s->device->sums(s->on_device, sums, error));
  if (!isfinite(sums[0]))
    return hk_fail(error, HK_ERROR_BLOWUP,
                   "the motion is no longer finite at %g s; a smaller time.step is stable",
                   time_at(s, s->steps));
  return HK_OK;
}

/* ---- States ---- */

static bool fits(int64_t first, int64_t count, int64_t every, int64_t n) {
  return first >= 0 && first < n && count >= 1 && every >= 1 &&
         (count - 1) <= (n - 1 - first) / every;
}

static HkStatus check_window(const HkSheet *s, const HkSheetWindow *w, HkError *error) {
  if (fits(w->i, w->ni, w->every, s->model.nx) && fits(w->j, w->nj, w->every, s->model.ny))
    return HK_OK;
  return hk_fail(
      error, HK_ERROR_INVALID,
      "the window of %lld x %lld vertices from (%lld, %lld), every %lld, is not within a "
      "sheet of %d x %d",
      (long long)w->ni, (long long)w->nj, (long long)w->i, (long long)w->j, (long long)w->every,
      s->model.nx, s->model.ny);
}

HkStatus hk_sheet_read(HkSheet *s, const HkSheetWindow *w, double *x, double *v, HkError *error) {
  HK_TRY(check_window(s, w, error));
  return s->device->read(s->on_device, w, x, v, error);
}

HkStatus hk_sheet_write(HkSheet *s, const HkSheetWindow *w, const double *x, const double *v,
                        HkError *error) {
  HK_TRY(check_window(s, w, error));
  for (int64_t q = 0; q < 3 * w->ni * w->nj; q++)
    if ((x && !isfinite(x[q])) || (v && !isfinite(v[q])))
      return hk_fail(error, HK_ERROR_INVALID,
                     "vertex %lld of the window has a number that is not finite",
                     (long long)(q / 3));
  return s->device->write(s->on_device, w, x, v, error);
}

/* Number of springs of a direction, di and dj apart. */
static int64_t count_springs(const HkDeviceSheetModel *m, int direction, int di, int dj) {
  return m->k[direction] > 0 ? (int64_t)(m->nx - di) * (m->ny - dj) : 0;
}

HkStatus hk_sheet_info(HkSheet *s, HkSheetInfo *info, HkError *error) {
  const HkDeviceSheetModel *m = &s->model;
  const double origin[3] = {0, 0, 0};
  double sums[5];
  HK_TRY(s->device->sums(s->on_device, sums, error));
  hk_device_moment(s->sample, origin, time_at(s, s->steps), s->moment, NULL);
  *info = (HkSheetInfo){.nx = m->nx,
                        .ny = m->ny,
                        .steps = s->steps,
                        .time = time_at(s, s->steps),
                        .h = m->h,
                        .kinetic = sums[0],
                        .spring = sums[1],
                        .device_bytes = s->device_bytes};
  info->springs = count_springs(m, 0, 1, 0) + count_springs(m, 1, 0, 1) +
                  count_springs(m, 2, 1, 1) + count_springs(m, 3, 1, 1) +
                  count_springs(m, 4, 2, 0) + count_springs(m, 5, 0, 2);
  for (int c = 0; c < 3; c++) info->gravity -= s->moment[c] * sums[2 + c]; /* g comes first */
  return HK_OK;
}
