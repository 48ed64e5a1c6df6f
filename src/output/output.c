/* The registry of outputs and what they share. */
#include "output/output.h"

#include "base/vec.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HK_OUTPUT_TYPE(name) extern const HkOutputType hk_output_##name;
#include "output/output.def"
#undef HK_OUTPUT_TYPE

static const HkOutputType *const types[] = {
#define HK_OUTPUT_TYPE(name) &hk_output_##name,
#include "output/output.def"
#undef HK_OUTPUT_TYPE
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

const HkSchema *hk_output_schema(int index) {
  return index >= 0 && index < TYPE_COUNT ? &types[index]->schema : NULL;
}

const HkOutputType *hk_output_type(const HkSchema *schema) {
  for (int q = 0; q < TYPE_COUNT; q++)
    if (&types[q]->schema == schema) return types[q];
  return NULL;
}

HkStatus hk_output_path(const HkOutput *o, const char *name, char *path, size_t size,
                        HkError *error) {
  int length = snprintf(path, size, "%s/%s", o->folder, name);
  if (length < 0 || (size_t)length >= size)
    return hk_fail_at(error, HK_ERROR_IO, o->folder, 0, 0, "the path is too long");
  return HK_OK;
}

/* Returns the error "cannot write FOLDER/NAME", from errno. */
static HkStatus fail_named(const HkOutput *o, const char *name, HkError *error) {
  int reason = errno;
  char path[4096];
  HK_TRY(hk_output_path(o, name, path, sizeof path, error));
  errno = reason;
  return hk_fail_errno(error, "write", path);
}

HkStatus hk_output_append_open(HkOutput *o, const char *name, FILE **file, HkError *error) {
  char path[4096];
  *file = NULL;
  HK_TRY(hk_output_path(o, name, path, sizeof path, error));
  *file = fopen(path, o->offset > 0 ? "r+b" : "w+b");
  if (!*file) return hk_fail_errno(error, "write", path);
  if (o->offset == 0) return HK_OK;
  if (fseeko(*file, 0, SEEK_END) != 0) return hk_fail_errno(error, "read", path);
  if (ftello(*file) < o->offset)
    return hk_fail_at(error, HK_ERROR_FORMAT, path, 0, 0,
                      "is shorter than the checkpoint says; the option force starts the run over");
  if (ftruncate(fileno(*file), o->offset) != 0 || fseeko(*file, o->offset, SEEK_SET) != 0)
    return hk_fail_errno(error, "write", path);
  return HK_OK;
}

HkStatus hk_output_append_flush(HkOutput *o, FILE *file, const char *name, HkError *error) {
  bool earlier = ferror(file) != 0;
  if (fflush(file) != 0 || earlier) return fail_named(o, name, error);
  o->offset = (int64_t)ftello(file);
  return HK_OK;
}

HkStatus hk_output_append_seek(const HkOutput *o, FILE *file, const char *name, int64_t offset,
                               HkError *error) {
  return fseeko(file, offset, SEEK_SET) == 0 ? HK_OK : fail_named(o, name, error);
}

HkStatus hk_output_file_close(HkOutput *o, HkError *error) {
  FILE *file = o->data;
  o->data = NULL;
  return hk_output_append_close(o, &file, o->type->files[0], error);
}

HkStatus hk_output_append_close(const HkOutput *o, FILE **file, const char *name, HkError *error) {
  if (!*file) return HK_OK;
  bool told = ferror(*file) != 0;
  bool bad = fclose(*file) != 0;
  *file = NULL;
  return bad && !told ? fail_named(o, name, error) : HK_OK;
}

HkStatus hk_output_sum(HkOutput *o, HkError *error) {
  char path[4096];
  if (!o->type->grows || o->offset <= o->type->head) return HK_OK;
  HK_TRY(hk_output_path(o, o->type->grows, path, sizeof path, error));
  return hk_sum_file(&o->sum, path, o->type->head + o->sum.size, o->offset, error);
}

HkStatus hk_output_sync(const HkOutput *o, HkError *error) {
  char path[4096];
  if (!o->type->grows || o->offset == 0) return HK_OK;
  HK_TRY(hk_output_path(o, o->type->grows, path, sizeof path, error));
  return hk_sync(path, error);
}

HkFilesState hk_output_check(const HkOutput *o, HkError *why) {
  char path[4096];
  HkSum now = {0};
  if (!o->type->grows || o->offset <= o->type->head) return HK_FILES_WHOLE;
  if (hk_output_path(o, o->type->grows, path, sizeof path, why) < 0 ||
      hk_sum_file(&now, path, o->type->head, o->offset, why) < 0)
    return HK_FILES_DAMAGED;
  if (hk_sum_is(&now, &o->sum)) return HK_FILES_WHOLE;
  hk_fail_at(why, HK_ERROR_FORMAT, path, 0, 0, "is damaged: its checksum does not fit");
  return HK_FILES_DAMAGED;
}

HkStatus hk_output_keep(HkOutput *o, const char *path, HkError *error) {
  return o->ledger ? hk_ledger_add(o->ledger, path, error) : HK_OK;
}

HkStatus hk_output_frames_open(const HkOutput *o, const char *name, HkError *error) {
  char path[4096];
  struct stat info;
  HK_TRY(hk_output_path(o, name, path, sizeof path, error));
  if (mkdir(path, 0777) == 0) return HK_OK;
  if (errno != EEXIST) return hk_fail_errno(error, "make the folder", path);
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return HK_OK;
  return hk_fail_at(error, HK_ERROR_IO, path, 0, 0,
                    "is in the way of a folder of that name; move it, or write elsewhere");
}

HkStatus hk_output_frame_path(const HkOutput *o, const char *name, int64_t frame, char *path,
                              size_t size, HkError *error) {
  char file[96];
  snprintf(file, sizeof file, "%s/frame_%06lld.%s", name, (long long)frame,
           hk_output_ending(o->type));
  return hk_output_path(o, file, path, size, error);
}

void hk_output_put_title(FILE *file, const char *before, const char *name, const char *after) {
  bool quote = strpbrk(name, ",\"\r\n") != NULL;
  fprintf(file, quote ? ",\"%s" : ",%s", before);
  for (const char *at = name; *at; at++) {
    if (*at == '"') fputc('"', file);
    fputc(*at, file);
  }
  fprintf(file, quote ? "%s\"" : "%s", after);
}

void hk_tally_add(HkTally *tally, const HkTally *more) {
  tally->steps += more->steps;
  tally->substeps += more->substeps;
  tally->rejected += more->rejected;
  tally->iterations += more->iterations;
  if (more->worst_iterations > tally->worst_iterations)
    tally->worst_iterations = more->worst_iterations;
  tally->linear_iterations += more->linear_iterations;
  tally->projections += more->projections;
  tally->stationary += more->stationary;
  tally->unconverged += more->unconverged;
  tally->gradient = fmax(tally->gradient, more->gradient);
  if (more->steps > 0) tally->reason = more->reason;
}

typedef struct Strains {
  const HkModel *model;
  const double *x, *l0;
  double *strain;
} Strains;

static void strain_range(void *user, int64_t begin, int64_t end) {
  const Strains *s = user;
  const HkModel *m = s->model;
  for (int64_t q = begin; q < end; q++) {
    double l =
        hk_distance(s->x + 3 * (int64_t)m->springs.i[q], s->x + 3 * (int64_t)m->springs.j[q]);
    s->strain[q] = s->l0[q] > 0 ? (l - s->l0[q]) / s->l0[q] : 0;
  }
}

void hk_spring_strains(const HkModel *model, const HkState *state, double *strain) {
  bool own = state->springs.count > 0;
  Strains s = {model, state->x, own ? state->springs.l0 : model->springs.l0, strain};
  hk_parallel_for(model->threads, model->springs.count, strain_range, &s);
}
