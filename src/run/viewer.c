/* HkViewer: a report of states that do not come from a run; see report/page.h.
 *
 * Each added state is a frame, the interval is the mean time between frames, and the wall time of
 * steps is unknown.
 */
#include "hooke/run.h"
#include "run/run.h"

struct HkViewer {
  HkContext context;
  HkPage *page;
  int64_t frames;     /* number of added states */
  int64_t steps;      /* of the state that was added last */
  double first, last; /* s, times of the first and the last one */
  double stable_h;    /* s, at the first one */
};

static const double MIN_PAGE_BYTES = 6e6; /* the page without data is most of it */

HkStatus hk_viewer_create(const HkScene *scene, const HkModel *model, int64_t frames, double bytes,
                          HkViewer **viewer, HkError *error) {
  HkContext c = model->context;
  *viewer = NULL;
  if (bytes == 0) bytes = HK_PAGE_LIMIT;
  if (!(bytes >= MIN_PAGE_BYTES && bytes <= HK_PAGE_LIMIT))
    return hk_fail(error, HK_ERROR_INVALID,
                   "a page of %g bytes is not possible; give %g to %g, or 0 for the most", bytes,
                   MIN_PAGE_BYTES, HK_PAGE_LIMIT);
  if (frames < 1)
    return hk_fail(error, HK_ERROR_INVALID, "%lld frames are nothing to show", (long long)frames);
  HK_TRY(hk_alloc(&c, viewer, 1, sizeof **viewer, "a viewer", error));
  (*viewer)->context = c;
  HkStatus status = hk_page_create(scene, model, frames, bytes, NULL, &(*viewer)->page, error);
  if (status < 0) hk_viewer_destroy(viewer);
  return status;
}

void hk_viewer_destroy(HkViewer **viewer) {
  HkViewer *v = *viewer;
  if (!v) return;
  HkContext c = v->context;
  hk_page_destroy(&v->page);
  hk_free(&c, viewer);
}

HkStatus hk_viewer_add(HkViewer *v, HkSim *sim, const HkState *state, HkError *error) {
  HK_TRY(hk_state_check(state, v->page->model, error));
  HK_TRY(hk_state_check(state, sim->model, error));
  HkStateInfo info;
  if (v->frames == 0) HK_TRY(hk_sim_stable_step(sim, state, &v->stable_h, error));
  hk_sim_state_info(sim, state, &info);
  HkTally work = {.steps = v->frames && state->steps > v->steps ? state->steps - v->steps : 0};
  HkFrame frame = {v->page->model, state, v->frames, NULL, &info, NULL, NULL};
  hk_page_add(v->page, &frame, &work, 0);
  if (v->frames++ == 0) v->first = state->time;
  v->last = state->time;
  v->steps = state->steps;
  return HK_OK;
}

HkStatus hk_viewer_write(const HkViewer *v, const HkSim *sim, const char *path, HkError *error) {
  if (v->frames == 0)
    return hk_fail(error, HK_ERROR_INVALID, "no state was added, so there is nothing to show");
  int64_t last = v->frames - 1;
  double interval = v->last > v->first ? (v->last - v->first) / (double)last : sim->h;
  HkPageRun now = {.method = hk_sim_method(sim),
                   .h = sim->h,
                   .interval = interval,
                   .stable_h = v->stable_h,
                   .frame = last,
                   .frames = last,
                   .substeps = (int64_t)fmax(1, round(interval / sim->h))};
  HkLocale locale = hk_locale_enter();
  HkStatus status = hk_page_write(v->page, &now, path, error);
  hk_locale_leave(&locale);
  return status;
}
