/* IP addresses that a server listens at and is reached by. */
#ifndef HOOKE_CLI_ADDRESSES_H
#define HOOKE_CLI_ADDRESSES_H

#include <stdbool.h>

enum { ADDRESS_TEXT = 64, MAX_ADDRESSES = 32 };

typedef enum AddressKind {
  ADDRESS_NONE, /* no IP address */
  ADDRESS_IPV4,
  ADDRESS_IPV6
} AddressKind;

/* Addresses as in a URL: IPv6 in brackets. */
typedef struct Addresses {
  char text[MAX_ADDRESSES][ADDRESS_TEXT];
  int count;
} Addresses;

AddressKind address_kind(const char *address);
/* Returns whether the address means all addresses of the machine: 0.0.0.0 or ::. */
bool address_is_any(const char *address);
/* Returns whether only this machine can reach the address. */
bool address_is_local(const char *address);
/* Lists the addresses of a server that listens at `address`. */
void addresses_of(const char *address, Addresses *list);
/* Checks that a server can listen at an address; port 0: at any port. Returns 0, or the exit code
 * after the error has been printed. */
int address_check(const char *address, int port);
/* Returns whether the value of the header Host is an IP address or localhost, with or without a
 * port. A page of another machine can make its own name resolve to this machine (DNS rebinding),
 * but not an IP address. */
bool address_is_host(const char *host);

#endif
