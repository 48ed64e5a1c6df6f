/* Minimum degree with approximate degrees, on a quotient graph.
 *
 * Eliminating an unknown p joins all its neighbors with each other. Instead of writing that clique
 * down, p becomes an element: a list of the unknowns it joins. An unknown i then has two lists, the
 * elements E_i that it is in and the plain neighbors A_i that no element covers, and the graph
 * never needs more memory than at the start. The next pivot is the unknown with the least bound of
 *
 *     degree(i) <= |A_i| + |L_p \ i| + sum over e in E_i of |L_e \ L_p|,
 *
 * which counts unknowns twice that are in several elements, and is cheap: |L_e \ L_p| of all
 * elements around the pivot comes from one pass over the lists of L_p.
 *
 * Unknowns with the same neighbors (the coordinates of one vertex, to begin with) are merged into
 * one with a weight; elements inside of another are absorbed by it; rows that are dense beside the
 * others (the hub of a star) go last.
 *
 * After P. R. Amestoy, T. A. Davis, I. S. Duff: An approximate minimum degree ordering algorithm,
 * SIAM J. Matrix Anal. Appl. 17 (1996).
 */
#include "linear/ordering.h"

#include <math.h>

/* A node is an unknown, an element, or removed (merged, absorbed, eliminated without neighbors). */
enum { UNKNOWN, ELEMENT, REMOVED };

typedef struct Graph {
  int64_t n, left;   /* nodes; weight of the unknowns that are not eliminated yet */
  int64_t *list;     /* the lists of all nodes */
  int64_t used;      /* of list */
  int64_t capacity;  /* of list */
  int64_t *start;    /* of a node's list: of an unknown elements and then unknowns, of an element
                      * unknowns */
  int64_t *length;   /* of it */
  int64_t *elements; /* how many of it are elements */
  int64_t *kind;
  int64_t *weight; /* unknowns that a node stands for; negative in the present element, 0: none */
  int64_t *degree; /* of an unknown; of an element the weight of its list */
  int64_t *mark, tag;
  int64_t *head, least;   /* lists of unknowns by degree */
  int64_t *next, *before; /* in them */
  int64_t *bucket;        /* lists of unknowns by hash, through next */
  int64_t *follow, *last; /* the unknowns that were merged into one */
  int64_t *memory;
} Graph;

/* ---- Degree lists ---- */

static void insert(Graph *g, int64_t i) {
  int64_t d = g->degree[i];
  g->next[i] = g->head[d];
  g->before[i] = -1;
  if (g->head[d] >= 0) g->before[g->head[d]] = i;
  g->head[d] = i;
  if (d < g->least) g->least = d;
}

static void take_out(Graph *g, int64_t i) {
  if (g->next[i] >= 0) g->before[g->next[i]] = g->before[i];
  if (g->before[i] >= 0)
    g->next[g->before[i]] = g->next[i];
  else
    g->head[g->degree[i]] = g->next[i];
}

static int64_t take_least(Graph *g) {
  while (g->head[g->least] < 0) g->least++;
  int64_t p = g->head[g->least];
  take_out(g, p);
  return p;
}

/* ---- Nodes ---- */

static void remove_node(Graph *g, int64_t i) {
  g->kind[i] = REMOVED;
  g->length[i] = 0;
}

/* j is eliminated together with i, which stands for both from now on. */
static void merge(Graph *g, int64_t i, int64_t j) {
  g->weight[i] += g->weight[j];
  g->weight[j] = 0;
  g->follow[g->last[i]] = j;
  g->last[i] = g->last[j];
  remove_node(g, j);
}

/* Moves all lists together. Each list is found by a mark in the place of its first entry, which
 * waits in start. */
static void compact(Graph *g) {
  for (int64_t i = 0; i < g->n; i++) {
    if (g->length[i] == 0) continue;
    int64_t entry = g->list[g->start[i]];
    g->list[g->start[i]] = -i - 1;
    g->start[i] = entry;
  }
  int64_t end = g->used, used = 0;
  for (int64_t at = 0; at < end;) {
    if (g->list[at] >= 0) {
      at++;
      continue;
    }
    int64_t i = -g->list[at] - 1, from = at;
    g->list[used] = g->start[i];
    for (int64_t e = 1; e < g->length[i]; e++) g->list[used + e] = g->list[from + e];
    g->start[i] = used;
    used += g->length[i];
    at = from + g->length[i];
  }
  g->used = used;
}

/* ---- One elimination ---- */

static void add_members(Graph *g, const int64_t *list, int64_t count) {
  for (int64_t e = 0; e < count; e++) {
    int64_t i = list[e];
    if (g->weight[i] <= 0) continue;
    take_out(g, i);
    g->weight[i] = -g->weight[i];
    g->list[g->used++] = i;
  }
}

/* Makes p the element of all its neighbors; those of elements around it are taken over. */
static void make_element(Graph *g, int64_t p) {
  int64_t most = g->length[p], count = g->elements[p];
  for (int64_t e = 0; e < count; e++) most += g->length[g->list[g->start[p] + e]];
  if (g->used + (most < g->n ? most : g->n) > g->capacity) compact(g);
  int64_t at = g->start[p], begin = g->used;
  g->weight[p] = -g->weight[p];
  add_members(g, g->list + at + count, g->length[p] - count);
  for (int64_t e = 0; e < count; e++) {
    int64_t element = g->list[at + e];
    add_members(g, g->list + g->start[element], g->length[element]);
    remove_node(g, element);
  }
  g->kind[p] = ELEMENT;
  g->start[p] = begin;
  g->length[p] = g->used - begin;
  g->degree[p] = 0;
  for (int64_t e = begin; e < g->used; e++) g->degree[p] -= g->weight[g->list[e]];
}

/* mark[e] = tag + |L_e \ L_p| for all elements around the members of p. */
static void measure_overlaps(Graph *g, int64_t p) {
  g->tag += g->n + 1;
  for (int64_t k = 0; k < g->length[p]; k++) {
    int64_t i = g->list[g->start[p] + k];
    for (int64_t a = 0; a < g->elements[i]; a++) {
      int64_t e = g->list[g->start[i] + a];
      if (g->kind[e] != ELEMENT) continue;
      if (g->mark[e] < g->tag) g->mark[e] = g->tag + g->degree[e];
      g->mark[e] += g->weight[i];
    }
  }
}

/* Takes from the lists of member i what element p covers, and puts p first among them; returns the
 * weight of all that is left beside p. */
static int64_t shorten_lists(Graph *g, int64_t i, int64_t p) {
  int64_t *list = g->list + g->start[i], kept = 0, outside = 0;
  int64_t count = g->elements[i], length = g->length[i];
  for (int64_t a = 0; a < count; a++) {
    int64_t e = list[a];
    if (g->kind[e] != ELEMENT) continue;
    if (g->mark[e] == g->tag) { /* p covers all of it */
      remove_node(g, e);
      continue;
    }
    outside += g->mark[e] - g->tag;
    list[kept++] = e;
  }
  /* p takes a place of its own, which may be that of the first unknown: that one goes last. A place
   * gets free in any case, that of p or of an element that p has taken over. */
  int64_t first = kept == count && count < length ? list[count++] : p;
  g->elements[i] = kept + 1;
  list[kept++] = p;
  for (int64_t a = count; a < length; a++)
    if (g->weight[list[a]] > 0) list[kept++] = list[a];
  if (g->weight[first] > 0) list[kept++] = first;
  g->length[i] = kept;
  for (int64_t a = g->elements[i]; a < kept; a++) outside += g->weight[list[a]];
  return outside;
}

static void put_into_bucket(Graph *g, int64_t i) {
  uint64_t sum = 0;
  for (int64_t a = 0; a < g->length[i]; a++) sum += (uint64_t)g->list[g->start[i] + a];
  int64_t hash = (int64_t)(sum % (uint64_t)g->n);
  g->before[i] = hash;
  g->next[i] = g->bucket[hash];
  g->bucket[hash] = i;
}

/* Members without neighbors outside of p are eliminated with it. */
static void update_members(Graph *g, int64_t p) {
  for (int64_t k = 0; k < g->length[p]; k++) {
    int64_t i = g->list[g->start[p] + k];
    int64_t outside = shorten_lists(g, i, p);
    if (outside == 0) {
      g->degree[p] += g->weight[i];
      merge(g, p, i);
    } else {
      if (outside < g->degree[i]) g->degree[i] = outside;
      put_into_bucket(g, i);
    }
  }
}

static bool has_marked_list(const Graph *g, int64_t i) {
  for (int64_t a = 0; a < g->length[i]; a++)
    if (g->mark[g->list[g->start[i] + a]] != g->tag) return false;
  return true;
}

/* Merges those unknowns of a bucket that have the same lists as its first one. */
static void merge_twins(Graph *g, int64_t i) {
  g->tag++;
  for (int64_t a = 0; a < g->length[i]; a++) g->mark[g->list[g->start[i] + a]] = g->tag;
  for (int64_t before = i, j = g->next[i]; j >= 0; j = g->next[j]) {
    bool twin = g->length[j] == g->length[i] && g->elements[j] == g->elements[i];
    if (twin && has_marked_list(g, j)) {
      merge(g, i, j);
      g->next[before] = g->next[j];
    } else {
      before = j;
    }
  }
}

static void find_twins(Graph *g, int64_t p) {
  g->tag += g->n + 1;
  for (int64_t k = 0; k < g->length[p]; k++) {
    int64_t i = g->list[g->start[p] + k];
    if (g->weight[i] == 0) continue;
    int64_t hash = g->before[i];
    for (int64_t j = g->bucket[hash]; j >= 0; j = g->next[j]) merge_twins(g, j);
    g->bucket[hash] = -1;
  }
}

/* Members that are left return to the degree lists. */
static void finish_element(Graph *g, int64_t p) {
  int64_t *list = g->list + g->start[p], kept = 0;
  g->left += g->weight[p];
  for (int64_t k = 0; k < g->length[p]; k++) {
    int64_t i = list[k];
    if (g->weight[i] == 0) continue;
    g->weight[i] = -g->weight[i];
    int64_t degree = g->degree[i] + g->degree[p] - g->weight[i], most = g->left - g->weight[i];
    g->degree[i] = degree < most ? degree : most;
    insert(g, i);
    list[kept++] = i;
  }
  g->used = g->start[p] + kept;
  g->length[p] = kept;
  g->weight[p] = 0;
  if (kept == 0) g->kind[p] = REMOVED;
}

static void eliminate(Graph *g, int64_t *order) {
  int64_t count = 0;
  while (g->left > 0) {
    int64_t p = take_least(g);
    make_element(g, p);
    measure_overlaps(g, p);
    update_members(g, p);
    find_twins(g, p);
    finish_element(g, p);
    for (int64_t i = p; i >= 0; i = g->follow[i]) order[count++] = i;
  }
}

/* ---- Start ---- */

static void fill_lists(Graph *g, const HkSparse *a) {
  for (int64_t j = 0; j < a->n; j++)
    for (int64_t e = a->start[j]; e < a->start[j + 1]; e++)
      if (a->row[e] != j) g->length[j]++, g->length[a->row[e]]++;
  for (int64_t i = 0; i < a->n; i++) {
    g->start[i] = g->used;
    g->used += g->length[i];
    g->length[i] = 0;
  }
  for (int64_t j = 0; j < a->n; j++)
    for (int64_t e = a->start[j]; e < a->start[j + 1]; e++) {
      int64_t i = a->row[e];
      if (i == j) continue;
      g->list[g->start[j] + g->length[j]++] = i;
      g->list[g->start[i] + g->length[i]++] = j;
    }
}

static HkStatus create_graph(const HkContext *c, const HkSparse *a, Graph *g, HkError *error) {
  int64_t n = a->n, entries = 2 * (a->start[n] - n);
  int64_t **arrays[] = {&g->start,  &g->length, &g->elements, &g->kind, &g->weight,
                        &g->degree, &g->mark,   &g->head,     &g->next, &g->before,
                        &g->bucket, &g->follow, &g->last};
  int64_t count = sizeof arrays / sizeof arrays[0];
  *g = (Graph){.n = n, .capacity = entries + entries / 4 + n};
  HK_TRY(hk_alloc(c, &g->memory, count * n, sizeof *g->memory, "an ordering", error));
  for (int64_t k = 0; k < count; k++) *arrays[k] = g->memory + k * n;
  return hk_alloc(c, &g->list, g->capacity, sizeof *g->list, "an ordering", error);
}

/* Rows with more entries than this go last: they would be looked at again with every neighbor. */
static int64_t dense_length(int64_t n) {
  double length = 10 * sqrt((double)n);
  return length > 16 ? (int64_t)length : 16;
}

/* Dense rows end up at the end of order. */
static void set_up(Graph *g, int64_t *order) {
  int64_t dense = 0, most = dense_length(g->n);
  for (int64_t i = 0; i < g->n; i++) g->head[i] = g->bucket[i] = g->follow[i] = -1;
  g->least = g->n - 1;
  for (int64_t i = 0; i < g->n; i++) {
    g->last[i] = i;
    if (g->length[i] > most) {
      order[g->n - ++dense] = i;
      remove_node(g, i);
      continue;
    }
    g->weight[i] = 1;
    g->degree[i] = g->length[i];
    insert(g, i);
  }
  g->left = g->n - dense;
}

HkStatus hk_ordering_find(const HkContext *c, const HkSparse *pattern, int64_t *order,
                          HkError *error) {
  Graph g;
  if (pattern->n == 0) return HK_OK;
  HkStatus status = create_graph(c, pattern, &g, error);
  if (status >= 0) {
    fill_lists(&g, pattern);
    set_up(&g, order);
    eliminate(&g, order);
  }
  hk_free(c, &g.memory);
  hk_free(c, &g.list);
  return status;
}
