/* What stands in the files of the outputs, against closed forms and readers written here. */
#include "force/force.h"
#include "frames_by_hand.h"

#include <sys/stat.h>

static void check_text(const char *folder, const char *name, const char *expected) {
  char *text = hand_read(folder, name, NULL);
  if (strcmp(text, expected) != 0)
    test_fail(__FILE__, __LINE__, "%s is\n%s\nexpected\n%s", name, text, expected);
  free(text);
}

/* ---- OBJ ---- */

TEST(obj_of_a_grid_has_its_quads) {
  Hand *hand = hand_grid(3, 2);
  const char *folder = test_folder();
  MUST(hand_run("obj", folder, hand, 2, error));
  check_text(folder, "obj/frame_000000.obj",
             "# Hooke " HK_VERSION ", frame 0, time 0 s\n"
             "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nf 1 2 5 4\nf 2 3 6 5\n");
  check_text(folder, "obj/frame_000001.obj",
             "# Hooke " HK_VERSION ", frame 1, time 0.10000000000000001 s\n"
             "v 0 0 0\nv 1.25 0 0\nv 2.5 0 0\nv 0 1 0\nv 1.25 1 0\nv 2.5 1 0\n"
             "f 1 2 5 4\nf 2 3 6 5\n");
  hand_destroy(hand);
}

TEST(obj_of_a_solid_has_its_boundary) {
  Hand *hand = hand_tet();
  const char *folder = test_folder();
  MUST(hand_run("obj", folder, hand, 1, error));
  check_text(folder, "obj/frame_000000.obj",
             "# Hooke " HK_VERSION ", frame 0, time 0 s\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
             "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
  hand_destroy(hand);
}

/* Body 0 keeps its own faces and line, body 1, a solid without faces, shows its boundary. */
TEST(obj_chooses_faces_or_boundary_for_each_body) {
  Hand *hand = hand_zoo();
  const char *folder = test_folder();
  MUST(hand_run("obj", folder, hand, 1, error));
  char *text = hand_read(folder, "obj/frame_000000.obj", NULL);
  const char *elements = strstr(text, "\nl ");
  CHECK(elements && strcmp(elements, "\nl 5 6\nf 1 2 6\nf 2 3 4 5 6\nf 8 15 12\n") == 0);
  free(text);
  hand_destroy(hand);
}

TEST(obj_without_faces_and_lines_has_the_springs) {
  Hand *hand = hand_create(3, (double[]){0, 0, 0, 1, 0, 0, 2, 0, 0});
  hand_spring(hand, 2, 1, HK_SPRING_EDGE);
  hand_spring(hand, 0, 1, HK_SPRING_EDGE);
  hand_finish(hand);
  const char *folder = test_folder();
  MUST(hand_run("obj", folder, hand, 1, error));
  check_text(folder, "obj/frame_000000.obj",
             "# Hooke " HK_VERSION
             ", frame 0, time 0 s\nv 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 2 3\n");
  hand_destroy(hand);
}

/* Positions as a small reader finds them; returns how many. */
static int read_obj_positions(const char *text, double *x, int capacity) {
  int count = 0;
  for (const char *at = text; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (count < capacity && sscanf(at, "v %lf %lf %lf", x, x + 1, x + 2) == 3) {
      x += 3;
      count++;
    }
  }
  return count;
}

TEST(obj_gives_back_nine_digits_or_every_bit) {
  static const double x[] = {0.1, -1.0 / 3, 12345.678901234567, 1e-17, -2e-8, 1e12};
  for (int precise = 0; precise < 2; precise++) {
    Hand *hand = hand_create(2, x);
    hand_finish(hand);
    const char *folder = test_folder();
    HandOutput h;
    double back[6] = {0};
    MUST(hand_choose(&h, "obj", folder, error));
    MUST(hk_method_set_number(&h.method, "precise", precise, error));
    MUST(h.o.type->open(&h.o, &hand->model, error));
    MUST(hand_write(&h, hand, 0, error));
    MUST(hand_close(&h, error));
    char *text = hand_read(folder, "obj/frame_000000.obj", NULL);
    CHECK(read_obj_positions(text, back, 2) == 2);
    for (int q = 0; q < 6; q++) CHECK_NEAR(back[q], x[q], precise ? 0 : 5e-9 * fabs(x[q]));
    free(text);
    hand_destroy(hand);
  }
}

/* ---- CSV ---- */

TEST(energies_are_one_row_a_frame) {
  Hand *hand = hand_tet();
  const char *folder = test_folder();
  MUST(hand_run("energies", folder, hand, 2, error));
  check_text(folder, "energies.csv",
             "frame,time,kinetic,spring,gravity,other,total,px,py,pz,Lx,Ly,Lz,strain_min,"
             "strain_max,speed_max\n"
             "0,0,0,0,0,0,0.33333333333333331,0,0,0,0,0,0,0,0,0\n"
             "1,0.10000000000000001,1,0,0,0,0.33333333333333331,0,0,0,0,0,0,0,0,0\n");
  hand_destroy(hand);
}

TEST(probes_have_means_and_sums) {
  Hand *hand = hand_tet();
  HkCompiledProbe *probes = hand->model.probes = hand_alloc(2, sizeof *probes);
  hand->model.probe_count = 2;
  probes[0] = (HkCompiledProbe){"tip", hand_alloc(1, 4), 1};
  probes[1] = (HkCompiledProbe){"a \"wide\", one", hand_alloc(2, 4), 2};
  probes[0].vertices[0] = 3;
  probes[1].vertices[0] = 1;
  probes[1].vertices[1] = 2;
  const char *folder = test_folder();
  MUST(hand_run("probes", folder, hand, 2, error));
  check_text(folder, "probes.csv",
             "frame,time,tip.x,tip.y,tip.z,tip.vx,tip.vy,tip.vz,tip.fx,tip.fy,tip.fz,"
             "\"a \"\"wide\"\", one.x\",\"a \"\"wide\"\", one.y\",\"a \"\"wide\"\", one.z\","
             "\"a \"\"wide\"\", one.vx\",\"a \"\"wide\"\", one.vy\",\"a \"\"wide\"\", one.vz\","
             "\"a \"\"wide\"\", one.fx\",\"a \"\"wide\"\", one.fy\",\"a \"\"wide\"\", one.fz\"\n"
             "0,0,0,0,1,3,-3,0.5,3,6,0,0.5,0.5,0,1.5,-1.5,0.5,3,6,0\n"
             "1,0.10000000000000001,0,0,1,6,-6,1,3.125,6,-1,0.625,0.5,0,3,-3,1,3.25,6,-2\n");
  hand_destroy(hand);
}

/* ---- PC2 ---- */

static uint32_t little(const char *bytes) {
  const unsigned char *p = (const unsigned char *)bytes;
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static float little_float(const char *bytes) {
  uint32_t bits = little(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void check_pc2(const char *folder, Hand *hand, uint32_t samples, float every) {
  size_t size = 0, n = (size_t)hand->model.n;
  char *bytes = hand_read(folder, "mesh.pc2", &size);
  CHECK(size == 32 + 12 * n * samples);
  CHECK(memcmp(bytes, "POINTCACHE2", 12) == 0 && little(bytes + 12) == 1);
  CHECK(little(bytes + 16) == n && little(bytes + 28) == samples);
  CHECK(little_float(bytes + 20) == 0 && little_float(bytes + 24) == every);
  for (size_t k = 0; k < samples && size >= 32 + 12 * n * samples; k++) {
    hand_frame(hand, (int64_t)k);
    for (size_t q = 0; q < 3 * n; q++)
      CHECK(little_float(bytes + 32 + 4 * (3 * n * k + q)) == (float)hand->state.x[q]);
  }
  free(bytes);
}

TEST(pc2_is_whole_after_each_frame) {
  Hand *hand = hand_grid(5, 4);
  const char *folder = test_folder();
  HandOutput h;
  MUST(hand_choose(&h, "pc2", folder, error));
  MUST(hk_method_set_number(&h.method, "every", 3, error));
  MUST(h.o.type->open(&h.o, &hand->model, error));
  for (int k = 0; k < 4; k++) {
    check_pc2(folder, hand, (uint32_t)k, 3);
    MUST(hand_write(&h, hand, k, error));
  }
  check_pc2(folder, hand, 4, 3);
  /* Cut back to two samples: the count says so before anything is written again. */
  MUST(hand_close(&h, error));
  MUST(hand_choose(&h, "pc2", folder, error));
  MUST(hk_method_set_number(&h.method, "every", 3, error));
  h.o.offset = 32 + 2 * 12 * 20;
  MUST(h.o.type->open(&h.o, &hand->model, error));
  check_pc2(folder, hand, 2, 3);
  MUST(hand_close(&h, error));
  hand_destroy(hand);
}

static void check_every_vertex_named(Hand *hand) {
  const char *folder = test_folder();
  bool named[32] = {false};
  MUST(hand_run("pc2", folder, hand, 2, error));
  char *text = hand_read(folder, "mesh.obj", NULL);
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (line[0] != 'f' && line[0] != 'l') continue;
    for (char *at = line + 1; *at;) named[strtol(at, &at, 10)] = true;
  }
  for (int64_t q = 1; q <= hand->model.n; q++) CHECK(named[q]);
  free(text);
}

/* Blender forgets vertices that no face and no line names. */
TEST(the_mesh_of_pc2_names_every_vertex) {
  Hand *zoo = hand_zoo(), *tet = hand_tet(), *loose = hand_create(3, (double[9]){0});
  hand_finish(loose);
  check_every_vertex_named(zoo);
  check_every_vertex_named(tet);
  check_every_vertex_named(loose);
  hand_destroy(zoo);
  hand_destroy(tet);
  hand_destroy(loose);
}

/* ---- VTK: the readers of tests/readback_vtk.py see more; here only what needs no Python ---- */

static int base64_digit(char c) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *at = c ? strchr(letters, c) : NULL;
  return at ? (int)(at - letters) : -1;
}

/* The bytes of the array of that name; returns how many there are, the 8 of the count included. */
static size_t decode(const char *text, const char *name, char *bytes, size_t capacity) {
  char tag[80];
  size_t used = 0;
  snprintf(tag, sizeof tag, "Name=\"%s\"", name);
  const char *at = strstr(text, tag);
  if (!at || !(at = strchr(at, '\n'))) return 0;
  uint32_t bits = 0;
  int held = 0;
  for (at++; base64_digit(*at) >= 0; at++) {
    bits = bits << 6 | (uint32_t)base64_digit(*at);
    if ((held += 6) < 8) continue;
    held -= 8;
    if (used < capacity) bytes[used++] = (char)(bits >> held & 255);
  }
  return used;
}

TEST(vtk_strain_of_a_face_is_the_mean_of_its_edges) {
  Hand *hand = hand_grid(2, 2);
  static const char *const names[] = {"vtp", "vtu"};
  for (int q = 0; q < 2; q++) {
    const char *folder = test_folder();
    char path[64], bytes[256] = {0};
    MUST(hand_run(names[q], folder, hand, 2, error));
    snprintf(path, sizeof path, "%s/frame_000001.%s", names[q], names[q]);
    char *text = hand_read(folder, path, NULL);
    /* Springs 0-1, 0-2, 0-3, 1-2, 1-3, 2-3, and the quad. */
    double diagonal = (sqrt(1.25 * 1.25 + 1) - sqrt(2)) / sqrt(2);
    double expected[] = {0.25, 0, diagonal, diagonal, 0, 0.25, 0.125};
    CHECK(decode(text, "strain", bytes, sizeof bytes) == 8 + 7 * 4);
    CHECK(little(bytes) == 7 * 4 && little(bytes + 4) == 0);
    for (int s = 0; s < 7; s++) CHECK_NEAR(little_float(bytes + 8 + 4 * s), expected[s], 1e-7);
    CHECK(decode(text, "kind", bytes, sizeof bytes) == 8 + 7);
    CHECK(memcmp(bytes + 8, "\0\0\1\1\0\0\5", 7) == 0);
    free(text);
  }
  hand_destroy(hand);
}

TEST(pvd_is_whole_after_each_frame) {
  Hand *hand = hand_tet();
  const char *folder = test_folder();
  char expected[1000];
  HandOutput h;
  MUST(hand_choose(&h, "vtu", folder, error));
  MUST(h.o.type->open(&h.o, &hand->model, error));
  int used = snprintf(expected, sizeof expected,
                      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                      "byte_order=\"LittleEndian\">\n<Collection>\n");
  for (int k = 0; k < 4; k++) {
    snprintf(expected + used, sizeof expected - (size_t)used, "</Collection>\n</VTKFile>\n");
    check_text(folder, "vtu.pvd", expected);
    CHECK(h.o.offset == used);
    used += snprintf(expected + used, sizeof expected - (size_t)used,
                     "<DataSet timestep=\"%.17g\" part=\"0\" file=\"vtu/frame_00000%d.vtu\"/>\n",
                     0.1 * k, k);
    MUST(hand_write(&h, hand, k, error));
  }
  MUST(hand_close(&h, error));
  hand_destroy(hand);
}

/* ---- Contact ---- */

/* Gives the model a force with contacts, and an obstacle. */
static void give_contact(Hand *hand, HkCompiledForce *force, HkCompiledObstacle *obstacle) {
  const HkSchema *schema = NULL;
  for (int q = 0; (schema = hk_schema_at(HK_FORCE, q)) && strcmp(schema->name, "contact") != 0;)
    q++;
  *force = (HkCompiledForce){.type = hk_force_type(schema)};
  *obstacle = (HkCompiledObstacle){.name = "a, b"};
  hand->model.forces = force;
  hand->model.obstacles = obstacle;
  hand->model.force_count = hand->model.obstacle_count = 1;
}

TEST(models_with_contact_have_further_columns) {
  Hand *hand = hand_tet();
  HkCompiledForce force;
  HkCompiledObstacle obstacle;
  const char *folder = test_folder();
  give_contact(hand, &force, &obstacle);
  hand->contacts = hand_contacts(2, hand->force);
  MUST(hand_run("energies", folder, hand, 1, error));
  MUST(hand_run("solver", folder, hand, 1, error));
  MUST(hand_run("reactions", folder, hand, 1, error));
  check_text(folder, "energies.csv",
             "frame,time,kinetic,spring,gravity,other,total,px,py,pz,Lx,Ly,Lz,strain_min,"
             "strain_max,speed_max,contact,friction_work\n"
             "0,0,0,0,0,0,0.33333333333333331,0,0,0,0,0,0,0,0,0,0.125,0.75\n");
  check_text(folder, "solver.csv",
             "frame,time,steps,substeps,rejected,iterations,worst_iterations,linear_iterations,"
             "projections,gradient,stationary,unconverged,reason,contacts,least_gap,"
             "friction_work\n0,0,0,0,0,0,0,0,0,0,0,0,none,2,0,0.75\n");
  check_text(folder, "reactions.csv",
             "frame,time,total.fx,total.fy,total.fz,\"obstacles[a, b].fx\",\"obstacles[a, b].fy\","
             "\"obstacles[a, b].fz\",\"obstacles[a, b].tx\",\"obstacles[a, b].ty\",\"obstacles[a, "
             "b].tz\",ground.fx,ground.fy,ground.fz,ground.tx,ground.ty,ground.tz\n"
             "0,0,0,0,0,1,2.5,-3,0.5,0,4,0,9.5,0,-1,0,1\n");
  hand_destroy(hand);
}

/* ---- Files for tests/readback_vtk.py ---- */

/* Rows 'contact x y z nx ny nz gap force friction body kind other vertices split weights'. */
static void put_expected_contacts(const HkContactView *view, const char *folder, int k) {
  char path[700];
  snprintf(path, sizeof path, "%s/contacts_%d.txt", folder, k);
  FILE *file = fopen(path, "w");
  if (!file) return;
  for (int64_t q = 0; q < view->count; q++) {
    const HkContact *c = &view->contact[q];
    const double *vectors[] = {c->point, c->normal, c->friction};
    for (int e = 0; e < 9; e++) fprintf(file, "%.17g ", vectors[e / 3][e % 3]);
    fprintf(file, "%.17g %.17g %d %d %d %d", c->gap, c->normal_force, c->side[0].index,
            (int)c->side[1].kind, c->side[1].index, c->split);
    for (int a = 0; a < 4; a++) fprintf(file, " %d", c->vertex[a]);
    for (int a = 0; a < 4; a++) fprintf(file, " %.17g", c->weight[a]);
    fprintf(file, "\n");
  }
  fclose(file);
}

/* Frame k has 3 k contacts. */
TEST(contact_files_for_readback) {
  const char *root = getenv("HOOKE_TEST_KEEP");
  if (!root) root = test_folder();
  Hand *hand = hand_grid(5, 4);
  HandOutput h, frames;
  MUST(hand_choose(&h, "contacts", root, error));
  MUST(hand_choose(&frames, "vtu", root, error));
  MUST(h.o.type->open(&h.o, &hand->model, error));
  MUST(frames.o.type->open(&frames.o, &hand->model, error));
  for (int k = 0; k < 3; k++) {
    hand->contacts = hand_contacts(3 * k, hand->force);
    MUST(hand_write(&h, hand, k, error));
    MUST(hand_write(&frames, hand, k, error));
    put_expected_contacts(hand->contacts, root, k);
  }
  MUST(hand_close(&h, error));
  MUST(hand_close(&frames, error));
  hand_destroy(hand);
}

static double spring_strain(const Hand *h, int64_t s) {
  const HkModel *m = &h->model;
  const double *x = h->state.x;
  double l = hk_distance(x + 3 * m->springs.i[s], x + 3 * m->springs.j[s]);
  return (l - m->springs.l0[s]) / m->springs.l0[s];
}

/* Rows 'point x y z vx vy vz fx fy fz', 'spring i j kind strain', 'cell type i ...' and
 * 'boundary i j k' of a frame. */
static void put_expected(Hand *hand, const char *folder, int k) {
  char path[700];
  snprintf(path, sizeof path, "%s/expected_%d.txt", folder, k);
  FILE *file = fopen(path, "w");
  if (!file) return;
  hand_frame(hand, k);
  fprintf(file, "time %.17g\n", hand->state.time);
  for (int64_t q = 0; q < hand->model.n; q++) {
    const double *rows[] = {hand->state.x + 3 * q, hand->state.v + 3 * q, hand->force + 3 * q};
    fprintf(file, "point");
    for (int c = 0; c < 9; c++) fprintf(file, " %.17g", rows[c / 3][c % 3]);
    fprintf(file, "\n");
  }
  for (int64_t s = 0; s < hand->model.springs.count; s++)
    fprintf(file, "spring %d %d %d %.17g\n", hand->model.springs.i[s], hand->model.springs.j[s],
            hand->model.springs.kind[s], spring_strain(hand, s));
  for (int64_t c = 0; c < hand->model.cell_count; c++) {
    fprintf(file, "cell %d", hand->model.cell_type[c]);
    for (int64_t q = hand->model.cell_start[c]; q < hand->model.cell_start[c + 1]; q++)
      fprintf(file, " %d", hand->model.cell_vertex[q]);
    fprintf(file, "\n");
  }
  for (int64_t f = 0; f < hand->model.face_count; f++) {
    const int32_t *v = hand->model.face + 3 * f;
    fprintf(file, "boundary %d %d %d\n", v[0], v[1], v[2]);
  }
  fclose(file);
}

TEST(vtk_files_for_readback) {
  static const char *const outputs[] = {"vtp", "vtu"};
  const char *root = getenv("HOOKE_TEST_KEEP");
  if (!root) root = test_folder();
  for (int q = 0; q < 8; q++) { /* model, precise, springs */
    Hand *hand = q / 4 ? hand_zoo() : hand_grid(13, 7);
    char folder[600];
    snprintf(folder, sizeof folder, "%s/%s_%s_%s", root, q / 4 ? "zoo" : "grid",
             q / 2 % 2 ? "precise" : "single", q % 2 ? "springs" : "plain");
    CHECK(mkdir(folder, 0777) == 0);
    for (int p = 0; p < 2; p++) {
      HandOutput h;
      MUST(hand_choose(&h, outputs[p], folder, error));
      MUST(hk_method_set_number(&h.method, "precise", q / 2 % 2, error));
      MUST(hk_method_set_number(&h.method, "springs", q % 2, error));
      MUST(h.o.type->open(&h.o, &hand->model, error));
      for (int k = 0; k < 3; k++) MUST(hand_write(&h, hand, k, error));
      MUST(hand_close(&h, error));
    }
    for (int k = 0; k < 3; k++) put_expected(hand, folder, k);
    hand_destroy(hand);
  }
}
