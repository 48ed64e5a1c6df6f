/* hooke new: a scene to start from, with comments that say what each value means and its unit. */
#include "command.h"
#include "source.h"
#include "text.h"

#include <errno.h>
#include <string.h>

typedef struct Settings {
  const char *from;
  bool force;
} Settings;

static const Option options[] = {
    OPTION_TEXT(Settings, from, 0, "--from", "SCENE", "copy this built-in scene instead"),
    OPTION_FLAG(Settings, force, 'f', "--force", "replace a file of that name"),
};

static const char *const starting_scene =
    "// A cloth hangs from its two upper corners and the wind pulls at it.\n"
    "// All units are SI. `hooke methods` lists everything that can stand here,\n"
    "// `hooke methods grid` explains one of them. Comments like these are allowed.\n"
    "{\n"
    "  \"title\": \"A hanging cloth in the wind\",\n"
    "\n"
    "  \"time\": {\n"
    "    \"duration\": 5,            // s\n"
    "    \"frames_per_second\": 30   // frames written in a second\n"
    "    // \"step\": 0.0001         // s; if not given, half the largest stable one\n"
    "  },\n"
    "\n"
    "  \"integrator\": \"symplectic_euler\",\n"
    "\n"
    "  \"bodies\": [\n"
    "    {\n"
    "      \"name\": \"cloth\",\n"
    "      // 31 x 31 vertices in the x-y plane, 1 m wide and 1 m high. Instead of a\n"
    "      // shape, a mesh file: \"mesh\": \"cloth.obj\"\n"
    "      \"shape\": {\"type\": \"grid\", \"nx\": 31, \"ny\": 31, \"width\": 1, \"height\": 1},\n"
    "      \"mass\": 0.2,            // kg, of the whole cloth\n"
    "      \"springs\": {\n"
    "        \"EA\": 10,             // N, stiffness: k = EA / l0 of every spring\n"
    "        \"shear\": true,        // springs along the diagonals of the squares\n"
    "        \"bending\": true,      // springs to the next but one vertex\n"
    "        \"EA_bending\": 0.5,    // N, of the bending springs\n"
    "        \"damping\": 0.002      // N s/m, along every spring\n"
    "      }\n"
    "    }\n"
    "  ],\n"
    "\n"
    "  // What is held. A vertex can be chosen by number, place or set; a pin can\n"
    "  // move (\"motion\") and let go (\"release\": 3, in s).\n"
    "  \"pins\": [{\"select\": \"top_left\"}, {\"select\": \"top_right\"}],\n"
    "\n"
    "  \"forces\": [\n"
    "    {\"type\": \"gravity\", \"g\": 9.81},  // m/s^2, downwards, along -y\n"
    "    {\n"
    "      \"type\": \"face_wind\",\n"
    "      \"velocity\": [0.3, 0, 1.5],     // m/s, on average\n"
    "      \"gust\": 0.5                    // gusts of 50 % of it\n"
    "    }\n"
    "  ],\n"
    "\n"
    "  \"outputs\": [\n"
    "    \"energies\",               // energies.csv\n"
    "    \"vtp\"                     // vtp.pvd for ParaView; or pc2 for Blender\n"
    "  ]\n"
    "}\n";

static int find_text(const char *from, const char **text) {
  *text = from ? source_builtin(from) : starting_scene;
  if (*text) return 0;
  const char *near = source_nearest(from);
  if (near)
    return complain(EXIT_INPUT, "there is no built-in scene '%s'; did you mean '%s'?", from, near);
  return complain(EXIT_INPUT, "there is no built-in scene '%s'; 'hooke scenes' lists all", from);
}

static int write_file(const char *path, const char *text, bool force) {
  FILE *file = fopen(path, force ? "w" : "wx");
  if (!file && errno == EEXIST)
    return complain(EXIT_INPUT, "%s: is there already; --force replaces it", path);
  if (!file) return complain(EXIT_FILE, "%s: cannot write: %s", path, strerror(errno));
  fputs(text, file);
  bool bad = ferror(file) != 0;
  if (fclose(file) != 0 || bad)
    return complain(EXIT_FILE, "%s: cannot write: %s", path, strerror(errno));
  return EXIT_GOOD;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  (void)word_count;
  char path[4096];
  const char *text;
  size_t length = strlen(words[0]);
  bool ending = length > 5 && strcmp(words[0] + length - 5, ".json") == 0;
  if (length == 0 || words[0][length - 1] == '/')
    return complain(EXIT_USAGE, "'%s' is no name for a scene", words[0]);
  if ((size_t)snprintf(path, sizeof path, "%s%s", words[0], ending ? "" : ".json") >= sizeof path)
    return complain(EXIT_FILE, "the path is too long");
  int code = find_text(settings->from, &text);
  if (code == 0) code = write_file(path, text, settings->force);
  if (code != 0) return code;
  printf("wrote %s; simulate it with: hooke run %s\n", path, path);
  return EXIT_GOOD;
}

const Command command_new = {
    .name = "new",
    .arguments = "NAME",
    .summary = "write a scene to start from",
    .text = "Writes NAME.json: a cloth in the wind, with comments on every value and its "
            "unit, or a copy of a built-in scene.",
    .examples = "  hooke new cloth\n"
                "  hooke new my --from flag\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .run = run,
};
