/* hooke sweep: a scene with every combination of some values, as a table.
 *
 * Combinations are worlds of batches (hooke/batch.h), some at a time, so that rows appear on the
 * way and Ctrl-C keeps those that are finished.
 */
#include "sweep.h"

#include "command.h"
#include "complaint.h"
#include "signals.h"
#include "source.h"
#include "target.h"
#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Settings {
  TextList vary, sets;
  const char *output;
  int threads, device;
  bool libraries, quiet;
} Settings;

static const Option options[] = {
    OPTION_LIST(
        Settings, vary, 'v', "--vary", "NAME=VALUES",
        "values of a parameter with commas between them, such as k=10,100,1000; NAME is a "
        "path as of --set, in which bodies[*] is every body, or short: k, EA, damping, mass "
        "(the total of each body), h (the step), duration; may be repeated"),
    OPTION_LIST(Settings, sets, 's', "--set", "PATH=VALUE",
                "set a value of the scene first; may be repeated"),
    OPTION_TEXT(Settings, output, 'o', "--output", "FILE",
                "where the table goes; standard output if not given"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "number of threads, each with a world of its own; all cores if 0 or not given; "
                   "results do not depend on it"),
    OPTION_CHOICE(Settings, device, 0, "--device", "cpu|cuda|cuda_double|auto",
                  "device that computes the steps: the CPU, an NVIDIA GPU by the plug-in "
                  "libhooke_cuda, or the one of both that is faster; cpu if not given"),
    OPTION_LIBRARIES(Settings),
    OPTION_FLAG(Settings, quiet, 'q', "--quiet", "print errors only"),
};

/* Largest number of worlds that are moved together, enough to keep all cores, or a GPU, busy. */
enum { WORLDS_A_CORE = 8, WORLDS_OF_DEVICE = 2048 };
/* Part of the available memory that these worlds may need: estimates are lower bounds, and lists of
 * contacts grow while the worlds move. */
static const double CHUNK_MEMORY = 0.5;

typedef struct Sweep {
  const Settings *settings;
  const char *name;
  HkContext context;
  Listener listener;
  Variations variations;
  HkScene *scene; /* with the values of --set alone */
  double memory;  /* bytes that the worlds of a chunk may need */
  FILE *file;
  Target target; /* of --output */
  int64_t finished, failed, steps;
  HkError first; /* error */
} Sweep;

/* ---- Before ---------------------------------------------------------------------------------- */

/* Whether the mass of a body is given as a number: a path below it leads nowhere then. */
static bool mass_is_number(const Sweep *s, int body) {
  char probe[64];
  HkScene *scene = NULL;
  HkError error = {0};
  TextList sets = {.texts = calloc((size_t)s->settings->sets.count + 1, sizeof *sets.texts)};
  if (!sets.texts) return false;
  for (int q = 0; q < s->settings->sets.count; q++)
    sets.texts[sets.count++] = s->settings->sets.texts[q];
  snprintf(probe, sizeof probe, "bodies[%d].mass.total=null", body);
  sets.texts[sets.count++] = probe;
  bool is_number = source_read(&s->context, s->name, &sets, &scene, &error) < 0;
  hk_scene_destroy(&scene);
  free(sets.texts);
  return is_number;
}

/* Notes how masses are given, where `mass` is varied. */
static bool look_at_masses(Sweep *s) {
  Variations *v = &s->variations;
  bool varied = false;
  for (int q = 0; q < v->count; q++) varied |= strcmp(v->list[q].name, "mass") == 0;
  if (!varied || v->bodies == 0) return true;
  v->mass_is_number = calloc((size_t)v->bodies, sizeof *v->mass_is_number);
  if (!v->mass_is_number) return false;
  for (int body = 0; body < v->bodies; body++) v->mass_is_number[body] = mass_is_number(s, body);
  complaint_sets(&s->settings->sets); /* those of the last look are freed */
  return true;
}

static int open_table(Sweep *s) {
  HkError error = {0};
  s->file = stdout;
  if (!s->settings->output) return EXIT_GOOD;
  if (target_open(&s->target, s->settings->output, &error) < 0) return complain_of(&error);
  s->file = fopen(s->target.temporary, "wb");
  if (!s->file)
    return complain(EXIT_FILE, "%s: cannot write: %s", s->settings->output, strerror(errno));
  return EXIT_GOOD;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static void write_row(Sweep *s, const SweepWorld *w) {
  sweep_row(s->file, &s->variations, s->scene, w);
  s->finished++;
  if (w->status < 0 && s->failed++ == 0) s->first = w->error;
}

/* Loads worlds from `first` on, at most `most` and at least one, while the next one, if it needs as
 * much as the last, fits into the memory of a chunk. Returns their number. */
static int load_chunk(Sweep *s, SweepWorld *worlds, int64_t first, int most) {
  double all = 0, last = 0; /* bytes */
  int count = 0;
  for (; count < most && !signals_caught() && (count == 0 || all + last <= s->memory); count++) {
    sweep_load(&s->context, s->name, &s->variations, &s->settings->sets, first + count,
               &worlds[count]);
    last = sweep_need(&worlds[count]);
    all += last;
    if (count == 0 || all <= s->memory) continue;
    sweep_release(&worlds[count]); /* the next chunk begins with it */
    break;
  }
  return count;
}

/* Returns the number of worlds. */
static int do_chunk(Sweep *s, SweepWorld *worlds, int64_t first, int most) {
  int count = load_chunk(s, worlds, first, most);
  if (!signals_caught())
    sweep_move(worlds, count, &s->listener, first, s->variations.combinations, &s->steps);
  if (s->file == stdout) progress_clear(s->listener.progress);
  for (int q = 0; q < count; q++) {
    if (worlds[q].finished) write_row(s, &worlds[q]);
    sweep_release(&worlds[q]);
  }
  fflush(s->file);
  return count;
}

static int do_all(Sweep *s) {
  int64_t whole = s->variations.combinations;
  long cores = s->settings->threads > 0 ? s->settings->threads : sysconf(_SC_NPROCESSORS_ONLN);
  int64_t chunk =
      s->settings->device > 0 ? WORLDS_OF_DEVICE : (int64_t)WORLDS_A_CORE * (cores > 1 ? cores : 1);
  if (chunk > whole) chunk = whole;
  double available = hk_memory_available();
  s->memory = available > 0 ? CHUNK_MEMORY * available : INFINITY;
  SweepWorld *worlds = calloc((size_t)chunk, sizeof *worlds);
  if (!worlds) return complain(EXIT_MEMORY, "no memory for the worlds");
  HkProgress at = {.frames = whole, .substeps = 1};
  signals_catch(s->settings->quiet ? NULL
                                   : "\nkeeps the rows of finished worlds and stops; Ctrl-C again "
                                     "stops at once\n");
  Progress progress = progress_start(s->settings->quiet, &at);
  progress.unit = "worlds";
  s->listener.progress = &progress;
  sweep_header(s->file, &s->variations, s->scene);
  for (int64_t first = 0; first < whole && !signals_caught() && !ferror(s->file);)
    first += do_chunk(s, worlds, first, (int)(whole - first < chunk ? whole - first : chunk));
  progress_clear(&progress);
  s->listener.progress = NULL;
  free(worlds);
  return EXIT_GOOD;
}

/* ---- After ----------------------------------------------------------------------------------- */

static int close_table(Sweep *s) {
  HkError error = {0};
  bool good = fflush(s->file) == 0 && !ferror(s->file);
  if (s->file != stdout) good = fclose(s->file) == 0 && good;
  if (!good)
    return complain(EXIT_FILE, "%s: cannot write: %s",
                    s->settings->output ? s->settings->output : "standard output", strerror(errno));
  if (s->settings->output && target_commit(&s->target, &error) < 0) return complain_of(&error);
  return EXIT_GOOD;
}

static int summarize(const Sweep *s) {
  int64_t whole = s->variations.combinations;
  int code = EXIT_GOOD;
  if (s->failed > 0)
    code = complain(exit_code_of(s->first.status), "%lld of %lld worlds failed; the first: %s",
                    (long long)s->failed, (long long)s->finished, s->first.text);
  if (!signals_caught()) return code;
  return complain(EXIT_SIGNAL + signals_caught(), "stopped: %lld of %lld worlds are in the table",
                  (long long)s->finished, (long long)whole);
}

static int sweep(Sweep *s) {
  HkError error = {0};
  int code = variations_parse(&s->variations, &s->settings->vary);
  if (code != EXIT_GOOD) return code;
  if (source_read(&s->context, s->name, &s->settings->sets, &s->scene, &error) < 0)
    return complain_of(&error);
  s->variations.bodies = s->scene->body_count;
  if (!look_at_masses(s)) return complain(EXIT_MEMORY, "no memory for the options");
  if (hk_device_check(s->context.device, &error) < 0) return complain_of(&error);
  code = open_table(s);
  if (code == EXIT_GOOD) code = do_all(s);
  complaint_sets(&s->settings->sets); /* those of worlds are freed */
  if (code == EXIT_GOOD) code = close_table(s);
  return code == EXIT_GOOD ? summarize(s) : code;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  (void)word_count;
  Sweep s = {.settings = settings, .name = words[0], .listener = {.quiet = settings->quiet}};
  s.context = hk_context_default();
  s.context.log = listener_log;
  s.context.log_user = &s.listener;
  s.context.threads = settings->threads;
  s.context.libraries = settings->libraries;
  s.context.device = (HkDeviceKind)settings->device;
  signals_end_program();
  int code = sweep(&s);
  target_abandon(&s.target);
  variations_release(&s.variations);
  hk_scene_destroy(&s.scene);
  return code;
}

const Command command_sweep = {
    .name = "sweep",
    .arguments = "SCENE",
    .summary = "simulate a scene with every combination of some values",
    .text = "Simulates SCENE to its end with every combination of the values of --vary, many "
            "worlds at a time over all cores, and writes a table in CSV with one row each: the "
            "values, energies and strains at the end, how the last step was solved, mean position "
            "and velocity of each probe. A world that blows up, or whose values make no sense, has "
            "a message in its row; the others continue. Ctrl-C keeps the rows of finished worlds.",
    .examples = "  hooke sweep flag --vary k=10,100,1000        three worlds, to standard output\n"
                "  hooke sweep my.json --vary k=10,100 --vary h=0.01,0.005 -o table.csv\n"
                "  hooke sweep my.json --vary 'forces[0].g=1.62,9.81' --set time.duration=2\n"
                "  hooke sweep my.json --vary integrator=verlet,bdf2 --vary mass=1,2\n"
                "  hooke sweep my.json --vary 'forces[1].velocity=[1,0,0],[5,0,0]'\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 1,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
