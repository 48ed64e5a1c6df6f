/* The secret word in the address of a page; see token.h. */
#include "token.h"

#include "command.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_BYTES = (TOKEN_SIZE - 1) / 2 };

bool token_make(char token[TOKEN_SIZE]) {
  unsigned char bytes[TOKEN_BYTES];
  FILE *random = fopen("/dev/urandom", "rb");
  bool good = random && fread(bytes, 1, sizeof bytes, random) == sizeof bytes;
  if (random) fclose(random);
  for (int q = 0; good && q < TOKEN_BYTES; q++) snprintf(token + 2 * q, 3, "%02x", bytes[q]);
  return good;
}

static int write_new(const char *path, char token[TOKEN_SIZE]) {
  if (!token_make(token)) return complain(EXIT_FILE, "the system has no random numbers");
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  bool good = file >= 0 && dprintf(file, "%s\n", token) == TOKEN_SIZE;
  if (file >= 0 && close(file) != 0) good = false;
  return good ? EXIT_GOOD
              : complain(EXIT_FILE, "%s: cannot keep the token: %s", path, strerror(errno));
}

int token_keep(const char *path, char token[TOKEN_SIZE]) {
  struct stat info;
  FILE *file = fopen(path, "rb");
  if (!file && errno == ENOENT) return write_new(path, token);
  if (!file) return complain(EXIT_FILE, "%s: %s", path, strerror(errno));
  bool shared = fstat(fileno(file), &info) == 0 && (info.st_mode & (S_IRGRP | S_IROTH));
  size_t length = fread(token, 1, TOKEN_SIZE - 1, file);
  fclose(file);
  token[length] = 0;
  if (length != TOKEN_SIZE - 1 || strspn(token, "0123456789abcdef") != length)
    return complain(EXIT_FILE,
                    "%s: holds no token, %d hexadecimal digits; remove it, and a new "
                    "one is made",
                    path, TOKEN_SIZE - 1);
  if (shared)
    return complain(EXIT_FILE, "%s: others can read the token; chmod 600 keeps them out", path);
  return EXIT_GOOD;
}
