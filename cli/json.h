/* Writing JSON, one value on one line. Members have a key, elements of lists have NULL. */
#ifndef HOOKE_CLI_JSON_H
#define HOOKE_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Json {
  FILE *file;
  bool some; /* a comma is due before the next value */
} Json;

/* Write '{' or '[', and its end. */
void put_begin(Json *json, const char *key, char bracket);
void put_end(Json *json, char bracket);
/* Writes a string; invalid UTF-8 becomes U+FFFD, NULL becomes null. */
void put_text(Json *json, const char *key, const char *value);
/* Writes the shortest decimal that reads back as the same number; null if it is not finite. */
void put_number(Json *json, const char *key, double value);
void put_numbers(Json *json, const char *key, const double *values, int count);
void put_integer(Json *json, const char *key, int64_t value);
void put_boolean(Json *json, const char *key, bool value);

#endif
