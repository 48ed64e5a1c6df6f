/* The page and its engine on one port of this machine. */
#ifndef HOOKE_CLI_SERVER_H
#define HOOKE_CLI_SERVER_H

#include "page.h"

#include "hooke/hooke.h"

#include <stdbool.h>

typedef struct ServerOptions {
  const Page *page;
  HkContext context;
  const char *address; /* to listen at; NULL: 127.0.0.1 */
  int port;            /* 0: one that is free */
  const char *home;    /* file that the page opens first, or NULL */
  const char *builtin; /* built-in scene that the page opens first, or NULL */
  const char *folder;  /* existing folder for files that the page sends */
  const char *token;   /* required in the URL of the page: ?token=... */
} ServerOptions;

typedef struct Server Server;

/* Starts to listen. Returns 0, or the exit code after the error has been printed. */
int server_start(const ServerOptions *options, Server **server);
int server_port(const Server *server);
/* Serves until a signal comes. */
void server_run(Server *server);
void server_end(Server **server);

#endif
