/* The memory of friction in a state: anchors and work as bytes.
 *
 *     u64 version, i64 count, f64 work (J), then the anchors sorted by key:
 *     u64 key, f64 s[3] (m), f64 k (N/m), f64 lambda (N), u64 kind
 *
 * Without anchors and without work there are no bytes. Bytes may come from a damaged or malicious
 * file: whatever they are, they are taken as a whole or refused.
 */
#include "contact/friction.h"

#include <math.h>
#include <string.h>

static const uint64_t VERSION = 1;
/* Lengths in m, stiffness in N/m and forces in N beyond which energies would not be finite. */
static const double LARGEST = 1e100;

typedef struct Head {
  uint64_t version;
  int64_t count;
  double work;
} Head;

static HkStatus refuse(const char *what, HkError *error) {
  return hk_fail(error, HK_ERROR_FORMAT,
                 "the memory of friction in the state is damaged: %s; start from another "
                 "checkpoint, or from the scene",
                 what);
}

static bool is_sound(const HkAnchor *anchor) {
  bool finite = anchor->k > 0 && anchor->k <= LARGEST;
  finite &= anchor->lambda >= 0 && anchor->lambda <= LARGEST;
  for (int c = 0; c < 3; c++) finite &= fabs(anchor->s[c]) <= LARGEST;
  return finite && anchor->kind < HK_ANCHOR_KINDS;
}

static HkStatus read_head(const HkForceMemory *memory, Head *head, HkError *error) {
  if (memory->size < (int64_t)sizeof *head) return refuse("it is too short", error);
  memcpy(head, memory->bytes, sizeof *head);
  if (head->version != VERSION) return refuse("its version is unknown", error);
  int64_t rest = memory->size - (int64_t)sizeof *head, size = (int64_t)sizeof(HkAnchor);
  if (rest % size != 0 || head->count != rest / size)
    return refuse("the number of its anchors does not fit its size", error);
  if (!isfinite(head->work)) return refuse("its work is not finite", error);
  return HK_OK;
}

HkStatus hk_friction_load(HkContacts *c, const HkForceMemory *memory, HkError *error) {
  HkFriction *f = c->friction;
  Head head = {0};
  f->in_step = f->has_start = false;
  f->anchor_count = 0;
  f->work = f->lost = 0;
  if (!memory || memory->size == 0) return HK_OK;
  HK_TRY(read_head(memory, &head, error));
  HK_TRY(hk_grow(&c->model->context, &f->anchor, &f->anchor_capacity, head.count, sizeof *f->anchor,
                 "friction", error));
  const char *at = (const char *)memory->bytes + sizeof head;
  if (head.count > 0) memcpy(f->anchor, at, (size_t)head.count * sizeof *f->anchor);
  for (int64_t k = 0; k < head.count; k++) {
    if (!is_sound(&f->anchor[k])) return refuse("an anchor is out of range", error);
    if (k > 0 && f->anchor[k].key <= f->anchor[k - 1].key)
      return refuse("its anchors are not sorted", error);
  }
  f->anchor_count = head.count;
  f->work = head.work;
  return HK_OK;
}

int64_t hk_friction_anchor_count(const HkForceMemory *memory) {
  Head head = {0};
  if (memory->size > 0) memcpy(&head, memory->bytes, sizeof head);
  return head.count;
}

int64_t hk_friction_find_anchor(const HkForceMemory *memory, uint64_t key, HkAnchor *anchor) {
  int64_t low = 0, high = hk_friction_anchor_count(memory);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    HkAnchor found;
    memcpy(&found, memory->bytes + sizeof(Head) + (size_t)middle * sizeof found, sizeof found);
    if (found.key == key) {
      *anchor = found;
      return middle;
    }
    if (found.key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

HkStatus hk_friction_save(HkContacts *c, HkForceMemory *memory, HkError *error) {
  HkFriction *f = c->friction;
  Head head = {.version = VERSION, .count = f->anchor_count, .work = f->work};
  if (f->anchor_count == 0 && f->work == 0) return hk_force_memory_write(memory, NULL, 0, error);
  size_t anchors = (size_t)f->anchor_count * sizeof *f->anchor;
  HK_TRY(hk_force_memory_reserve(memory, (int64_t)(sizeof head + anchors), error));
  memcpy(memory->bytes, &head, sizeof head);
  if (anchors) memcpy((char *)memory->bytes + sizeof head, f->anchor, anchors);
  memory->size = (int64_t)(sizeof head + anchors);
  return HK_OK;
}
