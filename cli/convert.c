/* hooke convert: reads a mesh in one format and writes it in another, both known by their endings.
 */
#include "cells.h"
#include "command.h"
#include "text.h"

#include <sys/stat.h>

typedef struct Settings {
  bool quiet;
} Settings;

static const Option options[] = {
    OPTION_FLAG(Settings, quiet, 'q', "--quiet", "print errors only"),
};

static bool is_same_file(const char *a, const char *b) {
  struct stat first, second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  (void)word_count;
  HkError error = {0};
  HkMesh *mesh;
  char text[256];
  /* The target format may hold less than the source, so the source is never overwritten. */
  if (is_same_file(words[0], words[1]))
    return complain(EXIT_INPUT, "%s: would be written over by itself; give another name", words[0]);
  if (hk_mesh_read(NULL, words[0], &mesh, &error) < 0) return complain_of(&error);
  HkStatus status = hk_mesh_write(mesh, words[1], &error);
  if (status >= 0 && !settings->quiet) {
    cells_describe(mesh, text, sizeof text);
    printf("%s: %s\n", words[1], text);
  }
  hk_mesh_destroy(&mesh);
  return status < 0 ? complain_of(&error) : EXIT_GOOD;
}

const Command command_convert = {
    .name = "convert",
    .arguments = "A B",
    .summary = "convert a mesh file to another format",
    .text = "Reads the mesh A and writes it as B; the endings say which formats. 'hooke "
            "methods' lists the formats. Vertices keep their order.",
    .examples = "  hooke convert bunny.mesh bunny.msh\n"
                "  hooke convert scan.stl scan.ply\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 2,
    .most = 2,
    .words = WORDS_FILE,
    .run = run,
};
