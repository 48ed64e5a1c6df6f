/* Standard streams that are always open; see streams.h.
 *
 * open() returns the smallest free descriptor. In a program that is started with a closed standard
 * stream (2>&- in a shell), the first file that it opens therefore becomes that stream, and
 * messages end up in the file.
 */
#include "streams.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool streams_guard(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    /* The streams before this one are open, so that open() returns this one. */
    if (open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) != stream) return false;
  }
  return true;
}
