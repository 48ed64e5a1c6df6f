/* hooke completion: the script with which a shell completes commands, options, scenes and methods.
 */
#include "command.h"
#include "text.h"
#include "vocabulary.h"

#include <string.h>

static int run(const void *chosen, char **words, int word_count) {
  static const struct {
    const char *shell;
    void (*print)(FILE *file);
  } writers[] = {
      {"bash", completion_print_bash},
      {"zsh", completion_print_zsh},
      {"fish", completion_print_fish},
  };
  (void)chosen;
  (void)word_count;
  for (size_t q = 0; q < sizeof writers / sizeof writers[0]; q++)
    if (strcmp(writers[q].shell, words[0]) == 0) {
      writers[q].print(stdout);
      return EXIT_GOOD;
    }
  return complain(EXIT_USAGE, "expected one of %s, not '%s'", vocabulary_shells, words[0]);
}

const Command command_completion = {
    .name = "completion",
    .arguments = "SHELL",
    .summary = "print the completion script of a shell",
    .text = "SHELL is bash, zsh or fish. With the script, the Tab key completes commands, options, "
            "built-in scenes and methods. "
            "'make install' installs the scripts of all three shells; without it, load the script "
            "by the start file of the shell.",
    .examples = "  source <(hooke completion bash)        in ~/.bashrc\n"
                "  source <(hooke completion zsh)         in ~/.zshrc, after compinit\n"
                "  hooke completion fish | source         in ~/.config/fish/config.fish\n",
    .least = 1,
    .most = 1,
    .words = WORDS_SHELL,
    .run = run,
};
