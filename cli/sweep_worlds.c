/* The worlds of `hooke sweep`: loading, moving and measuring them. */
#include "signals.h"
#include "source.h"
#include "sweep.h"
#include "text.h"

#include "measure/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Loading --------------------------------------------------------------------------------- */

static HkStatus load(const HkContext *context, const char *name, const TextList *sets,
                     SweepWorld *w) {
  HkStatus status = source_read(context, name, sets, &w->scene, &w->error);
  return status < 0 ? status : hk_model_compile(w->scene, &w->model, &w->error);
}

void sweep_load(const HkContext *context, const char *name, const Variations *variations,
                const TextList *base, int64_t combination, SweepWorld *w) {
  TextList sets;
  *w = (SweepWorld){.combination = combination};
  w->info = (HkStateInfo){NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN},
                          NAN, NAN, NAN, NAN};
  if (variations_assign(variations, combination, base, &sets))
    w->status = load(context, name, &sets, w);
  else
    w->status = text_fail(&w->error, HK_ERROR_MEMORY, "no memory for the combination");
  w->finished = w->status < 0;
  assignments_release(base, &sets);
}

double sweep_need(const SweepWorld *w) {
  if (!w->model) return 0;
  return (double)hk_model_info(w->model).bytes + hk_batch_world_need(w->model, NULL);
}

void sweep_release(SweepWorld *w) {
  free(w->probes);
  hk_model_destroy(&w->model);
  hk_scene_destroy(&w->scene);
  w->probes = NULL;
}

/* ---- Times ----------------------------------------------------------------------------------- */

/* Sets the step and the number of steps as `hooke run` has them: frames are multiples of an
 * interval, which a whole number of steps makes up. */
static HkStatus plan(const HkScene *scene, HkSim *sim, int64_t *steps, HkError *error) {
  double fps = scene->time.frames_per_second, frames = scene->time.duration * fps;
  frames = ceil(frames - 1e-9 - 1e-12 * frames);
  bool always_stable = hk_method_stability(hk_sim_method(sim))[0] != 0;
  double substeps = ceil(1 / fps / hk_sim_h(sim) - (always_stable ? 0.02 : 1e-9));
  if (substeps < 1) substeps = 1;
  if (!(frames * substeps < 1e15))
    return text_fail(error, HK_ERROR_INVALID, "%g steps are too many; give a larger time.step",
                     frames * substeps);
  *steps = (int64_t)(frames * substeps);
  return hk_sim_set_h(sim, 1 / fps / substeps, error);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

/* Worlds that may make one batch, moved together. */
typedef struct Group {
  SweepWorld *all; /* of the chunk */
  int *index;      /* of each world of the group in `all` */
  const HkModel **models;
  int64_t *counts;
  int count;
  HkBatch *batch;
  bool checked; /* worlds that cannot be made alone have been taken out */
  Listener *listener;
  int64_t done, whole; /* worlds of the sweep */
  int64_t *steps;      /* of all worlds so far */
} Group;

static SweepWorld *world_of(const Group *g, int q) {
  return &g->all[g->index[q]];
}

static void measure_probes(const Group *g, int q) {
  SweepWorld *w = world_of(g, q);
  const int32_t *vertices;
  int64_t count;
  const HkState *state = hk_batch_state(g->batch, q);
  const double *x = hk_state_positions(state), *v = hk_state_velocities(state);
  while (hk_model_probe(w->model, w->probe_count, &vertices, &count)) w->probe_count++;
  w->probes = calloc((size_t)w->probe_count * 6 + 1, sizeof *w->probes);
  if (!w->probes) w->probe_count = 0;
  for (int p = 0; p < w->probe_count; p++) {
    hk_model_probe(w->model, p, &vertices, &count);
    for (int64_t k = 0; k < count; k++)
      for (int c = 0; c < 3; c++) {
        w->probes[6 * p + c] += x[3 * (int64_t)vertices[k] + c] / (double)count;
        w->probes[6 * p + 3 + c] += v[3 * (int64_t)vertices[k] + c] / (double)count;
      }
  }
}

/* Takes over how far each world has come. */
static void note(Group *g) {
  HkWorldInfo info;
  for (int q = 0; q < g->count; q++) {
    SweepWorld *w = world_of(g, q);
    HkError error = {0};
    if (w->finished) continue;
    HkStatus status = hk_batch_world_info(g->batch, q, &info, &error);
    w->steps += info.steps;
    w->last = info.last;
    if (status == HK_ERROR_CANCELLED) continue;
    if (status != HK_OK) w->status = status;
    if (status < 0) w->error = error;
    w->finished = status < 0 || w->steps == w->goal;
  }
}

static void show(Group *g) {
  HkProgress at = {.frames = g->whole, .frame = g->done, .substeps = 1, .steps = *g->steps};
  for (int q = 0; q < g->count; q++) {
    const SweepWorld *w = world_of(g, q);
    at.part += w->finished ? 1 : (double)w->steps / (double)w->goal;
  }
  at.frame += (int64_t)at.part;
  at.part -= floor(at.part);
  progress_show(g->listener->progress, &at);
}

/* Moves the worlds in pieces of some tenths of a second, between which progress is shown. */
static void move(Group *g) {
  const double SHORT = 0.1, LONG = 0.4; /* s */
  int64_t piece = 1;
  while (!signals_caught()) {
    int64_t most = 0;
    for (int q = 0; q < g->count; q++) {
      const SweepWorld *w = world_of(g, q);
      int64_t left = w->finished ? 0 : w->goal - w->steps;
      g->counts[q] = left < piece ? left : piece;
      if (g->counts[q] > most) most = g->counts[q];
      *g->steps += g->counts[q];
    }
    if (most == 0) break;
    double start = seconds_now();
    hk_batch_steps_each(g->batch, g->counts, NULL); /* note() has the errors of worlds */
    double seconds = seconds_now() - start;
    note(g);
    show(g);
    if (seconds < SHORT && piece < INT64_MAX / 2) piece *= 2;
    if (seconds > LONG && piece > 1) piece /= 2;
  }
}

static void measure(Group *g) {
  for (int q = 0; q < g->count; q++) {
    SweepWorld *w = world_of(g, q);
    if (w->status >= 0)
      hk_sim_state_info(hk_batch_sim(g->batch, q), hk_batch_state(g->batch, q), &w->info);
    if (w->status >= 0) measure_probes(g, q);
  }
}

/* Makes the batch and plans the steps of its worlds. */
static HkStatus create(Group *g, HkError *error) {
  HkStatus status =
      hk_batch_create_from((const HkModel *const *)g->models, g->count, NULL, 0, &g->batch, error);
  if (status < 0) return status;
  hk_batch_set_cancel(g->batch, signals_cancel, NULL);
  for (int q = 0; q < g->count; q++) {
    SweepWorld *w = world_of(g, q);
    w->status = plan(w->scene, hk_batch_sim(g->batch, q), &w->goal, &w->error);
    w->finished = w->status < 0 || w->goal == 0;
  }
  return HK_OK;
}

static Group part_of(const Group *g, int first, int count) {
  Group part = *g;
  part.index += first;
  part.models += first;
  part.counts += first;
  part.count = count;
  part.done += first;
  return part;
}

static void end_world(SweepWorld *w, HkStatus status, const HkError *error) {
  w->status = status;
  w->error = *error;
  w->finished = true;
}

/* Ends the worlds that cannot be made, not even alone, with their errors: halves of a batch that
 * cannot be made are tried, down to single worlds. */
static void end_failing(Group *g) {
  HkError error = {0};
  HkStatus status = create(g, &error);
  hk_batch_destroy(&g->batch);
  if (status >= 0 || signals_caught()) return;
  if (g->count == 1) {
    end_world(world_of(g, 0), status, &error);
    return;
  }
  Group first = part_of(g, 0, g->count / 2),
        second = part_of(g, g->count / 2, g->count - g->count / 2);
  end_failing(&first);
  end_failing(&second);
}

/* Takes the worlds out of the group that cannot be made. */
static void remove_failing(Group *g) {
  int kept = 0;
  bool quiet = g->listener->quiet;
  g->listener->quiet = true; /* these batches make no steps */
  end_failing(g);
  g->listener->quiet = quiet;
  for (int q = 0; q < g->count; q++) {
    if (world_of(g, q)->status < 0) continue;
    g->index[kept] = g->index[q];
    g->models[kept++] = g->models[q];
  }
  g->done += g->count - kept;
  g->count = kept;
  g->checked = true;
}

/* Where a batch cannot be made, the worlds that fail are taken out of it; if none does alone, as
 * where the device has no memory for so many, the batch is halved. */
static void move_group(Group *g) {
  HkError error = {0};
  HkStatus status = create(g, &error);
  if (status >= 0) {
    move(g);
    measure(g);
    hk_batch_destroy(&g->batch);
  } else if (g->count == 1) {
    end_world(world_of(g, 0), status, &error);
  } else if (!g->checked) {
    remove_failing(g);
    if (g->count > 0 && !signals_caught()) move_group(g);
  } else {
    Group first = part_of(g, 0, g->count / 2),
          second = part_of(g, g->count / 2, g->count - g->count / 2);
    move_group(&first);
    if (!signals_caught()) move_group(&second);
  }
}

/* Whether two worlds may be in one batch: they have the same number of vertices, and on a device
 * one integrator, and as many springs and pins. */
static bool fit_together(const SweepWorld *a, const SweepWorld *b) {
  HkModelInfo p = hk_model_info(a->model), q = hk_model_info(b->model);
  if (p.vertices != q.vertices) return false;
  if (a->scene->context.device == HK_CPU) return true;
  if (p.springs != q.springs || p.pinned != q.pinned) return false;
  char *text[2] = {NULL, NULL};
  bool same = hk_method_format(&a->scene->step, &text[0], NULL) >= 0 &&
              hk_method_format(&b->scene->step, &text[1], NULL) >= 0 &&
              strcmp(text[0], text[1]) == 0;
  hk_text_destroy(&text[0]);
  hk_text_destroy(&text[1]);
  return same;
}

/* Collects the worlds that may be in one batch with the first one that is not moved yet. */
static void collect(SweepWorld *worlds, int count, bool *moved, Group *g) {
  const SweepWorld *first = NULL;
  g->count = 0;
  for (int q = 0; q < count; q++) {
    if (moved[q] || !worlds[q].model) continue;
    if (!first) first = &worlds[q];
    if (!fit_together(first, &worlds[q])) continue;
    moved[q] = true;
    g->index[g->count] = q;
    g->models[g->count++] = worlds[q].model;
  }
}

void sweep_move(SweepWorld *worlds, int count, Listener *listener, int64_t done, int64_t whole,
                int64_t *steps) {
  size_t size = (size_t)count;
  Group g = {.all = worlds,
             .index = calloc(size, sizeof *g.index),
             .models = calloc(size, sizeof(const HkModel *)),
             .counts = calloc(size, sizeof *g.counts),
             .listener = listener,
             .done = done,
             .whole = whole,
             .steps = steps};
  bool *moved = calloc(size, sizeof *moved);
  bool have = g.index && g.models && g.counts && moved;
  for (int q = 0; q < count && !have; q++) {
    worlds[q].status = text_fail(&worlds[q].error, HK_ERROR_MEMORY, "no memory for the worlds");
    worlds[q].finished = true;
  }
  while (have && !signals_caught()) {
    collect(worlds, count, moved, &g);
    if (g.count == 0) break;
    g.checked = false;
    move_group(&g);
    g.done += g.count;
  }
  free(moved);
  free(g.counts);
  free(g.models);
  free(g.index);
}
