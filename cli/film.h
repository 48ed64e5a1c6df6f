/* Films as GIF, MP4 and WebM files, by the program ffmpeg, which reads pictures from a pipe. */
#ifndef HOOKE_CLI_FILM_H
#define HOOKE_CLI_FILM_H

#include "target.h"

#include <stdio.h>
#include <sys/types.h>

typedef enum FilmKind { FILM_NONE, FILM_GIF, FILM_MP4, FILM_WEBM } FilmKind;

/* Returns the kind of a film by the ending of its file. */
FilmKind film_kind(const char *path);
/* Returns an error, with a way out, if ffmpeg is not installed. */
HkStatus film_check(HkError *error);

/* A film being written; all members are 0 if there is none. */
typedef struct Film {
  pid_t child;
  int pipe;    /* to ffmpeg */
  FILE *words; /* messages of ffmpeg */
  size_t picture;
} Film;

/* Begins a film of width x height pixels with fps pictures a second. */
HkStatus film_open(Film *film, const Target *target, FilmKind kind, int width, int height,
                   double pictures_per_second, HkError *error);
/* Adds a picture, 4 bytes a pixel, row by row from the top. After a signal to hooke, film_add and
 * film_close return HK_OK at once. */
HkStatus film_add(Film *film, const unsigned char *rgba, HkError *error);
/* Waits until the file is complete. */
HkStatus film_close(Film *film, HkError *error);
/* Ends ffmpeg; harmless after a close. */
void film_abandon(Film *film);

#endif
