/* Messages of the page and their answers; see play.h. */
#include "session.h"

#include "base/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Life ---- */

/* Log callback: adds messages to the notes of the answer. */
static void note(void *user, HkLogLevel level, const char *text) {
  Play *p = user;
  size_t used = strlen(p->notes);
  (void)level;
  snprintf(p->notes + used, sizeof p->notes - used, "%s\n", text);
}

Play *play_create(const HkContext *context, const char *folder) {
  Play *p = calloc(1, sizeof *p);
  size_t size = strlen(folder) + 1;
  if (!p) return NULL;
  p->context = context ? *context : hk_context_default();
  p->context.log = note;
  p->context.log_user = p;
  p->context.libraries = false; /* a page never loads machine code */
  p->hand.vertex = -1;
  p->folder = malloc(size);
  if (p->folder)
    memcpy(p->folder, folder, size);
  else
    play_destroy(&p);
  return p;
}

void play_destroy(Play **play) {
  Play *p = *play;
  if (!p) return;
  throw_forget(p);
  stage_clear(&p->stage);
  for (int q = 0; q < p->set_count; q++) free(p->sets[q]);
  free(p->sets);
  free(p->text);
  free(p->name);
  free(p->folder);
  free(p->home);
  free(p->released);
  free(p->buffer);
  free(p->answer);
  free(p);
  *play = NULL;
}

void play_set_home(Play *p, const char *path) {
  free(p->home);
  p->home = path ? strdup(path) : NULL;
}

HkStatus play_check_home(Play *p, const char *name, HkError *error) {
  return stage_check_home(p, name, error);
}

void play_stop(Play *p) {
  atomic_store(&p->stopped, true);
}

bool play_is_stop(const void *message, size_t size) {
  enum { MAX_STOP_BYTES = 256 }; /* a longer message is not a stop */
  HkJson request = {0};
  HkError ignored = {0};
  if (size > MAX_STOP_BYTES || hk_json_parse("message", message, size, &request, &ignored) < 0)
    return false;
  const char *name = request_text(&request, "ask");
  bool stop = name && strcmp(name, "stop") == 0;
  hk_json_clear(&request);
  return stop;
}

/* ---- Requests ---- */

const char *request_text(const HkJson *request, const char *key) {
  const HkJson *value = hk_json_get(request, key);
  return hk_json_is(value, HK_JSON_TEXT) ? value->text : NULL;
}

bool request_number(const HkJson *request, const char *key, double *value) {
  const HkJson *number = hk_json_get(request, key);
  if (!hk_json_is_number(number)) return false;
  *value = hk_json_number(number);
  return true;
}

bool request_vector(const HkJson *request, const char *key, double value[3]) {
  const HkJson *list = hk_json_get(request, key);
  if (!hk_json_is(list, HK_JSON_LIST) || hk_json_size(list) != 3) return false;
  for (int c = 0; c < 3; c++) {
    if (!hk_json_is_number(hk_json_at(list, c))) return false;
    value[c] = hk_json_number(hk_json_at(list, c));
  }
  return true;
}

/* ---- Answers ---- */

static void give(Play *p, void *answer, size_t size) {
  free(p->answer);
  p->answer = answer;
  p->answer_size = size;
}

HkJson answer_start(const HkJson *request) {
  HkJson answer = hk_json_object();
  const HkJson *id = hk_json_get(request, "id");
  if (id) hk_json_add(&answer, "id", hk_json_copy(id));
  return answer;
}

HkStatus answer_text(Play *p, HkJson *object, HkError *error) {
  char *text = NULL;
  HkStatus status = hk_json_write(object, 0, 17, &text, error);
  hk_json_clear(object);
  if (status >= 0) give(p, text, strlen(text));
  return status;
}

unsigned char *answer_bytes(Play *p, uint32_t word, const HkJson *request, size_t size) {
  enum { HEAD = 8 };
  unsigned char *bytes = calloc(1, HEAD + size + 1); /* a file may be a text */
  double id = 0;
  if (!bytes) return NULL;
  request_number(request, "id", &id);
  hk_store_le32(bytes, word);
  hk_store_le32(bytes + 4, id >= 0 && id < 4294967296.0 ? (uint32_t)id : 0);
  give(p, bytes, HEAD + size);
  return bytes + HEAD;
}

static void answer_error(Play *p, const HkJson *request, const HkError *error) {
  static const char worst[] = "{\"error\": \"there is no memory left\"}";
  HkJson answer = answer_start(request);
  HkError second = {0};
  hk_json_add(&answer, "error", hk_json_text(error->text));
  if (error->line > 0) hk_json_add(&answer, "line", hk_json_integer(error->line));
  if (error->column > 0) hk_json_add(&answer, "column", hk_json_integer(error->column));
  if (answer_text(p, &answer, &second) >= 0) return;
  char *text = malloc(sizeof worst);
  if (text) memcpy(text, worst, sizeof worst);
  give(p, text, text ? sizeof worst - 1 : 0);
}

/* ---- The requests ---- */

static HkStatus ask_load(Play *p, const HkJson *request, HkError *error) {
  HK_TRY(stage_load(p, request, error));
  return describe_scene(p, request, error);
}

static HkStatus ask_set(Play *p, const HkJson *request, HkError *error) {
  HK_TRY(stage_set(p, request, error));
  return describe_scene(p, request, error);
}

static HkStatus ask_reset(Play *p, const HkJson *request, HkError *error) {
  HK_TRY(stage_reset(p, error));
  return describe_scene(p, request, error);
}

static HkStatus ask_why(Play *p, const HkJson *request, HkError *error) {
  HkJson answer = answer_start(request);
  hk_json_add(&answer, "text", hk_json_text(p->blown ? p->why : ""));
  return answer_text(p, &answer, error);
}

static HkStatus ask_stop(Play *p, const HkJson *request, HkError *error) {
  HkJson answer = answer_start(request);
  atomic_store(&p->stopped, false);
  return answer_text(p, &answer, error);
}

typedef struct Question {
  const char *name;
  HkStatus (*answer)(Play *p, const HkJson *request, HkError *error);
  bool always; /* also before a scene is loaded */
} Question;

static const Question questions[] = {
    {"registry", describe_registry, true},
    {"load", ask_load, true},
    {"set", ask_set, false},
    {"reset", ask_reset, false},
    {"topology", topology_answer, false},
    {"frame", frame_answer, false},
    {"why", ask_why, false},
    {"stop", ask_stop, true},
    {"grab", hand_grab, false},
    {"drag", hand_drag, false},
    {"drop", hand_drop, false},
    {"pin", hand_pin, false},
    {"obstacles", obstacles_answer, false},
    {"move", obstacle_move, false},
    {"stay", obstacle_stay, false},
    {"throw", throw_answer, false},
    {"save", file_save, false},
};

static HkStatus ask(Play *p, const HkJson *request, HkError *error) {
  const char *name = request_text(request, "ask");
  for (size_t q = 0; name && q < sizeof questions / sizeof questions[0]; q++) {
    if (strcmp(questions[q].name, name) != 0) continue;
    if (!questions[q].always && !p->stage.model)
      return hk_fail(error, HK_ERROR_INVALID, "no scene is loaded yet");
    return questions[q].answer(p, request, error);
  }
  return hk_fail(error, HK_ERROR_INVALID, "'%.40s' cannot be asked", name ? name : "");
}

void *play_buffer(Play *p, size_t size) {
  if (size > PLAY_MAX_MESSAGE_BYTES) return NULL;
  if (size > p->capacity || !p->buffer) {
    free(p->buffer);
    p->buffer = malloc(size + 1);
    p->capacity = p->buffer ? size : 0;
  }
  return p->buffer;
}

bool play_message(Play *p, size_t size, bool binary) {
  HkJson request = {0};
  HkError error = {0};
  HkStatus status = HK_OK;
  void *before = p->answer;
  p->answer = NULL; /* the request sets it */
  free(before);
  if (binary) {
    request = hk_json_object();
    status = file_put(p, p->buffer, size, &request, &error);
  } else {
    status = hk_json_parse("message", p->buffer, size, &request, &error);
    if (status >= 0) status = ask(p, &request, &error);
  }
  if (status < 0) answer_error(p, &request, &error);
  hk_json_clear(&request);
  const char *answer = p->answer;
  return p->answer_size > 0 && answer && answer[0] == 'H'; /* text begins with a brace */
}

const void *play_answer(const Play *p, size_t *size) {
  *size = p->answer ? p->answer_size : 0;
  return p->answer;
}
