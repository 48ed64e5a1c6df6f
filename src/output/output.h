/* Outputs write frames into files.
 *
 * An output either writes one file a frame, or appends to one file. An output that appends keeps
 * `offset`, the length of complete frames; a resumed run truncates the file there, so that its
 * bytes are those of a run that was never interrupted.
 */
#ifndef HK_OUTPUT_OUTPUT_H
#define HK_OUTPUT_OUTPUT_H

#include "base/file.h"
#include "base/ranks.h"
#include "model/state.h"
#include "output/ledger.h"

#include <stddef.h>

/* Solve info, summed over steps. Each member has eight bytes: checkpoints store the struct as it
 * is. */
typedef struct HkTally {
  int64_t steps;
  int64_t substeps, rejected;           /* accepted and rejected substeps of adaptive steps */
  int64_t iterations, worst_iterations; /* of all steps; largest number of one step */
  int64_t linear_iterations, projections;
  int64_t stationary;  /* steps that meet the tolerance but are not shown to be near a minimum */
  int64_t unconverged; /* steps that did not converge */
  int64_t reason;      /* HkStop of the last step */
  double gradient;     /* largest relative gradient of all steps */
} HkTally;

_Static_assert(sizeof(HkTally) == 10 * sizeof(int64_t) + sizeof(double),
               "checkpoints hold a tally as eleven numbers of eight bytes, without padding");

/* Adds the later steps `more`. */
void hk_tally_add(HkTally *tally, const HkTally *more);

typedef struct HkFrame {
  const HkModel *model;
  const HkState *state;
  int64_t index;       /* from 0 */
  const double *force; /* N, 3 a vertex: all forces, reactions of pins not included */
  const HkStateInfo *info;
  const double *reaction; /* N, 3 a pinned vertex: reaction of the pin; 0 after its release */
  const HkContactView *contacts; /* NULL: the model has no contact */
} HkFrame;

typedef struct HkOutput HkOutput;

/* Quantities that an output may store in 32-bit numbers, as bits. */
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

/* What an output does where ranks hold parts of the model. */
typedef enum HkOutputRanks {
  HK_OUTPUT_NOT_ON_RANKS,  /* it needs the whole model in one process */
  HK_OUTPUT_OF_FIRST_RANK, /* rank 0 writes values that all ranks have */
  HK_OUTPUT_OF_ALL_RANKS   /* all ranks call open and write together */
} HkOutputRanks;

typedef struct HkOutputType {
  HkSchema schema;
  HkOutputRanks ranks;
  const char *files[3]; /* files in the run's folder besides the frames, ended by NULL */
  const char *ending;   /* of frame files; NULL: the name of the output */
  const char *grows;    /* the file that is appended to; NULL: none */
  int64_t head;         /* bytes at its start that open rewrites; no checksum contains them */
  /* Returns the HkQuantity bits that the output stores in 32 bits; NULL: none. */
  unsigned (*singles)(const HkOutput *o);
  /* Creates the files, or continues truncated ones if o->offset > 0. */
  HkStatus (*open)(HkOutput *o, const HkModel *model, HkError *error);
  HkStatus (*write)(HkOutput *o, const HkFrame *frame, HkError *error);
  /* Closes the files and frees o->data; after an earlier error it returns HK_OK. */
  HkStatus (*close)(HkOutput *o, HkError *error);
} HkOutputType;

struct HkOutput {
  HkContext context;
  const HkOutputType *type;
  const void *params;
  const char *folder;    /* of the run, no slash at the end */
  int64_t frame_count;   /* frames in all that this output will get, the first one included */
  double frame_interval; /* s */
  int64_t written;       /* frames so far, updated by the caller */
  int64_t offset;   /* length of complete frames, updated by the output; 0: it does not append */
  HkSum sum;        /* checksum of the appended file at the last hk_output_sum */
  HkLedger *ledger; /* receives checksums of frame files; may be NULL */
  HkTally tally;    /* of the steps since the previous frame, updated by the caller */
  void *data;
};

const HkOutputType *hk_output_type(const HkSchema *schema);

/* Whether this process has the files that all ranks share: rank 0, or the only process. */
static inline bool hk_output_is_first(const HkOutput *o) {
  return !o->context.ranks || o->context.ranks->rank == 0;
}

/* Writes "folder/name" into path; returns an error if it is too long. */
HkStatus hk_output_path(const HkOutput *o, const char *name, char *path, size_t size,
                        HkError *error);

/* Truncates folder/name to o->offset and opens it for appending. */
HkStatus hk_output_append_open(HkOutput *o, const char *name, FILE **file, HkError *error);
/* Flushes and sets o->offset to the length. */
HkStatus hk_output_append_flush(HkOutput *o, FILE *file, const char *name, HkError *error);
/* Moves to an offset of the file. */
HkStatus hk_output_append_seek(const HkOutput *o, FILE *file, const char *name, int64_t offset,
                               HkError *error);
/* Closes *file, which may be NULL, and sets it to NULL; silent if a write failed before. */
HkStatus hk_output_append_close(const HkOutput *o, FILE **file, const char *name, HkError *error);
/* Implements close for an output whose data is a single FILE. */
HkStatus hk_output_file_close(HkOutput *o, HkError *error);

/* Updates o->sum, the checksum of the appended file, to o->offset. */
HkStatus hk_output_sum(HkOutput *o, HkError *error);
/* Synchronizes the appended file with the disk. */
HkStatus hk_output_sync(const HkOutput *o, HkError *error);
/* Compares the appended file up to o->offset with o->sum. */
HkFilesState hk_output_check(const HkOutput *o, HkError *why);
/* Adds a complete frame file to the ledger. */
HkStatus hk_output_keep(HkOutput *o, const char *path, HkError *error);

/* The ending of the frame files of an output. */
static inline const char *hk_output_ending(const HkOutputType *type) {
  return type->ending ? type->ending : type->schema.name;
}
/* Creates the folder NAME of the frame files NAME/frame_000000.ENDING. */
HkStatus hk_output_frames_open(const HkOutput *o, const char *name, HkError *error);
/* Writes the path of a frame file NAME/frame_000000.ENDING. */
HkStatus hk_output_frame_path(const HkOutput *o, const char *name, int64_t frame, char *path,
                              size_t size, HkError *error);

/* Writes a comma and the title BEFORE NAME AFTER of a column, quoted where the name needs it: RFC
 * 4180. */
void hk_output_put_title(FILE *file, const char *before, const char *name, const char *after);

/* Computes (l - l0) / l0 of every spring of a state (0 if l0 is 0). */
void hk_spring_strains(const HkModel *model, const HkState *state, double *strain);

#endif
