/* Text for people: messages, suggestions of words, numbers, columns. */
#ifndef HOOKE_CLI_TEXT_H
#define HOOKE_CLI_TEXT_H

#include "hooke/hooke.h"

#include <stdio.h>

/* Prints "hooke: message" on standard error and returns the code. */
int complain(int code, const char *format, ...);
/* Prints an error of the library as complain does and returns the exit code of its status. */
int complain_of(const HkError *error);
int exit_code_of(HkStatus status);
/* Fills an error, printf-like, as the library does; returns the status. */
HkStatus text_fail(HkError *error, HkStatus status, const char *format, ...);
/* Prints a status line on standard error if that is a terminal; the next one replaces it, an empty
 * one removes it. printf-like. */
void text_status(const char *format, ...);
/* Log callback for HkContext.log: prints "warning: text" on standard error. */
void text_log(void *user, HkLogLevel level, const char *text);

/* Copies the index-th word of "a|b|c"; returns false past the last. */
bool text_choice(const char *choices, int index, char *word, size_t size);

/* Joins two texts to one word of a command line, in single quotes if a shell requires them. */
void text_quote(const char *word, const char *rest, char *text, size_t size);

/* Returns the number of columns of the terminal, or 80 if there is none. */
int text_width(FILE *file);
/* Prints a text from column indent on, wrapped between words, and ends the line. */
void text_wrap(FILE *file, const char *text, int indent, int width);
/* "  label        value", printf-like. */
void text_row(FILE *file, const char *label, const char *format, ...);

/* A short text by value: printf("%s", text_count(n).c). */
typedef struct Text {
  char c[64];
} Text;

/* 1,234,567 */
Text text_count(int64_t value);
/* A number rounded for reading: 12.3 or 1,235 or 4.57 million. */
Text text_rate(double value);
/* 12 kB, 3.4 MB */
Text text_bytes(size_t bytes);
/* 0.42 s, 12 s, 3 min 05 s, 2 h 10 min */
Text text_duration(double seconds);
/* min .. max unit, or one number if both are equal. */
Text text_range(double min, double max, const char *unit);

/* Opens a regular file for reading; returns NULL with errno EINVAL for a pipe or a device, which
 * may have no end. */
FILE *text_open(const char *path);

#endif
