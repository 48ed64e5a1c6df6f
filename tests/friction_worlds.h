/* A sheet of 7 x 7 vertices on an inclined surface, and what it does there. */
#ifndef HOOKE_TEST_FRICTION_WORLDS_H
#define HOOKE_TEST_FRICTION_WORLDS_H

#include "world.h"

typedef enum Surface { SURFACE_PLANE, SURFACE_MESH, SURFACE_SHEET, SURFACE_COUNT } Surface;

typedef struct InclineCase {
  Surface surface;        /* an obstacle with a distance, one with triangles, or a fixed sheet */
  double angle;           /* degrees */
  double h;               /* s */
  const char *integrator; /* JSON in single quotes */
  const char *friction;   /* keys of the force contact, in single quotes */
  double speed;           /* m/s, of the sheet at the start, down the slope */
} InclineCase;

/* The sheet comes to rest while gravity is normal to the surface, then gravity is vertical, and the
 * sheet has its speed. */
World incline_make(const InclineCase *c);
/* Mean velocity of the sheet down the slope (m/s). */
double incline_speed(const World *w, double angle);
/* The largest distance (m) that a vertex of the sheet is from its place in x. */
double incline_drift(const World *w, const double *x);
/* Mean displacement of the sheet down the slope from its place in x (m). */
double incline_travel(const World *w, double angle, const double *x);
/* Replaces gravity by one of this direction. */
void set_gravity(World *w, double x, double y);

#endif
