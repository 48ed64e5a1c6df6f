/* A Play on a thread of its own; see session_thread.h. */
#include "session_thread.h"

#include "scratch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Message {
  void *bytes;
  size_t size;
  bool binary;
} Message;

/* Sessions that have not released themselves. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int count;
} alive = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void count_session(int change) {
  pthread_mutex_lock(&alive.lock);
  alive.count += change;
  pthread_cond_broadcast(&alive.changed);
  pthread_mutex_unlock(&alive.lock);
}

int session_count(void) {
  pthread_mutex_lock(&alive.lock);
  int count = alive.count;
  pthread_mutex_unlock(&alive.lock);
  return count;
}

bool session_wait(double seconds) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end); /* the clock of condition variables */
  long nanoseconds = end.tv_nsec + (long)(1e9 * (seconds - (double)(time_t)seconds));
  end.tv_sec += (time_t)seconds + nanoseconds / 1000000000;
  end.tv_nsec = nanoseconds % 1000000000;
  pthread_mutex_lock(&alive.lock);
  int late = 0;
  while (alive.count > 0 && late != ETIMEDOUT)
    late = pthread_cond_timedwait(&alive.changed, &alive.lock, &end);
  bool none = alive.count == 0;
  pthread_mutex_unlock(&alive.lock);
  return none;
}

struct Session {
  const SessionOptions *options;
  Play *play;
  char folder[SCRATCH_PATH];
  pthread_mutex_t lock; /* protects the members below */
  pthread_cond_t changed;
  Message waiting[SESSION_MESSAGES];
  int count;
  bool answered; /* and not taken yet */
  bool binary;   /* the answer is binary */
  bool ends;
};

/* Takes the first message when the last answer has been taken; returns false if the session ends.
 */
static bool next(Session *s, Message *message) {
  pthread_mutex_lock(&s->lock);
  while (!s->ends && (s->count == 0 || s->answered)) pthread_cond_wait(&s->changed, &s->lock);
  bool goes_on = !s->ends;
  if (goes_on) {
    *message = s->waiting[0];
    s->count--;
    memmove(s->waiting, s->waiting + 1, (size_t)s->count * sizeof *s->waiting);
  }
  pthread_mutex_unlock(&s->lock);
  return goes_on;
}

static void release(Session *s) {
  for (int q = 0; q < s->count; q++) free(s->waiting[q].bytes);
  play_destroy(&s->play);
  if (s->folder[0]) scratch_remove(s->folder);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  free(s);
}

/* The lock is held while the server is woken, so that session_leave waits for that. */
static void publish(Session *s, bool binary) {
  pthread_mutex_lock(&s->lock);
  s->binary = binary;
  s->answered = true;
  if (!s->ends) s->options->ready(s->options->user);
  pthread_mutex_unlock(&s->lock);
}

static void *work(void *user) {
  Session *s = user;
  Message m;
  while (next(s, &m)) {
    void *buffer = play_buffer(s->play, m.size);
    if (buffer) memcpy(buffer, m.bytes, m.size);
    free(m.bytes);
    publish(s, play_message(s->play, buffer ? m.size : 0, m.binary));
  }
  release(s);
  count_session(-1);
  return NULL;
}

Session *session_start(const SessionOptions *options) {
  pthread_t thread;
  Session *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->options = options;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  if (scratch_make(options->folder, s->folder))
    s->play = play_create(&options->context, s->folder);
  else
    s->folder[0] = 0;
  if (s->play) play_set_home(s->play, options->home);
  count_session(1);
  if (s->play && pthread_create(&thread, NULL, work, s) == 0) {
    pthread_detach(thread);
    return s;
  }
  release(s);
  count_session(-1);
  return NULL;
}

void session_leave(Session **session) {
  Session *s = *session;
  if (!s) return;
  *session = NULL;
  play_stop(s->play);
  pthread_mutex_lock(&s->lock);
  s->ends = true;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock); /* from here on the session may be freed */
}

bool session_send(Session *s, void *message, size_t size, bool binary) {
  bool stop = !binary && play_is_stop(message, size);
  pthread_mutex_lock(&s->lock);
  bool has_slot = s->count < SESSION_MESSAGES;
  if (stop && has_slot) play_stop(s->play);
  if (has_slot) s->waiting[s->count++] = (Message){message, size, binary};
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return has_slot;
}

bool session_has_slot(Session *s) {
  pthread_mutex_lock(&s->lock);
  bool has_slot = s->count < SESSION_MESSAGES;
  pthread_mutex_unlock(&s->lock);
  return has_slot;
}

unsigned char *session_take(Session *s, size_t before, size_t *size, bool *binary) {
  unsigned char *copy = NULL;
  pthread_mutex_lock(&s->lock);
  if (s->answered) {
    const void *answer = play_answer(s->play, size);
    copy = malloc(before + *size + 1);
    if (copy && *size > 0) memcpy(copy + before, answer, *size);
    *binary = s->binary;
    s->answered = false;
    pthread_cond_signal(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
  return copy;
}
