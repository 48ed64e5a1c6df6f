/* hooke manual: the manual page hooke(1), from the tables of the help and the registries.
 *
 * The page is in the macros of man(7), which every roff formatter knows. The date is that of
 * SOURCE_DATE_EPOCH, if the environment has it, so that a build can be repeated byte by byte.
 */
#include "command.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Returns the escape of a letter that formatters would change or interpret, or NULL. */
static const char *escape_of(char letter) {
  switch (letter) {
  case '\\': return "\\e";
  case '-': return "\\-";
  case '\'': return "\\(aq";
  case '^': return "\\(ha";
  case '~': return "\\(ti";
  case '`': return "\\(ga";
  }
  return NULL;
}

/* Returns the length of a text after escaping. */
static int escaped_length(const char *text, int length) {
  int bytes = 0;
  for (int q = 0; q < length; q++)
    bytes += escape_of(text[q]) ? (int)strlen(escape_of(text[q])) : 1;
  return bytes;
}

static void print_escaped(const char *text, int length) {
  for (int q = 0; q < length; q++) {
    const char *escape = escape_of(text[q]);
    if (escape)
      fputs(escape, stdout);
    else
      fputc(text[q], stdout);
  }
}

/* Prints a text in lines of at most 80 bytes, which the formatter may break between words. A dot at
 * the start of a line would be a macro. */
static void print_text(const char *text) {
  enum { LINE = 80, GUARD = 2 /* bytes of "\&" */ };
  int column = 0;
  while (*text) {
    int length = (int)strcspn(text, " "), bytes = escaped_length(text, length);
    if (column > 0 && column + 1 + bytes + GUARD > LINE) {
      fputc('\n', stdout);
      column = 0;
    }
    if (column > 0) fputc(' ', stdout);
    if (column == 0 && *text == '.') fputs("\\&", stdout);
    print_escaped(text, length);
    column += bytes + 1;
    text += length;
    text += strspn(text, " ");
  }
  fputc('\n', stdout);
}

/* Prints lines without filling; each is indented by blanks, so that none begins with a dot. */
static void print_lines(const char *lines) {
  printf(".PP\n.nf\n");
  print_escaped(lines, (int)strlen(lines));
  printf(".fi\n");
}

static void print_title(void) {
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
  char date[32] = "";
  struct tm parts;
  if (gmtime_r(&now, &parts)) strftime(date, sizeof date, "%Y-%m-%d", &parts);
  printf(".\\\" Printed by 'hooke manual'.\n"
         ".TH HOOKE 1 \"%s\" \"hooke %s\" \"User Commands\"\n"
         ".SH NAME\nhooke \\- simulate mass\\-spring systems\n",
         date, hk_version());
}

static void print_synopsis(void) {
  printf(".SH SYNOPSIS\n.B hooke\n.I COMMAND\n[\\fIWORD\\fR ...] [\\fIOPTION\\fR ...]\n"
         ".br\n.B hooke help\n[\\fICOMMAND\\fR]\n.br\n.B hooke \\-\\-version\n"
         ".SH DESCRIPTION\n");
  print_text("Hooke turns a mesh or a scene into point masses and springs, moves them through time "
             "and writes frames, energies, pictures and films. A scene is a JSON file or the name "
             "of a built-in scene. All units are SI.");
  printf(".PP\n");
  print_text("Options stand before, between or behind the words. '--name VALUE' and '--name=VALUE' "
             "are the same, '-o DIR' and '-oDIR' too; '--' ends the options. Results are written "
             "to standard output; errors, warnings and progress to standard error.");
}

static void print_option(char letter, const char *name, const char *argument, const char *help) {
  printf(".TP\n");
  if (letter) printf("\\fB\\-%c\\fR, ", letter);
  printf("\\fB\\-\\-%s\\fR", name + 2);
  if (argument) printf(" \\fI%s\\fR", argument);
  printf("\n");
  print_text(help);
}

static void print_command(const Command *command) {
  printf(".SS \"hooke %s%s%s\"\n", command->name, command->arguments[0] ? " " : "",
         command->arguments);
  print_text(command->text);
  for (int q = 0; q < command->option_count; q++) {
    const Option *option = &command->options[q];
    print_option(option->letter, option->name, option->argument, option->help);
  }
  printf(".PP\nExamples:\n");
  print_lines(command->examples);
}

static void print_scenes(void) {
  const char *name, *title;
  printf(".SH BUILT\\-IN SCENES\n");
  for (int q = 0; hk_scene_builtin(q, &name, &title); q++) {
    printf(".TP\n.B %s\n", name);
    print_text(title);
  }
}

/* Prints the names of each family; 'hooke methods NAME' describes one of them. */
static void print_methods(void) {
  static const char *const families[HK_FAMILY_COUNT] = {
      "shapes",     "forces",         "motions",         "obstacles", "integrators",
      "minimizers", "linear solvers", "preconditioners", "outputs",   "parts of a scene",
  };
  const HkSchema *schema;
  const char *name;
  printf(".SH METHODS\n");
  print_text("'hooke methods NAME' explains one of these: its equation and its parameters, with "
             "unit, default and range.");
  for (int f = 0; f < HK_FAMILY_COUNT; f++) {
    printf(".TP\n.B %s\n", families[f]);
    for (int q = 0; (schema = hk_schema_at((HkFamily)f, q)); q++)
      printf("%s%s", q ? ",\n" : "", schema->name);
    printf("\n");
  }
  printf(".TP\n.B mesh formats\n");
  for (int q = 0; (name = hk_mesh_format(q, NULL, NULL)); q++) printf("%s%s", q ? ",\n" : "", name);
  printf("\n");
}

static void print_end(void) {
  const ExitCode *code;
  printf(".SH EXIT STATUS\n");
  for (int q = 0; (code = exit_code_at(q)); q++) {
    printf(".TP\n.B %s\n", code->codes);
    print_text(code->meaning);
  }
  printf(".SH ENVIRONMENT\n.TP\n.B HOOKE_MEMORY\n");
  print_text("largest memory that a simulation may take, in bytes, such as 8e9");
  printf(".TP\n.B HOOKE_SIMD\n");
  print_text("vector instructions to use: portable, avx2 or avx512; the best that the processor "
             "has if not set");
  printf(".TP\n.B TMPDIR\n");
  print_text("folder of temporary files; /tmp if not set");
}

static int run(const void *chosen, char **words, int word_count) {
  const Command *command;
  (void)chosen;
  (void)words;
  (void)word_count;
  print_title();
  print_synopsis();
  printf(".SH COMMANDS\n");
  for (int q = 0; (command = command_at(q)); q++) print_command(command);
  print_scenes();
  print_methods();
  print_end();
  return EXIT_GOOD;
}

const Command command_manual = {
    .name = "manual",
    .arguments = "",
    .summary = "print the manual page hooke(1)",
    .text =
        "Prints the manual page in roff, for 'man'. 'make install' installs it, and 'man hooke' "
        "shows it.",
    .examples = "  hooke manual | man -l -\n"
                "  hooke manual > hooke.1\n",
    .least = 0,
    .most = 0,
    .run = run,
};
