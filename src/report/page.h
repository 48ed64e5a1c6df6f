/* report.html: a run as one page that opens from the disk.
 *
 *     web/report/report.html with its marks {{...}} replaced
 *       {{title}}        the scene's title, or its name
 *       {{report.css}}   the file of that name, and so all others of the folder
 *       {{data}}         <script type="application/json" id="data-facts"> {...} </script>
 *                        <script type="text/plain" id="data-shapes"> base64 </script>, and so
 *                        heads, rows, releases (64-bit floats), faces, springs and pins (32-bit
 *                        integers)
 *
 * What the numbers mean stands in recording.h, sketch.h and scenery.c; all are little endian. In
 * the JSON '<' is written as \u003c, so that no text of a scene ends the script.
 */
#ifndef HK_REPORT_PAGE_H
#define HK_REPORT_PAGE_H

#include "base/json.h"
#include "base/stream.h"
#include "report/recording.h"

/* Facts of the run when the page is written. */
typedef struct HkPageRun {
  const HkMethod *method; /* the integrator with all that was picked */
  double h;               /* s, the step */
  double interval;        /* s between frames */
  double stable_h;        /* s */
  int64_t frame, frames;  /* reached, to reach */
  int64_t substeps;       /* steps a frame */
  int halvings;
  HkStatus failed;     /* HK_OK: it did not */
  const char *failure; /* why it failed */
} HkPageRun;

/* Data about an earlier report of the same run. */
typedef struct HkPageEarlier {
  int64_t resumed;  /* the frame from which the run was resumed; 0: from the start */
  int64_t gap;      /* the last frame of the earlier report if later ones are missing; -1: none are
                       missing */
  bool is_taken_up; /* this report contains frames of the earlier one */
} HkPageEarlier;

typedef struct HkPage {
  HkContext context;
  const HkModel *model;
  uint64_t hash; /* of the scene: reports of one run share it */
  double limit;  /* bytes of the file */
  char *title;   /* of the scene, or its name */
  char *command; /* that repeats the run; NULL: not known */
  char *scene;   /* the whole scene as JSON */
  char *source;  /* as it was written; NULL: not known, or not what was run */
  HkSketch sketch;
  HkRecording recording;
  HkPageEarlier earlier;
} HkPage;

#define HK_PAGE_NAME "report.html" /* in the folder of the run */
#define HK_PAGE_LIMIT 30e6         /* bytes of a report */

enum { HK_PAGE_FORMAT = 2 }; /* version of the data; other versions are ignored */

/* Creates a page for a run of frame_count frames, for a file of at most `limit` bytes. */
HkStatus hk_page_create(const HkScene *scene, const HkModel *model, int64_t frame_count,
                        double limit, const char *command, HkPage **page, HkError *error);
void hk_page_destroy(HkPage **page);
/* Removes all frames: the run restarts. */
void hk_page_clear(HkPage *page);

/* Appends a frame unless it is there already. */
void hk_page_add(HkPage *page, const HkFrame *frame, const HkTally *work, double seconds);

/* earlier.c: reads the frames up to `frame` of the report at path if it is of this run; otherwise
 * the page contains only later frames. */
void hk_page_take_up(HkPage *page, const char *path, int64_t frame);

/* Writes the page; an error leaves the file at path unchanged. */
HkStatus hk_page_write(const HkPage *page, const HkPageRun *run, const char *path, HkError *error);

/* facts.c: all but the numbers of the frames. */
HkJson hk_page_facts(const HkPage *page, const HkPageRun *run);

/* Writes an array as a script with base64 in it. */
void hk_page_put_doubles(HkStream *s, const char *id, const double *values, int64_t count);
void hk_page_put_integers(HkStream *s, const char *id, const int32_t *values, int64_t count);

/* scenery.c: writes the obstacles; returns how many of them do not fit. */
void hk_scenery_put(HkStream *s, const HkPage *page);
int hk_scenery_left_out(const HkPage *page);

/* notes.c: what was left out, as sentences. */
HkJson hk_page_notes(const HkPage *page);

/* The files of web/report and the modules of web/shared as scripts, put into the library by
 * cmake/embed_report.cmake. */
typedef struct HkPageFile {
  const char *name, *text;
} HkPageFile;

/* Ends with an entry of NULLs. */
extern const HkPageFile hk_page_files[];

#endif
