/* Shaders in GLSL; see shaders.h.
 *
 * A value of at least 0 is a position on the color map, a negative one is -1 - n with n an index of
 * the palette (colors.h). The light is a key light above and left of the viewer (wrapped diffuse),
 * a hemisphere of sky and ground, and a rim light. It is summed in linear light; colors of a map
 * are shaded less, so that they can be compared with the legend.
 */
#include "shaders.h"

const char shader_common[] =
    "#version 300 es\n"
    "precision highp float;\n"
    "layout(std140) uniform View {\n"
    "  mat4 matrix;\n"
    "  vec4 right, up, toward;\n"
    "  vec4 eye;      // m; w: 1 where all rays are parallel\n"
    "  vec4 picture;  // pixels across and upright; pixels of a meter, 1 m away; 1: only a mask\n"
    "  vec4 key, sky; // to the light, upwards\n"
    "};\n";

/* ---- Light ----------------------------------------------------------------------------------- */

#define LIGHT                                                                                      \
  "uniform sampler2D ramp;\n"                                                                      \
  "out vec4 color;\n"                                                                              \
  "vec3 base_of(float value) {\n"                                                                  \
  "  vec3 c = value < 0.0 ? texelFetch(ramp, ivec2(int(-value - 0.5), 1), 0).rgb\n"                \
  "                       : texture(ramp, vec2((value * 255.0 + 0.5) / 256.0, 0.25)).rgb;\n"       \
  "  return pow(c, vec3(2.2));\n"                                                                  \
  "}\n"                                                                                            \
  "vec4 lit(vec3 base, vec3 n, vec3 at, bool mapped) {\n"                                          \
  "  if (picture.w > 0.5) return vec4(1.0);\n"                                                     \
  "  vec3 view = eye.w > 0.5 ? toward.xyz : normalize(eye.xyz - at);\n"                            \
  "  float above = 0.5 + 0.5 * dot(n, sky.xyz);\n"                                                 \
  "  float direct = max(0.0, (dot(n, key.xyz) + 0.25) / 1.25);\n"                                  \
  "  vec3 light = mix(vec3(0.20, 0.19, 0.19), vec3(0.40, 0.43, 0.48), above);\n"                   \
  "  light += direct * vec3(0.95, 0.92, 0.86);\n"                                                  \
  "  float facing = max(0.0, dot(n, view));\n"                                                     \
  "  float rim = pow(1.0 - facing, 3.0);\n"                                                        \
  "  float glint = pow(max(0.0, dot(n, normalize(key.xyz + view))), 40.0);\n"                      \
  "  if (mapped) light = mix(vec3(1.0), light, 0.5);\n"                                            \
  "  vec3 sum = base * light + 0.05 * rim + (mapped ? 0.0 : 0.05) * glint;\n"                      \
  "  return vec4(pow(clamp(sum, 0.0, 1.0), vec3(1.0 / 2.2)), 1.0);\n"                              \
  "}\n"

/* ---- Faces ----------------------------------------------------------------------------------- */

const Shader shader_faces = {"faces",
                             "layout(location = 0) in vec3 a;\n"
                             "layout(location = 1) in vec3 b;\n"
                             "layout(location = 2) in float value;\n"
                             "out vec3 at, normal;\n"
                             "out float shade;\n"
                             "void main() {\n"
                             "  at = a;\n"
                             "  normal = b;\n"
                             "  shade = value;\n"
                             "  gl_Position = matrix * vec4(a, 1.0);\n"
                             "}\n",
                             /* The back of a cloth is paler than its front. */
                             "in vec3 at, normal;\n"
                             "in float shade;\n" LIGHT "void main() {\n"
                             "  vec3 base = base_of(shade), n = normalize(normal);\n"
                             "  if (!gl_FrontFacing) {\n"
                             "    n = -n;\n"
                             "    float gray = dot(base, vec3(0.21, 0.72, 0.07));\n"
                             "    if (shade < 0.0) base = mix(base, vec3(gray), 0.2) * 0.85;\n"
                             "  }\n"
                             "  color = lit(base, n, at, shade >= 0.0);\n"
                             "}\n"};

/* ---- Springs and masses ---------------------------------------------------------------------- */

/* A rod from a to b; w of both is its radius in m, drawn with at least half a pixel. Ends behind
 * the viewer are cut off. */
const Shader shader_rods = {
    "rods",
    "layout(location = 0) in vec4 a;\n"
    "layout(location = 1) in vec4 b;\n"
    "layout(location = 2) in vec2 value;\n"
    "out vec3 at, side;\n"
    "out float across, shade;\n"
    "void main() {\n"
    "  bool last = gl_VertexID > 1;\n"
    "  across = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;\n"
    "  vec4 p = matrix * vec4(a.xyz, 1.0), q = matrix * vec4(b.xyz, 1.0);\n"
    "  float least = 1e-4 * max(p.w, q.w);\n"
    "  if (p.w < least) p = mix(p, q, (least - p.w) / (q.w - p.w));\n"
    "  if (q.w < least) q = mix(q, p, (least - q.w) / (p.w - q.w));\n"
    "  vec2 along = (q.xy / q.w - p.xy / p.w) * picture.xy;\n"
    "  along = dot(along, along) > 0.0 ? normalize(along) : vec2(1.0, 0.0);\n"
    "  vec2 aside = vec2(-along.y, along.x);\n"
    "  vec4 end = last ? q : p;\n"
    "  float pixels = max(a.w * picture.z / end.w, picture.w > 0.5 ? 0.7 : 1.1);\n"
    "  vec4 front = end + a.w * (matrix * vec4(toward.xyz, 0.0));\n"
    "  end.z = front.z / front.w * end.w;\n"
    "  end.xy += 2.0 * across * aside * pixels / picture.xy * end.w;\n"
    "  gl_Position = end;\n"
    "  at = last ? b.xyz : a.xyz;\n"
    "  side = right.xyz * aside.x + up.xyz * aside.y;\n"
    "  shade = last ? value.y : value.x;\n"
    "}\n",
    "in vec3 at, side;\n"
    "in float across, shade;\n" LIGHT "void main() {\n"
    "  vec3 n = side * across + toward.xyz * sqrt(max(0.0, 1.0 - across * across));\n"
    "  color = lit(base_of(shade), n, at, shade >= 0.0);\n"
    "}\n"};

/* A ball around a; its radius (m) is a.w. Its depth is that of its point nearest to the viewer, so
 * that rods end in it. */
const Shader shader_balls = {
    "balls",
    "layout(location = 0) in vec4 a;\n"
    "layout(location = 2) in float value;\n"
    "out vec2 corner;\n"
    "out vec3 at;\n"
    "out float shade;\n"
    "void main() {\n"
    "  corner = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, gl_VertexID > 1 ? 1.0 : -1.0);\n"
    "  vec4 p = matrix * vec4(a.xyz, 1.0);\n"
    "  vec4 front = p + 1.5 * a.w * (matrix * vec4(toward.xyz, 0.0));\n"
    "  float pixels = max(a.w * picture.z / p.w, 1.1);\n"
    "  p.xy += 2.0 * corner * pixels / picture.xy * p.w;\n"
    "  p.z = front.z / front.w * p.w;\n"
    "  gl_Position = p;\n"
    "  at = a.xyz;\n"
    "  shade = value;\n"
    "}\n",
    "in vec2 corner;\n"
    "in vec3 at;\n"
    "in float shade;\n" LIGHT "void main() {\n"
    "  float square = dot(corner, corner);\n"
    "  if (square > 1.0) discard;\n"
    "  vec3 n = right.xyz * corner.x + up.xyz * corner.y + toward.xyz * sqrt(1.0 - square);\n"
    "  color = lit(base_of(shade), n, at, shade >= 0.0);\n"
    "}\n"};

/* ---- Background, planes and blur
 * -------------------------------------------------------------------------- */

/* One triangle over the whole picture. */
#define WHOLE_PICTURE                                                                              \
  "out vec2 place;\n"                                                                              \
  "void main() {\n"                                                                                \
  "  place = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);\n"                  \
  "  gl_Position = vec4(2.0 * place - 1.0, 0.0, 1.0);\n"                                           \
  "}\n"

const Shader shader_background = {
    "background", WHOLE_PICTURE,
    "in vec2 place;\n"
    "out vec4 color;\n"
    "void main() {\n"
    "  vec2 off = (place - vec2(0.5, 0.55)) * vec2(1.0, 0.9);\n"
    "  float light = 1.0 - 0.22 * dot(off, off) - 0.05 * (1.0 - place.y);\n"
    "  color = vec4(vec3(0.965, 0.970, 0.978) * light, 1.0);\n"
    "}\n"};

/* A level plane, seen from both sides. kind 0: the shadow of a mask on it; 1: water. */
const Shader shader_plane = {
    "plane",
    "uniform vec3 middle, across, along;\n"
    "out vec2 place;\n"
    "void main() {\n"
    "  place = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, gl_VertexID > 1 ? 1.0 : -1.0);\n"
    "  gl_Position = matrix * vec4(middle + place.x * across + place.y * along, 1.0);\n"
    "}\n",
    "uniform sampler2D mask;\n"
    "uniform int kind;\n"
    "in vec2 place;\n"
    "out vec4 color;\n"
    "void main() {\n"
    "  float fade = 1.0 - smoothstep(0.2, 1.0, length(place));\n"
    "  if (kind == 0)\n"
    "    color = vec4(0.10, 0.12, 0.17, 0.24 * texture(mask, 0.5 + 0.5 * place).r);\n"
    "  else\n"
    "    color = vec4(0.20, 0.45, 0.66, 0.5 * fade);\n"
    "}\n"};

/* Gaussian blur in one direction. */
const Shader shader_blur = {"blur", WHOLE_PICTURE,
                            "uniform sampler2D mask;\n"
                            "uniform vec2 reach;\n"
                            "in vec2 place;\n"
                            "out vec4 color;\n"
                            "void main() {\n"
                            "  float sum = 0.0, all = 0.0;\n"
                            "  for (int q = -8; q <= 8; q++) {\n"
                            "    float t = float(q) / 4.0, weight = exp(-0.5 * t * t);\n"
                            "    sum += weight * texture(mask, place + reach * t).r;\n"
                            "    all += weight;\n"
                            "  }\n"
                            "  color = vec4(sum / all);\n"
                            "}\n"};
