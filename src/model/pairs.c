/* What holds between two bodies, a body and an obstacle, or a body and itself: names of the scene
 * become groups, which the force `contact` reads. */
#include "model/build.h"

#include "scene/blame.h"
#include "scene/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GROUND[] = "ground";

static const char *group_name(const HkModel *m, int group) {
  if (group < m->body_count) return m->bodies[group].name;
  group -= m->body_count;
  return group < m->obstacle_count ? m->obstacles[group].name : GROUND;
}

static HkStatus fail_unknown(const HkModel *m, const char *name, HkError *error) {
  enum { NAMES_MAX = 256 };
  const char *names[NAMES_MAX];
  int count = 0, groups = m->body_count + m->obstacle_count + 1;
  for (int g = 0; g < groups && count < NAMES_MAX; g++) names[count++] = group_name(m, g);
  const char *near = hk_text_nearest(name, names, count);
  if (near)
    return hk_fail_key(error, HK_ERROR_INVALID, "between",
                       "there is no body or obstacle '%s'; did you mean '%s'?", name, near);
  return hk_fail_key(error, HK_ERROR_INVALID, "between",
                     "there is no body or obstacle '%s'; the first one is '%s'", name, names[0]);
}

/* A body or an obstacle of the name "ground" comes before the ground of the contact force. */
static HkStatus find_group(const HkModel *m, const char *name, int *group, HkError *error) {
  int count = m->body_count + m->obstacle_count + 1;
  if (!name)
    return hk_fail_key(error, HK_ERROR_INVALID, "between",
                       "a name is missing; give those of two bodies or obstacles");
  for (*group = 0; *group < count; ++*group)
    if (strcmp(group_name(m, *group), name) == 0) return HK_OK;
  return fail_unknown(m, name, error);
}

static HkStatus check_pair(const HkModel *m, const HkCompiledPair *pair, HkError *error) {
  if (pair->a >= m->body_count)
    return hk_fail_key(error, HK_ERROR_INVALID, "between",
                       "'%s' and '%s' never touch each other; one of the two must be a body",
                       group_name(m, pair->a), group_name(m, pair->b));
  for (int k = 0; k < m->pair_count; k++)
    if (m->pairs[k].a == pair->a && m->pairs[k].b == pair->b)
      return hk_fail_key(error, HK_ERROR_INVALID, "between",
                         "the pair of '%s' and '%s' is given twice; keep one of them",
                         group_name(m, pair->a), group_name(m, pair->b));
  if (pair->friction_kinetic > pair->friction)
    return hk_fail_key(error, HK_ERROR_INVALID, "friction_kinetic",
                       "%g is above the friction of the pair, %g; give at most that",
                       pair->friction_kinetic, pair->friction);
  return HK_OK;
}

static HkStatus add_pair(HkModel *m, const HkPair *from, HkError *error) {
  int a, b;
  HK_TRY(hk_params_check(&hk_part_pair, from, "", error));
  HK_TRY(find_group(m, from->between[0], &a, error));
  HK_TRY(find_group(m, from->between[1], &b, error));
  HkCompiledPair pair = {.a = a < b ? a : b,
                         .b = a < b ? b : a,
                         .friction = from->friction,
                         .friction_kinetic = from->friction_kinetic,
                         .contact = from->contact};
  HK_TRY(check_pair(m, &pair, error));
  m->pairs[m->pair_count++] = pair;
  return HK_OK;
}

static int compare(const void *first, const void *second) {
  const HkCompiledPair *p = first, *q = second;
  if (p->a != q->a) return p->a < q->a ? -1 : 1;
  return (p->b > q->b) - (p->b < q->b);
}

HkStatus hk_model_add_pairs(HkModel *m, const HkScene *scene, HkError *error) {
  HK_TRY(hk_alloc(&m->context, &m->pairs, scene->pair_count, sizeof *m->pairs, "pairs", error));
  for (int k = 0; k < scene->pair_count; k++) {
    HkError inner = {0};
    char path[32];
    snprintf(path, sizeof path, "pairs[%d]", k);
    if (add_pair(m, &scene->pairs[k], &inner) < 0)
      return hk_scene_blame(scene, path, &inner, error);
  }
  if (m->pair_count > 1) qsort(m->pairs, (size_t)m->pair_count, sizeof *m->pairs, compare);
  return HK_OK;
}
