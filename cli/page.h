/* The files of the web page, which `make web` writes into a folder. */
#ifndef HOOKE_CLI_PAGE_H
#define HOOKE_CLI_PAGE_H

typedef struct PageFile {
  char *name; /* path relative to the folder, with a leading slash: "/index.html" */
  char *path;
} PageFile;

typedef struct Page {
  PageFile *files;
  int count;
} Page;

/* Lists the files of a folder with those below it. NULL: of the folder of the page, beside the
 * program, installed or in the tree where it was built, or under the prefix of the build. Returns
 * 0, or the exit code after the error has been printed. The caller calls page_release in both
 * cases. */
int page_find(const char *folder, Page *page);
void page_release(Page *page);
/* Returns the path of the file of that name, or NULL; no other file is served. */
const char *page_path(const Page *page, const char *name);
/* Returns the media type of a file, by its ending. */
const char *page_type(const char *name);

#endif
