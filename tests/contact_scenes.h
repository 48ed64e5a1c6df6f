/* Scenes that try to make things pass through each other. */
#ifndef HOOKE_TEST_CONTACT_SCENES_H
#define HOOKE_TEST_CONTACT_SCENES_H

#include "hooke/hooke.h"

typedef struct ContactCase {
  int scene;              /* from 0 to contact_scene_count() - 1 */
  int size;               /* 1: some 100 vertices; lengths of edges go with 1 / size */
  double h;               /* s */
  const char *integrator; /* its name */
  const char *linear;     /* JSON of the linear solver of newton, in single quotes */
  const char *minimizer;  /* JSON of another minimizer, in single quotes; NULL: newton */
  int threads;
  double distance, thickness; /* m, of contact; 0: 2e-3 */
  double friction;            /* coefficient; 0: that of the scene */
  uint64_t seed;              /* of the random displacements at the start; 0: there are none */
  int64_t steps;              /* at most */
  double seconds;             /* of time; a run that takes longer ends within the step */
  bool renews;                /* repeats each step with a new simulation, and compares the bits */
} ContactCase;

/* What must hold in a scene, and how it starts. */
typedef struct ContactFacts {
  double thickness;      /* m */
  double displacement;   /* m: the largest random displacement at the start along a coordinate */
  double ground;         /* m, height; INFINITY: there is none */
  const char *held, *by; /* the body `by` holds the body `held`, which stays above; NULL: none */
  bool linked;           /* the first two bodies are linked rings */
} ContactFacts;

int contact_scene_count(void);
const char *contact_scene_name(int scene);
/* Duration (s) within which the interesting things of a scene happen. */
double contact_scene_duration(int scene);
/* The scene as JSON; the caller frees it. */
char *contact_scene_text(const ContactCase *choice);
ContactFacts contact_scene_facts(const ContactCase *choice);

#endif
