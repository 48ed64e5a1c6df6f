/* The parts of the scene parser. */
#ifndef HK_SCENE_PARSE_H
#define HK_SCENE_PARSE_H

#include "scene/reader.h"

/* override.c: applies "time.step=0.01" to the JSON before it is read. */
HkStatus hk_apply_override(HkJson *root, const char *assignment, HkError *error);

/* course.c: the small format {"obj", "b", "k", "m", "png"}. */
bool hk_is_course_format(const HkJson *root);
/* Reads the plain values of a scene, whose strings it then owns; keys in others are left out. */
HkStatus hk_read_scene_values(HkReader *r, const HkJson *root, HkScene *scene,
                              const char *const *others);
HkStatus hk_read_course(HkReader *r, const HkJson *root, HkScene *scene);
/* Adds the gravity of the course format, which has no key, unless the scene has one. */
HkStatus hk_complete_course(HkScene *scene, HkError *error);
/* Replaces a path of a scene by the key of the small format that its value came from, and advice
 * about the former by advice about the latter. size: bytes of text; keys are shorter than paths. */
void hk_course_words(char *path, char *text, size_t size);

/* inline_mesh.c: {"vertices": [[x, y, z] ...], "lines": [[i, j] ...], "triangles" ...} and back. */
HkStatus hk_read_inline_mesh(HkReader *r, const HkJson *value, const HkContext *context,
                             HkMesh **mesh);
HkJson hk_write_inline_mesh(const HkMesh *mesh);

/* format.c: returns the scene with all values, defaults included. */
HkJson hk_scene_json(const HkScene *scene);

/* format.c: returns {"type": ..., every parameter}. */
HkJson hk_method_json(const HkMethod *method);

/* format.c: returns the value of a parameter; null if it is not given. */
HkJson hk_param_json(const HkParam *p, const void *params);

#endif
