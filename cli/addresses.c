/* IP addresses of a server; see addresses.h. */
#define _DEFAULT_SOURCE /* IFF_UP */
#include "addresses.h"

#include "command.h"
#include "text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- One address ---- */

AddressKind address_kind(const char *address) {
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton(AF_INET, address, &four) == 1) return ADDRESS_IPV4;
  return inet_pton(AF_INET6, address, &six) == 1 ? ADDRESS_IPV6 : ADDRESS_NONE;
}

bool address_is_any(const char *address) {
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton(AF_INET, address, &four) == 1) return four.s_addr == htonl(INADDR_ANY);
  return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

bool address_is_local(const char *address) {
  struct in_addr four;
  struct in6_addr six;
  if (inet_pton(AF_INET, address, &four) == 1) return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
  return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* ---- The addresses of the machine ---- */

static void add(Addresses *list, const char *address) {
  if (list->count == MAX_ADDRESSES) return;
  bool six = address_kind(address) == ADDRESS_IPV6;
  snprintf(list->text[list->count++], ADDRESS_TEXT, six ? "[%s]" : "%s", address);
}

/* Returns whether an address works in a URL: a link-local one needs the name of its interface. */
static bool is_for_urls(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) return true;
  const struct sockaddr_in6 *six = (const void *)address;
  return address->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

static void add_own(Addresses *list, int family) {
  struct ifaddrs *all = NULL;
  char text[INET6_ADDRSTRLEN];
  if (getifaddrs(&all) != 0) return;
  for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
    if (!at->ifa_addr || at->ifa_addr->sa_family != family || !(at->ifa_flags & IFF_UP)) continue;
    const struct sockaddr_in *four = (const void *)at->ifa_addr;
    const struct sockaddr_in6 *six = (const void *)at->ifa_addr;
    const void *number =
        family == AF_INET ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr;
    if (is_for_urls(at->ifa_addr) && inet_ntop(family, number, text, sizeof text)) add(list, text);
  }
  freeifaddrs(all);
}

void addresses_of(const char *address, Addresses *list) {
  *list = (Addresses){0};
  if (!address_is_any(address))
    add(list, address);
  else
    add_own(list, address_kind(address) == ADDRESS_IPV6 ? AF_INET6 : AF_INET);
}

/* ---- Listening ---- */

/* Binds a socket and closes it again; returns 0, or errno. */
static int try_to_bind(const char *address, int port) {
  bool six = address_kind(address) == ADDRESS_IPV6;
  struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  int on = 1, wrong = 0;
  inet_pton(AF_INET, address, &a4.sin_addr);
  inet_pton(AF_INET6, address, &a6.sin6_addr);
  int s = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  if (s < 0) return errno;
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (six) setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (bind(s, six ? (void *)&a6 : (void *)&a4, six ? sizeof a6 : sizeof a4) != 0) wrong = errno;
  close(s);
  return wrong;
}

int address_check(const char *address, int port) {
  if (address_kind(address) == ADDRESS_NONE)
    return complain(EXIT_USAGE,
                    "--address %s: is no IP address; give one of this machine, such as 127.0.0.1 "
                    "or ::1, or 0.0.0.0 or :: for all of them",
                    address);
  int wrong = try_to_bind(address, port);
  if (wrong == EADDRINUSE)
    return complain(EXIT_FILE, "port %d is in use; --port gives another one, 0 a free one", port);
  if (wrong == EADDRNOTAVAIL)
    return complain(EXIT_FILE,
                    "--address %s: this machine has no such address; 0.0.0.0 or :: stand for all "
                    "that it has",
                    address);
  if (wrong == EACCES)
    return complain(EXIT_FILE, "port %d needs more rights; --port 0 takes a free one", port);
  if (wrong) return complain(EXIT_FILE, "cannot listen at %s: %s", address, strerror(wrong));
  return EXIT_GOOD;
}

/* ---- The header Host ---- */

bool address_is_host(const char *host) {
  char name[ADDRESS_TEXT];
  bool bracket = host[0] == '[';
  size_t length = strcspn(host + bracket, bracket ? "]" : ":");
  const char *rest = host + bracket + length;
  if (length >= sizeof name || (bracket && *rest++ != ']')) return false;
  if (rest[0] == ':' ? strspn(rest + 1, "0123456789") != strlen(rest + 1) : rest[0] != 0)
    return false;
  snprintf(name, sizeof name, "%.*s", (int)length, host + bracket);
  if (bracket) return address_kind(name) == ADDRESS_IPV6;
  return address_kind(name) == ADDRESS_IPV4 || strcasecmp(name, "localhost") == 0;
}
