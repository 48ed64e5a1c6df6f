/* Requests of the page and their answers. */
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(registry_has_every_method_and_scene) {
  Page page = open_page();
  HkJson answer = ask_text(&page, "{'id': 7, 'ask': 'registry'}");
  CHECK(number_in(&answer, "id") == 7);
  const HkJson *families = hk_json_get(&answer, "families");
  CHECK(hk_json_size(families) == HK_FAMILY_COUNT);
  CHECK(hk_json_size(hk_json_get(families, "integrator")) == hk_schema_count(HK_STEP));
  const char *name;
  int scenes = 0;
  while (hk_scene_builtin(scenes, &name, NULL)) scenes++;
  CHECK(hk_json_size(hk_json_get(&answer, "scenes")) == scenes);
  hk_json_clear(&answer);
  close_page(&page);
}

/* Even where the program that serves the page allows libraries to its own scenes. */
TEST(a_page_loads_no_shared_library) {
  static const char load[] =
      "{\"ask\": \"load\", \"scene\": \"{\\\"bodies\\\": [{\\\"shape\\\": \\\"grid\\\"}], "
      "\\\"forces\\\": [{\\\"type\\\": \\\"library\\\", \\\"file\\\": \\\"magnet.so\\\", "
      "\\\"name\\\": \\\"magnet\\\"}]}\"}";
  Page page = open_page();
  HkContext context = hk_context_default();
  context.libraries = true;
  play_destroy(&page.play);
  page.play = play_create(&context, page.folder);
  CHECK(!send_bytes(&page, load, strlen(load), false));
  HkJson answer = answer_of(&page);
  CHECK(strstr(error_in(&answer), "only where the option 'libraries' allows it") != NULL);
  hk_json_clear(&answer);
  answer = ask_text(&page, "{'ask': 'registry'}");
  const HkJson *forces = hk_json_get(hk_json_get(&answer, "families"), "force");
  CHECK(hk_json_size(forces) == hk_schema_count(HK_FORCE) - 1);
  hk_json_clear(&answer);
  close_page(&page);
}

TEST(every_scene_plays) {
  const char *name;
  for (int q = 0; hk_scene_builtin(q, &name, NULL); q++) {
    Page page = open_page();
    char text[200];
    snprintf(text, sizeof text, "{'id': 1, 'ask': 'load', 'builtin': '%s'}", name);
    HkJson info = ask_text(&page, text);
    CHECK(error_in(&info)[0] == 0);
    CHECK(ask(&page, "{'id': 2, 'ask': 'topology'}"));
    Frame f = frame(&page, "{'id': 3, 'ask': 'frame', 'steps': 20, 'color': 'strain'}");
    CHECK(f.vertices == number_in(&info, "vertices") && f.value);
    CHECK(f.number[MADE] == 20 && f.number[ALL] == 20);
    CHECK_NEAR(f.number[TIME], 20 * number_in(&info, "step"), 1e-9);
    CHECK((f.flags & 1) == 0 && isfinite(f.number[TOTAL]));
    for (uint32_t c = 0; c < 3 * f.vertices; c++) CHECK(isfinite(f.x[c]));
    hk_json_clear(&info);
    close_page(&page);
  }
}

TEST(what_is_set_changes_while_it_plays) {
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'flag'}");
  Frame before = frame(&page, "{'ask': 'frame', 'steps': 50}");
  float x = before.x[3 * (before.vertices - 1)];
  double time = before.number[TIME];
  const char *changes[] = {"integrator.type=backward_euler",  "bodies[0].springs.EA=40",
                           "bodies[0].mass.area_density=0.3", "forces[0].g=1.6",
                           "forces[1].velocity=[1, 0, 0]",    "time.step=0.01"};
  for (size_t q = 0; q < sizeof changes / sizeof changes[0]; q++) {
    char text[200];
    snprintf(text, sizeof text, "{'ask': 'set', 'assign': ['%s']}", changes[q]);
    expect_good(&page, text);
    Frame now = frame(&page, "{'ask': 'frame', 'steps': 0}");
    CHECK(now.number[TIME] == time && now.x[3 * (now.vertices - 1)] == x);
  }
  HkJson info = ask_text(&page, "{'ask': 'set', 'assign': ['time.step=0.02']}");
  CHECK(hk_json_size(hk_json_get(&info, "sets")) == 6 && number_in(&info, "step") == 0.02);
  CHECK(strcmp(hk_json_get(hk_json_get(&info, "integrator"), "type")->text, "backward_euler") == 0);
  hk_json_clear(&info);
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 1}").number[TIME] > time);
  expect_error(&page, "{'ask': 'set', 'assign': ['time.step=-1']}", "time.step");
  expect_error(&page, "{'ask': 'set', 'assign': ['bodies[0].shape.nx=9']}", "number of vertices");
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 1}").number[STEP] == 0.02);
  info = ask_text(&page, "{'ask': 'set', 'assign': [], 'remove': ['integrator', 'time']}");
  CHECK(hk_json_size(hk_json_get(&info, "sets")) == 4);
  hk_json_clear(&info);
  close_page(&page);
}

TEST(a_hand_pulls_the_vertex_and_lets_it_go) {
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'curtain'}");
  HkJson grabbed = ask_text(&page, "{'ask': 'grab', 'vertex': 0, 'stiffness': 10}");
  CHECK(number_in(&grabbed, "vertex") == 0);
  hk_json_clear(&grabbed);
  expect_good(&page, "{'ask': 'drag', 'point': [0.3, 0.2, 0.4]}");
  Frame f = frame(&page, "{'ask': 'frame', 'seconds': 0.9}");
  double far[3] = {f.x[0] - 0.3, f.x[1] - 0.2, f.x[2] - 0.4};
  CHECK(f.number[GRABBED] == 0);
  CHECK(sqrt(far[0] * far[0] + far[1] * far[1] + far[2] * far[2]) < 0.3);
  expect_good(&page, "{'ask': 'set', 'assign': ['forces[0].g=5']}"); /* the hand stays */
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 1}").number[GRABBED] == 0);
  expect_good(&page, "{'ask': 'drop'}");
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 1}").number[GRABBED] == -1);
  grabbed = ask_text(&page, "{'ask': 'grab', 'origin': [0, 0, 5], 'direction': [0, 0, 1]}");
  CHECK(number_in(&grabbed, "vertex") == -1); /* all is behind */
  hk_json_clear(&grabbed);
  close_page(&page);
}

TEST(pins_are_set_and_released) {
  Page page = open_page();
  HkJson info = ask_text(&page, "{'ask': 'load', 'builtin': 'curtain'}");
  const HkJson *pinned = hk_json_get(&info, "pinned");
  int before = hk_json_size(pinned);
  int pin = (int)hk_json_number(hk_json_at(pinned, 0));
  char text[100];
  CHECK(before > 0);
  const int vertices[] = {pin, 5, 6}, held[] = {0, 1, 1}, change[] = {-1, 0, 1};
  for (int q = 0; q < 3; q++) {
    snprintf(text, sizeof text, "{'ask': 'pin', 'vertex': %d}", vertices[q]);
    HkJson answer = ask_text(&page, text);
    CHECK(hk_json_get(&answer, "held")->boolean == held[q]);
    CHECK(hk_json_size(hk_json_get(&answer, "pinned")) == before + change[q]);
    hk_json_clear(&answer);
  }
  frame(&page, "{'ask': 'frame', 'steps': 3}");
  for (int q = 0; q < 3; q++) {
    snprintf(text, sizeof text, "{'ask': 'pin', 'vertex': %d}", vertices[q]);
    expect_good(&page, text);
  }
  HkJson again = ask_text(&page, "{'ask': 'set', 'assign': ['forces[0].g=5']}");
  CHECK(hk_json_size(hk_json_get(&again, "pinned")) == before);
  hk_json_clear(&again);
  hk_json_clear(&info);
  close_page(&page);
}

TEST(a_blow_up_is_an_error_and_undone) {
  Page page = open_page();
  expect_good(&page, "{'ask': 'load', 'builtin': 'flag', 'sets': ['integrator=forward_euler', "
                     "'time.step=0.01']}");
  Frame f = frame(&page, "{'ask': 'frame', 'steps': 1000}");
  CHECK(f.flags & 1);
  for (uint32_t c = 0; c < 3 * f.vertices; c++) CHECK(isfinite(f.x[c]));
  HkJson why = ask_text(&page, "{'ask': 'why'}");
  CHECK(strlen(hk_json_get(&why, "text")->text) > 10);
  hk_json_clear(&why);
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 1}").number[MADE] == 0);
  expect_good(&page, "{'ask': 'reset'}");
  f = frame(&page, "{'ask': 'frame', 'steps': 1}");
  CHECK((f.flags & 1) == 0 && f.number[ALL] == 1);
  close_page(&page);
}

/* "HKUT", its number 9, the length of the name, the name and the bytes. */
static void put(Page *page, const char *name, const char *bytes) {
  char message[1024] = {'H', 'K', 'U', 'T', 9};
  message[8] = (char)strlen(name);
  int size = snprintf(message + 12, sizeof message - 12, "%s%s", name, bytes);
  CHECK(!send_bytes(page, message, 12 + (size_t)size, true));
}

TEST(files_come_and_go) {
  Page page = open_page();
  put(&page, "two.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
  HkJson answer = answer_of(&page);
  CHECK(number_in(&answer, "id") == 9 && error_in(&answer)[0] == 0);
  hk_json_clear(&answer);
  answer = ask_text(&page, "{'ask': 'load', 'file': 'two.obj'}");
  CHECK(number_in(&answer, "vertices") == 4 && number_in(&answer, "triangles") == 2);
  hk_json_clear(&answer);
  size_t size;
  CHECK(ask(&page, "{'ask': 'save', 'what': 'obj'}"));
  const char *saved = play_answer(page.play, &size);
  CHECK(size > 30 && memcmp(saved, "HKSV", 4) == 0 && strstr(saved + 8, "f 1 2 3"));
  CHECK(ask(&page, "{'ask': 'save', 'what': 'checkpoint'}"));
  CHECK(ask(&page, "{'ask': 'save', 'what': 'scene'}"));
  expect_error(&page, "{'ask': 'save', 'what': 'soul'}", "save what?");
  put(&page, "bad.json", "{\"bodies\": [{\"shape\": \"grod\"}]}");
  expect_error(&page, "{'ask': 'load', 'file': 'bad.json'}", "did you mean 'grid'");
  const char *names[] = {"../x", "a/b", ".x", "a\\b", "\n"};
  for (size_t q = 0; q < sizeof names / sizeof names[0]; q++) {
    put(&page, names[q], "x");
    answer = answer_of(&page);
    CHECK(strstr(error_in(&answer), "no name of a file"));
    hk_json_clear(&answer);
  }
  close_page(&page);
}

/* The vertices that a saved scene pins, as another session that loads it lists them. */
static void expect_saved_pins(Page *page, const int *vertices, int count) {
  size_t size;
  Page other = open_page();
  CHECK(ask(page, "{'ask': 'save', 'what': 'scene'}"));
  const char *saved = play_answer(page->play, &size);
  HkJson request = hk_json_object();
  char *text = NULL, *scene = strndup(saved + 8, size - 8);
  hk_json_add(&request, "ask", hk_json_text("load"));
  hk_json_add(&request, "scene", hk_json_text(scene));
  CHECK(hk_json_write(&request, 0, 17, &text, NULL) >= 0);
  CHECK(!send_bytes(&other, text, strlen(text), false));
  HkJson info = answer_of(&other);
  const HkJson *pinned = hk_json_get(&info, "pinned");
  CHECK(error_in(&info)[0] == 0);
  CHECK(hk_json_size(pinned) == count);
  for (int q = 0; q < count && q < hk_json_size(pinned); q++)
    CHECK(hk_json_number(hk_json_at(pinned, q)) == vertices[q]);
  hk_json_clear(&info);
  hk_json_clear(&request);
  free(text);
  free(scene);
  close_page(&other);
}

/* Loads a chain of the vertices 0 to 4 with these pins; quotes are ' in text. */
static void load_chain(Page *page, const char *pins) {
  char text[400];
  snprintf(text, sizeof text, "{'bodies': [{'shape': {'type': 'chain', 'n': 5}}], 'pins': %s}",
           pins);
  for (char *c = text; *c; c++)
    if (*c == '\'') *c = '"';
  put(page, "chain.json", text);
  expect_good(page, "{'ask': 'load', 'file': 'chain.json'}");
}

static void release_and_save(const char *pins) {
  Page page = open_page();
  load_chain(&page, pins);
  expect_saved_pins(&page, (const int[]){0, 1, 4}, 3);
  expect_good(&page,
              "{'ask': 'pin', 'vertex': 1}"); /* releases it, and nothing is left of its pin */
  expect_saved_pins(&page, (const int[]){0, 4}, 2);
  expect_good(&page, "{'ask': 'pin', 'vertex': 0}");
  expect_saved_pins(&page, (const int[]){4}, 1);
  expect_good(&page, "{'ask': 'pin', 'vertex': 2}");
  expect_saved_pins(&page, (const int[]){2, 4}, 2);
  expect_good(&page, "{'ask': 'pin', 'vertex': 4}");
  expect_good(&page, "{'ask': 'pin', 'vertex': 2}");
  expect_saved_pins(&page, NULL, 0);
  expect_good(&page, "{'ask': 'pin', 'vertex': 0}"); /* holds it again */
  expect_saved_pins(&page, (const int[]){0}, 1);
  close_page(&page);
}

TEST(pins_released_by_hand_are_missing_in_the_saved_scene) {
#define TWO_PINS                                                                                   \
  "[{'select': 'ends', 'motion': {'type': 'rotation'}}, {'select': {'indices': [1]}}]"
  release_and_save(TWO_PINS);
  release_and_save("{'method': 'reaction', 'list': " TWO_PINS "}");
}

TEST(a_change_of_which_vertices_are_pinned_forgets_what_was_released) {
  Page page = open_page();
  load_chain(&page, "[{'select': 'start'}]");
  expect_good(&page, "{'ask': 'pin', 'vertex': 0}");
  HkJson info = ask_text(&page, "{'ask': 'set', 'assign': ['pins[0].select=end']}");
  CHECK(hk_json_size(hk_json_get(&info, "pinned")) == 1);
  hk_json_clear(&info);
  close_page(&page);
}

TEST(pipes_and_folders_are_no_scenes) {
  Page page = open_page();
  char path[128];
  snprintf(path, sizeof path, "%s/pipe.json", page.folder);
  CHECK(mkfifo(path, 0600) == 0);
  snprintf(path, sizeof path, "%s/folder.json", page.folder);
  CHECK(mkdir(path, 0700) == 0);
  alarm(10); /* a pipe that is opened would wait forever */
  expect_error(&page, "{'ask': 'load', 'file': 'pipe.json'}", "pipe.json: is a folder, a pipe");
  alarm(0);
  expect_error(&page, "{'ask': 'load', 'file': 'folder.json'}", "folder.json: is a folder");
  expect_error(&page, "{'ask': 'load', 'file': 'none.json'}", "none.json: No such file");
  close_page(&page);
}

TEST(nonsense_gets_an_error_and_changes_nothing) {
  Page page = open_page();
  const char *whole = "{\"id\": 1, \"ask\": \"load\", \"builtin\": \"oscillator\", \"sets\": []}";
  expect_error(&page, "{'ask': 'frame'}", "no scene");
  expect_error(&page, "{'ask': 'fly'}", "'fly' cannot be asked");
  expect_error(&page, "{'ask': 'load', 'builtin': 'nothing'}", "no built-in scene");
  expect_error(&page, "[1, 2]", "cannot be asked");
  for (size_t q = 0; q < strlen(whole); q++) {
    CHECK(!send_bytes(&page, whole, q, false));
    HkJson answer = answer_of(&page);
    CHECK(error_in(&answer)[0] != 0);
    hk_json_clear(&answer);
  }
  CHECK(!send_bytes(&page, whole, strlen(whole), false));
  expect_error(&page, "{'ask': 'load', 'scene': '{}'}", "bodies");
  CHECK(frame(&page, "{'ask': 'frame', 'steps': 1}").number[MADE] == 1);
  for (size_t size = 0; size < 12; size++) {
    CHECK(!send_bytes(&page, "HKUT12345678", size, true));
    HkJson answer = answer_of(&page);
    CHECK(error_in(&answer)[0] != 0);
    hk_json_clear(&answer);
  }
  CHECK(play_buffer(page.play, (size_t)PLAY_MAX_MESSAGE_BYTES + 1) == NULL);
  close_page(&page);
}

/* ---- Obstacles ---- */

#define SHEET                                                                                      \
  "{'ask': 'load', 'scene': '{\\'bodies\\': [{\\'shape\\': {\\'type\\': \\'grid\\', \\'nx\\': "    \
  "13, "                                                                                           \
  "\\'ny\\': 13, \\'plane\\': \\'xz\\', \\'centered\\': true}, \\'transform\\': "                  \
  "{\\'translate\\': [0, "                                                                         \
  "0.02, 0]}, \\'springs\\': {\\'EA\\': 20, \\'shear\\': true}, \\'mass\\': 0.2}], "               \
  "\\'obstacles\\': "                                                                              \
  "[{\\'name\\': \\'ball\\', \\'type\\': \\'ball\\', \\'center\\': [0, 0.4, 0], \\'radius\\': "    \
  "0.3}, "                                                                                         \
  "{\\'type\\': \\'box\\', \\'center\\': [3, 0, 0], \\'motion\\': {\\'type\\': \\'rotation\\', "   \
  "\\'center\\': [3, 0, 0]}}], \\'forces\\': [\\'gravity\\', {\\'type\\': \\'contact\\', "         \
  "\\'thickness\\': "                                                                              \
  "0.01, \\'distance\\': 0.01%s}], \\'integrator\\': \\'backward_euler\\', \\'time\\': "           \
  "{\\'step\\': "                                                                                  \
  "0.02}}'}"

/* A sheet, a ball of radius 0.3 m above it and a box that turns; on the ground or in free space. */
static void load_sheet(Page *page, const char *ground) {
  char text[2048];
  snprintf(text, sizeof text, SHEET, ground);
  expect_good(page, text);
}

/* The least distance of a vertex from the surface of the ball. */
static double clearance(const Frame *f) {
  double least = INFINITY, y = 0.4 + (double)f->pose[10];
  for (uint32_t v = 0; v < f->vertices; v++) {
    const float *x = f->x + 3 * v;
    double r =
        hypot(hypot((double)(x[0] - f->pose[9]), (double)x[1] - y), (double)(x[2] - f->pose[11]));
    least = fmin(least, r - 0.3);
  }
  return least;
}

TEST(obstacles_are_sent_with_their_poses) {
  Page page = open_page();
  size_t size;
  load_sheet(&page, ", \\'ground\\': true");
  CHECK(ask(&page, "{'ask': 'obstacles'}"));
  const unsigned char *bytes = play_answer(page.play, &size);
  uint32_t head[4];
  memcpy(head, bytes + 8, sizeof head);
  CHECK(memcmp(bytes, "HKOB", 4) == 0 && head[0] == 3 && head[1] > 100 && head[3] == 2);
  HkJson answer = ask_text(&page, "{'ask': 'reset'}");
  const HkJson *names = hk_json_get(&answer, "obstacles");
  CHECK(hk_json_size(names) == 3 && strcmp(hk_json_at(names, 2)->text, "ground") == 0);
  hk_json_clear(&answer);
  Frame f = frame(&page, "{'ask': 'frame', 'steps': 5}");
  CHECK(f.number[OBSTACLES] == 3);
  CHECK(f.pose[0] == 1 && f.pose[9] == 0);
  CHECK_NEAR(f.pose[12], cos(0.1 * M_PI / 2), 1e-6); /* 90 degrees a second about y */
  close_page(&page);
}

TEST(a_ball_that_is_dragged_through_a_sheet_pushes_it_along) {
  Page page = open_page();
  load_sheet(&page, "");
  expect_good(&page, "{'ask': 'move', 'obstacle': 0, 'point': [0, -2, 0]}");
  for (int k = 0; k < 40; k++) {
    Frame f = frame(&page, "{'ask': 'frame', 'steps': 1}");
    CHECK(!(f.flags & BLOWN));
    CHECK(clearance(&f) > 0.004);
    if (k == 39) CHECK_NEAR(f.pose[10], -2, 1e-6);
  }
  close_page(&page);
}

TEST(a_ball_that_is_pressed_onto_the_ground_waits_for_space) {
  Page page = open_page();
  load_sheet(&page, ", \\'ground\\': true");
  frame(&page, "{'ask': 'frame', 'steps': 10}");
  expect_good(&page, "{'ask': 'move', 'obstacle': 0, 'point': [0, -0.3, 0]}");
  int late = 0;
  Frame f = {0};
  for (int k = 0; k < 12; k++) {
    f = frame(&page, "{'ask': 'frame', 'steps': 1}");
    late += (f.flags & LATE) != 0;
    CHECK(!(f.flags & BLOWN) && f.number[MADE] == 1);
    CHECK(clearance(&f) > 0.004);
  }
  CHECK(late > 0 && f.pose[10] > -0.1F && f.pose[10] < -0.05F);
  expect_good(&page, "{'ask': 'stay'}");
  f = frame(&page, "{'ask': 'frame', 'steps': 2}");
  CHECK(!(f.flags & LATE) && !(f.flags & BLOWN));
  float rest = f.pose[10];
  expect_good(&page, "{'ask': 'set', 'assign': ['forces[0].g=5']}"); /* it stays where it is */
  f = frame(&page, "{'ask': 'frame', 'steps': 1}");
  CHECK_NEAR(f.pose[10], rest, 1e-6);
  expect_good(&page, "{'ask': 'reset'}");
  f = frame(&page, "{'ask': 'frame', 'steps': 1}");
  CHECK(f.pose[10] == 0);
  close_page(&page);
}

TEST(moved_obstacles_are_in_the_saved_scene_and_others_cannot_be_moved) {
  Page page = open_page();
  size_t size;
  load_sheet(&page, "");
  expect_error(&page, "{'ask': 'move', 'obstacle': 2}", "the ground cannot be moved");
  frame(&page, "{'ask': 'frame', 'steps': 3}");
  expect_error(&page, "{'ask': 'move', 'obstacle': 1}", "turns by itself");
  expect_good(&page, "{'ask': 'move', 'obstacle': 0, 'point': [0.05, 0.1, 0]}");
  frame(&page, "{'ask': 'frame', 'steps': 5}");
  CHECK(ask(&page, "{'ask': 'save', 'what': 'scene'}"));
  const char *text = play_answer(page.play, &size);
  CHECK(size > 8 && strstr(text + 8, "keyframes") && strstr(text + 8, "0.05"));
  close_page(&page);
}
