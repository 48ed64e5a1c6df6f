/* A Play on a thread of its own; see session_thread.h. */
#include "session_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Message {
  void *bytes;
  size_t size;
  bool binary;
} Message;

struct Session {
  Play *play;
  SessionFn *ready;
  void *user;
  pthread_t thread;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  Message waiting[SESSION_MESSAGES];
  int count;
  bool answered; /* and not taken yet */
  bool binary;   /* is the answer */
  bool ends;
};

/* Takes the first message, once the last answer is gone; false: it ends. */
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

static void *work(void *user) {
  Session *s = user;
  Message m;
  while (next(s, &m)) {
    void *buffer = play_buffer(s->play, m.size);
    if (buffer) memcpy(buffer, m.bytes, m.size);
    free(m.bytes);
    bool binary = play_message(s->play, buffer ? m.size : 0, m.binary);
    pthread_mutex_lock(&s->lock);
    s->binary = binary;
    s->answered = true;
    pthread_mutex_unlock(&s->lock);
    s->ready(s->user);
  }
  return NULL;
}

Session *session_start(const HkContext *context, const char *folder, const char *home,
                       SessionFn *ready, void *user) {
  Session *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->ready = ready;
  s->user = user;
  s->play = play_create(context, folder);
  if (s->play) play_set_home(s->play, home);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  if (s->play && pthread_create(&s->thread, NULL, work, s) == 0) return s;
  play_destroy(&s->play);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  free(s);
  return NULL;
}

void session_end(Session **session) {
  Session *s = *session;
  if (!s) return;
  pthread_mutex_lock(&s->lock);
  s->ends = true;
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  pthread_join(s->thread, NULL);
  for (int q = 0; q < s->count; q++) free(s->waiting[q].bytes);
  play_destroy(&s->play);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->changed);
  free(s);
  *session = NULL;
}

bool session_send(Session *s, void *message, size_t size, bool binary) {
  pthread_mutex_lock(&s->lock);
  bool room = s->count < SESSION_MESSAGES;
  if (room) s->waiting[s->count++] = (Message){message, size, binary};
  pthread_cond_signal(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return room;
}

bool session_has_room(Session *s) {
  pthread_mutex_lock(&s->lock);
  bool room = s->count < SESSION_MESSAGES;
  pthread_mutex_unlock(&s->lock);
  return room;
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
