/* HkSim: an integrator with its workspace. Integrators are written in terms of the calls below. */
#ifndef HK_STEP_SIM_H
#define HK_STEP_SIM_H

#include "base/cancel.h"
#include "base/device_settings.h"
#include "force/force.h"
#include "model/state.h"
#include "step/energy_watch.h"
#include "step/stepper.h"

typedef struct HkStepType {
  HkSchema schema;
  int order;      /* of convergence in h */
  bool implicit;  /* solves a problem of minimization or a linear system (implicit.h) */
  bool minimizes; /* by a minimizer, whose iterations can be traced */
  bool remembers; /* leaves the step before in the state: hk_state_remember */
  /* Steps between two looks at the total energy (energy_watch.h); 0: it is not watched. */
  int energy_interval;
  /* Positions at the end are the minimizer's own, which it keeps where forces allow them (their
   * filter); false: the step is filtered as a whole. */
  bool filters;
  int vectors; /* workspace: arrays of 3 n doubles, sim->w[0 .. vectors - 1] */
  /* Makes and releases what else it needs, in sim->data; NULL: nothing. */
  HkStatus (*create)(HkSim *sim, HkError *error);
  void (*destroy)(HkSim *sim);
  size_t (*bytes)(const HkSim *sim); /* of sim->data */
  /* Where steps that follow each other are made on other arrays than the state's: open takes the
   * state over, close gives it back; between them only the held pins are in the state. NULL: on the
   * state itself. */
  void (*open)(HkSim *sim, const HkState *state);
  void (*close)(HkSim *sim, HkState *state);
  /* Moves the state from time t to t + h. */
  HkStatus (*step)(HkSim *sim, HkState *state, HkError *error);
  HkToDeviceFn *to_device; /* NULL: devices do not support it */
  /* Largest stable h for x'' = -omega^2 x - d x'; 0: none is, INFINITY: any. */
  double (*stable_step)(const void *params, double omega, double d);
  const char *stability; /* of hk_method_stability; NULL: "" */
} HkStepType;

const HkStepType *hk_step_type(const HkSchema *schema);

struct HkSim {
  const HkModel *model;
  const HkStepType *type;
  HkMethod method; /* own copy of the parameters */
  double h;
  double **w;      /* workspace of the integrator */
  double *f;       /* 3 n, for reports and the stable step */
  double *x_start; /* 3 n: positions at the start of a step that is filtered; NULL until then */
  HkForceWork work;
  HkSpringArrays state_springs; /* of the last state that had springs of its own */
  HkSpringRows *state_rows;     /* of these; NULL until there was one */
  HkSpringRows *model_rows;     /* of the model's springs */
  bool single;                  /* steps are made in single precision */
  void *data;                   /* of the integrator */
  HkStepper *stepper;           /* makes the steps */
  HkStepInfo info;              /* of the last step */
  HkCancel cancel;
  uint8_t *pin_held; /* of the state before the step, for one that is cancelled */
  /* Of the adaptive step, NULL: steps are as given. Trial states, the state at the start of the
   * step, and the part of the step that is done (0 to 1). */
  HkState *whole, *halves, *start;
  double part;
  HkEnergyWatch watch;
  HkTraceFn *trace; /* called after each iteration of a minimizer; may be NULL */
  void *trace_user;
  double energy_scale, push_scale; /* J, m/s^2: see blowup.c */
  double kinetic;                  /* J, at the end of the step; NAN: the integrator does not say */
  int64_t version;                 /* of the model that it knows; 0: as it was compiled */
  int64_t springs_version;         /* of the springs that it knows */
  int known_forces;                /* at the last live change; 0: there was none */
  bool is_open;                    /* between open and close of the integrator */
  bool noted_pressure;             /* the log says that K is projected (beta.c) */
  bool knows_faces;                /* data was made for a model with neighbors across faces */
};

/* As hk_sim_steps; clock NULL: each step adds h to the time. */
HkStatus hk_sim_advance(HkSim *sim, HkState *state, int64_t count, const HkClock *clock,
                        HkError *error);
/* cpu.c: makes and releases sim->data. */
HkStatus hk_sim_create_data(HkSim *sim, HkError *error);
void hk_sim_destroy_data(HkSim *sim);
/* One step of the integrator by sim->h, pins released before; no check of the result. */
HkStatus hk_sim_move(HkSim *sim, HkState *state, HkError *error);
/* sim_springs.c: from now on the springs of the state count. */
HkStatus hk_sim_take_springs(HkSim *sim, const HkState *state, HkError *error);
void hk_sim_release_springs(HkSim *sim);
size_t hk_sim_springs_bytes(const HkSim *sim);
/* Gives the state back where the integrator has taken it over. */
void hk_sim_close(HkSim *sim, HkState *state);
/* a = M^-1 f(t, x, v) (m/s^2); 0 for held pins and for z in two dimensions. */
void hk_sim_acceleration(HkSim *sim, const HkState *state, double t, const double *x,
                         const double *v, double *a);
/* y = x + s d over all coordinates; y may be x. */
void hk_sim_axpy(const HkSim *sim, double s, const double *d, const double *x, double *y);

#endif
