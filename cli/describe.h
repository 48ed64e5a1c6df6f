/* A chosen method with its parameters and those nested in it, such as the minimizer of an
 * integrator and its linear solver. */
#ifndef HOOKE_CLI_DESCRIBE_H
#define HOOKE_CLI_DESCRIBE_H

#include "hooke/hooke.h"
#include "json.h"

/* Prints one row a method on standard output: "  minimizer     newton: iterations 200 ...". */
void describe_method(const HkMethod *method);
/* Members "integrator": name, "minimizer": name ... of the object that is being written. */
void describe_json(Json *json, const HkMethod *method);
/* Prints the row of the largest stable step (s) of an integrator. */
void describe_stable_step(const HkMethod *integrator, double h);

/* Returns the value of a number, integer, boolean or choice; NAN if there is no parameter of that
 * name. */
double describe_number(const HkMethod *method, const char *param);

/* Returns whether an integrator is implicit. */
bool describe_is_implicit(const HkSchema *integrator);

#endif
