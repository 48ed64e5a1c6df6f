/* Reports: the page with its data, and the reports of runs. */
#include "frames_by_hand.h"
#include "hooke/run.h"
#include "report/page.h"
#include "world.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- Reading a page back ---- */

/* The text of a script of the page, without copying; "" if there is none. */
static const char *script(const char *html, const char *id, size_t *length) {
  char mark[64];
  snprintf(mark, sizeof mark, " id=\"data-%s\">", id);
  const char *at = strstr(html, mark);
  at = at ? at + strlen(mark) : "";
  *length = strcspn(at, "<");
  return at;
}

static HkJson facts_of(const char *html) {
  size_t length;
  const char *text = script(html, "facts", &length);
  HkError why = {0};
  HkJson facts = {.kind = HK_JSON_NULL};
  if (hk_json_parse("the facts", text, length, &facts, &why) < 0)
    test_fail(__FILE__, __LINE__, "%s", why.text);
  return facts;
}

static const char *text_at(const HkJson *facts, const char *key) {
  const HkJson *text = hk_json_get(facts, key);
  return hk_json_is(text, HK_JSON_TEXT) ? text->text : "";
}

static int64_t number_at(const HkJson *facts, const char *part, const char *key) {
  const HkJson *number = hk_json_get(hk_json_get(facts, part), key);
  return hk_json_is(number, HK_JSON_INTEGER) ? number->integer : -1;
}

static bool has_note(const HkJson *facts, const char *words) {
  const HkJson *notes = hk_json_get(facts, "notes");
  for (int q = 0; q < hk_json_size(notes); q++)
    if (strstr(hk_json_at(notes, q)->text, words)) return true;
  return false;
}

/* Bytes that a script of base64 stands for; -1 if a letter is wrong. */
static int64_t blob_size(const char *html, const char *id) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t length;
  const char *text = script(html, id, &length);
  size_t good = strspn(text, letters), padding = strspn(text + good, "=");
  if (good + padding != length || length % 4 != 0 || padding > 2) return -1;
  return (int64_t)(length / 4 * 3 - padding);
}

static int count_of(const char *html, const char *part) {
  int count = 0;
  for (const char *at = html; (at = strstr(at, part)); at += strlen(part)) count++;
  return count;
}

/* Facts and blobs fit together. */
static void check_page(const char *html) {
  HkJson facts = facts_of(html);
  int64_t n = number_at(&facts, "drawn", "vertices"), frames = number_at(&facts, "frames", "count");
  CHECK(blob_size(html, "shapes") == 8 * n * frames);
  CHECK(blob_size(html, "heads") == 8 * HK_HEAD_COUNT * frames);
  CHECK(blob_size(html, "rows") == 8 * HK_ROW_COUNT * number_at(&facts, "rows", "count"));
  CHECK(blob_size(html, "faces") == 12 * number_at(&facts, "drawn", "faces"));
  CHECK(blob_size(html, "springs") == 8 * number_at(&facts, "drawn", "springs"));
  CHECK(blob_size(html, "releases") == 2 * blob_size(html, "pins"));
  CHECK(count_of(html, "<script") == count_of(html, "</script>"));
  CHECK(count_of(html, "{{") == 0);
  /* Modules of web/shared are scripts here. */
  CHECK(count_of(html, "\nclass Orbit {") == 1 && count_of(html, "\nexport ") == 0);
  hk_json_clear(&facts);
}

/* ---- The page ---- */

/* A page of so many frames of a model at rest, into folder/report.html, read back. */
static char *page_of(const World *w, int64_t frames, double limit, size_t *size) {
  HkPage *page = NULL;
  HkError why = {0};
  HkStateInfo info = {0};
  HkPageRun run = {.method = hk_sim_method(w->sim), .h = 0.01, .interval = 0.04, .frames = frames};
  char folder[300], path[400];
  snprintf(folder, sizeof folder, "%s", test_folder());
  snprintf(path, sizeof path, "%s/report.html", folder);
  HkStatus status = hk_page_create(w->scene, w->model, frames, limit, "hooke run it", &page, &why);
  for (int64_t q = 0; status >= 0 && q < frames; q++) {
    HkFrame frame = {w->model, w->state, q, NULL, &info, NULL, NULL};
    w->state->time = 0.04 * (double)q;
    hk_page_add(page, &frame, &(HkTally){.steps = 4}, 1e-3);
  }
  if (status >= 0) status = hk_page_write(page, &run, path, &why);
  if (status < 0) test_fail(__FILE__, __LINE__, "%s", why.text);
  hk_page_destroy(&page);
  return hand_read(folder, "report.html", size);
}

TEST(pages_of_small_runs_leave_nothing_out) {
  World w = world_builtin("oscillator", NULL, 1);
  size_t size;
  char *html = page_of(&w, 300, HK_PAGE_LIMIT, &size);
  HkJson facts = facts_of(html);
  check_page(html);
  CHECK(number_at(&facts, "frames", "count") == 300 && number_at(&facts, "rows", "count") == 300);
  CHECK(hk_json_size(hk_json_get(&facts, "notes")) == 0);
  CHECK(strcmp(text_at(&facts, "command"), "hooke run it") == 0 && size < 1000000);
  CHECK(strcmp(text_at(&facts, "hooke"), hk_version()) == 0);
  hk_json_clear(&facts);
  free(html);
  world_destroy(&w);
}

TEST(pages_stay_below_their_limit_and_say_what_is_left_out) {
  World w = world_parse("{'bodies': [{'shape': {'type': 'grid', 'nx': 300, 'ny': 300}, 'springs': "
                        "{'shear': true, 'bending': true}}]}");
  size_t size;
  const double limits[] = {6e6, 9e6};
  for (int q = 0; q < 2; q++) {
    char *html = page_of(&w, 210, limits[q], &size);
    HkJson facts = facts_of(html);
    check_page(html);
    CHECK((double)size < limits[q] && (double)size > 0.1 * limits[q]);
    CHECK(number_at(&facts, "frames", "last") == 209);
    CHECK(number_at(&facts, "frames", "count") > 50);
    CHECK(has_note(&facts, "every 2nd of 210 frames") ||
          has_note(&facts, "every 4th of 210 frames"));
    CHECK(has_note(&facts, "of 90,000 vertices") && has_note(&facts, "of 178,802 faces"));
    hk_json_clear(&facts);
    free(html);
  }
  world_destroy(&w);
}

TEST(runs_of_very_many_frames_are_thinned) {
  World w = world_builtin("oscillator", NULL, 1);
  size_t size;
  char *html = page_of(&w, 20000, HK_PAGE_LIMIT, &size);
  HkJson facts = facts_of(html);
  check_page(html);
  CHECK(number_at(&facts, "frames", "count") <= 4097 && number_at(&facts, "rows", "count") <= 4097);
  CHECK(has_note(&facts, "The playback holds every 8th of 20,000 frames"));
  CHECK(has_note(&facts, "The plots have every 8th of 20,000 frames"));
  hk_json_clear(&facts);
  free(html);
  world_destroy(&w);
}

TEST(no_text_of_a_scene_breaks_the_page) {
  static const char evil[] = "</title></script><!-- <script>alert(1)</script> & {{data}} \xc3\xa9";
  World w = world_parse("{'title': 'it', 'bodies': [{'name': '</script>', 'shape': 'spring'}], "
                        "'forces': ['gravity']}");
  w.scene->title = evil;
  size_t size;
  char *html = page_of(&w, 3, HK_PAGE_LIMIT, &size);
  HkJson facts = facts_of(html);
  CHECK(strcmp(text_at(&facts, "title"), evil) == 0);
  CHECK(strstr(text_at(&facts, "scene"), "</script>") != NULL);
  CHECK(strstr(text_at(&facts, "source"), "</script>") != NULL);
  CHECK(strstr(html, "alert(1)</script>") == NULL && strstr(html, "</title></script>") == NULL);
  CHECK(count_of(html, "</title>") == 1 && count_of(html, "id=\"data-facts\"") == 1);
  CHECK(count_of(html, "<script") == count_of(html, "</script>"));
  CHECK(count_of(html, "<!--") == 1); /* the page's own */
  hk_json_clear(&facts);
  free(html);
  world_destroy(&w);
}

TEST(command_that_is_no_utf8_is_still_json) {
  World w = world_builtin("oscillator", NULL, 1);
  HkPage *page;
  char path[400];
  snprintf(path, sizeof path, "%s/report.html", test_folder());
  MUST(hk_page_create(w.scene, w.model, 1, HK_PAGE_LIMIT, "hooke run \xff\xfe.json", &page, error));
  HkStateInfo info = {0};
  HkFrame frame = {w.model, w.state, 0, NULL, &info, NULL, NULL};
  hk_page_add(page, &frame, &(HkTally){0}, 0);
  HkJson facts = hk_page_facts(page, &(HkPageRun){.method = hk_sim_method(w.sim)});
  CHECK(strcmp(text_at(&facts, "command"), "hooke run \xef\xbf\xbd\xef\xbf\xbd.json") == 0);
  hk_json_clear(&facts);
  hk_page_destroy(&page);
  world_destroy(&w);
}

/* ---- Runs ---- */

static const char *const cloth =
    "{'title': 'A cloth', 'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 20}, "
    "'bodies': [{'shape': {'type': 'grid', 'nx': 6, 'ny': 5}}], 'pins': [{'select': 'top'}], "
    "'forces': ['gravity'], 'integrator': 'backward_euler', 'outputs': ['energies']}";

/* Runs so many frames into the folder, writes the report, and returns the last status. */
static HkStatus report_of(const char *text, const char *folder, bool resume, int64_t frames,
                          HkError *error) {
  HkScene *scene;
  HkRun *run = NULL;
  HkRunOptions options = hk_run_options_default();
  options.folder = folder;
  options.report = true;
  options.resume = resume;
  options.checkpoint_seconds = 0;
  HK_TRY(
      hk_scene_parse(NULL, test_json(text), strlen(text), "cloth", NULL, NULL, 0, &scene, error));
  HkStatus status = hk_run_create(scene, &options, &run, error);
  for (int64_t q = 0; q < frames && status == HK_OK; q++) status = hk_run_frame(run, error);
  if (run) {
    HkStatus written = hk_run_report(run, status < 0 ? NULL : error);
    if (written < 0 && status >= 0) status = written;
  }
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
  return status;
}

static HkJson facts_in(const char *folder, char **html) {
  *html = hand_read(folder, "report.html", NULL);
  return facts_of(*html);
}

typedef struct Path {
  char c[300];
} Path;

static Path new_path(void) {
  Path path;
  snprintf(path.c, sizeof path.c, "%s/run", test_folder());
  return path;
}

TEST(report_of_a_run_has_scene_machine_and_methods) {
  Path folder = new_path();
  char *html;
  MUST(report_of(cloth, folder.c, false, 100, error));
  HkJson facts = facts_in(folder.c, &html);
  check_page(html);
  CHECK(strcmp(text_at(&facts, "status"), "done") == 0 && strstr(html, "<title>A cloth"));
  CHECK(number_at(&facts, "frames", "count") == 21 && number_at(&facts, "run", "frames") == 20);
  CHECK(number_at(&facts, "model", "vertices") == 30 && number_at(&facts, "model", "pinned") == 6);
  const HkJson *methods = hk_json_get(&facts, "methods");
  static const char *const names[] = {"backward_euler", NULL, NULL, "springs", "gravity"};
  CHECK(hk_json_size(methods) >= 5);
  for (int q = 0; q < 5; q++) {
    const HkJson *method = hk_json_at(methods, q);
    if (names[q]) CHECK(strcmp(text_at(method, "name"), names[q]) == 0);
    CHECK(text_at(method, "formula")[0] && text_at(method, "summary")[0]);
  }
  const HkJson *machine = hk_json_get(&facts, "machine");
  CHECK(text_at(machine, "processor")[0] && text_at(machine, "system")[0]);
  hk_json_clear(&facts);
  free(html);
}

TEST(resumed_run_takes_up_the_report_of_its_first_part) {
  Path whole = new_path(), parts = new_path();
  char *a, *b;
  size_t a_size, b_size;
  MUST(report_of(cloth, whole.c, false, 100, error));
  MUST(report_of(cloth, parts.c, false, 7, error));
  HkJson facts = facts_in(parts.c, &b);
  CHECK(strcmp(text_at(&facts, "status"), "stopped") == 0);
  CHECK(number_at(&facts, "frames", "last") == 7 && number_at(&facts, "run", "frame") == 7);
  hk_json_clear(&facts);
  free(b);
  MUST(report_of(cloth, parts.c, true, 100, error));
  a = hand_read(whole.c, "report.html", NULL);
  facts = facts_in(parts.c, &b);
  check_page(b);
  CHECK(has_note(&facts, "resumed at frame 7; what came before is in this report"));
  static const char *const blobs[] = {"shapes", "heads", "faces", "springs", "pins"};
  for (int q = 0; q < 5; q++) {
    const char *one = script(a, blobs[q], &a_size), *other = script(b, blobs[q], &b_size);
    CHECK(a_size > 0 && a_size == b_size && memcmp(one, other, a_size) == 0);
  }
  hk_json_clear(&facts);
  free(a);
  free(b);
}

static void remove_in(const char *folder, const char *name) {
  char path[400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  CHECK(unlink(path) == 0);
}

TEST(resumed_run_without_an_earlier_report_says_what_it_covers) {
  Path folder = new_path();
  char *html;
  MUST(report_of(cloth, folder.c, false, 7, error));
  remove_in(folder.c, "report.html");
  MUST(report_of(cloth, folder.c, true, 100, error));
  HkJson facts = facts_in(folder.c, &html);
  check_page(html);
  CHECK(number_at(&facts, "frames", "first") == 7 && number_at(&facts, "frames", "count") == 14);
  CHECK(has_note(&facts, "resumed at frame 7. What came before is not in this report"));
  hk_json_clear(&facts);
  free(html);
}

/* Puts other words in the place of some of the same length. */
static void spoil(const char *folder, const char *part, const char *other) {
  char path[400], *html = hand_read(folder, "report.html", NULL), *at = strstr(html, part);
  CHECK(at && strlen(part) == strlen(other));
  for (size_t q = 0; at && other[q]; q++) at[q] = other[q];
  snprintf(path, sizeof path, "%s/report.html", folder);
  FILE *file = fopen(path, "wb");
  CHECK(file && fputs(html, file) >= 0);
  if (file) fclose(file);
  free(html);
}

TEST(damaged_earlier_report_is_passed_over) {
  static const char *const damage[][2] = {{"\"count\":8,", "\"count\":9,"},
                                          {"\"stride\":1", "\"stride\":0"},
                                          {"\"format\":2", "\"format\":7"},
                                          {"id=\"data-heads\">", "id=\"data-beads\">"},
                                          {"id=\"data-shapes\">A", "id=\"data-shapes\">?"},
                                          {"\"first\":0", "\"first\":5"}};
  for (size_t q = 0; q < sizeof damage / sizeof damage[0]; q++) {
    Path folder = new_path();
    char *html;
    MUST(report_of(cloth, folder.c, false, 7, error));
    spoil(folder.c, damage[q][0], damage[q][1]);
    MUST(report_of(cloth, folder.c, true, 100, error));
    HkJson facts = facts_in(folder.c, &html);
    check_page(html);
    if (number_at(&facts, "frames", "first") != 7 || !has_note(&facts, "What came before is not"))
      test_fail(__FILE__, __LINE__, "taken up in spite of %s", damage[q][1]);
    hk_json_clear(&facts);
    free(html);
  }
}

TEST(run_that_blows_up_leaves_a_report_that_says_so) {
  Path folder = new_path();
  char *html;
  FAILS(report_of("{'time': {'duration': 5, 'step': 0.05, 'frames_per_second': 20}, 'bodies': "
                  "[{'shape': {'type': 'grid', 'nx': 4, 'ny': 4}, 'springs': {'k': 1e5}}], 'pins': "
                  "[{'select': 'top'}], 'forces': ['gravity'], 'integrator': 'forward_euler'}",
                  folder.c, false, 1000, error),
        HK_ERROR_BLOWUP, "blew up at t =");
  HkJson facts = facts_in(folder.c, &html);
  check_page(html);
  CHECK(strcmp(text_at(&facts, "status"), "blowup") == 0);
  CHECK(strstr(text_at(&facts, "message"), "blew up at t ="));
  hk_json_clear(&facts);
  free(html);
}

TEST(report_that_cannot_be_written_is_one_clear_error) {
  Path folder = new_path();
  char path[400];
  if (access("/dev/full", W_OK) != 0) SKIP("there is no /dev/full");
  MUST(report_of(cloth, folder.c, false, 3, error));
  remove_in(folder.c, "report.html");
  snprintf(path, sizeof path, "%s/report.html.tmp", folder.c);
  CHECK(symlink("/dev/full", path) == 0);
  FAILS(report_of(cloth, folder.c, true, 100, error), HK_ERROR_IO,
        "report.html: cannot write: No space left on device");
  CHECK(access(path, F_OK) != 0); /* nothing half-written is left */
  snprintf(path, sizeof path, "%s/report.html", folder.c);
  CHECK(access(path, F_OK) != 0);
  CHECK(mkdir(path, 0777) == 0);
  FAILS(report_of(cloth, folder.c, true, 100, error), HK_ERROR_IO, "report.html: cannot write");
}

TEST(run_without_a_report_refuses_to_write_one) {
  World w = world_builtin("oscillator", NULL, 1);
  HkRun *run;
  MUST(hk_run_create(w.scene, NULL, &run, error));
  FAILS(hk_run_report(run, error), HK_ERROR_INVALID, "gathers no report");
  hk_run_destroy(&run);
  world_destroy(&w);
}
