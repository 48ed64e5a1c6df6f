/* The page and its engine on one port; see server.h.
 *
 * Files of the page are served to everyone. The engine requires the token, and a page from this
 * server: a browser sends the origin of a page in Origin and Host, and other pages in the same
 * browser have neither the token nor that origin. A WebSocket without the subprotocol `hooke` is
 * refused. Every connection has its own session. There are at most CLIENTS sessions, including
 * those that still compute for a closed page, and messages have at most PLAY_MAX_MESSAGE_BYTES
 * bytes. The bytes of a message must arrive at MESSAGE_MIN_RATE at least.
 */
#include "server.h"

#include "addresses.h"
#include "command.h"
#include "measure/stopwatch.h"
#include "session_thread.h"
#include "signals.h"
#include "text.h"
#include "token.h"

#include <errno.h>
#include <libwebsockets.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 16 };

/* A message must be complete MESSAGE_TIMEOUT s after its first bytes, plus one second for each
 * MESSAGE_MIN_RATE bytes, or its connection is closed. */
static const double MESSAGE_TIMEOUT = 10, MESSAGE_MIN_RATE = 65536;
/* s that the program waits for current steps at its end. */
static const double LAST_STEPS = 2;

/* One connection to the engine; allocated by the library, all zero. */
typedef struct Client {
  Session *session;
  unsigned char *message; /* message that is being received */
  size_t size, capacity;
  double began; /* s of the monotonic clock: when the first bytes of the message came */
  struct lws *wsi;
  struct Client *next;
} Client;

struct Server {
  ServerOptions options;
  SessionOptions session;
  struct lws_context *context;
  int port;
  char engine[256]; /* engine.json, by which the page finds the engine */
  Client *first;
};

static Server *server_of(struct lws *wsi) {
  return lws_context_user(lws_get_context(wsi));
}

/* ---- Files ---- */

/* Content security policy: all content is from this server, and no other page may frame it. */
static const char *const policy =
    "content-security-policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' blob:; "
    "worker-src 'self' blob:; connect-src 'self' ws:; frame-ancestors 'none'\x0d\x0a"
    "x-content-type-options: nosniff\x0d\x0a"
    "referrer-policy: no-referrer\x0d\x0a";

static int send_text(struct lws *wsi, const char *text, const char *type) {
  unsigned char head[LWS_PRE + 1024], *start = head + LWS_PRE, *at = start;
  unsigned char *end = head + sizeof head - 1;
  size_t size = strlen(text);
  unsigned char *body = malloc(LWS_PRE + size + 1);
  if (!body) return -1;
  memcpy(body + LWS_PRE, text, size + 1);
  int bad = lws_add_http_common_headers(wsi, HTTP_STATUS_OK, type, size, &at, end) ||
            lws_finalize_write_http_header(wsi, start, &at, end) ||
            lws_write(wsi, body + LWS_PRE, size, LWS_WRITE_HTTP_FINAL) != (int)size;
  free(body);
  return bad || lws_http_transaction_completed(wsi) ? -1 : 0;
}

static int serve(struct lws *wsi, const char *name) {
  const Server *s = server_of(wsi);
  if (strcmp(name, "/engine.json") == 0) return send_text(wsi, s->engine, "application/json");
  const char *path = page_path(s->options.page, name);
  if (!path) {
    if (lws_return_http_status(wsi, HTTP_STATUS_NOT_FOUND, NULL)) return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
  }
  const char *type = page_type(strcmp(name, "/") == 0 ? "/index.html" : name);
  int sent = lws_serve_http_file(wsi, path, type, policy, (int)strlen(policy));
  return sent < 0 || (sent > 0 && lws_http_transaction_completed(wsi)) ? -1 : 0;
}

/* ---- Access control ---- */

static bool same_bytes(const char *a, const char *b, size_t size) {
  unsigned char difference = 0; /* compares in constant time */
  for (size_t q = 0; q < size; q++) difference |= (unsigned char)(a[q] ^ b[q]);
  return difference == 0;
}

/* Returns whether Host is an address of this machine and the origin of the page. */
static bool is_own_page(struct lws *wsi) {
  char host[256], origin[256], wanted[sizeof host + 16];
  if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0) return false;
  if (lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN) <= 0) return false;
  snprintf(wanted, sizeof wanted, "http://%s", host);
  return address_is_host(host) && strcmp(origin, wanted) == 0;
}

static bool may_enter(struct lws *wsi) {
  const Server *s = server_of(wsi);
  char token[128];
  if (!is_own_page(wsi)) return false;
  const char *value = lws_get_urlarg_by_name(wsi, "token=", token, sizeof token);
  if (!value || strlen(value) != TOKEN_SIZE - 1) return false;
  return same_bytes(value, s->options.token, TOKEN_SIZE - 1) && session_count() < CLIENTS;
}

/* ---- Sessions ---- */

static void wake(void *user) {
  lws_cancel_service(user);
}

static int enter(struct lws *wsi, Client *c) {
  Server *s = server_of(wsi);
  if (session_count() >= CLIENTS) return -1;
  c->session = session_start(&s->session);
  if (!c->session) return -1;
  c->wsi = wsi;
  c->next = s->first;
  s->first = c;
  return 0;
}

static void leave(struct lws *wsi, Client *c) {
  Server *s = server_of(wsi);
  if (!c->session) return;
  for (Client **at = &s->first; *at; at = &(*at)->next)
    if (*at == c) {
      *at = c->next;
      break;
    }
  session_leave(&c->session);
  free(c->message);
  c->message = NULL;
}

static int close_for(struct lws *wsi, enum lws_close_status why, const char *text) {
  char reason[124];
  snprintf(reason, sizeof reason, "%s", text);
  lws_close_reason(wsi, why, (unsigned char *)reason, strlen(reason));
  return -1;
}

static bool append(Client *c, const void *bytes, size_t size) {
  if (c->size + size > PLAY_MAX_MESSAGE_BYTES) return false;
  if (c->size + size > c->capacity) {
    size_t capacity = 2 * (c->size + size);
    unsigned char *larger = realloc(c->message, capacity);
    if (!larger) return false;
    c->message = larger;
    c->capacity = capacity;
  }
  memcpy(c->message + c->size, bytes, size);
  c->size += size;
  return true;
}

/* Returns the seconds that are left until the message must be complete. */
static double time_left(const Client *c) {
  return c->began + MESSAGE_TIMEOUT + (double)c->size / MESSAGE_MIN_RATE - seconds_now();
}

static void set_timer(struct lws *wsi, double seconds) {
  lws_set_timer_usecs(wsi, (lws_usec_t)(1e6 * seconds) + 1);
}

/* Closes a connection whose message is late; sets the timer again if there is time left. */
static int on_timer(struct lws *wsi, const Client *c) {
  if (c->size == 0) return 0;
  if (time_left(c) <= 0)
    return close_for(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, "the message came too slowly");
  set_timer(wsi, time_left(c));
  return 0;
}

/* Continues reading, or waits until the session has a free slot; the time of waiting does not count
 * against the sender. */
static void let_in(struct lws *wsi, Client *c, bool has_slot) {
  lws_rx_flow_control(wsi, has_slot);
  c->began = seconds_now();
  if (c->size > 0 && has_slot)
    set_timer(wsi, time_left(c));
  else
    lws_set_timer_usecs(wsi, LWS_SET_TIMER_USEC_CANCEL);
}

static int receive(struct lws *wsi, Client *c, const void *bytes, size_t size) {
  bool first = c->size == 0;
  if (!append(c, bytes, size))
    return close_for(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "the message is too large");
  if (first) c->began = seconds_now();
  if (first) set_timer(wsi, MESSAGE_TIMEOUT);
  if (lws_remaining_packet_payload(wsi) > 0 || !lws_is_final_fragment(wsi)) return 0;
  if (!session_send(c->session, c->message, c->size, lws_frame_is_binary(wsi)))
    return close_for(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, "too many messages at once");
  c->message = NULL;
  c->size = c->capacity = 0;
  let_in(wsi, c, session_has_slot(c->session));
  return 0;
}

static int answer(struct lws *wsi, Client *c) {
  size_t size = 0;
  bool binary = false;
  unsigned char *bytes = session_take(c->session, LWS_PRE, &size, &binary);
  if (!bytes) return 0;
  int sent = lws_write(wsi, bytes + LWS_PRE, size, binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
  free(bytes);
  if (session_has_slot(c->session)) let_in(wsi, c, true);
  return sent < (int)size ? -1 : 0;
}

/* ---- Events ---- */

static int on_http(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                   size_t length) {
  if (reason == LWS_CALLBACK_HTTP) return serve(wsi, in);
  if (reason == LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION) return -1; /* no subprotocol */
  if (reason == LWS_CALLBACK_HTTP_FILE_COMPLETION)
    return lws_http_transaction_completed(wsi) ? -1 : 0;
  return lws_callback_http_dummy(wsi, reason, user, in, length);
}

static int on_engine(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t length) {
  Client *c = user;
  switch (reason) {
  case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return may_enter(wsi) ? 0 : -1;
  case LWS_CALLBACK_ESTABLISHED: return enter(wsi, c);
  case LWS_CALLBACK_RECEIVE: return receive(wsi, c, in, length);
  case LWS_CALLBACK_SERVER_WRITEABLE: return answer(wsi, c);
  case LWS_CALLBACK_TIMER: return on_timer(wsi, c);
  case LWS_CALLBACK_CLOSED: leave(wsi, c); return 0;
  case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
    for (const Client *at = server_of(wsi)->first; at; at = at->next)
      lws_callback_on_writable(at->wsi);
    return 0;
  default: return 0;
  }
}

static const struct lws_protocols protocols[] = {{.name = "http", .callback = on_http},
                                                 {.name = "hooke",
                                                  .callback = on_engine,
                                                  .per_session_data_size = sizeof(Client),
                                                  .rx_buffer_size = 65536},
                                                 {.name = NULL}};

/* ---- Starting and ending ---- */

static void write_engine(Server *s) {
  const ServerOptions *o = &s->options;
  if (o->home)
    snprintf(s->engine, sizeof s->engine, "{\"socket\": true, \"load\": {\"home\": true}}");
  else if (o->builtin)
    snprintf(s->engine, sizeof s->engine, "{\"socket\": true, \"load\": {\"builtin\": \"%s\"}}",
             o->builtin);
  else
    snprintf(s->engine, sizeof s->engine, "{\"socket\": true}");
}

int server_start(const ServerOptions *options, Server **server) {
  Server *s = calloc(1, sizeof *s);
  *server = s;
  if (!s) return complain(EXIT_MEMORY, "the server cannot be started");
  s->options = *options;
  const char *address = options->address ? options->address : "127.0.0.1";
  int code = address_check(address, options->port);
  if (code != EXIT_GOOD) return code;
  write_engine(s);
  lws_set_log_level(0, NULL);
  uint64_t no_ipv6 = address_kind(address) == ADDRESS_IPV6 ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6;
  struct lws_context_creation_info info = {.port = options->port,
                                           .iface = address_is_any(address) ? NULL : address,
                                           .protocols = protocols,
                                           .user = s,
                                           .server_string = "hooke",
                                           .options =
                                               no_ipv6 | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND,
                                           .max_http_header_data = 4096,
                                           .fd_limit_per_thread = 256,
                                           .timeout_secs = 30};
  s->context = lws_create_context(&info);
  if (!s->context)
    return complain(EXIT_FILE, "cannot listen at %s, port %d; --port gives another one", address,
                    options->port);
  s->session = (SessionOptions){.context = options->context,
                                .folder = options->folder,
                                .home = options->home,
                                .ready = wake,
                                .user = s->context};
  s->port = lws_get_vhost_listen_port(lws_get_vhost_by_name(s->context, "default"));
  return EXIT_GOOD;
}

int server_port(const Server *s) {
  return s->port;
}

void server_run(Server *s) {
  while (!signals_caught() && lws_service(s->context, 0) >= 0) continue;
}

void server_end(Server **server) {
  Server *s = *server;
  if (!s) return;
  if (s->context) lws_context_destroy(s->context);
  if (!session_wait(LAST_STEPS)) return; /* the end of the program frees their memory */
  free(s);
  *server = NULL;
}
