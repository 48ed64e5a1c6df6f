/* Motions on ranks are those of one process. */
#include "ranks.h"

#include "base/ranks.h"
#include "model/part.h"

static const char net[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 14, 'ny': 11, 'width': 1.3},"
    "  'springs': {'k': 200, 'damping': 0.02, 'tension_only': true}}],"
    " 'pins': [{'select': 'top', 'release': 0.05},"
    "  {'select': {'nearest': [0, 0, 0]}, 'motion': {'type': 'oscillation', 'frequency': 2}}],"
    " 'forces': [{'type': 'gravity'}, {'type': 'drag'}, {'type': 'wind'}],"
    " 'time': {'duration': 0.2, 'step': 0.002}}";

/* A sheet that hangs in tension: its Hessian is definite. */
static const char hanging[] =
    "{'bodies': [{'shape': {'type': 'grid', 'nx': 30, 'ny': 40}, 'springs': {'k': 200}}],"
    " 'pins': [{'select': 'top'}], 'forces': [{'type': 'gravity'}], 'time': {'duration': 1, "
    "'step': 0.005}}";

static const char *const explicit_integrators[] = {"symplectic_euler", "verlet"};

/* Explicit steps: positions of all ranks are those of one process, bit for bit. */
static void check_explicit(const char *scene, int steps) {
  for (int k = 0; k < 2; k++) {
    char integrator[64];
    snprintf(integrator, sizeof integrator, "integrator=%s", explicit_integrators[k]);
    const char *sets[] = {integrator, "time.step=0.0001", NULL};
    RanksWorld part = {0}, whole = {0};
    MUST(ranks_world(scene, sets, test_ranks(), &part, error));
    MUST(ranks_world(scene, sets, NULL, &whole, error));
    MUST(hk_sim_steps(part.sim, part.state, steps, error));
    MUST(hk_sim_steps(whole.sim, whole.state, steps, error));
    CHECK(ranks_distance(&part, &whole) == 0);
    HkStateInfo a, b;
    hk_sim_state_info(part.sim, part.state, &a);
    hk_sim_state_info(whole.sim, whole.state, &b);
    CHECK_NEAR(a.total, b.total, 1e-12 * (fabs(b.total) + fabs(b.spring) + fabs(b.kinetic)));
    CHECK_NEAR(a.kinetic, b.kinetic, 1e-12 * b.kinetic);
    ranks_world_destroy(&part);
    ranks_world_destroy(&whole);
  }
}

/* Implicit steps, solved to a relative gradient far below 1e-10: positions are those of one process
 * within 1e-10 of the extent of the model. */
static void check_implicit(const char *scene, const char *integrator, const char *preconditioner,
                           int steps) {
  char chosen[64], linear[400];
  bool sole = strcmp(integrator, "linear_implicit_euler") == 0;
  snprintf(chosen, sizeof chosen, "integrator.type=%s", integrator);
  const char *solver = "integrator.minimizer={\"type\": \"newton\", \"tolerance\": 1e-11, "
                       "\"linear\": {\"type\": \"pcg\", \"tolerance\": 1e-13, "
                       "\"preconditioner\": \"%s\"}}";
  const char *sole_solver = "integrator.linear={\"type\": \"pcg\", \"tolerance\": 1e-13, "
                            "\"preconditioner\": \"%s\"}";
  snprintf(linear, sizeof linear, sole ? sole_solver : solver, preconditioner);
  const char *sets[] = {chosen, linear, "time.step=0.005", NULL};
  RanksWorld part = {0}, whole = {0};
  MUST(ranks_world(scene, sets, test_ranks(), &part, error));
  snprintf(linear, sizeof linear, sole ? sole_solver : solver, "block_jacobi");
  MUST(ranks_world(scene, sets, NULL, &whole, error));
  MUST(hk_sim_steps(part.sim, part.state, steps, error));
  MUST(hk_sim_steps(whole.sim, whole.state, steps, error));
  double distance = ranks_distance(&part, &whole);
  if (!(distance <= 1e-10))
    test_fail(__FILE__, __LINE__, "%s, %s, %s: %g m", scene, integrator, preconditioner, distance);
  ranks_world_destroy(&part);
  ranks_world_destroy(&whole);
}

TEST(implicit_steps_with_block_jacobi_are_those_of_one_process) {
  check_implicit(net, "backward_euler", "block_jacobi", 20);
  check_implicit(net, "bdf2", "block_jacobi", 20);
}

TEST(linear_implicit_steps_are_those_of_one_process) {
  check_implicit(hanging, "linear_implicit_euler", "multigrid", 10);
  check_implicit(hanging, "linear_implicit_euler", "gamg", 3);
}

TEST(implicit_steps_of_a_net_with_released_pins_are_those_of_one_process) {
  check_implicit(net, "backward_euler", "multigrid", 20);
}

TEST(implicit_steps_of_a_flag_are_those_of_one_process) {
  check_implicit("flag", "backward_euler", "multigrid", 5);
}

TEST(implicit_steps_of_a_curtain_are_those_of_one_process) {
  check_implicit("curtain", "backward_euler", "multigrid", 2);
}

TEST(implicit_steps_of_a_block_are_those_of_one_process) {
  check_implicit("jelly_block", "backward_euler", "multigrid", 4);
  check_implicit("jelly_block", "bdf2", "gamg", 4);
  check_implicit("jelly_block", "backward_euler", "hypre", 4);
}

TEST(explicit_steps_of_a_flag_have_the_bits_of_one_process) {
  check_explicit("flag", 200);
}

TEST(explicit_steps_of_a_curtain_have_the_bits_of_one_process) {
  check_explicit("curtain", 100);
}

TEST(explicit_steps_of_a_block_have_the_bits_of_one_process) {
  check_explicit("jelly_block", 200);
}

TEST(explicit_steps_of_a_net_with_released_pins_have_the_bits_of_one_process) {
  check_explicit(net, 700);
}

/* ---- The halo ---- */

/* Marks the vertices of a group of which `rank` owns one. */
static void mark_group(const int32_t *owner, int rank, const int32_t *vertex, int64_t count,
                       uint8_t *marked) {
  bool owns = false;
  for (int64_t k = 0; k < count; k++) owns |= owner[vertex[k]] == rank;
  for (int64_t k = 0; k < count && owns; k++) marked[vertex[k]] = 1;
}

/* Counts what this rank must send in an exchange, and no more: for each other rank its own vertices
 * that springs, faces and cells of that rank reach, by the whole model. */
static int64_t count_border(const HkModel *whole, const int32_t *owner) {
  int64_t count = 0;
  uint8_t *marked = malloc((size_t)whole->n);
  for (int rank = 0; rank < hk_ranks_count(test_ranks()); rank++) {
    if (rank == hk_ranks_rank(test_ranks())) continue;
    memset(marked, 0, (size_t)whole->n);
    for (int64_t s = 0; s < whole->springs.count; s++)
      mark_group(owner, rank, (int32_t[]){whole->springs.i[s], whole->springs.j[s]}, 2, marked);
    for (int64_t f = 0; f < whole->face_count; f++)
      mark_group(owner, rank, whole->face + 3 * f, 3, marked);
    for (int64_t c = 0; c < whole->cell_count; c++) {
      const int32_t *corner = whole->cell_vertex + whole->cell_start[c];
      if (owner[corner[0]] == rank)
        mark_group(owner, rank, corner, whole->cell_start[c + 1] - whole->cell_start[c], marked);
    }
    for (int64_t i = 0; i < whole->n; i++)
      count += marked[i] && owner[i] == hk_ranks_rank(test_ranks());
  }
  free(marked);
  return count;
}

TEST(an_exchange_sends_the_border_and_nothing_else) {
  RanksWorld part = {0}, whole = {0};
  HkPartView view;
  int64_t sent, received;
  MUST(ranks_world(net, NULL, test_ranks(), &part, error));
  MUST(ranks_world(net, NULL, NULL, &whole, error));
  CHECK(hk_model_part(part.model, &view) && view.total == whole.model->n);
  double *rank = calloc((size_t)whole.model->n, sizeof *rank);
  int32_t *owner = calloc((size_t)whole.model->n, sizeof *owner);
  for (int64_t i = 0; i < part.model->n; i++)
    if (!view.ghost[i]) rank[view.number[i]] = hk_ranks_rank(test_ranks());
  hk_ranks_sum(test_ranks(), rank, (int)whole.model->n);
  for (int64_t i = 0; i < whole.model->n; i++) owner[i] = (int32_t)rank[i];
  test_ranks()->type->halo_bytes(part.model->part->halo, &sent, &received);
  CHECK(sent == count_border(whole.model, owner) * 3 * (int64_t)sizeof(double));
  CHECK(received == part.model->part->ghost_count * 3 * (int64_t)sizeof(double));
  free(rank);
  free(owner);
  ranks_world_destroy(&part);
  ranks_world_destroy(&whole);
}

/* A mesh file of two bodies that do not touch, with numbers in another order than along the mesh.
 */
TEST(steps_of_a_mesh_of_two_pieces_are_those_of_one_process) {
  static const char scene[] =
      "{'bodies': [{'shape': {'type': 'disc', 'rings': 7}, 'springs': {'k': 300}, 'mass': 0.3},"
      " {'shape': {'type': 'ball', 'shells': 4}, 'springs': {'k': 500}, 'mass': 1,"
      "  'transform': {'translate': [3, 0, 0]}}],"
      " 'pins': [{'select': {'nearest': [0, 0, 0]}}], 'forces': [{'type': 'gravity'}],"
      " 'time': {'duration': 1, 'step': 0.001}}";
  check_explicit(scene, 300);
  check_implicit(scene, "backward_euler", "multigrid", 5);
}
