/* Obstacles with a signed distance: planes, and grids from files. */
#include "base/vec.h"
#include "one_obstacle.h"
#include "property.h"
#include "test.h"

/* ---- Distances ---- */

typedef struct Field {
  const HkCompiledObstacle *obstacle;
} Field;

static double distance(const Field *field, const double x[3], double n[3], double H[9]) {
  const HkCompiledObstacle *o = field->obstacle;
  return o->type->distance(o->method.params, o->data, x, n, H);
}

/* Central difference of the distance along axis c. */
static double slope(const Field *field, const double x[3], int c, double e) {
  double a[3], b[3], n[3];
  memcpy(a, x, sizeof a);
  memcpy(b, x, sizeof b);
  a[c] -= e;
  b[c] += e;
  return (distance(field, b, n, NULL) - distance(field, a, n, NULL)) / (2 * e);
}

/* n against the direction of the gradient, H against second differences. Returns |grad d|. */
static double check_derivatives(const Field *field, const double x[3]) {
  const double e = 1e-4;
  double n[3], H[9], g[3], unit[3];
  double d = distance(field, x, n, H);
  CHECK(isfinite(d));
  for (int c = 0; c < 3; c++) g[c] = slope(field, x, c, e);
  CHECK(hk_unit(g, unit));
  CHECK_NEAR(hk_norm(n), 1, 1e-14);
  CHECK_NEAR(hk_distance(unit, n), 0, 1e-7);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      double before[3], after[3];
      memcpy(before, x, sizeof before);
      memcpy(after, x, sizeof after);
      before[r] -= e;
      after[r] += e;
      double second = (slope(field, after, c, e) - slope(field, before, c, e)) / (2 * e);
      CHECK_NEAR(H[3 * r + c], second, 1e-5 * (1 + fabs(second)));
    }
  return hk_norm(g);
}

TEST(the_distance_of_a_plane_is_along_its_unit_normal) {
  OneObstacle made;
  uint64_t seed = 1;
  MUST(one_obstacle_make("{'type': 'plane', 'point': [1, 2, 3], 'normal': [3, 0, -4]}", NULL, &made,
                         error));
  const Field field = {&made.model->obstacles[0]};
  CHECK(made.model->obstacles[0].features.vertex_count == 0);
  double n[3];
  CHECK(distance(&field, (double[]){1, 2, 3}, n, NULL) == 0);
  CHECK_NEAR(distance(&field, (double[]){1.6, 7, 2.2}, n, NULL), 1, 1e-14);
  CHECK_NEAR(distance(&field, (double[]){0.4, 7, 3.8}, n, NULL), -1, 1e-14);
  for (int q = 0; q < 20; q++) {
    double x[3];
    for (int c = 0; c < 3; c++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      x[c] = (double)(seed >> 40) / (double)(1 << 22) - 2;
    }
    CHECK_NEAR(check_derivatives(&field, x), 1, 1e-9);
  }
  one_obstacle_destroy(&made);
}

enum { GRID_X = 7, GRID_Y = 5, GRID_Z = 6 };
static const double grid_origin[3] = {-1, -0.5, -2}, grid_spacing[3] = {0.5, 0.25, 0.75};

/* A grid of a function at its points, with comments among the numbers. */
static const char *write_grid(double (*value)(const double x[3])) {
  static char text[1 << 16];
  int used = snprintf(text, sizeof text, "# a grid\n%d %d %d # numbers\n%g %g %g\n%g %g %g\n",
                      GRID_X, GRID_Y, GRID_Z, grid_origin[0], grid_origin[1], grid_origin[2],
                      grid_spacing[0], grid_spacing[1], grid_spacing[2]);
  for (int k = 0; k < GRID_Z; k++)
    for (int j = 0; j < GRID_Y; j++)
      for (int i = 0; i < GRID_X; i++) {
        double x[3] = {grid_origin[0] + i * grid_spacing[0], grid_origin[1] + j * grid_spacing[1],
                       grid_origin[2] + k * grid_spacing[2]};
        used += snprintf(text + used, sizeof text - (size_t)used, "%.17g%s", value(x),
                         i == GRID_X - 1 ? "\n" : " ");
      }
  return text;
}

static double of_plane(const double x[3]) {
  return 0.6 * x[0] - 0.8 * x[1] + 0.1;
}

static double of_ball(const double x[3]) {
  return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 0.01) - 0.4;
}

/* A point within the cell (i, j, k), away from its faces. */
static void inside(int q, double x[3]) {
  int cell[3] = {q % (GRID_X - 1), q / 2 % (GRID_Y - 1), q / 3 % (GRID_Z - 1)};
  for (int c = 0; c < 3; c++)
    x[c] = grid_origin[c] + grid_spacing[c] * (cell[c] + 0.2 + 0.13 * ((q + c) % 5));
}

TEST(a_grid_of_a_linear_function_is_exact_and_clamps_outside) {
  OneObstacle made;
  MUST(one_obstacle_from("{'type': 'grid', 'file': 'd.txt'}", "d.txt", write_grid(of_plane), &made,
                         error));
  const Field field = {&made.model->obstacles[0]};
  double n[3], H[9], x[3];
  for (int q = 0; q < 40; q++) {
    inside(q, x);
    CHECK_NEAR(distance(&field, x, n, H), of_plane(x), 1e-14);
    CHECK_NEAR(hk_distance(n, (double[]){0.6, -0.8, 0}), 0, 1e-13);
    CHECK_NEAR(hk_mat_row_sum(H), 0, 1e-12);
  }
  /* Corners belong to the grid. */
  const double last[3] = {2, 0.5, 1.75};
  CHECK_NEAR(distance(&field, grid_origin, n, H), of_plane(grid_origin), 1e-14);
  CHECK_NEAR(distance(&field, last, n, H), of_plane(last), 1e-14);
  /* Outside along two axes: 3 and 4 m from the edge that is nearest. */
  const double far[3] = {5, 0.25, 5.75}, near[3] = {2, 0.25, 1.75};
  CHECK_NEAR(distance(&field, far, n, H), of_plane(near) + 5, 1e-13);
  one_obstacle_destroy(&made);
}

TEST(derivatives_of_a_grid_are_those_of_its_interpolation) {
  OneObstacle made;
  MUST(one_obstacle_from("{'type': 'grid', 'file': 'd.txt'}", "d.txt", write_grid(of_ball), &made,
                         error));
  const Field field = {&made.model->obstacles[0]};
  double x[3];
  for (int q = 0; q < 60; q++) {
    inside(q, x);
    check_derivatives(&field, x);
    /* And outside, along one, two or three axes. */
    for (int c = 0; c <= q % 3; c++) x[c] += (q & 1 << c ? 1 : -1) * (5 + 0.3 * c);
    check_derivatives(&field, x);
  }
  one_obstacle_destroy(&made);
}

/* ---- Files of grids ---- */

/* A file with this content is refused at a line. */
static void refuses_grid(const char *content, int line, const char *part) {
  OneObstacle made;
  HkError error = {0};
  HkStatus status =
      one_obstacle_from("{'type': 'grid', 'file': 'bad.txt'}", "bad.txt", content, &made, &error);
  if (status != HK_ERROR_FORMAT || error.line != line || !strstr(error.text, part) ||
      !strstr(error.file, "bad.txt"))
    test_fail(__FILE__, __LINE__, "'%s' gave '%s', expected line %d: '%s'", content, error.text,
              line, part);
  one_obstacle_destroy(&made);
}

TEST(bad_grids_are_refused_with_their_line) {
  refuses_grid("", 1, "is missing");
  refuses_grid("2 2\n", 2, "is missing");
  refuses_grid("2 1 2\n0 0 0\n1 1 1\n1 1 1 1\n", 1, "at least 2");
  refuses_grid("2 -2 2\n0 0 0\n1 1 1\n1 1 1 1\n", 1, "at least 2");
  refuses_grid("2 2.5 2\n0 0 0\n1 1 1\n1 1 1 1\n", 1, "not a whole number");
  refuses_grid("99999999 99999999 99999999\n0 0 0\n1 1 1\n1\n", 1, "too short");
  refuses_grid("9 9 9\n0 0 0\n1 1 1\n1\n", 1, "too short");
  refuses_grid("2 2 2\n0 x 0\n1 1 1\n1 1 1 1 1 1 1 1\n", 2, "not a finite number");
  refuses_grid("2 2 2\n0 0 0\n1 0 1\n1 1 1 1 1 1 1 1\n", 3, "must be above 0");
  refuses_grid("2 2 2\n0 0 0\n1 1 1\n1 1 1 1\n1 1 nan 1\n", 5, "not a finite number");
  refuses_grid("2 2 2\n0 0 0\n1 1 1\n1 1 1 1\n1 1 1\n", 6, "after 7 of 8 values");
  refuses_grid("2 2 2\n0 0 0\n1 1 1\n1 1 1 1\n1 1 1 1\n5\n", 6, "more than the 8 values");
}

/* A grid with some bytes changed, inserted or cut off is read or refused with its line. */
static void changed_grids_are_read_or_refused(Draw *draw) {
  static const char letters[] = "0123456789 .-+e\n#x",
                    good[] = "2 2 2\n0 0 0\n1 1 1\n1 2 3 4\n5 6 7 8\n";
  char text[sizeof good + 8];
  OneObstacle made;
  HkError error = {0};
  size_t size = sizeof good - 1;
  memcpy(text, good, sizeof good);
  for (DrawList list = {.max = 8}; draw_more(draw, &list);) {
    size_t at = (size_t)draw_below(draw, size);
    if (draw_chance(draw, 20)) size = at + 1;
    if (draw_chance(draw, 30)) {
      memmove(text + at + 1, text + at, size - at);
      size++;
    }
    text[at] = letters[draw_below(draw, sizeof letters - 1)];
  }
  text[size] = 0;
  draw_note(draw, "%s", text);
  HkStatus status =
      one_obstacle_from("{'type': 'grid', 'file': 'd.txt'}", "d.txt", text, &made, &error);
  if (status >= 0) {
    const Field field = {&made.model->obstacles[0]};
    double n[3], H[9];
    DRAW_CHECK(draw, !isnan(distance(&field, (double[]){0.3, 7, -0.2}, n, H)));
    for (int c = 0; c < 3; c++) DRAW_CHECK(draw, fabs(n[c]) <= 1 + 1e-12);
  } else {
    DRAW_CHECK(draw, status == HK_ERROR_FORMAT && error.line >= 1 && strlen(error.text) > 10);
  }
  one_obstacle_destroy(&made);
}

TEST(grids_with_changed_bytes_are_read_or_refused_with_their_line) {
  property_check(changed_grids_are_read_or_refused, 1000);
}
