/* The members of a Play, and the functions of its parts. */
#ifndef HOOKE_PLAY_SESSION_H
#define HOOKE_PLAY_SESSION_H

#include "play.h"

#include "base/json.h"

#include <stdatomic.h>

/* A vertex with a handle, which holds or drags it. */
typedef struct Held {
  int32_t vertex;
  int force; /* of the model */
  double k;  /* N/m */
  double target[3];
} Held;

enum { MAX_HELD = 256 };

/* An obstacle that a person moves. */
typedef struct Moved {
  int obstacle;
  char name[64];
  double shift[3]; /* m, from its place in the scene to where it is */
  double wish[3];  /* m, from its place in the scene to where it is to be */
} Moved;

enum { MAX_MOVED = 64 };

/* A throw at a target, of throw.c. */
typedef struct Throw Throw;

/* The scene with its model, state and simulation. */
typedef struct Stage {
  HkScene *scene;
  HkModel *model;
  HkSim *sim;
  HkState *state;
  HkState *safe; /* the state before the current frame */
} Stage;

struct Play {
  HkContext context;
  char *folder;      /* of the files that were put */
  char *home;        /* the scene or mesh of the command line, or NULL */
  bool at_home;      /* files of the current scene are relative to `home` */
  Stage stage;       /* all NULL until a scene is loaded */
  char *text, *name; /* of the scene as it was given */
  char **sets;       /* assignments since then: PATH=VALUE */
  int set_count;
  Held hand;          /* vertex -1: nothing is grabbed */
  Held pin[MAX_HELD]; /* vertices that the user has pinned */
  int pin_count;
  uint8_t *released; /* of each pin of the scene */
  Moved moved[MAX_MOVED];
  int moved_count;
  double size;     /* m, of the scene at its start */
  double reach;    /* part of the largest way of moved obstacles in a step, at most 1 */
  int pause;       /* steps until moved obstacles are tried again */
  int patience;    /* steps of the last pause */
  double deadline; /* s of wall time after which a step is cancelled; 0: none */
  bool late;       /* in the last frame there was no space for a moved obstacle */
  Throw *thrown;   /* NULL: nothing is thrown */
  double owed;     /* s of simulated time that remain */
  int64_t steps;
  atomic_bool stopped; /* no step is begun until a `stop` message is answered */
  bool blown;
  char why[1024]; /* reason of the blow-up */
  char notes[4096];
  void *buffer;
  size_t capacity;
  void *answer;
  size_t answer_size;
};

/* ---- Answers ---- */

/* Returns an object with the number of the request, for answer_text. */
HkJson answer_start(const HkJson *request);
/* Makes an object the answer, and frees it. */
HkStatus answer_text(Play *play, HkJson *object, HkError *error);
/* Returns a zeroed binary answer of `size` bytes after a word and the number of the request; NULL
 * if out of memory. */
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
/* Compiles the scene of the command line, with the name `name`, to find errors, and frees it. */
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
/* Adds the handles of the old model to a new one. */
HkStatus hand_again(Play *play, HkError *error);
/* Releases the dragged vertex, and pins the user's pinned vertices at their positions in x. */
HkStatus hand_restart(Play *play, const double *x, HkError *error);
/* Pins the user's pinned vertices at their start in another model of the same scene. */
HkStatus hand_hold(const Play *play, HkModel *model, HkError *error);
/* Returns the list of vertices that are held now. */
HkJson hand_list(const Play *play);

/* obstacles.c: obstacles, and those that a person moves. */
HkStatus obstacles_answer(Play *play, const HkJson *request, HkError *error);
HkStatus obstacle_move(Play *play, const HkJson *request, HkError *error);
HkStatus obstacle_stay(Play *play, const HkJson *request, HkError *error);
/* Whether obstacles are to be moved in the next step; counts the steps of a pause. */
bool obstacles_are_moving(Play *play);
/* Sets the motions of moved obstacles over the next step, and its deadline. */
HkStatus obstacles_begin(Play *play, HkError *error);
/* The step was made: the obstacles are at the end of their motions. */
void obstacles_arrive(Play *play);
/* The step failed: the obstacles stay where they are, and go less far next time. */
HkStatus obstacles_give_way(Play *play, HkError *error);
/* The step is not made: the obstacles stay where they are. */
HkStatus obstacles_rest(Play *play, HkError *error);
/* No obstacle is moved in a scene that was loaded. */
void obstacles_forget(Play *play);
/* Moves the obstacles of the old model again in a new one. */
HkStatus obstacles_again(Play *play, HkError *error);
/* Gives all obstacles their motions of the scene. */
HkStatus obstacles_restart(Play *play, HkError *error);
/* Writes the poses, 12 floats an obstacle. */
void obstacles_put_poses(const Play *play, unsigned char *to);
HkJson obstacles_list(const Play *play);
/* Writes the places of moved obstacles into a scene. */
void obstacles_save(const Play *play, HkJson *scene);

/* throw.c: a body is thrown at a target. */
HkStatus throw_answer(Play *play, const HkJson *request, HkError *error);
/* Returns the error with which a throw is refused. */
HkStatus throw_check(const Play *play, HkError *error);
/* Nothing is thrown any more. */
void throw_forget(Play *play);
/* The scene, its integrator or its pins have changed: the throw is found again. */
void throw_again(Play *play);
/* Gives the thrown body its velocity in a state at the start. */
HkStatus throw_start(const Play *play, HkState *state, HkError *error);
/* Writes that velocity into a scene. */
HkStatus throw_save(const Play *play, HkJson *scene, HkError *error);

/* describe.c: answers with the registries, and with the scene. */
HkStatus describe_registry(Play *play, const HkJson *request, HkError *error);
HkStatus describe_scene(Play *play, const HkJson *request, HkError *error);

/* saved_scene.c: writes the scene as text with the user's pins; the caller frees it with free. */
HkStatus saved_scene(const Play *play, char **text, HkError *error);

/* files.c: uploads and downloads. */
HkStatus file_put(Play *play, const unsigned char *message, size_t size, HkJson *request,
                  HkError *error);
HkStatus file_save(Play *play, const HkJson *request, HkError *error);
/* Reads a file in the folder; the caller frees *text with free. */
HkStatus file_read(const Play *play, const char *name, char **text, size_t *size, HkError *error);
/* Reads the scene file of the command line; the caller frees *text with free. */
HkStatus file_read_home(const Play *play, char **text, HkError *error);
/* Returns an error if a scene names a file outside of `folder`. `trusted`: a scene whose files are
 * allowed anywhere, or NULL. */
HkStatus file_check(const HkScene *scene, const char *folder, const HkScene *trusted,
                    HkError *error);

#endif
