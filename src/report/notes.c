/* Notes of a report about data that it leaves out; see page.h. */
#include "report/page.h"

#include <stdarg.h>
#include <stdio.h>

/* A short text by value. */
typedef struct Words {
  char c[40];
} Words;

/* 1,234,567 */
static Words count_of(int64_t value) {
  char digits[24];
  Words words;
  size_t used = 0;
  int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
  for (int q = 0; q < length; q++) {
    if (q > 0 && (length - q) % 3 == 0) words.c[used++] = ',';
    words.c[used++] = digits[q];
  }
  words.c[used] = 0;
  return words;
}

/* 2nd, 4th ... 512th */
static Words ordinal(int64_t value) {
  static const char *const endings[] = {"th", "st", "nd", "rd"};
  bool teen = value / 10 % 10 == 1;
  Words words;
  snprintf(words.c, sizeof words.c, "%.30s%s", count_of(value).c,
           endings[!teen && value % 10 < 4 ? value % 10 : 0]);
  return words;
}

static void note(HkJson *list, const char *format, ...) HK_PRINTF(2, 3);

static void note(HkJson *list, const char *format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  hk_json_append(list, hk_json_text(text));
}

static void note_sketch(HkJson *list, const HkSketch *s, const HkModel *m) {
  if (s->way == HK_SKETCH_SURFACE)
    note(list, "Only the surface is drawn: %s of %s vertices.", count_of(s->n).c, count_of(m->n).c);
  if (s->way == HK_SKETCH_CELLS)
    note(list,
         "%s of %s vertices are drawn: one for each cell of a grid, with faces and springs from "
         "cell to cell.",
         count_of(s->n).c, count_of(m->n).c);
  if (s->face_count < m->face_count)
    note(list, "%s of %s faces are drawn.", count_of(s->face_count).c, count_of(m->face_count).c);
  if (s->spring_count < m->springs.count)
    note(list, "%s of %s springs are drawn.", count_of(s->spring_count).c,
         count_of(m->springs.count).c);
}

static void note_thinning(HkJson *list, const HkRecording *r) {
  int64_t frames = r->last - r->first + 1;
  if (r->frames.stride > 1)
    note(list,
         "The playback holds every %s of %s frames; what it shows between them is interpolated.",
         ordinal(r->frames.stride).c, count_of(frames).c);
  if (r->rows.stride > 1)
    note(list,
         "The plots have every %s of %s frames; time and iterations count those between, too.",
         ordinal(r->rows.stride).c, count_of(frames).c);
}

static void note_resuming(HkJson *list, const HkPageEarlier *e) {
  if (e->resumed <= 0) return;
  if (!e->is_taken_up)
    note(list, "The run was resumed at frame %s. What came before is not in this report.",
         count_of(e->resumed).c);
  else if (e->gap >= 0)
    note(list,
         "The run was resumed at frame %s. Those after frame %s are missing: the run ended without "
         "a report.",
         count_of(e->resumed).c, count_of(e->gap).c);
  else
    note(list, "The run was resumed at frame %s; what came before is in this report, too.",
         count_of(e->resumed).c);
}

HkJson hk_page_notes(const HkPage *page) {
  HkJson list = hk_json_list();
  note_resuming(&list, &page->earlier);
  note_sketch(&list, &page->sketch, page->model);
  note_thinning(&list, &page->recording);
  if (hk_scenery_left_out(page) > 0)
    note(&list, "%s obstacles are not drawn: their surfaces are too large for a report.",
         count_of(hk_scenery_left_out(page)).c);
  if (page->recording.blurred)
    note(&list, "Some positions were not finite; they are drawn at a corner of the box.");
  return list;
}
