/* The files of the page, as `make web` leaves them in a folder. */
#ifndef HOOKE_CLI_PAGE_H
#define HOOKE_CLI_PAGE_H

typedef struct PageFile {
  char *name; /* from the folder on, with a slash before it: "/index.html" */
  char *path;
} PageFile;

typedef struct Page {
  PageFile *files;
  int count;
} Page;

/* Lists the files of a folder with those below it. NULL: of the folder of the page, beside the
 * program, installed or in the tree where it was built, or under the prefix of the build. Returns
 * 0, or the exit code after the error has been printed. page_release is due in both cases. */
int page_find(const char *folder, Page *page);
void page_release(Page *page);
/* The path of the file of that name, or NULL: nothing else is ever served. */
const char *page_path(const Page *page, const char *name);
/* What kind of file it is, by its ending. */
const char *page_type(const char *name);

#endif
