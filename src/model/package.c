/* The arrays of a part as bytes; see package.h. All ranks run the same program on machines of one
 * kind: numbers are copied as they stand in memory. */
#include "model/package.h"

#include <string.h>

typedef struct Head {
  int64_t n, owned, ghosts, springs, faces, cells, corners, bodies, names;
  int64_t damped, tension; /* 1: the springs have such an array */
  double total_mass;
} Head;

/* A body in a package; its name follows with those of the others. */
typedef struct BodyHead {
  int64_t first, count, first_number, total, name_bytes;
  HkBodyContact contact;
} BodyHead;

/* One array of a package; its pointer is that of the model. */
typedef struct Array {
  void *pointer; /* address of the pointer */
  int64_t count; /* entries to copy */
  int64_t extra; /* entries beyond them that the model's array has */
  size_t size;
} Array;

enum { ARRAYS = 16 };

static int list_arrays(HkModel *m, int32_t **ghost_rank, const Head *h, Array *list) {
  HkSpringArrays *s = &m->springs;
  HkPart *p = m->part;
  const Array all[ARRAYS] = {
      {&m->x0, h->n, 1, 3 * sizeof *m->x0},
      {&m->v0, h->n, 1, 3 * sizeof *m->v0},
      {&m->mass, h->n, 1, sizeof *m->mass},
      {&p->number, h->n, 0, sizeof *p->number},
      {&p->ghost, h->n, 0, sizeof *p->ghost},
      {ghost_rank, h->ghosts, 0, sizeof **ghost_rank},
      {&s->i, h->springs, 0, sizeof *s->i},
      {&s->j, h->springs, 0, sizeof *s->j},
      {&s->k, h->springs, 0, sizeof *s->k},
      {&s->l0, h->springs, 0, sizeof *s->l0},
      {&s->kind, h->springs, 0, sizeof *s->kind},
      {&m->face, 3 * h->faces, 0, sizeof *m->face},
      {&m->cell_type, h->cells, 1, sizeof *m->cell_type},
      {&m->cell_start, h->cells + 1, 0, sizeof *m->cell_start},
      {&m->cell_vertex, h->corners, 0, sizeof *m->cell_vertex},
      {NULL, 0, 0, 0},
  };
  int count = 0;
  for (int k = 0; all[k].pointer; k++) list[count++] = all[k];
  if (h->damped) list[count++] = (Array){&s->damping, h->springs, 1, sizeof *s->damping};
  if (h->tension) list[count++] = (Array){&s->tension, h->springs, 1, sizeof *s->tension};
  return count;
}

static void *array_of(const Array *a) {
  void *values;
  memcpy(&values, a->pointer, sizeof values);
  return values;
}

static char *put(char *at, const void *from, size_t bytes) {
  if (bytes) memcpy(at, from, bytes);
  return at + bytes;
}

static const char *get(const char *at, void *to, size_t bytes) {
  if (bytes) memcpy(to, at, bytes);
  return at + bytes;
}

HkStatus hk_package_write(const HkModel *part, const int32_t *ghost_rank, char **bytes,
                          int64_t *size, HkError *error) {
  HkModel m = *part; /* the list takes addresses of its pointers */
  int32_t *ranks = (int32_t *)ghost_rank;
  Array list[ARRAYS + 2];
  Head head = {.n = m.n,
               .owned = m.part->owned,
               .ghosts = m.part->ghost_count,
               .springs = m.springs.count,
               .faces = m.face_count,
               .cells = m.cell_count,
               .corners = m.cell_count ? m.cell_start[m.cell_count] : 0,
               .bodies = m.body_count,
               .damped = m.springs.damping != NULL,
               .tension = m.springs.tension != NULL,
               .total_mass = m.total_mass};
  for (int b = 0; b < m.body_count; b++) head.names += (int64_t)strlen(m.bodies[b].name) + 1;
  int count = list_arrays(&m, &ranks, &head, list);
  *size = (int64_t)sizeof head + m.body_count * (int64_t)sizeof(BodyHead) + head.names;
  for (int k = 0; k < count; k++) *size += list[k].count * (int64_t)list[k].size;
  HK_TRY(hk_alloc_unset(&m.context, bytes, *size, 1, "a part", error));
  char *at = put(*bytes, &head, sizeof head);
  for (int b = 0; b < m.body_count; b++) {
    const HkBodyRange *body = &m.bodies[b];
    int64_t name = (int64_t)strlen(body->name) + 1;
    BodyHead one;
    memset(&one, 0, sizeof one);
    one =
        (BodyHead){body->first, body->count, body->first_number, body->total, name, body->contact};
    at = put(at, &one, sizeof one);
    at = put(at, body->name, (size_t)name);
  }
  for (int k = 0; k < count; k++)
    at = put(at, array_of(&list[k]), (size_t)list[k].count * list[k].size);
  return HK_OK;
}

static HkStatus read_bodies(HkModel *m, const char **at, int64_t count, HkError *error) {
  const HkContext *c = &m->context;
  HK_TRY(hk_alloc(c, &m->bodies, count, sizeof *m->bodies, "bodies", error));
  for (int64_t b = 0; b < count; b++) {
    HkBodyRange *body = &m->bodies[m->body_count++];
    BodyHead one;
    *at = get(*at, &one, sizeof one);
    *body = (HkBodyRange){.first = one.first,
                          .count = one.count,
                          .first_number = one.first_number,
                          .total = one.total,
                          .contact = one.contact};
    HK_TRY(hk_alloc(c, &body->name, one.name_bytes, 1, "a name", error));
    *at = get(*at, body->name, (size_t)one.name_bytes);
    HK_TRY(hk_mesh_create(c, &body->names, error));
  }
  return HK_OK;
}

HkStatus hk_package_read(HkModel *m, const char *bytes, int32_t **ghost_rank, HkError *error) {
  Array list[ARRAYS + 2];
  Head head;
  const char *at = get(bytes, &head, sizeof head);
  HK_TRY(read_bodies(m, &at, head.bodies, error));
  int count = list_arrays(m, ghost_rank, &head, list);
  for (int k = 0; k < count; k++) {
    const Array *a = &list[k];
    HK_TRY(hk_alloc(&m->context, a->pointer, a->count + a->extra, a->size, "a part", error));
    at = get(at, array_of(a), (size_t)a->count * a->size);
  }
  m->n = head.n;
  m->part->owned = head.owned;
  m->part->ghost_count = head.ghosts;
  m->springs.count = head.springs;
  m->face_count = head.faces;
  m->cell_count = head.cells;
  m->total_mass = head.total_mass;
  m->capacity =
      (HkModelCapacity){head.n + 1, head.springs, head.cells + 1, head.corners, head.faces};
  return HK_OK;
}

void hk_package_release(HkModel *m) {
  const HkContext *c = &m->context;
  void *arrays[] = {&m->x0,           &m->v0,
                    &m->mass,         &m->springs.i,
                    &m->springs.j,    &m->springs.k,
                    &m->springs.l0,   &m->springs.damping,
                    &m->springs.kind, &m->springs.tension,
                    &m->face,         &m->cell_type,
                    &m->cell_start,   &m->cell_vertex};
  for (int b = 0; b < m->body_count; b++) {
    hk_free(c, &m->bodies[b].name);
    hk_mesh_destroy(&m->bodies[b].names);
  }
  hk_free(c, &m->bodies);
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) hk_free(c, arrays[k]);
  hk_part_destroy(m);
}
