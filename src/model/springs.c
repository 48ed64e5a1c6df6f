/* Springs of a body: pairs of vertices, stiffness, rest length.
 *
 * Lengths that come from the mesh and differ by no more than the rounding of its coordinates are
 * set to the first of them: springs of the cells of a lattice are then identical and are stored
 * once (force/spring_rows.h).
 *
 * An edge that cells of the mesh share is one spring. Each row of a springs file or table is a
 * spring of its own: the first row of two vertices replaces the spring of the mesh between them,
 * the others are parallel to it (parallel.c).
 */
#include "model/build.h"

#include "base/file.h"
#include "base/vec.h"
#include "mesh/pairs.h"

#include <float.h>
#include <string.h>

/* One row of a springs file or table; NAN where a column is not given. */
typedef struct Row {
  double k, l0, damping;
} Row;

typedef struct Rows {
  int32_t *pair; /* 2 a row, numbers of the mesh */
  Row *row;
  int64_t count, pair_capacity, row_capacity;
} Rows;

static HkStatus read_vertex(HkCursor *c, const HkMesh *mesh, int32_t *vertex, HkError *error) {
  int64_t value, count = mesh->vertex_map ? mesh->file_vertex_count : mesh->vertex_count;
  HK_TRY(hk_next_int(c, &value, "vertex", error));
  if (value < 0 || value >= count)
    return hk_cursor_fail(c, error, "vertex %lld is out of range, expected 0 to %lld",
                          (long long)value, (long long)count - 1);
  *vertex = mesh->vertex_map ? mesh->vertex_map[value] : (int32_t)value;
  if (*vertex < 0)
    return hk_cursor_fail(c, error, "vertex %lld was dropped by the repair", (long long)value);
  return HK_OK;
}

static HkStatus read_row(HkCursor *c, const HkMesh *mesh, int32_t pair[2], Row *row,
                         HkError *error) {
  *row = (Row){NAN, NAN, NAN};
  HK_TRY(read_vertex(c, mesh, &pair[0], error));
  HK_TRY(read_vertex(c, mesh, &pair[1], error));
  HK_TRY(hk_next_double(c, &row->k, "k (N/m)", error));
  if (!hk_at_line_end(c)) HK_TRY(hk_next_double(c, &row->l0, "l0 (m)", error));
  if (!hk_at_line_end(c)) HK_TRY(hk_next_double(c, &row->damping, "damping (N s/m)", error));
  if (!hk_at_line_end(c)) return hk_cursor_fail(c, error, "expected 'i j k [l0 [damping]]'");
  if (row->k < 0 || row->l0 < 0 || row->damping < 0)
    return hk_cursor_fail(c, error, "k, l0 and damping must not be negative");
  if (pair[0] == pair[1])
    return hk_cursor_fail(c, error, "a spring cannot join vertex %d with itself", pair[0]);
  return HK_OK;
}

static HkStatus parse_rows(const HkMesh *mesh, HkCursor c, Rows *rows, HkError *error) {
  for (hk_skip_space(&c, '#'); !hk_at_end(&c); hk_skip_space(&c, '#')) {
    HK_TRY(hk_grow(&mesh->context, &rows->pair, &rows->pair_capacity, rows->count + 1,
                   2 * sizeof *rows->pair, "springs", error));
    HK_TRY(hk_grow(&mesh->context, &rows->row, &rows->row_capacity, rows->count + 1,
                   sizeof *rows->row, "springs", error));
    HK_TRY(read_row(&c, mesh, rows->pair + 2 * rows->count, rows->row + rows->count, error));
    rows->count++;
  }
  return HK_OK;
}

static HkStatus read_rows(const HkMesh *mesh, const char *folder, const char *file, Rows *rows,
                          HkError *error) {
  char path[4096], *bytes;
  size_t size;
  HK_TRY(hk_join_path(folder, file, path, sizeof path, error));
  HK_TRY(hk_file_read(&mesh->context, path, &bytes, &size, error));
  HkLocale locale = hk_locale_enter();
  HkStatus status = parse_rows(mesh, hk_cursor(path, bytes, size), rows, error);
  hk_locale_leave(&locale);
  hk_free(&mesh->context, &bytes);
  return status;
}

/* Converts a vertex number in a row of the table to that of the mesh. */
static HkStatus table_vertex(const HkMesh *mesh, int row, double value, int32_t *vertex,
                             HkError *error) {
  int64_t count = mesh->vertex_map ? mesh->file_vertex_count : mesh->vertex_count;
  if (!(value >= 0 && value < (double)count) || value != floor(value))
    return hk_fail(error, HK_ERROR_INVALID,
                   "springs.table[%d]: there is no vertex %g; they are 0 to %lld", row, value,
                   (long long)count - 1);
  *vertex = mesh->vertex_map ? mesh->vertex_map[(int64_t)value] : (int32_t)value;
  if (*vertex < 0)
    return hk_fail(error, HK_ERROR_INVALID,
                   "springs.table[%d]: vertex %g was dropped by the repair", row, value);
  return HK_OK;
}

/* Returns NAN for negative values, which mean that none is given. */
static double given(double value) {
  return value < 0 ? NAN : value;
}

static HkStatus read_table(const HkMesh *mesh, const HkTable *table, Rows *rows, HkError *error) {
  int64_t count = rows->count + table->rows;
  HK_TRY(hk_grow(&mesh->context, &rows->pair, &rows->pair_capacity, count, 2 * sizeof *rows->pair,
                 "springs", error));
  HK_TRY(hk_grow(&mesh->context, &rows->row, &rows->row_capacity, count, sizeof *rows->row,
                 "springs", error));
  for (int row = 0; row < table->rows; row++) {
    const double *value = table->values + 5 * (int64_t)row;
    int32_t *pair = rows->pair + 2 * rows->count;
    HK_TRY(table_vertex(mesh, row, value[0], &pair[0], error));
    HK_TRY(table_vertex(mesh, row, value[1], &pair[1], error));
    if (pair[0] == pair[1])
      return hk_fail(error, HK_ERROR_INVALID,
                     "springs.table[%d]: a spring cannot join vertex %d with itself", row, pair[0]);
    for (int c = 2; c < 5; c++)
      if (!isfinite(value[c]))
        return hk_fail(error, HK_ERROR_INVALID, "springs.table[%d]: %g is not a finite number", row,
                       value[c]);
    rows->row[rows->count++] = (Row){given(value[2]), given(value[3]), given(value[4])};
  }
  return HK_OK;
}

/* Sets k or EA of each kind; kinds without one get that of the edges. */
static HkStatus stiffnesses(const HkSprings *s, double k[4], double EA[4], HkError *error) {
  const double given[3][2] = {
      {s->k, s->EA}, {s->k_shear, s->EA_shear}, {s->k_bending, s->EA_bending}};
  static const char *const suffix[] = {"", "_shear", "_bending"};
  for (int kind = 0; kind < 3; kind++) {
    k[kind] = given[kind][0];
    EA[kind] = given[kind][1];
    if (!isnan(k[kind]) && !isnan(EA[kind]))
      return hk_fail_key(error, HK_ERROR_INVALID, "springs", "give k%s or EA%s, not both",
                         suffix[kind], suffix[kind]);
    if (!isnan(k[kind]) || !isnan(EA[kind])) continue;
    k[kind] = kind == 0 ? 1000 : k[0];
    EA[kind] = kind == 0 ? NAN : EA[0];
  }
  k[3] = k[0];
  EA[3] = EA[0];
  return HK_OK;
}

/* ---- Lengths that differ by rounding only ---- */

/* Known lengths are kept in a set-associative table: intervals of length are hashed to sets, and a
 * set holds the lengths that were used last. So lengths of a lattice never evict each other, and
 * the table stays small for meshes without equal lengths. */
enum { LENGTH_SETS = 128, LENGTHS_A_SET = 8, TOLERANCES_A_CELL = 64 };

typedef struct Lengths {
  double tolerance, cell; /* m; a length belongs to the interval floor(length / cell) */
  double *known;          /* LENGTH_SETS sets, each from the last used to the first; 0: free */
} Lengths;

static HkStatus lengths_create(const HkMesh *mesh, double furthest, Lengths *lengths,
                               HkError *error) {
  lengths->tolerance = 16 * DBL_EPSILON * furthest;
  lengths->cell = TOLERANCES_A_CELL * lengths->tolerance;
  return hk_alloc(&mesh->context, &lengths->known, LENGTH_SETS * LENGTHS_A_SET, sizeof(double),
                  "springs", error);
}

static double *set_of(const Lengths *lengths, uint64_t cell) {
  uint64_t hash = cell * 0x9E3779B97F4A7C15u >> 32; /* 2^64 over the golden ratio */
  return lengths->known + hash % LENGTH_SETS * LENGTHS_A_SET;
}

/* Moves the length at an index to the front of its set. */
static void use(double *set, int index, double length) {
  memmove(set + 1, set, (size_t)index * sizeof *set);
  set[0] = length;
}

/* Returns a known length within the tolerance, else the length itself, which is known from then
 * on. */
static double known_length(Lengths *lengths, double length) {
  const double MARGIN = 2.0 / TOLERANCES_A_CELL; /* cells: the tolerance, and what rounding adds */
  double at = length / lengths->cell;
  if (!(length > lengths->tolerance && at < 0x1p62)) return length;
  uint64_t last = (uint64_t)(at + MARGIN);
  for (uint64_t cell = at > MARGIN ? (uint64_t)(at - MARGIN) : 0; cell <= last; cell++) {
    double *set = set_of(lengths, cell);
    for (int q = 0; q < LENGTHS_A_SET; q++) {
      double known = set[q];
      if (fabs(known - length) > lengths->tolerance) continue;
      if (q > 0) use(set, q, known);
      return known;
    }
  }
  use(set_of(lengths, (uint64_t)at), LENGTHS_A_SET - 1, length);
  return length;
}

/* Makes the lengths known that are the first of their kind in the whole mesh. Else each window of a
 * lattice would have other bits in its rest lengths. */
static HkStatus learn_lengths(const HkMesh *beginning, const HkPairsWanted *wanted,
                              Lengths *lengths, HkError *error) {
  HkPairs pairs;
  HK_TRY(hk_pairs_create(beginning, wanted, &pairs, error));
  const double *x = beginning->x;
  for (int64_t p = 0; p < pairs.count; p++)
    known_length(lengths, hk_distance(x + 3 * (int64_t)pairs.i[p], x + 3 * (int64_t)pairs.j[p]));
  hk_pairs_destroy(&beginning->context, &pairs);
  return HK_OK;
}

/* ---- Springs ---- */

static HkStatus reserve(HkModel *m, int64_t springs, bool damped, bool tension, HkError *error) {
  const HkContext *c = &m->context;
  int64_t count = m->springs.count + springs, capacity[7];
  for (int k = 0; k < 7; k++) capacity[k] = m->capacity.springs;
  bool had_damping = m->springs.damping != NULL, had_tension = m->springs.tension != NULL;
  HK_TRY(hk_grow(c, &m->springs.i, &capacity[0], count, sizeof *m->springs.i, "springs", error));
  HK_TRY(hk_grow(c, &m->springs.j, &capacity[1], count, sizeof *m->springs.j, "springs", error));
  HK_TRY(hk_grow(c, &m->springs.k, &capacity[2], count, sizeof *m->springs.k, "springs", error));
  HK_TRY(hk_grow(c, &m->springs.l0, &capacity[3], count, sizeof *m->springs.l0, "springs", error));
  HK_TRY(
      hk_grow(c, &m->springs.kind, &capacity[4], count, sizeof *m->springs.kind, "springs", error));
  m->capacity.springs = capacity[0];
  if (damped && !had_damping)
    HK_TRY(hk_alloc(c, &m->springs.damping, m->capacity.springs, sizeof *m->springs.damping,
                    "springs", error));
  else if (had_damping)
    HK_TRY(hk_grow(c, &m->springs.damping, &capacity[5], m->capacity.springs,
                   sizeof *m->springs.damping, "springs", error));
  if (tension && !had_tension)
    HK_TRY(hk_alloc(c, &m->springs.tension, m->capacity.springs, sizeof *m->springs.tension,
                    "springs", error));
  else if (had_tension)
    HK_TRY(hk_grow(c, &m->springs.tension, &capacity[6], m->capacity.springs,
                   sizeof *m->springs.tension, "springs", error));
  return HK_OK;
}

/* Input of the springs of a body. */
typedef struct Making {
  const HkMesh *mesh;
  const HkWholeMesh *whole; /* NULL: the mesh is whole */
  const HkBody *body;
  Rows rows;
  HkPairs pairs;
  Lengths lengths;
  double k[4], EA[4]; /* N/m, N: of each kind of pair */
  int32_t *first_row; /* of each pair: its first row plus 1; 0: none */
  int32_t *next_row;  /* of each row: the next row of the same pair plus 1; 0: none */
} Making;

/* The number of a vertex in messages. */
static long long number_of(const Making *w, int32_t vertex) {
  return (w->whole ? w->whole->number[vertex] : vertex) + w->mesh->first_number;
}

/* Makes the spring of a row between the vertices of a pair; *kept becomes false if it is
 * dropped. */
static HkStatus make_spring(Making *w, int64_t pair, const Row *row, HkSpringValues *spring,
                            bool *kept, HkError *error) {
  const HkSprings *s = &w->body->springs;
  const HkRepair *repair = &w->body->repair;
  const double *x = w->mesh->x;
  int32_t a = w->pairs.i[pair], b = w->pairs.j[pair];
  int kind = w->pairs.kind[pair];
  double length = known_length(&w->lengths, hk_distance(x + 3 * (int64_t)a, x + 3 * (int64_t)b));
  double l0 = !isnan(row->l0)          ? row->l0
              : !isnan(s->rest_length) ? s->rest_length
                                       : length * s->rest_scale;
  *kept = length > 0 || (!repair->zero_length && !(isnan(row->l0) && isnan(s->rest_length)));
  if (!*kept && !repair->zero_length)
    return hk_fail_key(
        error, HK_ERROR_INVALID, "springs",
        "vertices %lld and %lld are joined but stand at the same place; "
        "\"repair\": {\"weld\": 0} makes them one, {\"zero_length\": true} drops the "
        "spring, springs.rest_length keeps it",
        number_of(w, a), number_of(w, b));
  if (!*kept) return HK_OK;
  double EA = w->EA[kind], k = !isnan(row->k) ? row->k : !isnan(EA) ? EA / l0 : w->k[kind];
  if (!isfinite(k))
    return hk_fail_key(error, HK_ERROR_INVALID, "springs",
                       "EA = %g N over a rest length of %g m between vertices %lld and %lld gives "
                       "no finite stiffness; give k instead",
                       EA, l0, number_of(w, a), number_of(w, b));
  *spring = (HkSpringValues){k, l0, isnan(row->damping) ? s->damping : row->damping};
  return HK_OK;
}

/* Adds one more row of a pair to the spring that its earlier rows give. */
static HkStatus add_row(Making *w, int64_t pair, const Row *row, HkSpringValues *sum,
                        HkError *error) {
  HkSpringValues spring = {0};
  HkError inner = {0};
  bool kept;
  HK_TRY(make_spring(w, pair, row, &spring, &kept, error));
  if (!kept) return HK_OK;
  HkStatus status = hk_spring_add_parallel(sum, &spring, w->body->springs.tension_only, &inner);
  if (status < 0)
    return hk_fail(error, status, "springs between vertices %d and %d: %s", w->pairs.i[pair],
                   w->pairs.j[pair], inner.text);
  return HK_OK;
}

/* Appends the spring of a pair: that of the mesh, or all rows of the pair in parallel. */
static HkStatus add_pair(HkModel *m, Making *w, int64_t pair, int64_t first, bool *kept,
                         HkError *error) {
  static const Row none = {NAN, NAN, NAN};
  int32_t row = w->first_row ? w->first_row[pair] : 0;
  HkSpringValues spring = {0};
  HK_TRY(make_spring(w, pair, row ? &w->rows.row[row - 1] : &none, &spring, kept, error));
  if (!*kept) return HK_OK;
  for (row = row ? w->next_row[row - 1] : 0; row; row = w->next_row[row - 1])
    HK_TRY(add_row(w, pair, &w->rows.row[row - 1], &spring, error));
  int64_t at = m->springs.count++;
  m->springs.i[at] = (int32_t)(first + w->pairs.i[pair]);
  m->springs.j[at] = (int32_t)(first + w->pairs.j[pair]);
  m->springs.k[at] = spring.k;
  m->springs.l0[at] = spring.l0;
  m->springs.kind[at] = w->pairs.kind[pair];
  if (m->springs.damping) m->springs.damping[at] = spring.damping;
  if (m->springs.tension) m->springs.tension[at] = w->body->springs.tension_only;
  return HK_OK;
}

/* Lists the rows of each pair in their order; *parallel counts those after the first of a pair. */
static HkStatus list_rows(const HkContext *c, Making *w, int64_t *parallel, HkError *error) {
  const Rows *rows = &w->rows;
  if (rows->count == 0) return HK_OK;
  HK_TRY(hk_alloc(c, &w->first_row, w->pairs.count, sizeof *w->first_row, "springs", error));
  HK_TRY(hk_alloc(c, &w->next_row, rows->count, sizeof *w->next_row, "springs", error));
  for (int64_t r = rows->count - 1; r >= 0; r--) {
    int32_t *head =
        &w->first_row[hk_pairs_find(&w->pairs, rows->pair[2 * r], rows->pair[2 * r + 1])];
    *parallel += *head != 0;
    w->next_row[r] = *head;
    *head = (int32_t)(r + 1);
  }
  return HK_OK;
}

/* Logs what was made of the rows and what was left out. */
static void log_springs(const HkModel *m, const Making *w, int64_t dropped, int64_t added,
                        int64_t parallel) {
  const char *file = w->body->springs.file, *name = file ? file : "springs.table";
  if (dropped)
    hk_log(&m->context, HK_LOG_INFO, "repair: %lld springs of zero length dropped",
           (long long)dropped);
  if (w->rows.count)
    hk_log(&m->context, HK_LOG_INFO, "%s: %lld springs set, %lld of them new", name,
           (long long)w->rows.count, (long long)added);
  if (parallel)
    hk_log(&m->context, HK_LOG_INFO,
           "%s: %lld springs join vertices that an earlier row joins; they act in parallel, and "
           "stiffness and damping add up",
           name, (long long)parallel);
  if (w->pairs.looping)
    hk_log(&m->context, HK_LOG_WARNING,
           "%lld edges join a vertex with itself (degenerate cells); they give no spring",
           (long long)w->pairs.looping);
}

static HkStatus add_all(HkModel *m, Making *w, int64_t first, HkError *error) {
  const HkSprings *s = &w->body->springs;
  HK_TRY(stiffnesses(s, w->k, w->EA, error));
  bool damped = s->damping > 0;
  for (int64_t r = 0; r < w->rows.count; r++) damped |= w->rows.row[r].damping > 0;
  HK_TRY(reserve(m, w->pairs.count, damped, s->tension_only, error));
  int64_t dropped = 0, added = 0, parallel = 0;
  HK_TRY(list_rows(&m->context, w, &parallel, error));
  for (int64_t p = 0; p < w->pairs.count; p++) {
    bool kept;
    HK_TRY(add_pair(m, w, p, first, &kept, error));
    dropped += !kept;
    added += kept && w->pairs.kind[p] == HK_PAIR_EXTRA;
  }
  log_springs(m, w, dropped, added, parallel);
  return HK_OK;
}

HkStatus hk_model_add_springs(HkModel *m, const HkMesh *mesh, const HkBody *body,
                              const char *folder, int64_t first, const HkWholeMesh *whole,
                              HkError *error) {
  const HkContext *c = &m->context;
  const HkSprings *s = &body->springs;
  Making w = {.mesh = mesh, .whole = whole, .body = body};
  double furthest = whole ? whole->furthest : hk_mesh_furthest(mesh);
  HkStatus status = lengths_create(mesh, furthest, &w.lengths, error);
  if (status >= 0 && s->file) status = read_rows(mesh, folder, s->file, &w.rows, error);
  if (status >= 0) status = read_table(mesh, &s->table, &w.rows, error);
  HkPairsWanted wanted = {s->edges, s->shear, s->bending, w.rows.pair, w.rows.count};
  if (status >= 0 && whole) status = learn_lengths(whole->beginning, &wanted, &w.lengths, error);
  if (status >= 0) status = hk_pairs_create(mesh, &wanted, &w.pairs, error);
  if (status >= 0) status = add_all(m, &w, first, error);
  hk_pairs_destroy(c, &w.pairs);
  hk_free(c, &w.rows.pair);
  hk_free(c, &w.rows.row);
  hk_free(c, &w.first_row);
  hk_free(c, &w.next_row);
  hk_free(c, &w.lengths.known);
  return status;
}
