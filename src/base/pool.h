/* The thread pool behind the loops of base/threads.h.
 *
 * A loop consists of numbered pieces that do not depend on each other. The calling thread opens the
 * loop, does pieces itself and returns when all are done. Worker threads join an open loop and
 * claim pieces through atomic counters, so a worker that is not scheduled holds nothing up: the
 * caller claims every piece that is left and waits only for pieces that a worker has already begun.
 *
 * One pool serves all calling threads of the process. Idle workers spin for some microseconds and
 * then sleep. Workers start with the first loop that needs them; they are joined when the process
 * exits or the library is unloaded. A forked child process starts its own.
 */
#ifndef HK_BASE_POOL_H
#define HK_BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Does one piece of a loop. */
typedef void HkPieceFn(void *user, int64_t piece);

typedef enum HkPieceOrder {
  HK_PIECES_BY_SHARE, /* each thread begins with its own contiguous share, then helps others */
  HK_PIECES_IN_ORDER  /* each thread takes the next piece: for few pieces of unequal cost */
} HkPieceOrder;

/* Calls fn once for each piece 0 .. count - 1, on at most `threads` threads including the caller.
 * Runs serially inside another loop, in a build without threads, and for a while after a loop that
 * was held up by a busy machine. */
void hk_pool_run(int threads, int64_t count, HkPieceOrder order, HkPieceFn *fn, void *user);

/* Number of worker threads that exist now. */
int hk_pool_workers(void);

#endif
