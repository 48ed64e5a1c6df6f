/* Reads the report of an earlier part of the same run; see page.h.
 *
 * It finds the data by their tags, facts first: they contain no '<'. Data of another version or
 * another scene is ignored.
 */
#include "base/file.h"
#include "report/page.h"

#include <string.h>

/* Returns the text of a script of the page; NULL if there is none. */
static const char *find_script(const char *html, const char *type, const char *id, size_t *size) {
  char tag[128];
  snprintf(tag, sizeof tag, "<script type=\"%s\" id=\"data-%s\">", type, id);
  const char *begin = strstr(html, tag), *end;
  if (!begin) return NULL;
  begin += strlen(tag);
  end = strchr(begin, '<');
  if (!end) return NULL;
  *size = (size_t)(end - begin);
  return begin;
}

static int digit_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

/* Decodes base64 into exactly `size` bytes; returns false if it is invalid. */
static bool decode(const char *text, size_t length, unsigned char *bytes, size_t size) {
  if (length != (size + 2) / 3 * 4) return false;
  for (size_t q = 0; q < size; q += 3) {
    int d[4];
    for (int c = 0; c < 4; c++) {
      d[c] = digit_of(*text);
      if (d[c] < 0 && !(*text == '=' && q + (size_t)c > size)) return false;
      text++;
    }
    uint32_t three = (uint32_t)d[0] << 18 | (uint32_t)d[1] << 12 |
                     (uint32_t)(d[2] < 0 ? 0 : d[2]) << 6 | (uint32_t)(d[3] < 0 ? 0 : d[3]);
    for (size_t c = 0; c < 3 && q + c < size; c++)
      bytes[q + c] = (unsigned char)(three >> (16 - 8 * c) & 255);
  }
  return true;
}

static double load_double(const unsigned char *p) {
  uint64_t bits = 0;
  double value;
  for (int q = 0; q < 8; q++) bits |= (uint64_t)p[q] << 8 * q;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* An earlier report, opened. */
typedef struct Earlier {
  HkPage *page;
  const char *html;
  int64_t frame; /* what comes later is not taken */
  unsigned char *bytes;
} Earlier;

/* Decodes a script into e->bytes; returns false if it has not `size` bytes. */
static bool load(Earlier *e, const char *id, int64_t size) {
  size_t length;
  const char *text = find_script(e->html, "text/plain", id, &length);
  hk_free(&e->page->context, &e->bytes);
  if (!text || size <= 0 || (size_t)size > length) return false;
  if (hk_alloc(&e->page->context, &e->bytes, size, 1, "a report", NULL) < 0) return false;
  return decode(text, length, e->bytes, (size_t)size);
}

/* Doubles of a script into `values`; those of the items until e->frame. Each item begins with its
 * number. Returns how many there are, -1 if something is wrong. */
static int64_t load_items(Earlier *e, const char *id, int64_t count, int columns, HkThin *t,
                          double *values) {
  int64_t taken = 0;
  double before = (double)e->page->recording.first - 1;
  if (!load(e, id, count * columns * 8)) return -1;
  t->kept = 0;
  t->loose = false;
  for (int64_t q = 0; q < count; q++) {
    const unsigned char *item = e->bytes + 8 * columns * q;
    double index = load_double(item);
    if (!(index > before && index < 1e15)) return -1;
    before = index;
    if (index > (double)e->frame) break;
    bool on_stride = ((int64_t)index - e->page->recording.first) % t->stride == 0;
    if (t->loose || t->kept + on_stride > t->capacity) return -1;
    t->kept += on_stride;
    t->loose = !on_stride;
    for (int c = 0; c < columns; c++) values[columns * q + c] = load_double(item + 8 * c);
    taken++;
  }
  return taken;
}

static bool take_rows(Earlier *e, int64_t count) {
  HkRecording *r = &e->page->recording;
  int64_t rows = load_items(e, "rows", count, HK_ROW_COUNT, &r->rows, r->row);
  if (rows <= 0) return false;
  r->last = (int64_t)r->row[HK_ROW_COUNT * (rows - 1) + HK_ROW_INDEX];
  return true;
}

static bool take_frames(Earlier *e, int64_t count) {
  HkRecording *r = &e->page->recording;
  int64_t bytes = HK_FRAME_BYTES * r->sketch->n;
  int64_t frames = load_items(e, "heads", count, HK_HEAD_COUNT, &r->frames, r->head);
  if (frames <= 0 || !load(e, "shapes", count * bytes)) return false;
  memcpy(r->shape, e->bytes, (size_t)(frames * bytes));
  return true;
}

static int64_t integer_of(const HkJson *object, const char *key) {
  const HkJson *value = hk_json_get(object, key);
  return hk_json_is(value, HK_JSON_INTEGER) ? value->integer : -1;
}

static bool is_hash(const HkJson *facts, const char *key, uint64_t expected) {
  char text[32];
  const HkJson *there = hk_json_get(facts, key);
  snprintf(text, sizeof text, "%016llx", (unsigned long long)expected);
  return hk_json_is(there, HK_JSON_TEXT) && strcmp(there->text, text) == 0;
}

/* Returns whether the report is of the same run with the same sketch. */
static bool is_same_run(const HkPage *page, const HkJson *facts) {
  const HkJson *drawn = hk_json_get(facts, "drawn");
  return integer_of(facts, "format") == HK_PAGE_FORMAT && is_hash(facts, "hash", page->hash) &&
         is_hash(facts, "fingerprint", page->model->fingerprint) &&
         integer_of(drawn, "vertices") == page->sketch.n;
}

static bool take(Earlier *e, const HkJson *facts) {
  HkRecording *r = &e->page->recording;
  const HkJson *frames = hk_json_get(facts, "frames"), *rows = hk_json_get(facts, "rows");
  int64_t frame_count = integer_of(frames, "count"), row_count = integer_of(rows, "count");
  r->first = integer_of(frames, "first");
  r->frames.stride = integer_of(frames, "stride");
  r->rows.stride = integer_of(rows, "stride");
  if (r->first < 0 || r->first > e->frame || r->frames.stride < 1 || r->rows.stride < 1)
    return false;
  if (frame_count < 1 || frame_count > 1000000 || row_count < 1 || row_count > 1000000)
    return false;
  if (!take_frames(e, frame_count) || !take_rows(e, row_count)) return false;
  int64_t reached = integer_of(frames, "last");
  e->page->earlier.gap = reached < e->frame ? reached : -1;
  return true;
}

void hk_page_take_up(HkPage *page, const char *path, int64_t frame) {
  Earlier e = {.page = page, .frame = frame};
  const HkContext *c = &page->context;
  HkJson facts = {.kind = HK_JSON_NULL};
  char *html = NULL;
  size_t size, length;
  page->earlier.resumed = frame;
  if (hk_file_read(c, path, &html, &size, NULL) < 0) return;
  e.html = html;
  const char *text = find_script(html, "application/json", "facts", &length);
  bool read = text && hk_json_parse(path, text, length, &facts, NULL) >= 0;
  page->earlier.is_taken_up = read && is_same_run(page, &facts) && take(&e, &facts);
  if (!page->earlier.is_taken_up) hk_recording_clear(&page->recording);
  hk_json_clear(&facts);
  hk_free(c, &e.bytes);
  hk_free(c, &html);
}
