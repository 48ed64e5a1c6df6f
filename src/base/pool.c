/* The thread pool behind the loops of base/threads.h; see pool.h.
 *
 * Each open loop occupies a slot. The state of a slot is one atomic word:
 *
 *     bit 0         TAKEN    a calling thread uses the slot
 *     bit 1         OPEN     unclaimed pieces may be left; workers may join
 *     bit 2         WAITING  the caller sleeps until the last helper leaves
 *     bits 8 to 31  number of helpers that are inside
 *     bits 32 up    largest number of helpers
 *
 * A worker reads the loop only between joining and leaving, and the caller does not return before
 * all helpers have left, so loops live on the stacks of their callers.
 */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getcpu */
#endif
#include "base/pool.h"

#ifdef HK_WITH_THREADS

#include "base/clock.h"
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

enum {
  CACHE_LINE = 64,
  MAX_WORKERS = 255,
  MAX_SHARES = 64,
  MAX_SLOTS = 64 /* concurrent loops; the loops of further callers run serially */
};

/* Longest time in s that a worker spins for a new loop and that a caller spins for its helpers,
 * before they sleep. Waking a thread takes 5 to 50 us. */
static const double WORKER_SPIN = 100e-6, CALLER_SPIN = 200e-6;

/* ---- Backoff ---- */

/* On a busy machine a worker may lose its core in the middle of a piece, and the caller waits for
 * it for milliseconds. A caller that has waited for t seconds, at least MIN_WAIT, runs its loops
 * serially for the next BACKOFF t seconds. While loops are shared the caller works itself, so all
 * waits together cost at most 1 / BACKOFF of the time that one thread takes. */
static const double MIN_WAIT = 100e-6, BACKOFF = 4;

/* Where the scheduler has no core for a worker but that of the caller, sharing gains nothing. The
 * caller then runs its loops serially for this time in s. */
static const double NO_CORE_BACKOFF = 5e-3;

static _Thread_local double serial_until; /* in s of the monotonic clock */
static _Thread_local bool is_inside;      /* of a loop: further loops run serially */
static _Thread_local int last_slot;       /* that a loop of this thread took */

static void delay_sharing(double until) {
  if (until > serial_until) serial_until = until;
}

/* own: pieces that the caller has done in `work` seconds, before it waited for its helpers. From
 * them follows how long all pieces would have taken without helpers. */
static void update_backoff(int64_t count, int64_t own, double work, double wait, double end) {
  if (wait < MIN_WAIT || own == 0) return;
  double serial = work / (double)own * (double)count;
  if (work + wait > serial) delay_sharing(end + BACKOFF * wait);
}

/* Number of the core that the calling thread runs on, or -1 if the system does not provide it. */
static int current_core(void) {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

static inline void pause_core(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

/* ---- Loops ---- */

/* The pieces from next to end - 1. Aligned: threads that work on different shares do not write to
 * the same cache line. */
typedef struct Share {
  _Alignas(CACHE_LINE) _Atomic int64_t next;
  int64_t end;
} Share;

typedef struct Loop {
  HkPieceFn *fn;
  void *user;
  _Atomic bool has_no_core; /* a helper ran on the core of the caller */
  int core;                 /* of the caller when it opened the loop */
  int shares;
  Share share[MAX_SHARES];
} Loop;

static void divide(Loop *loop, int shares, int64_t count) {
  loop->shares = shares < MAX_SHARES ? shares : MAX_SHARES;
  int64_t each = count / loop->shares, more = count % loop->shares, begin = 0;
  for (int s = 0; s < loop->shares; s++) {
    atomic_init(&loop->share[s].next, begin);
    begin += each + (s < more);
    loop->share[s].end = begin;
  }
}

/* Claims and does pieces until all are claimed, beginning with one share. Returns their number. */
static int64_t do_pieces(Loop *loop, int first) {
  int64_t done = 0;
  for (int q = 0; q < loop->shares; q++) {
    Share *share = &loop->share[(first + q) % loop->shares];
    while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
      int64_t piece = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
      if (piece >= share->end) break;
      loop->fn(loop->user, piece);
      done++;
    }
  }
  return done;
}

/* ---- Slots ---- */

static const uint64_t TAKEN = 1, OPEN = 2, WAITING = 4, HELPER = 256;
enum { LIMIT_SHIFT = 32 };

typedef struct Slot {
  _Alignas(CACHE_LINE) _Atomic uint64_t state;
  Loop *loop;
  pthread_cond_t left; /* signaled when the last helper of a sleeping caller leaves */
} Slot;

static inline uint64_t helpers_of(uint64_t state) {
  return state >> 8 & 0xffffff;
}

static inline bool can_join(uint64_t state) {
  return (state & OPEN) && helpers_of(state) < state >> LIMIT_SHIFT;
}

static bool join(Slot *slot) {
  uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
  while (can_join(state))
    if (atomic_compare_exchange_weak_explicit(&slot->state, &state, state + HELPER,
                                              memory_order_acquire, memory_order_relaxed))
      return true;
  return false;
}

/* ---- The pool ---- */

static struct {
  pthread_mutex_t mutex; /* protects everything but atomics */
  pthread_cond_t wake;   /* signaled with each token */
  int tokens;            /* sleeping workers that have been woken and do not run yet */
  _Atomic int sleepers;  /* sleeping workers that have not been woken */
  _Atomic int workers;   /* threads that exist */
  _Atomic bool is_full;  /* no further worker can be started */
  _Atomic bool is_stopping;
  bool has_handlers;       /* of fork */
  _Atomic int caller_core; /* of the caller that opened a loop last */
  int cores;               /* that the process may use; 0 until the first worker starts */
  _Atomic int slot_count;  /* slots that have been used so far */
  pthread_t thread[MAX_WORKERS];
  int number[MAX_WORKERS]; /* 0, 1, 2 ...: the argument of each thread */
  Slot slot[MAX_SLOTS];
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

int hk_pool_workers(void) {
  return atomic_load(&pool.workers);
}

/* Wakes at most count sleeping workers. */
static void wake(int count) {
  pthread_mutex_lock(&pool.mutex);
  for (; count > 0 && atomic_load(&pool.sleepers) > 0; count--) {
    atomic_fetch_sub(&pool.sleepers, 1);
    pool.tokens++;
    pthread_cond_signal(&pool.wake);
  }
  pthread_mutex_unlock(&pool.mutex);
}

/* The last step of a helper: all pieces are claimed, so the loop is closed. */
static void leave(Slot *slot) {
  uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed), next;
  do {
    next = (state & ~OPEN) - HELPER;
  } while (!atomic_compare_exchange_weak_explicit(&slot->state, &state, next, memory_order_acq_rel,
                                                  memory_order_relaxed));
  if ((next & WAITING) && helpers_of(next) == 0) {
    pthread_mutex_lock(&pool.mutex);
    pthread_cond_signal(&slot->left);
    pthread_mutex_unlock(&pool.mutex);
  }
}

/* ---- Workers ---- */

static Slot *find_open(void) {
  int count = atomic_load(&pool.slot_count);
  for (int s = 0; s < count; s++)
    if (can_join(atomic_load(&pool.slot[s].state))) return &pool.slot[s];
  return NULL;
}

static void help(Slot *slot, int worker) {
  if (!join(slot)) return;
  Loop *loop = slot->loop;
  if (loop->core >= 0 && loop->core == current_core()) atomic_store(&loop->has_no_core, true);
  /* Workers wake each other, so that waking many does not delay the caller. */
  if (atomic_load(&pool.sleepers) > 0 && can_join(atomic_load(&slot->state))) wake(2);
  do_pieces(loop, worker + 1);
  leave(slot);
}

/* Returns an open loop, or NULL when none was opened for WORKER_SPIN. */
static Slot *spin_for_loop(void) {
  enum { PAUSES = 16 }; /* between two readings of the clock */
  double end = hk_wall_time() + WORKER_SPIN;
  do {
    for (int q = 0; q < PAUSES; q++) {
      Slot *slot = find_open();
      if (slot || atomic_load_explicit(&pool.is_stopping, memory_order_relaxed)) return slot;
      pause_core();
    }
    int core = current_core();
    if (core >= 0 && core == atomic_load_explicit(&pool.caller_core, memory_order_relaxed)) break;
  } while (hk_wall_time() < end);
  return NULL;
}

/* Either the worker sees a loop that a caller has opened, or the caller sees the sleeper. */
static void sleep_until_woken(void) {
  pthread_mutex_lock(&pool.mutex);
  atomic_fetch_add(&pool.sleepers, 1);
  if (find_open() || atomic_load(&pool.is_stopping)) {
    atomic_fetch_sub(&pool.sleepers, 1);
  } else {
    while (pool.tokens == 0 && !atomic_load(&pool.is_stopping))
      pthread_cond_wait(&pool.wake, &pool.mutex);
    if (pool.tokens > 0) pool.tokens--;
  }
  pthread_mutex_unlock(&pool.mutex);
}

static void *work(void *user) {
  const int worker = *(const int *)user;
  is_inside = true;
  while (!atomic_load(&pool.is_stopping)) {
    Slot *slot = worker < pool.cores - 1 ? spin_for_loop() : find_open();
    if (slot)
      help(slot, worker);
    else
      sleep_until_woken();
  }
  return NULL;
}

/* ---- Start and end of workers ---- */

static void lock_for_fork(void) {
  pthread_mutex_lock(&pool.mutex);
}

static void unlock_in_parent(void) {
  pthread_mutex_unlock(&pool.mutex);
}

/* The child process has no thread but the one that called fork. */
static void reset_in_child(void) {
  pthread_mutex_init(&pool.mutex, NULL);
  pthread_cond_init(&pool.wake, NULL);
  pool.tokens = 0;
  atomic_store(&pool.sleepers, 0);
  atomic_store(&pool.workers, 0);
  atomic_store(&pool.is_full, false);
  atomic_store(&pool.slot_count, 0);
  pool.cores = 0;
  for (int s = 0; s < MAX_SLOTS; s++) atomic_store(&pool.slot[s].state, 0);
}

/* Signals stay with the threads of the program. */
static bool start_worker(void) {
  int worker = atomic_load(&pool.workers);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pool.number[worker] = worker;
  bool good = pthread_create(&pool.thread[worker], NULL, work, &pool.number[worker]) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (good) atomic_store(&pool.workers, worker + 1);
  return good;
}

static void start_workers(int wanted) {
  pthread_mutex_lock(&pool.mutex);
  if (pool.cores == 0) {
    pool.cores = hk_thread_count();
    for (int s = 0; s < MAX_SLOTS; s++) pthread_cond_init(&pool.slot[s].left, NULL);
  }
  if (!pool.has_handlers)
    pool.has_handlers = pthread_atfork(lock_for_fork, unlock_in_parent, reset_in_child) == 0;
  while (atomic_load(&pool.workers) < wanted && !atomic_load(&pool.is_full))
    if (atomic_load(&pool.is_stopping) || atomic_load(&pool.workers) == MAX_WORKERS ||
        !start_worker())
      atomic_store(&pool.is_full, true);
  pthread_mutex_unlock(&pool.mutex);
}

/* Runs when the process exits or the library is unloaded. */
__attribute__((destructor)) static void stop_workers(void) {
  pthread_mutex_lock(&pool.mutex);
  atomic_store(&pool.is_stopping, true);
  atomic_store(&pool.is_full, true);
  int count = atomic_load(&pool.workers);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.mutex);
  for (int q = 0; q < count; q++)
    if (!pthread_equal(pool.thread[q], pthread_self())) pthread_join(pool.thread[q], NULL);
  atomic_store(&pool.workers, 0);
}

/* ---- Callers ---- */

/* Returns a free slot, or NULL. A thread prefers the slot that it used last. */
static Slot *take_slot(void) {
  for (int q = 0; q < MAX_SLOTS; q++) {
    int s = (last_slot + q) % MAX_SLOTS;
    uint64_t empty = 0;
    if (!atomic_compare_exchange_strong_explicit(&pool.slot[s].state, &empty, TAKEN,
                                                 memory_order_acquire, memory_order_relaxed))
      continue;
    last_slot = s;
    int count = atomic_load(&pool.slot_count);
    while (count <= s && !atomic_compare_exchange_weak(&pool.slot_count, &count, s + 1)) continue;
    return &pool.slot[s];
  }
  return NULL;
}

static void sleep_until_left(Slot *slot) {
  pthread_mutex_lock(&pool.mutex);
  uint64_t state = atomic_fetch_or(&slot->state, WAITING);
  while (helpers_of(state) > 0) {
    pthread_cond_wait(&slot->left, &pool.mutex);
    state = atomic_load(&slot->state);
  }
  pthread_mutex_unlock(&pool.mutex);
}

/* Waits until the last helper has left and its results are visible. Returns whether it waited. */
static bool wait_for_helpers(Slot *slot) {
  enum { PAUSES = 16 };
  uint64_t state = atomic_fetch_and(&slot->state, ~OPEN);
  if (helpers_of(state) == 0) return false;
  double end = hk_wall_time() + CALLER_SPIN;
  do {
    for (int q = 0; q < PAUSES; q++) {
      if (helpers_of(atomic_load_explicit(&slot->state, memory_order_acquire)) == 0) return true;
      pause_core();
    }
  } while (hk_wall_time() < end);
  sleep_until_left(slot);
  return true;
}

static void run_shared(Slot *slot, int threads, int64_t count, HkPieceOrder order, HkPieceFn *fn,
                       void *user) {
  Loop loop;
  double begin = hk_wall_time();
  loop.fn = fn;
  loop.user = user;
  divide(&loop, order == HK_PIECES_IN_ORDER ? 1 : threads, count);
  loop.core = current_core();
  atomic_init(&loop.has_no_core, false);
  atomic_store_explicit(&pool.caller_core, loop.core, memory_order_relaxed);
  slot->loop = &loop;
  atomic_store(&slot->state, (uint64_t)(threads - 1) << LIMIT_SHIFT | OPEN | TAKEN);
  if (atomic_load(&pool.sleepers) > 0) wake(1);
  is_inside = true;
  int64_t own = do_pieces(&loop, 0);
  is_inside = false;
  double middle = hk_wall_time();
  bool waited = wait_for_helpers(slot);
  if (waited || atomic_load(&loop.has_no_core)) {
    double end = hk_wall_time();
    update_backoff(count, own, middle - begin, end - middle, end);
    if (atomic_load(&loop.has_no_core)) delay_sharing(end + NO_CORE_BACKOFF);
  }
  atomic_store_explicit(&slot->state, 0, memory_order_release);
}

static bool is_serial(int threads) {
  if (threads <= 1 || is_inside) return true;
  if (serial_until > 0) {
    if (hk_wall_time() < serial_until) return true;
    serial_until = 0;
  }
  if (atomic_load(&pool.workers) < threads - 1 && !atomic_load(&pool.is_full))
    start_workers(threads - 1);
  return atomic_load(&pool.workers) == 0;
}

void hk_pool_run(int threads, int64_t count, HkPieceOrder order, HkPieceFn *fn, void *user) {
  if (threads > count) threads = (int)count;
  Slot *slot = is_serial(threads) ? NULL : take_slot();
  if (slot) {
    run_shared(slot, threads, count, order, fn, user);
    return;
  }
  const bool before = is_inside;
  is_inside = before || threads > 1;
  for (int64_t piece = 0; piece < count; piece++) fn(user, piece);
  is_inside = before;
}

#else

void hk_pool_run(int threads, int64_t count, HkPieceOrder order, HkPieceFn *fn, void *user) {
  (void)threads;
  (void)order;
  for (int64_t piece = 0; piece < count; piece++) fn(user, piece);
}

int hk_pool_workers(void) {
  return 0;
}

#endif
