/* The report of a run: report.html in its folder; see report/page.h. */
#include "run/folder.h"
#include "run/run.h"

HkStatus hk_run_begin_report(HkRun *run, const HkScene *scene, const char *command,
                             HkError *error) {
  HK_TRY(hk_page_create(scene, run->model, run->frames + 1, HK_PAGE_LIMIT, command, &run->page,
                        error));
  run->page->hash = run->scene_hash;
  return HK_OK;
}

void hk_run_take_up_report(HkRun *run) {
  char path[4096];
  if (hk_folder_path(run->folder, HK_PAGE_NAME, path, sizeof path, NULL) < 0) return;
  hk_page_take_up(run->page, path, run->frame);
  HkStateInfo info;
  HkTally none = {0};
  hk_sim_state_info(run->sim, run->state, &info);
  HkFrame frame = {run->model, run->state, run->frame, NULL, &info, NULL, NULL};
  hk_page_add(run->page, &frame, &none, 0);
}

HkStatus hk_run_report(HkRun *run, HkError *error) {
  char path[4096];
  if (!run->page)
    return hk_fail(error, HK_ERROR_INVALID,
                   "the run gathers no report; set report and folder of its HkRunOptions");
  HK_TRY(hk_folder_path(run->folder, HK_PAGE_NAME, path, sizeof path, error));
  HkPageRun now = {.method = hk_sim_method(run->sim),
                   .h = run->sim->h,
                   .interval = run->interval,
                   .stable_h = run->stable_h,
                   .frame = run->frame,
                   .frames = run->frames,
                   .substeps = run->substeps,
                   .halvings = run->halvings,
                   .failed = run->broken ? run->why.status : HK_OK,
                   .failure = run->why.text};
  HkLocale locale = hk_locale_enter();
  HkStatus status = hk_page_write(run->page, &now, path, error);
  hk_locale_leave(&locale);
  return status;
}
