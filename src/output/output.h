/* Outputs: one frame after another into files.
 *
 * An output either writes one file a frame, or appends to one file. The latter keeps `offset`, the
 * length of what is complete; a resumed run cuts the file there and goes on, so that its bytes are
 * those of a run that was never interrupted.
 */
#ifndef HK_OUTPUT_OUTPUT_H
#define HK_OUTPUT_OUTPUT_H

#include "base/file.h"
#include "model/state.h"
#include "output/ledger.h"

#include <stddef.h>

/* How some steps were solved. Eight bytes each: it goes into checkpoints as it is. */
typedef struct HkTally {
  int64_t steps;
  int64_t substeps, rejected;           /* parts of adaptive steps */
  int64_t iterations, worst_iterations; /* of all steps, of the one with most */
  int64_t linear_iterations, projections;
  int64_t stationary;  /* steps that meet the tolerance and are not known to be minima */
  int64_t unconverged; /* steps whose equations are not met to the tolerance */
  int64_t reason;      /* HkStop of the last step */
  double gradient;     /* the largest of all steps */
} HkTally;

_Static_assert(sizeof(HkTally) == 10 * sizeof(int64_t) + sizeof(double),
               "checkpoints hold a tally as eleven numbers of eight bytes, without padding");

/* Adds the steps of more, which come later. */
void hk_tally_add(HkTally *tally, const HkTally *more);

typedef struct HkFrame {
  const HkModel *model;
  const HkState *state;
  int64_t index;       /* from 0 */
  const double *force; /* N, 3 a vertex: all forces, reactions of pins not included */
  const HkReport *report;
  const double *reaction; /* N, 3 a pinned vertex: what holds it; 0 once it is released */
} HkFrame;

typedef struct HkOutput HkOutput;

/* What an output may store in 32-bit numbers. */
typedef enum HkQuantity {
  HK_QUANTITY_POSITION = 1,
  HK_QUANTITY_VELOCITY = 2,
  HK_QUANTITY_FORCE = 4,
  HK_QUANTITY_STRAIN = 8,
} HkQuantity;

/* Every parameter struct S of an output begins with `int every`: a run reads it without knowing S.
 */
#define HK_EVERY_COMES_FIRST(S)                                                                    \
  _Static_assert(offsetof(S, every) == 0 && sizeof(((S *)0)->every) == sizeof(int),                \
                 "the first parameter of an output is every")

typedef struct HkOutputType {
  HkSchema schema;
  const char *files[3]; /* it makes in the run's folder beside its frames, ended by NULL */
  const char *grows;    /* the one of them that is appended to; NULL: none is */
  int64_t head;         /* bytes at its start that open writes anew, in no checksum */
  /* The HkQuantity bits that it stores in 32 bits; NULL: none. */
  unsigned (*singles)(const HkOutput *o);
  /* Makes the files, or takes them up where they were cut: o->offset > 0 then. */
  HkStatus (*open)(HkOutput *o, const HkModel *model, HkError *error);
  HkStatus (*write)(HkOutput *o, const HkFrame *frame, HkError *error);
  /* Closes and releases o->data; called also after an error, and must then be silent. */
  HkStatus (*close)(HkOutput *o, HkError *error);
} HkOutputType;

struct HkOutput {
  HkContext context;
  const HkOutputType *type;
  const void *params;
  const char *folder;    /* of the run, no slash at the end */
  int64_t frame_count;   /* frames in all that this output will get, the first one included */
  double frame_interval; /* s */
  int64_t written;       /* frames so far, kept by the caller */
  int64_t offset;        /* bytes that are complete, kept by the output; 0: not appending */
  HkSum sum;             /* of the file that grows, as of the last hk_output_sum */
  HkLedger *ledger;      /* takes the checksums of frame files; NULL: nobody does */
  HkTally tally;         /* of the steps since the frame before, kept by the caller */
  void *data;
};

const HkOutputType *hk_output_type(const HkSchema *schema);

/* "folder/name" into path; an error if it is too long. */
HkStatus hk_output_path(const HkOutput *o, const char *name, char *path, size_t size,
                        HkError *error);

/* Opens folder/name for appending at o->offset, cutting what stands behind it. */
HkStatus hk_output_append_open(HkOutput *o, const char *name, FILE **file, HkError *error);
/* Flushes and sets o->offset to the length. */
HkStatus hk_output_append_flush(HkOutput *o, FILE *file, const char *name, HkError *error);
/* Moves to an offset of the file. */
HkStatus hk_output_append_seek(const HkOutput *o, FILE *file, const char *name, int64_t offset,
                               HkError *error);
/* Closes *file, which may be NULL, and sets it to NULL; silent if a write failed before. */
HkStatus hk_output_append_close(const HkOutput *o, FILE **file, const char *name, HkError *error);
/* The close of an output whose data are its only FILE. */
HkStatus hk_output_file_close(HkOutput *o, HkError *error);

/* Brings o->sum, the checksum of the file that grows, to o->offset. */
HkStatus hk_output_sum(HkOutput *o, HkError *error);
/* Returns when the file that grows is on the disk. */
HkStatus hk_output_sync(const HkOutput *o, HkError *error);
/* Whether the file that grows is, until o->offset, what it was when o->sum was made. */
HkFilesState hk_output_check(const HkOutput *o, HkError *why);
/* Puts a file that is written and renamed into the ledger. */
HkStatus hk_output_keep(HkOutput *o, const char *path, HkError *error);

/* Makes the folder NAME of the files NAME/frame_000000.NAME. */
HkStatus hk_output_frames_open(const HkOutput *o, const char *name, HkError *error);
/* The path of one of them. */
HkStatus hk_output_frame_path(const HkOutput *o, const char *name, int64_t frame, char *path,
                              size_t size, HkError *error);

/* (l - l0) / l0 of every spring (0 where l0 is 0) into strain. */
void hk_spring_strains(const HkModel *model, const double *x, double *strain);

#endif
