/* Films as GIF, MP4 and WebM files, by the program ffmpeg: pictures go in through a pipe. */
#ifndef HOOKE_CLI_FILM_H
#define HOOKE_CLI_FILM_H

#include "target.h"

#include <stdio.h>
#include <sys/types.h>

typedef enum FilmKind { FILM_NONE, FILM_GIF, FILM_MP4, FILM_WEBM } FilmKind;

/* By the ending of a file. */
FilmKind film_kind(const char *path);
/* Fails, with a way out, where there is no ffmpeg. */
HkStatus film_check(HkError *error);

/* All 0: none. */
typedef struct Film {
  pid_t child;
  int pipe;    /* to it */
  FILE *words; /* what it says */
  size_t picture;
} Film;

/* Begins a film of width x height pixels at so many pictures a second. */
HkStatus film_open(Film *film, const Target *target, FilmKind kind, int width, int height,
                   double pictures_per_second, HkError *error);
/* One more picture, 4 bytes a pixel, row by row from the top. After a signal to hooke this and the
 * next return at once, in a good end. */
HkStatus film_add(Film *film, const unsigned char *rgba, HkError *error);
/* Waits until the file is whole. */
HkStatus film_close(Film *film, HkError *error);
/* Ends ffmpeg; harmless after a close. */
void film_abandon(Film *film);

#endif
