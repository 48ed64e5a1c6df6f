/* Temporary folders; see scratch.h. */
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

bool scratch_make(const char *parent, char folder[SCRATCH_PATH]) {
  const char *temporary = getenv("TMPDIR");
  if (!parent) parent = temporary && temporary[0] ? temporary : "/tmp";
  int length = snprintf(folder, SCRATCH_PATH, "%s/hooke-view-XXXXXX", parent);
  return length < SCRATCH_PATH && mkdtemp(folder) != NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
  (void)info;
  (void)kind;
  (void)place;
  remove(path); /* errors are ignored; other files are still removed */
  return 0;
}

void scratch_remove(const char *folder) {
  enum { OPEN_FOLDERS = 8 };
  nftw(folder, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
