/* The coil as which a spring is drawn in models of few springs. */
#ifndef HOOKE_CLI_COIL_H
#define HOOKE_CLI_COIL_H

/* Straight parts of a coil. */
enum { COIL_TURNS = 11, COIL_TURN_PARTS = 20, COIL_PARTS = COIL_TURNS * COIL_TURN_PARTS + 2 };

/* x becomes the end of part 0 .. COIL_PARTS of a coil from a to b; part 0 ends at a. radius: of its
 * turns. */
void coil_point(const float a[3], const float b[3], double radius, int part, float x[3]);

#endif
