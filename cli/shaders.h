/* Shaders as texts in GLSL ES 3.00. */
#ifndef HOOKE_CLI_SHADERS_H
#define HOOKE_CLI_SHADERS_H

/* Precedes every other text: the version, the view, colors and light. */
extern const char shader_common[];

/* Pairs of a vertex and a fragment shader. */
typedef struct Shader {
  const char *name, *vertex, *fragment;
} Shader;

/* Faces by their corners; springs as rods and masses as balls, each one an instance of four corners
 * that face the viewer; the background; a level plane, shadow or water; the blur of a shadow. */
extern const Shader shader_faces, shader_rods, shader_balls, shader_background, shader_plane,
    shader_blur;

/* Attributes by number, the same in all programs. */
enum { ATTRIBUTE_A, ATTRIBUTE_B, ATTRIBUTE_VALUE };

#endif
