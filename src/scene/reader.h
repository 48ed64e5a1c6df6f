/* Reads and checks values from JSON; every error has file, line, column and the path of the key. */
#ifndef HK_SCENE_READER_H
#define HK_SCENE_READER_H

#include "base/json.h"
#include "base/schema.h"
#include "base/text.h"

typedef struct HkReader {
  const char *name; /* of the file */
  HkError *error;
  char path[1024]; /* of the value being read: bodies[0].springs.k */
  size_t root;     /* length of the path to the scene, in a run.json */
} HkReader;

/* Appends a key or an index to the path; the caller passes the returned mark to hk_reader_up
 * afterwards. */
size_t hk_reader_key(HkReader *r, const char *key);
size_t hk_reader_index(HkReader *r, int index);
void hk_reader_up(HkReader *r, size_t mark);

/* Returns an error at the current path, with the line and column of a value. A value without them
 * was assigned, which the message says. */
HkStatus hk_reader_fail(HkReader *r, const HkJson *value, const char *format, ...) HK_PRINTF(3, 4);

/* Sets params from the keys of an object. Keys in extra (ended by NULL) are the caller's, even
 * where the schema has them; others are an error with 'did you mean'. */
HkStatus hk_read_params(HkReader *r, const HkJson *object, const HkSchema *schema, void *params,
                        const char *const *extra);

/* Reads a method: its name alone, or an object with "type" and parameters. */
HkStatus hk_read_method(HkReader *r, const HkJson *value, HkFamily family, HkMethod *method);

/* As hk_read_method, from an object that holds more than the method: keys in extra, which ends with
 * NULL and contains "type", are the caller's. */
HkStatus hk_read_method_among(HkReader *r, const HkJson *value, HkFamily family,
                              const char *const *extra, HkMethod *method);

HkStatus hk_read_select(HkReader *r, const HkJson *value, HkSelect *select);
HkStatus hk_read_vector(HkReader *r, const HkJson *value, double vector[3]);
HkStatus hk_read_number(HkReader *r, const HkJson *value, const char *unit, double *number);

#endif
