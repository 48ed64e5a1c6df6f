/* A chosen method with its parameters and those nested in it, such as the minimizer of an
 * integrator and its linear solver. */
#ifndef HOOKE_CLI_DESCRIBE_H
#define HOOKE_CLI_DESCRIBE_H

#include "hooke/hooke.h"
#include "json.h"

/* Rows on standard output, one a method: "  minimizer     newton: iterations 200 ...". */
void describe_method(const HkMethod *method);
/* Members "integrator": name, "minimizer": name ... of the object that is being written. */
void describe_json(Json *json, const HkMethod *method);
/* The row about the largest stable step (s) of an integrator. */
void describe_stable_step(const HkMethod *integrator, double h);

/* The value of a number, integer, boolean or choice; NAN where there is none of that name. */
double describe_number(const HkMethod *method, const char *param);

/* Whether an integrator solves equations in each step. */
bool describe_is_implicit(const HkSchema *integrator);

#endif
