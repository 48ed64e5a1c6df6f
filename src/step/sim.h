/* HkSim: an integrator with its workspace. Integrators use the functions below. */
#ifndef HK_STEP_SIM_H
#define HK_STEP_SIM_H

#include "base/cancel.h"
#include "base/device_settings.h"
#include "force/force.h"
#include "model/state.h"
#include "step/energy_watch.h"
#include "step/stepper.h"
#include "step/update.h"

typedef struct HkStepType {
  HkSchema schema;
  int order;      /* of convergence in h */
  bool implicit;  /* solves a problem of minimization or a linear system (implicit.h) */
  bool minimizes; /* uses a minimizer, whose iterations can be traced */
  bool remembers; /* stores the previous step in the state: hk_state_remember */
  /* Steps between two checks of the total energy (energy_watch.h); 0: no checks. */
  int energy_interval;
  /* The minimizer applies the step filters of forces, and the final positions are its iterate;
   * false: the stepper filters the whole step. */
  bool filters;
  /* Forces that could correct a step act in it, as a barrier: its minimization is that of the whole
   * step, and damps. */
  bool barrier;
  /* The time within a step, as a part of it, of which the springs that change with time have their
   * values: where the forces are evaluated, or 0.5, which keeps the second order. */
  double drive_time;
  int vectors; /* workspace: arrays of 3 n doubles, sim->w[0 .. vectors - 1] */
  /* Creates and destroys sim->data; NULL: there is none. */
  HkStatus (*create)(HkSim *sim, HkError *error);
  void (*destroy)(HkSim *sim);
  size_t (*bytes)(const HkSim *sim); /* of sim->data */
  /* For integrators that work on arrays other than the state's: open copies the state into them,
   * close copies it back; in between only held pins are valid in the state. NULL: steps work on the
   * state. */
  void (*open)(HkSim *sim, const HkState *state);
  void (*close)(HkSim *sim, HkState *state);
  /* The update of the next step from a state, as data; NULL: there is none, and tapes refuse the
   * integrator. */
  void (*update)(const HkSim *sim, const HkState *state, HkUpdate *update);
  /* Moves the state from time t to t + h. */
  HkStatus (*step)(HkSim *sim, HkState *state, HkError *error);
  HkToDeviceFn *to_device; /* NULL: devices do not support it */
  bool device_multigrid;   /* devices support it with multigrid alone */
  /* Largest stable h for x'' = -omega^2 x - d x'; 0: none is stable, INFINITY: all are. */
  double (*stable_step)(const void *params, double omega, double d);
  const char *stability; /* of hk_method_stability; NULL: "" */
} HkStepType;

const HkStepType *hk_step_type(const HkSchema *schema);

struct HkSim {
  const HkModel *model;
  HkDeviceKind device; /* that makes the steps; never HK_AUTO */
  const HkStepType *type;
  HkMethod method; /* own copy of the parameters */
  double h;
  double **w;                /* workspace of the integrator */
  double *f;                 /* 3 n, for forces, reactions and the stable step */
  double *x_start, *v_start; /* 3 n: start of a step that is filtered; NULL until then */
  HkForceWork work;
  HkSpringArrays state_springs;    /* of the last state that had springs of its own */
  HkSpringRows *state_rows;        /* of state_springs; NULL until there was such a state */
  HkSpringRows *model_rows;        /* of the model's springs */
  struct HkSpringChanges *changes; /* of springs by forces at the end of a step; NULL until then */
  bool single;                     /* steps are made in single precision */
  void *data;                      /* of the integrator */
  HkStepper *stepper;              /* makes the steps */
  HkStepInfo info;                 /* of the last step */
  HkCancel cancel;
  uint8_t *pin_held; /* copy from before the step, restored if it is cancelled */
  /* Of the adaptive step, NULL: steps are as given. Trial states, the state at the start of the
   * step, and the part of the step that is done (0 to 1). */
  HkState *whole, *halves, *start;
  double part;
  HkEnergyWatch watch;
  HkTraceFn *trace; /* called after each iteration of a minimizer; may be NULL */
  void *trace_user;
  struct HkContactRecord *contacts; /* of the last hk_sim_contacts; NULL until then */
  double energy_scale, push_scale;  /* J, m/s^2: see blowup.c */
  double kinetic;          /* J, at the end of the step; NAN: the integrator does not compute it */
  int64_t version;         /* version of the model at the last step; 0: as compiled */
  int64_t springs_version; /* version of the springs at the last step */
  int known_forces;        /* number of forces at the last live change; 0: there was none */
  bool is_open;            /* between open and close of the integrator */
  bool noted_pressure;     /* the log says that K is projected (beta.c) */
  bool knows_faces;        /* data was made for a model with neighbors across faces */
};

/* As hk_sim_steps; clock NULL: each step adds h to the time. */
HkStatus hk_sim_advance(HkSim *sim, HkState *state, int64_t count, const HkClock *clock,
                        HkError *error);
/* cpu.c: create and destroy sim->data. */
HkStatus hk_sim_create_data(HkSim *sim, HkError *error);
void hk_sim_destroy_data(HkSim *sim);
/* Releases pins that are due and makes one step of length sim->h, without blow-up check. */
HkStatus hk_sim_move(HkSim *sim, HkState *state, HkError *error);
/* sim_springs.c: makes forces use the springs of the state, or the model's if it has none. */
HkStatus hk_sim_use_springs(HkSim *sim, const HkState *state, HkError *error);
/* sim_springs.c: gives the state springs of its own where forces change them. */
HkStatus hk_sim_need_springs(const HkSim *sim, HkState *state, HkError *error);
/* sim_springs.c: prepares the springs of a state for a step, whose forces may change them. */
void hk_sim_begin_springs(HkSim *sim, HkState *state);
void hk_sim_release_springs(HkSim *sim);
/* Has forces use the springs of the state, take over their memory in it and prepare for questions
 * about it, and copies x and v to the host: required before anything but a step is computed of a
 * state. */
HkStatus hk_sim_use_state(HkSim *sim, const HkState *state, HkError *error);
/* Has the forces move the state to where they allow it to be, as the next step would. */
HkStatus hk_sim_prepare(HkSim *sim, HkState *state, HkError *error);
size_t hk_sim_springs_bytes(const HkSim *sim);
/* sim_contacts.c: the record of contacts. */
size_t hk_sim_contacts_bytes(const HkSim *sim);
void hk_sim_release_contacts(HkSim *sim);
/* Copies the state back if the integrator works on arrays of its own. */
void hk_sim_close(HkSim *sim, HkState *state);
/* a = M^-1 f(t, x, v) (m/s^2); 0 for held pins and for z in two dimensions. */
void hk_sim_acceleration(HkSim *sim, const HkState *state, double t, const double *x,
                         const double *v, double *a);
/* y = x + s d over all coordinates; y may be x. */
void hk_sim_axpy(const HkSim *sim, double s, const double *d, const double *x, double *y);

/* An error if a force of the model does not go with the integrator. */
HkStatus hk_sim_check_forces(const HkModel *model, const HkStepType *type, HkError *error);

#endif
