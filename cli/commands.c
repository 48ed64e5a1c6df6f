/* The table of all commands and the meaning of exit codes; see command.h. */
#include "command.h"

#include <string.h>

static const Command *const commands[] = {
    &command_run,    &command_view, &command_render,  &command_info,   &command_matrices,
    &command_sweep,  &command_fit,  &command_compare, &command_bench,  &command_methods,
    &command_scenes, &command_new,  &command_convert, &command_schema, &command_completion,
    &command_manual, &command_help,
};

static const ExitCode exit_codes[] = {
    {"0", "success"},
    {"1", "a scene, a mesh or a value is wrong"},
    {"2", "the command line is wrong"},
    {"3", "a file cannot be opened, read or written"},
    {"4", "the motion blew up"},
    {"5", "there is not enough memory"},
    {"130, 143", "stopped by Ctrl-C or SIGTERM; 'hooke run' leaves a checkpoint"},
};

const Command *command_at(int index) {
  int count = (int)(sizeof commands / sizeof commands[0]);
  return index >= 0 && index < count ? commands[index] : NULL;
}

const Command *command_find(const char *name) {
  const Command *command;
  for (int q = 0; (command = command_at(q)); q++)
    if (strcmp(command->name, name) == 0) return command;
  return NULL;
}

const ExitCode *exit_code_at(int index) {
  int count = (int)(sizeof exit_codes / sizeof exit_codes[0]);
  return index >= 0 && index < count ? &exit_codes[index] : NULL;
}
