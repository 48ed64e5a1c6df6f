/* Changes of single springs at the end of a step; see spring_changes.h. */
#include "force/spring_changes.h"

void hk_spring_lengthen(const HkSpringChanges *c, int64_t s, double more) {
  c->state->l0[s] += more;
  c->used->l0[s] += more;
  hk_spring_rows_put(c->rows, s);
}

void hk_spring_break(const HkSpringChanges *c, int64_t s) {
  c->state->broken[s] = 1;
  c->used->k[s] = 0;
  if (c->used->damping) c->used->damping[s] = 0;
  hk_spring_rows_put(c->rows, s);
}

void hk_springs_broke(const HkSpringChanges *c) {
  c->used->version++;
  c->rows->version = c->used->version; /* hk_spring_rows_put has updated them */
}
