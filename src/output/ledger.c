/* The checksums of a run's frame files; see ledger.h. */
#include "output/ledger.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static HkStatus path_of(const char *folder, const char *name, char *path, size_t size,
                        HkError *error) {
  int length = snprintf(path, size, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= size)
    return hk_fail_at(error, HK_ERROR_IO, folder, 0, 0, "the path is too long");
  return HK_OK;
}

HkStatus hk_ledger_open(HkLedger *l, HkError *error) {
  char path[4096];
  HK_TRY(path_of(l->folder, HK_LEDGER_NAME, path, sizeof path, error));
  l->file = fopen(path, l->sum.size > 0 ? "r+b" : "wb");
  if (!l->file || ftruncate(fileno(l->file), (off_t)l->sum.size) != 0 ||
      fseeko(l->file, (off_t)l->sum.size, SEEK_SET) != 0)
    return hk_fail_errno(error, "write", path);
  return HK_OK;
}

HkStatus hk_ledger_close(HkLedger *l, HkError *error) {
  bool bad = l->file && fclose(l->file) != 0;
  l->file = NULL;
  hk_free(&l->context, &l->recent);
  l->recent_size = l->recent_room = 0;
  l->recent_count = 0;
  return bad ? hk_fail_errno(error, "write", HK_LEDGER_NAME) : HK_OK;
}

/* Remembers a file that this process has to synchronize before the next checkpoint. */
static HkStatus remember(HkLedger *l, const char *name, HkError *error) {
  int64_t length = (int64_t)strlen(name) + 1;
  HK_TRY(hk_grow(&l->context, &l->recent, &l->recent_room, l->recent_size + length, 1, "checksums",
                 error));
  memcpy(l->recent + l->recent_size, name, (size_t)length);
  l->recent_size += length;
  l->recent_count++;
  return HK_OK;
}

static HkStatus add_line(HkLedger *l, const char *name, uint64_t value, int64_t bytes,
                         HkError *error) {
  char line[4200];
  int size = snprintf(line, sizeof line, "%016" PRIx64 " %" PRId64 " %s\n", value, bytes, name);
  if (fwrite(line, 1, (size_t)size, l->file) != (size_t)size || fflush(l->file) != 0)
    return hk_fail_errno(error, "write", HK_LEDGER_NAME);
  hk_sum_add(&l->sum, line, (size_t)size);
  return HK_OK;
}

HkStatus hk_ledger_add(HkLedger *l, const char *path, HkError *error) {
  const char *name = path + strlen(l->folder) + 1;
  HkSum sum = {0};
  HK_TRY(hk_sum_file(&sum, path, 0, -1, error));
  HK_TRY(remember(l, name, error));
  return add_line(l, name, hk_sum_value(&sum), sum.size, error);
}

/* ---- Pieces of ranks ---- */

/* Checksum of the piece of one rank. */
typedef struct Piece {
  uint64_t value;
  int64_t bytes;
} Piece;

static HkStatus add_lines(HkLedger *l, const char *pattern, const Piece *pieces, HkError *error) {
  char path[4096];
  for (int r = 0; r < l->context.ranks->count; r++) {
    HK_TRY(hk_ledger_piece_path(pattern, r, path, sizeof path, error));
    HK_TRY(add_line(l, path + strlen(l->folder) + 1, pieces[r].value, pieces[r].bytes, error));
  }
  return HK_OK;
}

HkStatus hk_ledger_piece_path(const char *pattern, int rank, char *path, size_t size,
                              HkError *error) {
  const char *dot = strrchr(pattern, '.');
  int length = snprintf(path, size, "%.*s_%04d%s", (int)(dot - pattern), pattern, rank, dot);
  if (length < 0 || (size_t)length >= size)
    return hk_fail_at(error, HK_ERROR_IO, pattern, 0, 0, "the path is too long");
  return HK_OK;
}

HkStatus hk_ledger_add_pieces(HkLedger *l, const char *pattern, HkError *error) {
  HkRanks *ranks = l->context.ranks;
  char path[4096];
  HkSum sum = {0};
  Piece mine, *all = NULL;
  HkStatus status = hk_ledger_piece_path(pattern, ranks->rank, path, sizeof path, error);
  if (status >= 0) status = hk_sum_file(&sum, path, 0, -1, error);
  if (status >= 0) status = remember(l, path + strlen(l->folder) + 1, error);
  if (status >= 0)
    status = hk_alloc(&l->context, &all, ranks->count, sizeof *all, "checksums", error);
  status = hk_ranks_agree(ranks, status, error);
  mine = (Piece){hk_sum_value(&sum), sum.size};
  if (status >= 0) ranks->type->gather(ranks, &mine, sizeof mine, all);
  if (status >= 0 && l->file) status = add_lines(l, pattern, all, error);
  hk_free(&l->context, &all);
  return hk_ranks_agree(ranks, status, error);
}

/* ---- Synchronizing ---- */

/* Synchronizes a file and its entry in the folder with the disk. */
static HkStatus sync_named(const HkLedger *l, const char *name, HkError *error) {
  char path[4096];
  HK_TRY(path_of(l->folder, name, path, sizeof path, error));
  HK_TRY(hk_sync(path, error));
  char *slash = strrchr(path, '/');
  *slash = 0;
  return hk_sync(path, error);
}

HkStatus hk_ledger_sync(const HkLedger *l, HkError *error) {
  for (int64_t at = 0; at < l->recent_size; at += (int64_t)strlen(l->recent + at) + 1)
    HK_TRY(sync_named(l, l->recent + at, error));
  return l->file ? sync_named(l, HK_LEDGER_NAME, error) : HK_OK;
}

void hk_ledger_forget_recent(HkLedger *l) {
  l->recent_size = 0;
  l->recent_count = 0;
}

/* ---- Comparing ---- */

/* Compares one file with its line. */
static HkFilesState check_file(const char *folder, const char *name, int64_t size, uint64_t value,
                               HkError *why) {
  char path[4096];
  HkSum sum = {0};
  if (path_of(folder, name, path, sizeof path, why) < 0) return HK_FILES_DAMAGED;
  if (access(path, F_OK) != 0 && errno == ENOENT) {
    hk_fail_at(why, HK_ERROR_IO, path, 0, 0, "is not there any more");
    return HK_FILES_MISSING;
  }
  if (hk_sum_file(&sum, path, 0, -1, why) < 0) return HK_FILES_DAMAGED;
  if (sum.size == size && hk_sum_value(&sum) == value) return HK_FILES_WHOLE;
  hk_fail_at(why, HK_ERROR_FORMAT, path, 0, 0, "is damaged: its checksum does not fit");
  return HK_FILES_DAMAGED;
}

static HkFilesState check_lines(const char *folder, char *text, HkError *why) {
  HkFilesState worst = HK_FILES_WHOLE;
  for (char *line = text, *next; *line && worst != HK_FILES_DAMAGED; line = next) {
    char *end = strchr(line, '\n');
    uint64_t value;
    int64_t size;
    int at = 0;
    HkError this = {0};
    if (!end) return HK_FILES_DAMAGED; /* the checksum is correct, so this cannot happen */
    *end = 0;
    next = end + 1;
    if (sscanf(line, "%16" SCNx64 " %" SCNd64 " %n", &value, &size, &at) < 2 || at == 0)
      return HK_FILES_DAMAGED;
    HkFilesState state = check_file(folder, line + at, size, value, &this);
    if (state > worst) *why = this;
    if (state > worst) worst = state;
  }
  return worst;
}

HkStatus hk_ledger_check(const HkContext *context, const char *folder, const HkSum *sum,
                         HkFilesState *state, HkError *why, HkError *error) {
  char path[4096], *text;
  size_t size;
  HkSum now = {0};
  *state = HK_FILES_WHOLE;
  if (sum->size == 0) return HK_OK;
  *state = HK_FILES_DAMAGED;
  HK_TRY(path_of(folder, HK_LEDGER_NAME, path, sizeof path, error));
  HkStatus status = hk_file_read(context, path, &text, &size, why);
  if (status == HK_ERROR_MEMORY && error) *error = *why;
  if (status < 0) return status == HK_ERROR_MEMORY ? status : HK_OK;
  hk_fail_at(why, HK_ERROR_FORMAT, path, 0, 0, "is damaged: its checksum does not fit");
  if ((int64_t)size >= sum->size) {
    text[sum->size] = 0;
    hk_sum_add(&now, text, (size_t)sum->size);
    if (hk_sum_is(&now, sum)) *state = check_lines(folder, text, why);
  }
  hk_free(context, &text);
  return HK_OK;
}
