/* The built-in scenes: the files of scenes/, put into the library by cmake/embed_scenes.cmake. */
#ifndef HK_SCENE_BUILTIN_H
#define HK_SCENE_BUILTIN_H

typedef struct HkBuiltinScene {
  const char *name;  /* of the file, without its ending */
  const char *title; /* one sentence */
  const char *text;  /* JSON */
} HkBuiltinScene;

/* Ends with an entry of NULLs that is not counted. */
extern const HkBuiltinScene hk_builtin_scenes[];
extern const int hk_builtin_scene_count;

#endif
