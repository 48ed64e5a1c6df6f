/* Collective communication by MPI. */
#include "petsc.h"

#include <limits.h>
#include <stdlib.h>

void petsc_gather(HkRanks *ranks, const void *mine, size_t bytes, void *all) {
  MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm_of(ranks));
}

/* MPI counts in int: large data goes in pieces. */
enum { PIECE = 1 << 30 };

void petsc_broadcast(HkRanks *ranks, int root, void *data, size_t bytes) {
  for (size_t at = 0; at < bytes; at += PIECE) {
    size_t size = bytes - at < PIECE ? bytes - at : PIECE;
    MPI_Bcast((char *)data + at, (int)size, MPI_BYTE, root, comm_of(ranks));
  }
}

void petsc_counts(HkRanks *ranks, const int64_t *out, int64_t *in) {
  MPI_Alltoall(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, comm_of(ranks));
}

/* Point to point: most ranks have data for few others. Messages to oneself pass through MPI, too.
 */
void petsc_exchange(HkRanks *ranks, const void *out, const int64_t *out_bytes, void *in,
                    const int64_t *in_bytes) {
  int64_t messages = 0;
  for (int r = 0; r < ranks->count; r++)
    messages += (out_bytes[r] + PIECE - 1) / PIECE + (in_bytes[r] + PIECE - 1) / PIECE;
  MPI_Request *request = malloc((size_t)(messages + 1) * sizeof *request);
  if (!request) MPI_Abort(comm_of(ranks), 1);
  int count = 0;
  char *to = in;
  for (int r = 0; r < ranks->count; r++)
    for (int64_t at = 0; at < in_bytes[r]; at += PIECE) {
      int64_t size = in_bytes[r] - at < PIECE ? in_bytes[r] - at : PIECE;
      MPI_Irecv(to, (int)size, MPI_BYTE, r, 0, comm_of(ranks), &request[count++]);
      to += size;
    }
  const char *from = out;
  for (int r = 0; r < ranks->count; r++)
    for (int64_t at = 0; at < out_bytes[r]; at += PIECE) {
      int64_t size = out_bytes[r] - at < PIECE ? out_bytes[r] - at : PIECE;
      MPI_Isend(from, (int)size, MPI_BYTE, r, 0, comm_of(ranks), &request[count++]);
      from += size;
    }
  MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
  free(request);
}
