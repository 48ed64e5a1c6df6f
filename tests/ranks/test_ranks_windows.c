/* Lattices that are generated in parts are the parts of the model that one process makes. */
#include "ranks.h"

#include "base/ranks.h"
#include "force/chosen.h"
#include "model/part.h"
#include "scene/store.h"

/* A part and the whole model of the same scene. */
typedef struct Both {
  HkScene *part_scene, *whole_scene;
  HkModel *part, *whole;
  uint8_t *is_owned; /* of each vertex of the whole model: this rank owns it */
} Both;

static HkStatus make_both(const char *text, Both *b, HkError *error) {
  *b = (Both){ranks_scene(text, NULL, test_ranks()), ranks_scene(text, NULL, NULL), NULL, NULL,
              NULL};
  if (!b->part_scene || !b->whole_scene) return HK_ERROR_INVALID;
  HK_TRY(hk_model_compile(b->part_scene, &b->part, error));
  HK_TRY(hk_model_compile(b->whole_scene, &b->whole, error));
  b->is_owned = calloc((size_t)b->whole->n, 1);
  if (!b->is_owned) abort();
  for (int64_t i = 0; i < b->part->n; i++)
    b->is_owned[b->part->part->number[i]] = !b->part->part->ghost[i];
  return HK_OK;
}

static void destroy_both(Both *b) {
  hk_model_destroy(&b->part);
  hk_model_destroy(&b->whole);
  hk_scene_destroy(&b->part_scene);
  hk_scene_destroy(&b->whole_scene);
  free(b->is_owned);
}

/* ---- What is compared ---- */

static bool same(const double *a, const double *b, int64_t count) {
  return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static int64_t number_of(const Both *b, int32_t vertex) {
  return b->part->part->number[vertex];
}

static void check_vertices(const Both *b, double mass_tolerance) {
  const HkModel *p = b->part, *w = b->whole;
  int64_t owned = 0, wrong = 0, wrong_masses = 0;
  for (int64_t i = 0; i < p->n; i++) {
    int64_t at = number_of(b, (int32_t)i);
    owned += !p->part->ghost[i];
    wrong += !same(p->x0 + 3 * i, w->x0 + 3 * at, 3) || !same(p->v0 + 3 * i, w->v0 + 3 * at, 3);
    wrong_masses += !(fabs(p->mass[i] - w->mass[at]) <= mass_tolerance * w->mass[at]);
  }
  CHECK(wrong == 0);
  CHECK(wrong_masses == 0);
  CHECK(owned == p->part->owned);
  CHECK(hk_model_sum(p, (double)owned) == (double)w->n);
  CHECK(p->part->total == w->n);
  CHECK_NEAR(p->total_mass, w->total_mass, 1e-12 * w->total_mass);
}

static double value_of(const double *values, int64_t at) {
  return values ? values[at] : 0;
}

static bool same_spring(const Both *b, int64_t part, int64_t whole) {
  const HkSpringArrays *p = &b->part->springs, *w = &b->whole->springs;
  return number_of(b, p->i[part]) == w->i[whole] && number_of(b, p->j[part]) == w->j[whole] &&
         same(&p->k[part], &w->k[whole], 1) && same(&p->l0[part], &w->l0[whole], 1) &&
         value_of(p->damping, part) == value_of(w->damping, whole) &&
         p->kind[part] == w->kind[whole] &&
         (p->tension ? p->tension[part] : 0) == (w->tension ? w->tension[whole] : 0);
}

/* The springs of a part are those of the whole model with an owned end, in their order. */
static void check_springs(const Both *b) {
  const HkSpringArrays *p = &b->part->springs, *w = &b->whole->springs;
  int64_t at = 0, wrong = 0;
  for (int64_t s = 0; s < w->count; s++) {
    if (!b->is_owned[w->i[s]] && !b->is_owned[w->j[s]]) continue;
    wrong += at >= p->count || !same_spring(b, at, s);
    at++;
  }
  CHECK(wrong == 0);
  CHECK(at == p->count);
  CHECK((p->damping == NULL) == (w->damping == NULL));
  CHECK((p->tension == NULL) == (w->tension == NULL));
}

static void check_faces(const Both *b) {
  const HkModel *p = b->part, *w = b->whole;
  int64_t at = 0, wrong = 0;
  for (int64_t f = 0; f < w->face_count; f++) {
    const int32_t *v = w->face + 3 * f;
    if (!b->is_owned[v[0]] && !b->is_owned[v[1]] && !b->is_owned[v[2]]) continue;
    for (int c = 0; c < 3; c++)
      wrong += at >= p->face_count || number_of(b, p->face[3 * at + c]) != v[c];
    at++;
  }
  CHECK(wrong == 0);
  CHECK(at == p->face_count);
}

static void check_cells(const Both *b) {
  const HkModel *p = b->part, *w = b->whole;
  int64_t at = 0, wrong = 0;
  for (int64_t c = 0; c < w->cell_count; c++) {
    int64_t first = w->cell_start[c], count = w->cell_start[c + 1] - first;
    if (!b->is_owned[w->cell_vertex[first]]) continue;
    bool there = at < p->cell_count && p->cell_type[at] == w->cell_type[c] &&
                 p->cell_start[at + 1] - p->cell_start[at] == count;
    for (int64_t q = 0; q < count && there; q++)
      there = number_of(b, p->cell_vertex[p->cell_start[at] + q]) == w->cell_vertex[first + q];
    wrong += !there;
    at++;
  }
  CHECK(wrong == 0);
  CHECK(at == p->cell_count);
}

/* A list of vertices of a part has those of the whole list that are in it, in their order. */
static void check_list(const Both *b, const int32_t *part, int64_t part_count, const int32_t *whole,
                       int64_t whole_count, bool owned_only) {
  int64_t at = 0, wrong = 0;
  for (int64_t k = 0; k < whole_count; k++) {
    int64_t vertex = hk_part_find(b->part->part, whole[k]);
    if (vertex < 0 || (owned_only && !b->is_owned[whole[k]])) continue;
    wrong += at >= part_count || part[at] != vertex;
    at++;
  }
  CHECK(wrong == 0);
  CHECK(at == part_count);
}

static void check_pins(const Both *b) {
  const HkModel *p = b->part, *w = b->whole;
  check_list(b, p->pin_vertex, p->pin_count, w->pin_vertex, w->pin_count, false);
  int64_t wrong = 0;
  for (int64_t k = 0, q = 0; k < p->pin_count; k++) {
    while (q < w->pin_count && w->pin_vertex[q] < number_of(b, p->pin_vertex[k])) q++;
    wrong += q == w->pin_count || p->pin_motion[k] != w->pin_motion[q];
  }
  CHECK(wrong == 0);
}

static void check_selections(const Both *b) {
  const HkModel *p = b->part, *w = b->whole;
  CHECK(p->probe_count == w->probe_count);
  for (int k = 0; k < p->probe_count; k++)
    check_list(b, p->probes[k].vertices, p->probes[k].count, w->probes[k].vertices,
               w->probes[k].count, false);
  for (int f = 0; f < p->force_count; f++) {
    const char *name = p->forces[f].type->schema.name;
    if (strcmp(name, "handle") != 0 && strcmp(name, "point_load") != 0) continue;
    const HkChosen *mine = p->forces[f].data, *all = w->forces[f].data;
    check_list(b, mine->vertices, mine->count, all->vertices, all->count, true);
  }
}

static void check_bodies(const Both *b) {
  const HkModel *p = b->part, *w = b->whole;
  CHECK(p->body_count == w->body_count);
  int64_t first = 0;
  for (int k = 0; k < p->body_count; k++) {
    const HkBodyRange *mine = &p->bodies[k], *all = &w->bodies[k];
    CHECK(strcmp(mine->name, all->name) == 0);
    CHECK(mine->first_number == all->first && mine->total == all->count);
    CHECK(mine->first == first);
    first += mine->count;
    for (int64_t i = mine->first; i < first; i++) {
      int64_t number = number_of(b, (int32_t)i);
      CHECK(number >= all->first && number < all->first + all->count);
    }
  }
  CHECK(first == p->n);
}

static void check_info(const Both *b) {
  HkModelInfo p = hk_model_info(b->part), w = hk_model_info(b->whole);
  CHECK(p.vertices == w.vertices && p.springs == w.springs && p.faces == w.faces);
  CHECK(p.pinned == w.pinned && p.bodies == w.bodies);
  CHECK(p.k_min == w.k_min && p.k_max == w.k_max);
  CHECK(p.length_min == w.length_min && p.length_max == w.length_max);
  CHECK(same(p.box_min, w.box_min, 3) && same(p.box_max, w.box_max, 3));
  CHECK_NEAR(p.mass, w.mass, 1e-12 * w.mass);
  CHECK_NEAR(p.mass_min, w.mass_min, 1e-12 * w.mass_min);
  CHECK_NEAR(p.mass_max, w.mass_max, 1e-12 * w.mass_max);
}

static void check_scene(const char *text, double mass_tolerance) {
  Both b;
  MUST(make_both(text, &b, error));
  check_vertices(&b, mass_tolerance);
  check_springs(&b);
  check_faces(&b);
  check_cells(&b);
  check_pins(&b);
  check_selections(&b);
  check_bodies(&b);
  check_info(&b);
  destroy_both(&b);
}

/* ---- Shapes ---- */

static void check_body(const char *body, double mass_tolerance) {
  char text[2000];
  snprintf(text, sizeof text, "{'bodies': [%s], 'forces': ['gravity']}", body);
  check_scene(text, mass_tolerance);
}

TEST(grids_of_every_plane_and_cell_are_those_of_one_process) {
  static const char *const planes[] = {"xy", "xz", "yz"};
  static const char *const cells[] = {"quads", "triangles"};
  static const int sizes[][2] = {{13, 9}, {17, 2}, {2, 30}, {3, 3}, {2, 2}, {40, 41}};
  for (int k = 0; k < 36; k++) {
    char body[1000];
    snprintf(body, sizeof body,
             "{'shape': {'type': 'grid', 'plane': '%s', 'cells': '%s', 'nx': %d, 'ny': %d,"
             "  'width': 1.3, 'height': 0.7, 'centered': %s},"
             " 'springs': {'EA': 12.5, 'shear': true, 'bending': true, 'EA_bending': 0.5,"
             "  'damping': 0.1, 'tension_only': %s, 'rest_scale': 0.9},"
             " 'velocity': [1, -2, 3], 'mass': {'area_density': 0.3}}",
             planes[k % 3], cells[k / 3 % 2], sizes[k / 6][0], sizes[k / 6][1],
             k % 4 ? "true" : "false", k % 5 ? "true" : "false");
    check_body(body, 0);
  }
}

TEST(blocks_of_all_neighbors_are_those_of_one_process) {
  static const char *const neighbors[] = {"6", "18", "26"};
  static const int sizes[][3] = {{6, 7, 8}, {2, 3, 9}, {12, 5, 2}, {9, 9, 9}};
  for (int k = 0; k < 12; k++) {
    char body[1000];
    snprintf(body, sizeof body,
             "{'shape': {'type': 'block', 'neighbours': '%s', 'nx': %d, 'ny': %d, 'nz': %d,"
             "  'size': [1, 0.9, 1.3], 'centered': %s},"
             " 'springs': {'k': 100, 'bending': %s, 'shear': %s}, 'mass': {'length_density': 0.2}}",
             neighbors[k % 3], sizes[k / 3][0], sizes[k / 3][1], sizes[k / 3][2],
             k % 2 ? "true" : "false", k % 3 ? "true" : "false", k % 4 ? "true" : "false");
    check_body(body, 0);
  }
}

TEST(blocks_of_tetrahedra_are_those_of_one_process) {
  check_body("{'shape': {'type': 'tet_block', 'nx': 5, 'ny': 8, 'nz': 7},"
             " 'mass': {'volume_density': 100}}",
             0);
  check_body("{'shape': {'type': 'tet_block', 'nx': 4, 'ny': 3, 'nz': 11, 'tets': '6'},"
             " 'mass': {'total': 3}}",
             0);
}

TEST(chains_are_those_of_one_process) {
  static const int counts[] = {2, 3, 5, 40, 1001};
  for (int k = 0; k < 5; k++) {
    char body[500];
    snprintf(body, sizeof body,
             "{'shape': {'type': 'chain', 'n': %d, 'start': [0.1, 2, 0], 'end': [3, 1, 0.5]},"
             " 'springs': {'bending': true}, 'mass': {'length_density': 2}}",
             counts[k]);
    check_body(body, 0);
  }
}

/* The last two differ by rounding: the sum of all measures is added up in another order. */
TEST(masses_of_every_setting_are_those_of_one_process) {
  static const struct {
    const char *mass;
    double tolerance;
  } settings[] = {{"'per_vertex': 0.25", 0},
                  {"'total': 7", 0},
                  {"'area_density': 0.2", 0},
                  {"'length_density': 0.2", 0},
                  {"'total': 3, 'distribution': 'lumped'", 1e-13},
                  {"'distribution': 'lumped'", 1e-13}};
  for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
    char body[500];
    bool lines = strstr(settings[k].mass, "length") != NULL;
    snprintf(body, sizeof body, "{'shape': {'type': '%s'}, 'mass': {%s}}", lines ? "block" : "grid",
             settings[k].mass);
    check_body(body, settings[k].tolerance);
  }
}

TEST(transformed_lattices_have_the_bits_of_one_process) {
  check_body("{'shape': {'type': 'grid', 'nx': 70, 'ny': 60, 'width': 0.7, 'height': 0.6},"
             " 'springs': {'EA': 3, 'shear': true, 'bending': true},"
             " 'transform': {'scale': [2, 3, 0.5], 'axis': [1, 2, 3], 'angle': 37,"
             "  'translate': [5, -7, 100]}, 'mass': {'area_density': 1}}",
             0);
  check_body("{'shape': {'type': 'block', 'nx': 9, 'ny': 10, 'nz': 8, 'centered': true},"
             " 'springs': {'EA': 3},"
             " 'transform': {'axis': [1, 1, 0], 'angle': 20, 'translate': [0, 3, 0]}}",
             0);
}

TEST(scenes_of_two_dimensions_are_those_of_one_process) {
  check_scene("{'dimension': 2, 'bodies': [{'shape': {'type': 'grid', 'nx': 30, 'ny': 8},"
              " 'transform': {'axis': [0, 0, 1], 'angle': 30}, 'velocity': [1, 2, 3]}],"
              " 'forces': ['gravity']}",
              0);
}

/* ---- Selections ---- */

static const char two_bodies[] =
    "{'bodies': ["
    "  {'name': 'cloth', 'shape': {'type': 'grid', 'nx': 16, 'ny': 12, 'cells': 'triangles'},"
    "   'springs': {'k': 50, 'damping': 0.1}, 'mass': {'area_density': 0.2}},"
    "  {'name': 'jelly', 'shape': {'type': 'block', 'nx': 4, 'ny': 9, 'nz': 5},"
    "   'springs': {'k': 70, 'bending': true}, 'transform': {'translate': [0, 3, 0]}},"
    "  {'name': 'rope', 'shape': {'type': 'chain', 'n': 30}, 'springs': {'tension_only': true},"
    "   'transform': {'translate': [0, -1, 0]}}],"
    " 'pins': [{'select': %s%s%s}],"
    " 'probes': [{'select': %s%s%s}],"
    " 'forces': ['gravity', {'type': 'handle', 'select': %s%s%s},"
    "  {'type': 'point_load', 'select': %s%s%s, 'force': [1, 0, 0]}]}";

/* Selects the same vertices as pins, probes, of a handle and of a load. */
static void check_select(const char *select) {
  char text[3000];
  const char *q = select[0] == '{' ? "" : "'";
  snprintf(text, sizeof text, two_bodies, q, select, q, q, select, q, q, select, q, q, select, q);
  check_scene(text, 0);
}

TEST(selections_of_every_kind_are_those_of_one_process) {
  static const char *const selects[] = {"left",
                                        "right",
                                        "top",
                                        "bottom",
                                        "back",
                                        "corners",
                                        "boundary",
                                        "center",
                                        "ends",
                                        "top_right",
                                        "{'body': 'jelly', 'set': 'front'}",
                                        "{'body': 'cloth', 'indices': [0, 100, 191, 100]}",
                                        "{'body': 'rope', 'indices': [29]}",
                                        "{'vertices': [0, 191, 192, 371, 372, 401]}",
                                        "{'box': {'min': [0.2, -2, -1], 'max': [0.7, 3.3, 1]}}",
                                        "{'sphere': {'center': [0.5, 3.5, 0.5], 'radius': 0.4}}",
                                        "{'nearest': [0.51, 0.49, 0]}",
                                        "{'nearest': [0.5, 0.5, 7]}",
                                        "{'body': 'jelly', 'nearest': [0.5, 0.5, 0.5]}",
                                        "{'lowest': {'axis': 'x'}}",
                                        "{'highest': {'axis': 'y', 'tolerance': 0.3}}",
                                        "{'body': 'cloth', 'highest': {'axis': 'x'}}",
                                        "{'body': 'rope', 'all': true}",
                                        "{'all': true}"};
  for (size_t k = 0; k < sizeof selects / sizeof selects[0]; k++) check_select(selects[k]);
}

TEST(wrong_selections_and_bodies_have_the_messages_of_one_process) {
  static const char *const scenes[] = {
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'nothing'}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'indices': [441]}}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'vertices': [500]}}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': {'body': 'cloth', 'set': 'top'}}]}",
      "{'bodies': [{'shape': 'grid'}],"
      " 'pins': [{'select': {'box': {'min': [2, 2, 2], 'max': [3, 3, 3]}}}]}",
      "{'bodies': [{'shape': 'grid'}], 'pins': [{'select': 'top'}, {'select': 'right'}]}",
      "{'bodies': [{'shape': {'type': 'grid', 'plane': 'xz'}}], 'dimension': 2}",
      "{'bodies': [{'shape': 'grid', 'mass': {'volume_density': 2}}]}",
      "{'bodies': [{'shape': 'grid', 'transform': {'scale': [1, 0, 1]}}]}"};
  for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
    HkScene *parts = ranks_scene(scenes[k], NULL, test_ranks());
    HkScene *one = ranks_scene(scenes[k], NULL, NULL);
    HkError mine = {0}, expected = {0};
    HkModel *model = NULL;
    CHECK(hk_model_compile(parts, &model, &mine) < 0);
    CHECK(hk_model_compile(one, &model, &expected) < 0);
    if (strcmp(mine.text, expected.text) != 0)
      test_fail(__FILE__, __LINE__, "%s: \"%s\", expected \"%s\"", scenes[k], mine.text,
                expected.text);
    hk_scene_destroy(&parts);
    hk_scene_destroy(&one);
  }
}

TEST(sets_of_a_part_stay_after_compiling) {
  Both b;
  HkSelect select = {.kind = HK_SELECT_SET, .set = "top"};
  int32_t *mine, *all;
  int64_t my_count, count;
  MUST(make_both("{'bodies': [{'shape': {'type': 'grid', 'nx': 12, 'ny': 9}}]}", &b, error));
  MUST(hk_model_select(b.part, &select, &mine, &my_count, error));
  MUST(hk_model_select(b.whole, &select, &all, &count, error));
  CHECK(count == 12);
  check_list(&b, mine, my_count, all, count, false);
  hk_selection_destroy(b.part, &mine);
  hk_selection_destroy(b.whole, &all);
  destroy_both(&b);
}

/* ---- Sizes ---- */

static void check_refused(const char *body, const char *message) {
  char text[500];
  HkModel *model = NULL;
  snprintf(text, sizeof text, "{'bodies': [{'shape': %s}]}", body);
  HkScene *scene = ranks_scene(text, NULL, test_ranks());
  FAILS(hk_model_compile(scene, &model, error), HK_ERROR_UNSUPPORTED, message);
  hk_scene_destroy(&scene);
}

TEST(lattices_with_more_vertices_than_fit_are_refused) {
  check_refused("{'type': 'grid', 'nx': 100000000, 'ny': 1000000}", "use more ranks");
  check_refused("{'type': 'block', 'nx': 100000000, 'ny': 100000000, 'nz': 100000000}",
                "more than Hooke takes");
}

typedef struct Meter {
  size_t held, most;
  int64_t calls, end; /* end: the call that fails; 0: none */
} Meter;

static void *metered(void *user, void *p, size_t bytes) {
  Meter *m = user;
  max_align_t *block = p ? (max_align_t *)p - 1 : NULL;
  if (bytes > 0 && ++m->calls == m->end) return NULL;
  if (block) m->held -= *(size_t *)block;
  if (bytes == 0) {
    free(block);
    return NULL;
  }
  block = realloc(block, sizeof *block + bytes);
  if (!block) abort();
  *(size_t *)block = bytes;
  m->held += bytes;
  if (m->held > m->most) m->most = m->held;
  return block + 1;
}

/* Returns the most bytes that compiling a grid of 400 x 400 vertices holds at once. */
static size_t peak_of(HkRanks *ranks) {
  Meter meter = {0};
  HkError error = {0};
  HkModel *model = NULL;
  HkScene *scene = ranks_scene("{'bodies': [{'shape': {'type': 'grid', 'nx': 400, 'ny': 400},"
                               " 'springs': {'shear': true, 'bending': true}}],"
                               " 'pins': [{'select': 'top'}], 'forces': ['gravity']}",
                               NULL, ranks);
  HkScene copy = *scene;
  copy.context.resize = metered;
  copy.context.memory_user = &meter;
  CHECK(hk_model_compile(&copy, &model, &error) >= 0);
  CHECK(model && meter.held == hk_model_bytes(model));
  hk_model_destroy(&model);
  CHECK(meter.held == 0);
  hk_scene_destroy(&scene);
  return meter.most;
}

/* A rank holds its share, and up to a tenth of it more for layers of neighbors. */
TEST(memory_of_a_rank_falls_with_the_number_of_ranks) {
  double whole = (double)peak_of(NULL), part = (double)peak_of(test_ranks());
  CHECK(part <= 1.1 / hk_ranks_count(test_ranks()) * whole);
}

/* ---- Errors of one rank ---- */

/* Compiles a scene; an allocation of one rank fails. Returns the status, the same on all ranks. */
static HkStatus compile_metered(const HkScene *scene, Meter *meter) {
  HkScene copy = *scene;
  HkModel *model = NULL;
  HkError error = {0};
  copy.context.resize = metered;
  copy.context.memory_user = meter;
  HkStatus status = hk_model_compile(&copy, &model, &error);
  if (status < 0) CHECK(model == NULL);
  if (status < 0) CHECK(strlen(error.text) > 0);
  hk_model_destroy(&model);
  CHECK(meter->held == 0);
  return status;
}

/* Any allocation of a rank may fail: all ranks return the error, and none waits for another. */
static void check_memory_errors(const char *text) {
  HkRanks *ranks = test_ranks();
  HkScene *scene = ranks_scene(text, NULL, ranks);
  Meter all = {0};
  CHECK(compile_metered(scene, &all) >= 0);
  for (int rank = 0; rank<ranks->count; rank += ranks->count> 1 ? ranks->count - 1 : 1) {
    int64_t calls = all.calls;
    ranks->type->broadcast(ranks, rank, &calls, sizeof calls);
    for (int64_t end = 1; end <= calls; end++) {
      Meter meter = {.end = ranks->rank == rank ? end : 0};
      HkStatus status = compile_metered(scene, &meter);
      if (status != HK_ERROR_MEMORY)
        test_fail(__FILE__, __LINE__, "allocation %lld of rank %d: status %s", (long long)end, rank,
                  hk_status_name(status));
    }
  }
  hk_scene_destroy(&scene);
}

TEST(ranks_agree_about_a_lack_of_memory_in_windows) {
  check_memory_errors(
      "{'bodies': [{'shape': {'type': 'grid', 'nx': 9, 'ny': 8}, 'springs': {'bending': true},"
      "   'mass': {'total': 2, 'distribution': 'lumped'}},"
      "  {'name': 'rope', 'shape': 'chain'}],"
      " 'pins': [{'select': 'top'}, {'select': {'nearest': [0, 0, 0]}}],"
      " 'probes': [{'select': {'body': 'rope', 'set': 'end'}}],"
      " 'obstacles': ['plane'],"
      " 'forces': ['gravity', {'type': 'handle', 'select': 'center'}, 'face_wind']}");
}

/* ---- What rank 0 sends ---- */

TEST(other_scenes_are_those_of_one_process) {
  check_body("{'shape': {'type': 'ball', 'shells': 5}, 'mass': {'volume_density': 100}}", 0);
  check_body("{'shape': {'type': 'disc', 'rings': 7}, 'springs': {'bending': true}}", 0);
  check_body("{'shape': 'grid', 'stretch': [1.1, 1, 1], 'spin': [0, 0, 2]}", 0);
  check_body("{'shape': 'grid', 'mass': {'added': [[7, 0.5]]}}", 0);
  check_scene("{'bodies': [{'name': 'net', 'shape': {'type': 'net', 'n': 8}},"
              "  {'shape': {'type': 'block', 'nx': 4}}],"
              " 'pins': [{'select': 'corners'}], 'probes': [{'select': 'center'}],"
              " 'forces': [{'type': 'handle', 'select': {'body': 'net', 'set': 'boundary'}}]}",
              0);
}

TEST(explicit_steps_of_a_ball_that_rank_0_sends_have_the_bits_of_one_process) {
  static const char scene[] =
      "{'bodies': [{'shape': {'type': 'ball', 'shells': 6}, 'springs': {'k': 500}}],"
      " 'pins': [{'select': 'top'}], 'forces': ['gravity'], 'integrator': 'symplectic_euler',"
      " 'time': {'step': 0.0005}}";
  RanksWorld part = {0}, whole = {0};
  MUST(ranks_world(scene, NULL, test_ranks(), &part, error));
  MUST(ranks_world(scene, NULL, NULL, &whole, error));
  MUST(hk_sim_steps(part.sim, part.state, 200, error));
  MUST(hk_sim_steps(whole.sim, whole.state, 200, error));
  CHECK(ranks_distance(&part, &whole) == 0);
  ranks_world_destroy(&part);
  ranks_world_destroy(&whole);
}

TEST(ranks_agree_about_a_lack_of_memory_in_what_rank_0_sends) {
  check_memory_errors("{'bodies': [{'shape': {'type': 'net', 'n': 4}}], 'pins': [{'select': "
                      "'corners'}], 'forces': ['gravity']}");
}
