/* A net on several processes: a program with MPI of its own gives Hooke a communicator.
 *
 *     mpirun -n 2 ranks
 *
 * The plug-in libhooke_petsc.so must be beside the library, or in the folder that HOOKE_PLUGINS
 * names. Every rank makes the same calls, and holds a part of the net: its own vertices, and ghosts
 * of those of other ranks. Rank 0 prints the energies and the lowest point, for which each rank
 * looks through its own vertices. Checks that the energy stays what it was. */
#include <hooke/ranks.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>

typedef struct World {
  HkRanks *ranks;
  HkScene *scene;
  HkModel *model;
  HkState *state;
  HkSim *sim;
} World;

/* Makes the scene: a net of 61 x 41 masses that hangs from its upper edge. */
static HkStatus make_scene(World *w, HkError *error) {
  HkContext context = hk_context_default();
  HkBody body = hk_body_default();
  HkPin pin = hk_pin_default();
  context.device = HK_PETSC;
  context.ranks = w->ranks;
  context.threads = 1;  /* of each rank */
  body.springs.k = 200; /* N/m */
  pin.select = (HkSelect){.kind = HK_SELECT_SET, .set = "top"};
  if (hk_scene_create(&context, &w->scene, error) < 0 ||
      hk_scene_add_body(w->scene, &body, NULL, error) < 0 ||
      hk_method_choose(&w->scene->bodies[0].shape, HK_SHAPE, "grid", error) < 0 ||
      hk_method_set_number(&w->scene->bodies[0].shape, "nx", 61, error) < 0 ||
      hk_method_set_number(&w->scene->bodies[0].shape, "ny", 41, error) < 0 ||
      hk_scene_add_pin(w->scene, &pin, NULL, error) < 0 ||
      hk_scene_add_force(w->scene, "gravity", NULL, error) < 0)
    return error->status;
  return hk_method_choose(&w->scene->step, HK_STEP, "verlet", error);
}

static HkStatus make_world(World *w, MPI_Comm communicator, HkError *error) {
  HkStatus status = hk_ranks_open(&communicator, 0, NULL, &w->ranks, error);
  if (status >= 0) status = make_scene(w, error);
  if (status >= 0) status = hk_model_compile(w->scene, &w->model, error);
  if (status >= 0) status = hk_state_create(w->model, &w->state, error);
  if (status >= 0) status = hk_sim_create(w->model, NULL, 5e-4, &w->sim, error);
  return status;
}

/* The ranks outlive all that was made with them. */
static void destroy_world(World *w) {
  hk_sim_destroy(&w->sim);
  hk_state_destroy(&w->state);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
  hk_ranks_close(&w->ranks);
}

/* Returns the height of the lowest vertex of all ranks (m). */
static double lowest(const World *w, MPI_Comm communicator) {
  const double *x = hk_state_positions(w->state);
  double mine = INFINITY, all;
  HkPartView part;
  hk_model_part(w->model, &part);
  for (int64_t i = 0; i < hk_state_vertex_count(w->state); i++)
    if (!part.ghost[i]) mine = fmin(mine, x[3 * i + 1]);
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, communicator);
  return all;
}

/* Returns the largest change of the total energy (J) over the motion, relative to the largest
 * kinetic energy. */
static double move(World *w, MPI_Comm communicator, HkError *error) {
  double begin = 0, change = 0, kinetic = 0;
  for (int frame = 0; frame <= 10; frame++) {
    HkStateInfo info;
    if (frame > 0 && hk_sim_steps(w->sim, w->state, 100, error) < 0) return INFINITY;
    hk_sim_state_info(w->sim, w->state, &info); /* sums over all ranks, on every rank */
    double low = lowest(w, communicator);
    if (frame == 0) begin = info.total;
    change = fmax(change, fabs(info.total - begin));
    kinetic = fmax(kinetic, info.kinetic);
    if (hk_ranks_rank(w->ranks) == 0)
      printf("%.2f s: kinetic %.6f J, springs %.6f J, total %.6f J, lowest %.4f m\n", info.time,
             info.kinetic, info.spring, info.total, low);
  }
  return change / kinetic;
}

int main(int argc, char **argv) {
  HkError error = {0};
  World w = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm communicator = MPI_COMM_WORLD; /* or one of some processes */
  double change = INFINITY;
  if (make_world(&w, communicator, &error) >= 0) change = move(&w, communicator, &error);
  HkPartView part;
  if (error.status < 0)
    fprintf(stderr, "%s\n", error.text);
  else if (hk_model_part(w.model, &part))
    printf("rank %d of %d owns %lld of %lld vertices\n", hk_ranks_rank(w.ranks),
           hk_ranks_count(w.ranks), (long long)part.owned, (long long)part.total);
  destroy_world(&w);
  MPI_Finalize();
  return change > 1e-3;
}
