/* Reading checked values from JSON, every error with file, line, column and the path of the key. */
#ifndef HK_SCENE_READER_H
#define HK_SCENE_READER_H

#include "base/schema.h"
#include "base/text.h"

#include <jansson.h>

typedef struct HkReader {
  const char *name; /* of the file */
  const char *text;
  size_t size;
  HkError *error;
  char path[1024];         /* of the value being read: bodies[0].springs.k */
  size_t root;             /* length of the path to the scene, in a run.json */
  const char *const *sets; /* what was set from outside: time.step=0.01 */
  int set_count;
} HkReader;

/* Goes down into a key or an index; what it returns goes to hk_reader_up on the way back. */
size_t hk_reader_key(HkReader *r, const char *key);
size_t hk_reader_index(HkReader *r, size_t index);
void hk_reader_up(HkReader *r, size_t mark);

/* Error at the value of the present path. */
HkStatus hk_reader_fail(HkReader *r, const char *format, ...) HK_PRINTF(2, 3);

/* Sets params from the keys of an object. Keys in extra (ended by NULL) are the caller's; others
 * are an error with 'did you mean'. */
HkStatus hk_read_params(HkReader *r, json_t *object, const HkSchema *schema, void *params,
                        const char *const *extra);

/* A method: its name alone, or an object with "type" and parameters. */
HkStatus hk_read_method(HkReader *r, json_t *value, HkFamily family, HkMethod *method);

HkStatus hk_read_select(HkReader *r, json_t *value, HkSelect *select);
HkStatus hk_read_vector(HkReader *r, json_t *value, double vector[3]);
HkStatus hk_read_number(HkReader *r, json_t *value, const char *unit, double *number);

#endif
