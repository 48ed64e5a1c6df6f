/* A spring as it is drawn where there are few of them: a coil. */
#ifndef HOOKE_CLI_COIL_H
#define HOOKE_CLI_COIL_H

/* Straight parts of a coil. */
enum { COIL_TURNS = 11, COIL_TURN_PARTS = 20, COIL_PARTS = COIL_TURNS * COIL_TURN_PARTS + 2 };

/* The end of part 0 .. COIL_PARTS of a coil from a to b; 0 is a itself. radius: of its turns. */
void coil_point(const float a[3], const float b[3], double radius, int part, float x[3]);

#endif
