/* Methods of Hooke; see methods.h. */
#include "methods.h"

#include <stdio.h>
#include <string.h>

#define NEWTON(linear)                                                                             \
  "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance': 1e-9, "                 \
  "'linear': " linear "}}"
#define PCG(preconditioner) "{'type': 'pcg', 'preconditioner': {'type': '" preconditioner "'}}"

const Method methods_implicit[] = {
    {"default", "{'type': 'backward_euler'}"},
    {"newton+pcg+multigrid", "{'type': 'backward_euler', 'minimizer': {'type': 'newton', "
                             "'tolerance': 1e-5, 'linear': " PCG("multigrid") "}}"},
    {"newton+pcg+block_jacobi", NEWTON(PCG("block_jacobi"))},
    {"newton+cholesky", NEWTON("{'type': 'cholesky'}")},
    {"local_global+anderson",
     "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'tolerance': 1e-9}}"},
    {NULL, NULL}};

const Method methods_linear_implicit[] = {
    {"default", "{'type': 'linear_implicit_euler'}"},
    {"pcg+multigrid", "{'type': 'linear_implicit_euler', 'linear': " PCG("multigrid") "}"},
    {"pcg+block_jacobi", "{'type': 'linear_implicit_euler', 'linear': " PCG("block_jacobi") "}"},
    {"pcg+ic0", "{'type': 'linear_implicit_euler', 'linear': " PCG("ic0") "}"},
    {NULL, NULL}};

const Method methods_double[] = {{"double", "{'type': 'symplectic_euler'}"}, {NULL, NULL}};

const Method methods_single[] = {{"single", "{'type': 'symplectic_euler', 'precision': 'single'}"},
                                 {NULL, NULL}};

#define LOCAL_GLOBAL(iterations)                                                                   \
  "{'type': 'backward_euler', 'minimizer': {'type': 'local_global', 'acceleration': 'none', "      \
  "'tolerance': 0, 'iterations': " iterations "}}"

const Method method_local_global = {"local_global", LOCAL_GLOBAL("21")};
const Method method_local_global_once = {"local_global, once", LOCAL_GLOBAL("1")};

const Method methods_reference[] = {
    {"newton+cholesky", "{'type': 'backward_euler', 'minimizer': {'type': 'newton', 'tolerance': "
                        "1e-12, 'linear': {'type': 'cholesky'}}}"},
    {"newton+pcg+multigrid", "{'type': 'backward_euler', 'minimizer': {'type': 'newton', "
                             "'tolerance': 1e-12, 'linear': " PCG("multigrid") "}}"},
    {NULL, NULL}};

void json_quotes(char *text) {
  for (; *text; text++)
    if (*text == '\'') *text = '"';
}

HkSim *method_sim(const HkModel *model, const Method *method, double h, HkError *error) {
  char text[1024];
  HkScene *scene = NULL;
  HkSim *sim = NULL;
  snprintf(text, sizeof text, "{'bodies': [{'shape': 'grid'}], 'integrator': %s}", method->text);
  json_quotes(text);
  HkStatus status =
      hk_scene_parse(NULL, text, strlen(text), method->name, NULL, NULL, 0, &scene, error);
  if (status >= 0) hk_sim_create(model, &scene->step, h, &sim, error);
  hk_scene_destroy(&scene);
  return sim;
}
