/* hooke: mass-spring systems on the command line. Finds the command and runs it. */
#include "command.h"
#include "streams.h"
#include "text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_overview(FILE *file) {
  enum { SUMMARY_COLUMN = 28 };
  fprintf(file, "hooke %s: mass-spring systems, from a mesh or a scene to moving pictures\n\n",
          hk_version());
  fprintf(file, "Commands\n");
  const Command *command;
  for (int q = 0; (command = command_at(q)); q++) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", command->name, command->arguments);
    fprintf(file, "  hooke %-*s  ", SUMMARY_COLUMN - 10, left);
    text_wrap(file, command->summary, SUMMARY_COLUMN, text_width(file));
  }
  fprintf(file, "\n'hooke help COMMAND' describes a command: its options, with examples.\n"
                "\nFirst steps\n"
                "  hooke run flag                 simulate a built-in scene into flag-out\n"
                "  hooke view flag                play with it in the browser\n"
                "  hooke new my                   write my.json, a scene with comments\n"
                "  hooke run my.json              simulate it\n"
                "  hooke render my-out -o my.mp4  make a film of it\n"
                "\nExit codes\n");
  const ExitCode *code;
  for (int q = 0; (code = exit_code_at(q)); q++)
    fprintf(file, "  %-8s  %s\n", code->codes, code->meaning);
}

static int unknown(const char *given) {
  enum { MAX_NAMES = 64 };
  const char *names[MAX_NAMES] = {"--help", "--version"};
  const Command *command;
  int count = 2;
  for (int q = 0; count < MAX_NAMES && (command = command_at(q)); q++)
    names[count++] = command->name;
  const char *near = hk_text_nearest(given, names, count);
  if (near)
    return complain(EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", given, near);
  return complain(EXIT_USAGE, "there is no command '%s'; 'hooke help' lists them", given);
}

static int run_help(const void *chosen, char **words, int word_count) {
  (void)chosen;
  const Command *command = word_count > 0 ? command_find(words[0]) : NULL;
  if (word_count > 0 && !command) return unknown(words[0]);
  if (command)
    options_print_help(command);
  else
    print_overview(stdout);
  return EXIT_GOOD;
}

const Command command_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "print this overview, or the help of a command",
    .text = "Without a command: all commands and exit codes. With one: its options and examples.",
    .examples = "  hooke help\n"
                "  hooke help run\n",
    .least = 0,
    .most = 1,
    .words = WORDS_COMMAND,
    .run = run_help,
};

/* ---- Start ----------------------------------------------------------------------------------- */

static int run_command(const Command *command, int argc, char **argv) {
  Parsed parsed;
  int code = options_parse(command, argc, argv, &parsed);
  if (code == 0 && parsed.help)
    options_print_help(command);
  else if (code == 0)
    code = command->run(parsed.values, parsed.words, parsed.word_count);
  options_release(command, &parsed);
  return code;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    print_overview(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return run_help(NULL, NULL, 0);
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    printf("hooke %s\n", hk_version());
    return EXIT_GOOD;
  }
  const Command *command = command_find(argv[1]);
  return command ? run_command(command, argc - 2, argv + 2) : unknown(argv[1]);
}

/* Returns an error if standard output could not be written, unless the reader of a pipe closed
 * it. */
static int check_output(int code) {
  struct stat info;
  bool bad = fflush(stdout) != 0 || ferror(stdout);
  int reason = errno;
  bool reader = fstat(1, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
  if (!bad || reader || code != EXIT_GOOD) return code;
  return complain(EXIT_FILE, "standard output: cannot write: %s", strerror(reason));
}

/* OpenBLAS starts a thread for each core when it is loaded, with 128 MB of address space each; if
 * that fails, the program does not end. Hooke calls it from one thread at a time. So if the address
 * space is limited (ulimit -v) the program executes itself again with one thread. */
static void limit_blas(char **argv) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (getenv("OPENBLAS_NUM_THREADS") || setenv("OPENBLAS_NUM_THREADS", "1", 0) != 0) return;
  execv("/proc/self/exe", argv); /* continues if /proc does not exist */
}

int main(int argc, char **argv) {
  if (!streams_guard()) return EXIT_FILE; /* there is no stream for a message */
  limit_blas(argv);
  /* Writing to a closed pipe, or beyond the limit of file sizes, returns an error instead of a
   * signal. */
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  return check_output(dispatch(argc, argv));
}
