/* report.html; see page.h. */
#include "report/page.h"

#include "base/stream.h"
#include "base/text.h"
#include "scene/store.h"

#include <stdlib.h>
#include <string.h>

/* Bytes for the page itself, the facts and the rows; the rest is for the motion. */
static const double RESERVED = 4.5e6;

enum { MAX_FRAMES = 4096, MAX_ROWS = 4096, MAX_VERTICES = 200000 };

/* Smallest number of frames: below it vertices are left out rather than frames. */
enum { MIN_FRAMES = 128 };

/* ---- Making ---- */

/* Divides the bytes: faces and springs get at most a third, frames the rest. */
static HkStatus divide_bytes(HkPage *page, int64_t frame_count, HkError *error) {
  const HkContext *c = &page->context;
  double bytes = (page->limit - RESERVED) * 3 / 4; /* as base64 */
  int64_t slots = frame_count;
  while (slots > MIN_FRAMES) slots = (slots + 1) / 2;
  double vertices = bytes * 2 / 3 / (double)((slots + 1) * HK_FRAME_BYTES);
  int64_t most = vertices < MAX_VERTICES ? (int64_t)vertices : MAX_VERTICES;
  HK_TRY(hk_sketch_create(c, page->model, most, (int64_t)(bytes / 3), &page->sketch, error));
  double left = bytes - (double)hk_sketch_bytes(&page->sketch);
  double each = (double)page->sketch.n * HK_FRAME_BYTES + HK_HEAD_COUNT * sizeof(double);
  int64_t frames = left / each < MAX_FRAMES ? (int64_t)(left / each) - 1 : MAX_FRAMES;
  int64_t rows = frame_count < MAX_ROWS ? frame_count : MAX_ROWS;
  if (frames > frame_count) frames = frame_count;
  return hk_recording_create(c, page->model, &page->sketch, frames > 1 ? frames : 1, rows,
                             &page->recording, error);
}

static HkStatus copy_text(const char *from, char **to, HkError *error) {
  *to = hk_strdup(from);
  return from && !*to ? hk_fail_memory(error, strlen(from), "a report") : HK_OK;
}

static HkStatus fill(HkPage *page, const HkScene *scene, int64_t frame_count, const char *command,
                     HkError *error) {
  const char *name = scene->store->name ? scene->store->name : "A run of Hooke";
  const char *title = scene->title && scene->title[0] ? scene->title : name;
  HK_TRY(copy_text(title, &page->title, error));
  HK_TRY(copy_text(command, &page->command, error));
  const char *source = scene->store->set_count == 0 ? scene->store->text : NULL;
  HK_TRY(copy_text(source, &page->source, error));
  HK_TRY(hk_scene_format(scene, &page->scene, error));
  return divide_bytes(page, frame_count, error);
}

HkStatus hk_page_create(const HkScene *scene, const HkModel *model, int64_t frame_count,
                        double limit, const char *command, HkPage **page, HkError *error) {
  HkContext c = hk_context_or_default(&model->context);
  *page = NULL;
  HK_TRY(hk_alloc(&c, page, 1, sizeof **page, "a report", error));
  **page = (HkPage){.context = c, .model = model, .limit = limit, .earlier = {.gap = -1}};
  HkStatus status = fill(*page, scene, frame_count, command, error);
  if (status < 0) hk_page_destroy(page);
  return status;
}

void hk_page_destroy(HkPage **page) {
  HkPage *p = *page;
  if (!p) return;
  HkContext c = p->context;
  hk_recording_destroy(&p->recording);
  hk_sketch_destroy(&c, &p->sketch);
  hk_text_destroy(&p->scene);
  free(p->title);
  free(p->command);
  free(p->source);
  hk_free(&c, page);
}

void hk_page_clear(HkPage *page) {
  hk_recording_clear(&page->recording);
  page->earlier = (HkPageEarlier){.gap = -1};
}

void hk_page_add(HkPage *page, const HkFrame *frame, const HkTally *work, double seconds) {
  if (frame->index > page->recording.last) hk_recording_add(&page->recording, frame, work, seconds);
}

/* ---- Writing ---- */

static void put_text(HkStream *s, const char *text) {
  hk_stream_bytes(s, text, strlen(text));
}

/* Writes text with the escapes of HTML. */
static void put_html(HkStream *s, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      put_text(s, "&lt;");
    else if (*text == '&')
      put_text(s, "&amp;");
    else
      hk_stream_char(s, *text);
  }
}

/* Writes JSON inside a script element, which only "</script" and "<!--" could end. */
static void put_json(HkStream *s, const char *text) {
  for (; *text; text++) {
    if (*text == '<')
      put_text(s, "\\u003c");
    else
      hk_stream_char(s, *text);
  }
}

static void begin_blob(HkStream *s, const char *id) {
  hk_stream_printf(s, "<script type=\"text/plain\" id=\"data-%s\">", id);
}

static void put_end(HkStream *s) {
  put_text(s, "</script>\n");
}

enum { STAGE = HK_STREAM_PIECE / 4 * 3 }; /* bytes, a multiple of 3, 4 and 8 */

static void put_bytes(HkStream *s, const char *id, const unsigned char *bytes, size_t size) {
  begin_blob(s, id);
  for (size_t at = 0; at < size; at += STAGE)
    hk_stream_base64(s, bytes + at, size - at < STAGE ? size - at : STAGE);
  put_end(s);
}

void hk_page_put_doubles(HkStream *s, const char *id, const double *values, int64_t count) {
  unsigned char stage[STAGE];
  begin_blob(s, id);
  for (int64_t at = 0; at < count;) {
    size_t used = 0;
    for (; at < count && used < STAGE; at++, used += 8) hk_store_double(stage + used, values[at]);
    hk_stream_base64(s, stage, used);
  }
  put_end(s);
}

void hk_page_put_integers(HkStream *s, const char *id, const int32_t *values, int64_t count) {
  unsigned char stage[STAGE];
  begin_blob(s, id);
  for (int64_t at = 0; at < count;) {
    size_t used = 0;
    for (; at < count && used < STAGE; at++, used += 4)
      hk_store_le32(stage + used, (uint32_t)values[at]);
    hk_stream_base64(s, stage, used);
  }
  put_end(s);
}

static void put_data(HkStream *s, const HkPage *page, const char *facts) {
  const HkSketch *sketch = &page->sketch;
  const HkRecording *r = &page->recording;
  int64_t frames = hk_thin_count(&r->frames), rows = hk_thin_count(&r->rows);
  put_text(s, "<script type=\"application/json\" id=\"data-facts\">");
  put_json(s, facts);
  put_end(s);
  put_bytes(s, "shapes", r->shape, (size_t)(frames * HK_FRAME_BYTES * sketch->n));
  hk_page_put_doubles(s, "heads", r->head, frames * HK_HEAD_COUNT);
  hk_page_put_doubles(s, "rows", r->row, rows * HK_ROW_COUNT);
  hk_page_put_integers(s, "faces", sketch->face, 3 * sketch->face_count);
  hk_page_put_integers(s, "springs", sketch->spring, 2 * sketch->spring_count);
  hk_page_put_integers(s, "pins", sketch->pin, sketch->pin_count);
  hk_page_put_doubles(s, "releases", sketch->release, sketch->pin_count);
  hk_scenery_put(s, page);
}

static const char *file_named(const char *name, size_t length) {
  for (const HkPageFile *file = hk_page_files; file->name; file++)
    if (strlen(file->name) == length && strncmp(file->name, name, length) == 0) return file->text;
  return NULL;
}

/* Writes the page with its marks replaced; unknown marks stay. */
static void put_page(HkStream *s, const HkPage *page, const char *facts) {
  const char *at = file_named("report.html", strlen("report.html")), *mark;
  while ((mark = strstr(at, "{{"))) {
    const char *name = mark + 2, *end = strstr(name, "}}");
    if (!end) break;
    size_t length = (size_t)(end - name);
    const char *file = file_named(name, length);
    hk_stream_bytes(s, at, (size_t)(mark - at));
    if (file)
      put_text(s, file);
    else if (length == 5 && strncmp(name, "title", length) == 0)
      put_html(s, page->title);
    else if (length == 4 && strncmp(name, "data", length) == 0)
      put_data(s, page, facts);
    else
      hk_stream_bytes(s, mark, length + 4);
    at = end + 2;
  }
  put_text(s, at);
}

HkStatus hk_page_write(const HkPage *page, const HkPageRun *run, const char *path, HkError *error) {
  HkStream stream = {0};
  HkWriter writer;
  char *text = NULL;
  HkJson facts = hk_page_facts(page, run);
  HkStatus status = hk_json_write(&facts, 0, 17, &text, error);
  hk_json_clear(&facts);
  if (status >= 0) status = hk_stream_create(&page->context, &stream, error);
  if (status >= 0) status = hk_writer_open(&writer, path, error);
  if (status >= 0) {
    hk_stream_begin(&stream, writer.file);
    put_page(&stream, page, text);
    hk_stream_end(&stream);
    status = hk_writer_commit_durable(&writer, error);
  }
  hk_stream_destroy(&page->context, &stream);
  free(text);
  return status;
}
