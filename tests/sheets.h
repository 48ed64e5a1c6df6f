/* Pieces of scenes for tests of contact: horizontal sheets, and what the tests ask of a world. */
#ifndef HOOKE_TEST_SHEETS_H
#define HOOKE_TEST_SHEETS_H

#include "contact/contacts.h"
#include "world.h"

/* The end of a scene: backward Euler at 0.01 s. */
#define END                                                                                        \
  "'time': {'duration': 1, 'step': 0.01, 'frames_per_second': 100},"                               \
  "'integrator': {'type': 'backward_euler'}}"

/* A horizontal sheet of n x n vertices, 0.4 m wide. */
#define SHEET(name, n, y, more)                                                                    \
  "{'name': '" name "', 'shape': {'type': 'grid', 'nx': " n ", 'ny': " n                           \
  ", 'width': 0.4, 'height': 0.4, 'plane': 'xz', 'centered': true},"                               \
  " 'transform': {'translate': [0, " y ", 0]}, 'springs': {'k': 50, 'shear': true},"               \
  " 'mass': 0.1" more "}"

/* The contacts of the simulation of a world. */
HkContacts *sheets_contacts(const World *w);
/* The mean height (m) of the vertices of a body. */
double sheets_mean_height(const World *w, int body);
/* A scene from text in single quotes; NULL and a failed check after an error. */
HkScene *sheets_parse(const char *text, const HkContext *context, HkError *error);

#endif
