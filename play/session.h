/* What a Play is made of. */
#ifndef HOOKE_PLAY_SESSION_H
#define HOOKE_PLAY_SESSION_H

#include "play.h"

#include "base/json.h"

#include <stdatomic.h>

/* A vertex that is held or dragged by a handle. */
typedef struct Held {
  int32_t vertex;
  int force; /* of the model */
  double k;  /* N/m */
  double target[3];
} Held;

enum { HELD_MOST = 256 };

/* The scene with all that has been made of it. */
typedef struct Stage {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
  HkState *safe; /* where it was before the present frame */
} Stage;

struct Play {
  HkContext context;
  char *folder;      /* of the files that were put */
  char *home;        /* the scene or mesh of the command line, or NULL */
  bool at_home;      /* files of the present scene are sought beside that one */
  Stage stage;       /* all NULL until a scene is loaded */
  char *text, *name; /* of the scene as it was given */
  char **sets;       /* what was set since: PATH=VALUE */
  int set_count;
  Held hand;           /* vertex -1: nothing is grabbed */
  Held pin[HELD_MOST]; /* vertices that are held beside the pins of the scene */
  int pin_count;
  uint8_t *released; /* of each pin of the scene */
  double owed;       /* s that are still to be simulated */
  int64_t steps;
  atomic_bool stopped; /* no step is begun until a `stop` message is answered */
  bool blown;
  char why[1024]; /* it blew up */
  char notes[4096];
  void *buffer;
  size_t capacity;
  void *answer;
  size_t answer_size;
};

/* ---- Answers ---- */

/* An object with the number of the request; what is put into it goes to answer_text. */
HkJson answer_start(const HkJson *request);
/* Makes it the answer, and releases it. */
HkStatus answer_text(Play *play, HkJson *object, HkError *error);
/* size bytes after a word and the number of the request, all zero; NULL: no memory. */
unsigned char *answer_bytes(Play *play, uint32_t word, const HkJson *request, size_t size);

/* ---- Requests: false or NULL if the member is not there or of another kind ---- */

const char *request_text(const HkJson *request, const char *key);
bool request_number(const HkJson *request, const char *key, double *value);
bool request_vector(const HkJson *request, const char *key, double value[3]);

/* ---- The parts of a session ---- */

/* stage.c: loading and changing. */
HkStatus stage_load(Play *play, const HkJson *request, HkError *error);
HkStatus stage_set(Play *play, const HkJson *request, HkError *error);
HkStatus stage_reset(Play *play, HkError *error);
/* Compiles the scene of the command line, called name, and throws it away. */
HkStatus stage_check_home(Play *play, const char *name, HkError *error);
void stage_clear(Stage *stage);

/* advance.c: frames. */
HkStatus frame_answer(Play *play, const HkJson *request, HkError *error);
HkStatus topology_answer(Play *play, const HkJson *request, HkError *error);

/* hand.c: grabbing, dragging, pinning. */
HkStatus hand_grab(Play *play, const HkJson *request, HkError *error);
HkStatus hand_drag(Play *play, const HkJson *request, HkError *error);
HkStatus hand_drop(Play *play, const HkJson *request, HkError *error);
HkStatus hand_pin(Play *play, const HkJson *request, HkError *error);
/* Holds again in a new model what was held in the old one. */
HkStatus hand_again(Play *play, HkError *error);
/* Lets go of the vertex in hand, and holds those that are pinned by hand where they are in x. */
HkStatus hand_restart(Play *play, const double *x, HkError *error);
/* The vertices that are held now. */
HkJson hand_list(const Play *play);

/* tell.c: the registries and what the scene is. */
HkStatus tell_registry(Play *play, const HkJson *request, HkError *error);
HkStatus tell_scene(Play *play, const HkJson *request, HkError *error);

/* saved_scene.c: the scene as text, with the pins as the hand left them; freed with free. */
HkStatus saved_scene(const Play *play, char **text, HkError *error);

/* files.c: files that come and go. */
HkStatus file_put(Play *play, const unsigned char *message, size_t size, HkJson *request,
                  HkError *error);
HkStatus file_save(Play *play, const HkJson *request, HkError *error);
/* The whole of a file in the folder; freed with free. */
HkStatus file_read(const Play *play, const char *name, char **text, size_t *size, HkError *error);
/* The same of the scene of the command line. */
HkStatus file_read_home(const Play *play, char **text, HkError *error);
/* Refuses a scene that names a file outside of `folder`. `trusted`: a scene whose files are allowed
 * wherever they are, or NULL. */
HkStatus file_check(const HkScene *scene, const char *folder, const HkScene *trusted,
                    HkError *error);

#endif
