/* Crossings of edges and triangles; see crossing.h. The tree finds slots whose boxes overlap. */
#include "contact/crossing.h"

#include "contact/orient.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_GRAIN = 32 };

typedef struct Crossings {
  const HkContacts *c;
  const double *x;
  HkPiece *piece;
} Crossings;

static bool has(const int32_t *v, int32_t i) {
  return v[0] == i || v[1] == i || v[2] == i;
}

/* The edges that belong to one slot against the triangle of the other. */
static void compare(Crossings *a, int64_t edges, int64_t triangle) {
  const HkFeatures *f = &a->c->data->features;
  const int32_t *e = f->vertex + 3 * edges, *t = f->vertex + 3 * triangle;
  if (f->corners[triangle] < 3) return;
  for (int q = 0; q < 3; q++) {
    int32_t i = e[q], j = e[(q + 1) % 3];
    if (!(f->owns[edges] >> (3 + q) & 1) || has(t, i) || has(t, j)) continue;
    const double *x[5];
    const int32_t v[5] = {i, j, t[0], t[1], t[2]};
    for (int k = 0; k < 5; k++) x[k] = hk_contacts_position(a->c, a->x, v[k]);
    if (!hk_segment_meets_triangle(x[0], x[1], x[2], x[3], x[4])) continue;
    HkCrossing *to = hk_piece_append(a->piece);
    if (!to) return;
    *to = (HkCrossing){
        .edge = {i, j},
        .triangle = {t[0], t[1], t[2]},
        .group = {f->group[edges / HK_CONTACT_WIDTH], f->group[triangle / HK_CONTACT_WIDTH]}};
  }
}

static void found(void *user, int64_t slot_a, int64_t slot_b) {
  compare(user, slot_a, slot_b);
  compare(user, slot_b, slot_a);
}

static void crossing_range(void *user, int64_t begin, int64_t end, HkPiece *piece) {
  Crossings a = *(const Crossings *)user;
  a.piece = piece;
  for (int64_t b = begin; b < end; b++)
    hk_tree_search(&a.c->tree, &a.c->data->features, b, found, &a);
}

int64_t hk_contacts_crossings(HkContacts *c, const double *x, HkCrossing *list, int64_t most) {
  const HkContext *context = &c->model->context;
  Crossings a = {.c = c, .x = x};
  HkFill fill = {.count = c->data->features.slot_count / HK_CONTACT_WIDTH,
                 .grain = BLOCK_GRAIN,
                 .size = sizeof *list,
                 .fill = crossing_range,
                 .user = &a};
  HkCrossing *all = NULL;
  int64_t count = 0, capacity = 0;
  if (hk_contacts_cover(c, x, x) < 0) return -1;
  HkStatus status =
      hk_pieces_fill(&c->pieces, context, c->model->threads, &fill, &all, &count, &capacity);
  if (count > 0 && most > 0) memcpy(list, all, (size_t)(count < most ? count : most) * sizeof *all);
  hk_free(context, &all);
  return status < 0 ? -1 : count;
}

/* ---- Input that intersects ---- */

enum { SHOWN = 4 };

typedef struct Complaint {
  const HkContacts *c;
  char text[640];
  size_t length;
  int64_t count;
} Complaint;

static void complain(Complaint *a, int32_t i, const char *other, int32_t j, double gap) {
  char place[32] = "";
  if (a->count++ >= SHOWN || a->length >= sizeof a->text) return;
  if (j >= 0 && j < a->c->data->features.n) snprintf(place, sizeof place, " at vertex %d", j);
  int written =
      snprintf(a->text + a->length, sizeof a->text - a->length, "%s'%s' at vertex %d and '%s'%s",
               a->count > 1 ? ", " : "", hk_contacts_name(a->c, i), i, other, place);
  if (written > 0) a->length += (size_t)written;
  if (!(gap < 0) || a->length >= sizeof a->text) return;
  written =
      snprintf(a->text + a->length, sizeof a->text - a->length, " (too near by %.3g m)", -gap);
  if (written > 0) a->length += (size_t)written;
}

/* Vertices of the model come first in messages. */
static void complain_pair(Complaint *a, int32_t i, int32_t j, double gap) {
  bool swaps = i >= a->c->data->features.n;
  int32_t first = swaps ? j : i, second = swaps ? i : j;
  complain(a, first, hk_contacts_name(a->c, second), second, gap);
}

HkStatus hk_contacts_check(HkContacts *c, const HkSpringArrays *springs, const double *x,
                           HkError *error) {
  HkCrossing list[SHOWN];
  Complaint a = {.c = c};
  int64_t crossings = hk_contacts_crossings(c, x, list, SHOWN);
  const HkTouchings *t = hk_contacts_find(c, springs, x);
  if (crossings < 0 || !t) return hk_fail(error, HK_ERROR_MEMORY, "there is no memory for contact");
  for (int64_t k = 0; k < crossings && k < SHOWN; k++)
    complain_pair(&a, list[k].edge[0], list[k].triangle[0], 0);
  for (int64_t k = 0; k < t->pair_count; k++) {
    const HkTouching *p = &t->pair[k];
    if (!(p->touch.g > 0)) complain_pair(&a, p->vertex[0], p->vertex[p->split], p->touch.g);
  }
  for (int64_t k = 0; k < t->wall_count; k++) {
    const HkWall *wall = &c->data->walls[t->wall[k].wall];
    const char *name = wall->obstacle ? wall->obstacle->name : "the ground";
    if (!(t->wall[k].g > 0)) complain(&a, t->wall[k].vertex, name, -1, t->wall[k].g);
  }
  if (a.count == 0) return HK_OK;
  if (a.count > SHOWN && a.length < sizeof a.text)
    snprintf(a.text + a.length, sizeof a.text - a.length, " and others");
  return hk_fail(error, HK_ERROR_INVALID,
                 "contact: %lld places intersect or are nearer than their thickness at the start: "
                 "%s; move them apart, %smake thickness smaller than the edges of the meshes, or "
                 "set \"self\": false for bodies that fold into themselves",
                 (long long)(a.count > crossings ? a.count : crossings), a.text,
                 c->data->untangle ? "" : "set \"untangle\": true, ");
}
