/* No run writes a number that is not finite: what leaves the range of the outputs is a blow-up. */
#include "world.h"

#include <stdlib.h>

static const char *const chain =
    "{'time': {'duration': 2, 'step': 0.05, 'frames_per_second': 20}, 'bodies': [{'shape': "
    "{'type': "
    "'chain', 'n': 4, 'end': [0, 1, 0]}, 'springs': {'k': 100}, 'mass': 1}], 'forces': "
    "['gravity'], "
    "'integrator': 'backward_euler', 'probes': [{'name': 'a', 'select': 'all'}], 'outputs': "
    "['energies', 'reactions', 'probes', 'solver', 'obj']}";

typedef struct Ending {
  const char *sets[3]; /* of the chain */
  HkStatus status;
  const char *text; /* in its explanation */
} Ending;

static const Ending endings[] = {
    {{"bodies[0].springs.k=1e4"}, HK_DONE, NULL},
    /* 32-bit outputs hold 3.4e38, 64-bit ones 1.8e308. */
    {{"bodies[0].velocity=[1e39, 0, 0]", "outputs[4]=vtp"}, HK_ERROR_BLOWUP, "velocity 1e+39 m/s"},
    {{"bodies[0].velocity=[1e39, 0, 0]", "outputs[4]=vtu"}, HK_ERROR_BLOWUP, "output 'vtu' stores"},
    {{"bodies[0].velocity=[1e39, 0, 0]", "outputs[4]={\"type\": \"vtp\", \"precise\": true}"},
     HK_DONE,
     NULL},
    {{"bodies[0].velocity=[1e39, 0, 0]"}, HK_DONE, NULL},
    {{"bodies[0].velocity=[3e38, 0, 0]", "outputs[4]=pc2"}, HK_ERROR_BLOWUP, "position 3.45e+38 m"},
    {{"forces[0].g=1e41", "outputs[4]=vtp"}, HK_ERROR_BLOWUP, "force -2.5e+40 N of vertex 0"},
    /* Energies, momenta and reactions beyond 64 bits. */
    {{"bodies[0].velocity=[1e200, 0, 0]"}, HK_ERROR_BLOWUP, "the kinetic energy is inf J"},
    {{"bodies[0].springs.k=1e300", "bodies[0].transform.scale=1e10"},
     HK_ERROR_BLOWUP,
     "the gradient of the step's energy is not finite"},
    {{"bodies[0].springs.k=1e300", "bodies[0].springs.rest_scale=0.5",
      "bodies[0].transform.scale=1e10"},
     HK_ERROR_BLOWUP,
     "the spring energy is inf J"},
};

/* The run's folder has a number in a table that is not finite. */
static bool has_bad_number(const char *folder) {
  char command[1024];
  snprintf(command, sizeof command, "grep -rqwE --include=*.csv --include=*.obj 'inf|nan' '%s'",
           folder);
  return system(command) == 0;
}

static void check_ending(const Ending *ending) {
  HkScene *scene = NULL;
  HkRun *run = NULL;
  HkError error = {0};
  HkRunOptions options = hk_run_options_default();
  char folder[300];
  int count = 0;
  while (count < 3 && ending->sets[count]) count++;
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  options.folder = folder;
  HkStatus status = hk_scene_parse(NULL, test_json(chain), strlen(chain), "scene", NULL,
                                   ending->sets, count, &scene, &error);
  if (status >= 0) status = hk_run_create(scene, &options, &run, &error);
  while (status == HK_OK) status = hk_run_frame(run, &error);
  if (status != ending->status || (ending->text && !strstr(error.text, ending->text)))
    test_fail(__FILE__, __LINE__, "%s: status %d, not %d with '%s': %s", ending->sets[0], status,
              ending->status, ending->text ? ending->text : "", error.text);
  CHECK(!has_bad_number(folder));
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}

TEST(numbers_that_are_not_finite_are_never_written) {
  for (size_t q = 0; q < sizeof endings / sizeof endings[0]; q++) check_ending(&endings[q]);
}

TEST(frame_that_an_output_cannot_hold_leaves_those_before_it) {
  const char *set[] = {"outputs=[\"pc2\", \"energies\"]", "bodies[0].velocity=[3e38, 0, 0]"};
  HkScene *scene = NULL;
  HkRun *run = NULL;
  HkRunOptions options = hk_run_options_default();
  char folder[300];
  snprintf(folder, sizeof folder, "%s/run", test_folder());
  options.folder = folder;
  CHECK(hk_scene_parse(NULL, test_json(chain), strlen(chain), "scene", NULL, set, 2, &scene,
                       NULL) >= 0);
  CHECK(hk_run_create(scene, &options, &run, NULL) == HK_OK);
  while (hk_run_frame(run, NULL) == HK_OK) continue;
  CHECK(hk_run_progress(run).frame == 22); /* x = 3e38 m/s * 1.1 s */
  hk_run_destroy(&run);
  hk_scene_destroy(&scene);
}
