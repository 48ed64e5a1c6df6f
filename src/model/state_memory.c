/* Memory of forces in a state: bytes that a force writes at the end of a step and reads before the
 * next one, such as the anchors of friction. They are saved, copied and resumed with the state.
 *
 * The memories are sorted by their keys (force/force.c), so that states with the same memories have
 * the same packed bytes, whatever the order in which forces first wrote. A memory of 0 bytes is not
 * packed.
 *
 *     packed: i64 count, then of each memory u64 key, i64 size, its bytes
 */
#include "model/state.h"

#include <string.h>

/* Bytes of a packed memory before its own. */
enum { MEMORY_HEAD = sizeof(uint64_t) + sizeof(int64_t) };

/* ---- Memories of a state ---- */

/* Returns the index of the first memory whose key is at least `key`. */
static int find(const HkState *s, uint64_t key) {
  int at = 0;
  while (at < s->memory_count && s->memory[at].key < key) at++;
  return at;
}

const HkForceMemory *hk_state_memory(const HkState *s, uint64_t key) {
  int at = find(s, key);
  return at < s->memory_count && s->memory[at].key == key ? &s->memory[at] : NULL;
}

HkStatus hk_state_need_memory(HkState *s, uint64_t key, HkForceMemory **memory, HkError *error) {
  int at = find(s, key);
  if (at == s->memory_count || s->memory[at].key != key) {
    HK_TRY(hk_grow(&s->context, &s->memory, &s->memory_capacity, (int64_t)s->memory_count + 1,
                   sizeof *s->memory, "memory of forces", error));
    memmove(s->memory + at + 1, s->memory + at, (size_t)(s->memory_count - at) * sizeof *s->memory);
    s->memory[at] = (HkForceMemory){.key = key, .context = &s->context};
    s->memory_count++;
  }
  *memory = &s->memory[at];
  return HK_OK;
}

HkStatus hk_force_memory_reserve(HkForceMemory *memory, int64_t size, HkError *error) {
  return hk_grow(memory->context, &memory->bytes, &memory->capacity, size, 1, "memory of a force",
                 error);
}

HkStatus hk_force_memory_write(HkForceMemory *memory, const void *bytes, int64_t size,
                               HkError *error) {
  HK_TRY(hk_force_memory_reserve(memory, size, error));
  if (size > 0) memcpy(memory->bytes, bytes, (size_t)size);
  memory->size = size;
  return HK_OK;
}

void hk_state_remove_memory(HkState *s, int index) {
  hk_free(&s->context, &s->memory[index].bytes);
  s->memory_count--;
  memmove(s->memory + index, s->memory + index + 1,
          (size_t)(s->memory_count - index) * sizeof *s->memory);
}

void hk_state_memory_release(HkState *s) {
  while (s->memory_count > 0) hk_state_remove_memory(s, s->memory_count - 1);
  hk_free(&s->context, &s->memory);
  s->memory_capacity = 0;
}

size_t hk_state_memory_bytes(const HkState *s) {
  size_t bytes = (size_t)s->memory_capacity * sizeof *s->memory;
  for (int k = 0; k < s->memory_count; k++) bytes += (size_t)s->memory[k].capacity;
  return bytes;
}

/* ---- Copying ---- */

HkStatus hk_state_memory_reserve(const HkState *from, HkState *to, HkError *error) {
  for (int k = 0; k < from->memory_count; k++) {
    HkForceMemory *memory;
    HK_TRY(hk_state_need_memory(to, from->memory[k].key, &memory, error));
    HK_TRY(hk_force_memory_reserve(memory, from->memory[k].size, error));
  }
  return HK_OK;
}

void hk_state_memory_copy(const HkState *from, HkState *to) {
  for (int k = to->memory_count - 1; k >= 0; k--) {
    HkForceMemory *memory = &to->memory[k];
    const HkForceMemory *source = hk_state_memory(from, memory->key);
    if (!source) {
      hk_state_remove_memory(to, k);
      continue;
    }
    if (source->size > 0) memcpy(memory->bytes, source->bytes, (size_t)source->size);
    memory->size = source->size;
  }
}

/* ---- As bytes ---- */

size_t hk_state_memory_packed_size(const HkState *s) {
  size_t size = 0;
  for (int k = 0; k < s->memory_count; k++)
    if (s->memory[k].size > 0) size += MEMORY_HEAD + (size_t)s->memory[k].size;
  return size > 0 ? sizeof(int64_t) + size : 0;
}

void hk_state_memory_pack(const HkState *s, char *bytes) {
  int64_t count = 0;
  char *at = bytes + sizeof count;
  for (int k = 0; k < s->memory_count; k++) {
    const HkForceMemory *memory = &s->memory[k];
    if (memory->size == 0) continue;
    memcpy(at, &memory->key, sizeof memory->key);
    memcpy(at + sizeof memory->key, &memory->size, sizeof memory->size);
    memcpy(at + MEMORY_HEAD, memory->bytes, (size_t)memory->size);
    at += MEMORY_HEAD + (size_t)memory->size;
    count++;
  }
  if (count > 0) memcpy(bytes, &count, sizeof count);
}

/* A packed memory. */
typedef struct Packed {
  uint64_t key;
  int64_t size;
  const char *bytes;
} Packed;

/* Reads the memory at *at and moves *at behind it; false if it does not end before `end`. */
static bool read_memory(const char **at, const char *end, Packed *memory) {
  if (end - *at < MEMORY_HEAD) return false;
  memcpy(&memory->key, *at, sizeof memory->key);
  memcpy(&memory->size, *at + sizeof memory->key, sizeof memory->size);
  memory->bytes = *at + MEMORY_HEAD;
  if (memory->size <= 0 || memory->size > end - memory->bytes) return false;
  *at = memory->bytes + memory->size;
  return true;
}

bool hk_state_memory_is_sound(const char *bytes, size_t size) {
  const char *at = bytes, *end = bytes + size;
  int64_t count = 0;
  uint64_t last = 0;
  if (size < sizeof count) return false;
  memcpy(&count, at, sizeof count);
  at += sizeof count;
  if (count <= 0 || count > (int64_t)(size / MEMORY_HEAD)) return false;
  for (int64_t k = 0; k < count; k++) {
    Packed memory;
    if (!read_memory(&at, end, &memory) || (k > 0 && memory.key <= last)) return false;
    last = memory.key;
  }
  return at == end;
}

HkStatus hk_state_memory_unpack(HkState *s, const char *bytes, size_t size, HkError *error) {
  Packed packed;
  hk_state_memory_release(s);
  if (size == 0) return HK_OK;
  const char *at = bytes + sizeof(int64_t), *end = bytes + size;
  while (read_memory(&at, end, &packed)) {
    HkForceMemory *memory;
    HK_TRY(hk_state_need_memory(s, packed.key, &memory, error));
    HK_TRY(hk_force_memory_write(memory, packed.bytes, packed.size, error));
  }
  return HK_OK;
}
