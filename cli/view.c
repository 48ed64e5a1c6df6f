/* hooke view: the page in the browser, with the native program as its engine. */
#include "addresses.h"
#include "command.h"
#include "play.h"
#include "scratch.h"
#include "server.h"
#include "signals.h"
#include "source.h"
#include "text.h"
#include "token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Settings {
  int port, threads;
  const char *address, *page, *token_file;
  bool open;
} Settings;

static const Option options[] = {
    OPTION_INTEGER(Settings, port, 'p', "--port", "N", 0, 0, 65535,
                   "port to listen at; 0: a free one"),
    OPTION_TEXT(Settings, address, 0, "--address", "IP",
                "address to listen at; 127.0.0.1, which only this machine reaches, if not given"),
    OPTION_TEXT(Settings, token_file, 0, "--token-file", "FILE",
                "keep the secret word of the address in FILE, for the next start; with --port the "
                "address stays the same, and open pages connect again"),
    OPTION_FLAG(Settings, open, 0, "--open", "open the page in the browser"),
    OPTION_TEXT(Settings, page, 0, "--page", "DIR", "where the files of the page are"),
    OPTION_INTEGER(Settings, threads, 't', "--threads", "N", 0, 0, 4096,
                   "threads to use; 0, all cores, if not given"),
};

#ifdef HOOKE_WITH_WEBSOCKETS

/* Asks the desktop to open the page; continues if there is no desktop. */
static void open_browser(const char *host, int port, const char *token) {
  char address[ADDRESS_TEXT + 128];
  snprintf(address, sizeof address, "http://%s:%d/?token=%s", host, port, token);
  pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
  if (child != 0) return;
  if (fork() == 0) { /* the grandchild needs no wait */
    execlp("xdg-open", "xdg-open", address, (char *)NULL);
    execlp("open", "open", address, (char *)NULL);
    fprintf(stderr, "hooke: there is no xdg-open; open the address in a browser\n");
  }
  _exit(0);
}

static int serve(const Settings *settings, const ServerOptions *o) {
  Server *server;
  int code = server_start(o, &server);
  if (code == EXIT_GOOD) {
    const char *address = settings->address ? settings->address : "127.0.0.1";
    Addresses reached;
    addresses_of(address, &reached);
    for (int q = 0; q < reached.count; q++)
      printf("%s http://%s:%d/?token=%s\n", q == 0 ? "open" : "or", reached.text[q],
             server_port(server), o->token);
    if (!address_is_local(address))
      printf("everyone who reaches this machine and knows the token can use it\n");
    printf("Ctrl-C ends it\n");
    fflush(stdout);
    if (settings->open && reached.count > 0)
      open_browser(reached.text[0], server_port(server), o->token);
    server_run(server);
    if (signals_caught()) code = EXIT_SIGNAL + signals_caught();
  }
  server_end(&server);
  return code;
}

/* Reads the scene or mesh before the page requests it, so that the command prints its error. */
static int check_home(const HkContext *context, const char *folder, const char *home,
                      const char *name) {
  HkError error = {0};
  Play *play = play_create(context, folder);
  if (!play) return complain(EXIT_MEMORY, "there is no memory for the scene");
  play_set_home(play, home);
  HkStatus status = play_check_home(play, name, &error);
  play_destroy(&play);
  return status < 0 ? complain_of(&error) : EXIT_GOOD;
}

static int run(const void *chosen, char **words, int word_count) {
  const Settings *settings = chosen;
  const char *name = word_count > 0 ? words[0] : NULL;
  char folder[SCRATCH_PATH], home[4096] = "", token[TOKEN_SIZE];
  Page page;
  bool file = name && access(name, F_OK) == 0;
  HkError error = {0};
  if (name && !file && !source_builtin(name)) {
    source_missing(name, &error);
    return complain_of(&error);
  }
  if (file && !realpath(name, home)) return complain(EXIT_FILE, "%s: %s", name, strerror(errno));
  int code = page_find(settings->page, &page);
  if (code == EXIT_GOOD && settings->token_file)
    code = token_keep(settings->token_file, token);
  else if (code == EXIT_GOOD && !token_make(token))
    code = complain(EXIT_FILE, "the system has no random numbers");
  if (code == EXIT_GOOD && !scratch_make(NULL, folder))
    code = complain(EXIT_FILE, "%s: cannot make a folder: %s", folder, strerror(errno));
  else if (code == EXIT_GOOD) {
    ServerOptions o = {.page = &page,
                       .context = hk_context_default(),
                       .address = settings->address,
                       .port = settings->port,
                       .home = file ? home : NULL,
                       .builtin = file ? NULL : name,
                       .folder = folder,
                       .token = token};
    o.context.threads = settings->threads;
    signals_catch(NULL);
    if (file) code = check_home(&o.context, folder, home, name);
    if (code == EXIT_GOOD) code = serve(settings, &o);
    scratch_remove(folder);
  }
  page_release(&page);
  return code;
}

#else

static int run(const void *chosen, char **words, int word_count) {
  (void)chosen;
  (void)words;
  (void)word_count;
  return complain(EXIT_USAGE, "this program was built without libwebsockets, which 'hooke view' "
                              "needs; install libwebsockets-dev and build it again");
}

#endif

const Command command_view = {
    .name = "view",
    .arguments = "[SCENE|MESH]",
    .summary = "play with a scene in the browser",
    .text = "Serves the page at an address of this machine and computes what it shows. The address "
            "that it prints holds a secret word, without which nobody gets at the engine. Nothing "
            "outside of the page's own files is served. 'make web' builds the page.",
    .examples = "  hooke view flag\n"
                "  hooke view bunny.obj --port 8000\n"
                "  ssh -L 8000:127.0.0.1:8000 far.example hooke view big.json --port 8000\n",
    COMMAND_OPTIONS(Settings, options),
    .least = 0,
    .most = 1,
    .words = WORDS_SCENE_FILE,
    .run = run,
};
