/* The scene as it is downloaded: with what was set, and with pins, obstacles and a throw as the
 * hand left them.
 *
 * A pin of the scene keeps its selection unless a vertex of it was released by hand; then it
 * selects the vertices that are left by number, or is left out where there are none. The vertices
 * that were pinned by hand are one pin more.
 */
#include "session.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static HkJson select_of(HkJson vertices) {
  HkJson select = hk_json_object();
  hk_json_add(&select, "vertices", vertices);
  return select;
}

/* Whether a vertex is a pin of the scene that was released by hand. */
static bool is_released(const Play *p, int32_t vertex) {
  int64_t low = 0, high;
  const int32_t *pin = hk_model_pins(p->stage.model, &high);
  const int64_t count = high;
  while (low < high) { /* pins are in rising order */
    int64_t middle = low + (high - low) / 2;
    if (pin[middle] < vertex)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && pin[low] == vertex && p->released[low];
}

/* Appends a pin of the scene to the list without the vertices that were released by hand; the pin
 * is moved. */
static HkStatus keep_pin(const Play *p, const HkSelect *select, HkJson *pin, HkJson *list,
                         HkError *error) {
  int32_t *vertices = NULL;
  int64_t count = 0;
  HK_TRY(hk_model_select(p->stage.model, select, &vertices, &count, error));
  HkJson left = hk_json_list();
  int64_t left_count = 0;
  for (int64_t q = 0; q < count; q++) {
    if (is_released(p, vertices[q])) continue;
    hk_json_append(&left, hk_json_integer(vertices[q]));
    left_count++;
  }
  hk_selection_destroy(p->stage.model, &vertices);
  if (left_count == count) {
    hk_json_clear(&left);
  } else {
    hk_json_set(pin, "select", select_of(left));
  }
  if (left_count > 0 || count == 0) {
    hk_json_append(list, *pin);
    *pin = (HkJson){0};
  }
  return HK_OK;
}

/* The pins as they are held, of the list that the scene has. */
static HkStatus held_pins(const Play *p, HkJson *pins, HkJson *held, HkError *error) {
  *held = hk_json_list();
  for (int q = 0; q < hk_json_size(pins) && q < p->stage.scene->pin_count; q++)
    HK_TRY(keep_pin(p, &p->stage.scene->pins[q].select, hk_json_at(pins, q), held, error));
  if (p->pin_count == 0) return HK_OK;
  HkJson vertices = hk_json_list(), pin = hk_json_object();
  for (int q = 0; q < p->pin_count; q++)
    hk_json_append(&vertices, hk_json_integer(p->pin[q].vertex));
  hk_json_add(&pin, "select", select_of(vertices));
  hk_json_append(held, pin);
  return HK_OK;
}

static HkStatus change_pins(const Play *p, HkJson *scene, HkError *error) {
  HkJson *pins = hk_json_get(scene, "pins"), held;
  bool has_method = hk_json_is(pins, HK_JSON_OBJECT); /* {"method", "list"} */
  HkStatus status = held_pins(p, has_method ? hk_json_get(pins, "list") : pins, &held, error);
  if (status >= 0)
    hk_json_set(has_method ? pins : scene, has_method ? "list" : "pins", held);
  else
    hk_json_clear(&held);
  return status;
}

HkStatus saved_scene(const Play *p, char **text, HkError *error) {
  char *plain = NULL;
  HkJson scene = {0};
  *text = NULL;
  HK_TRY(hk_scene_format(p->stage.scene, &plain, error));
  HkStatus status = hk_json_parse("scene", plain, strlen(plain), &scene, error);
  hk_text_destroy(&plain);
  if (status >= 0) status = change_pins(p, &scene, error);
  if (status >= 0) obstacles_save(p, &scene);
  if (status >= 0) status = throw_save(p, &scene, error);
  if (status >= 0) status = hk_json_write(&scene, 2, 17, text, error);
  hk_json_clear(&scene);
  return status;
}
