'use strict';
/* What the graphics processor runs: faces, lines and points. All of them begin with shaderHead. */

const shaderHead = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform sampler2D shape, normals, ramp;
uniform mat4 matrix;
uniform vec2 range;    /* value of the first color, and 1 / (last - first) */
uniform vec4 paint;    /* where there is no ramp */
uniform bool ramped;
uniform vec2 pixels;   /* of the canvas */
ivec2 place(int q) { return ivec2(q & 1023, q >> 10); }
vec4 paintOf(float value) {
  float part = clamp((value - range.x) * range.y, 0.0, 1.0) * 0.996 + 0.002;
  return ramped ? vec4(texture(ramp, vec2(part, 0.5)).rgb, 1.0) : paint;
}
`;

const faceVertex = `
layout(location = 0) in int vertex;
out vec4 color;
out vec3 normal, at;
void main() {
  vec4 x = texelFetch(shape, place(vertex), 0);
  normal = texelFetch(normals, place(gl_VertexID), 0).xyz;
  color = paintOf(x.w);
  at = x.xyz;
  gl_Position = matrix * vec4(x.xyz, 1.0);
}`;

/* Both sides are lit, the back a little less. */
const faceFragment = `
uniform vec3 eye, light;
in vec4 color;
in vec3 normal, at;
out vec4 result;
void main() {
  vec3 own = cross(dFdx(at), dFdy(at)), toEye = normalize(eye - at), n = normal;
  own = normalize(dot(own, toEye) < 0.0 ? -own : own);
  n = dot(n, n) > 0.0 ? normalize(n) : own;
  n = dot(n, own) < 0.0 ? -n : n;
  float lit = 0.46 + 0.44 * max(0.0, dot(n, light)) + 0.14 * max(0.0, dot(n, toEye));
  float shine = 0.10 * pow(max(0.0, dot(n, normalize(light + toEye))), 24.0);
  result = vec4(color.rgb * lit * (gl_FrontFacing ? 1.0 : 0.9) + shine, 1.0);
}`;

/* Obstacles: `turn` and `move` take a point of the scene at time 0 into the picture. */
const obstacleVertex = `
layout(location = 0) in vec3 start;
layout(location = 1) in vec3 outward;
layout(location = 2) in float dark;
uniform mat3 turn;
uniform vec3 move;
out vec4 color;
out vec3 normal, at;
void main() {
  at = turn * start + move;
  normal = turn * outward;
  color = vec4(paint.rgb * (1.0 - 0.12 * dark), 1.0);
  gl_Position = matrix * vec4(at, 1.0);
}`;

/* INDEXED: ends are numbers of vertices, and a spring may be drawn as a coil of many pieces. */
const lineVertex = `
uniform float width;   /* pixels */
uniform int pieces;    /* of one line */
uniform float coil;    /* m, half the width of a coil */
#ifdef INDEXED
layout(location = 0) in ivec2 ends;
#else
layout(location = 0) in vec3 first;
layout(location = 1) in vec3 second;
#endif
out vec4 color;
out float across;
float wave(float t) {
  float inner = clamp((t - 0.12) / 0.76, 0.0, 1.0);
  return sin(inner * 6.2831853 * 9.0);
}
void main() {
#ifdef INDEXED
  vec4 a = texelFetch(shape, place(ends.x), 0), b = texelFetch(shape, place(ends.y), 0);
#else
  vec4 a = vec4(first, 0.0), b = vec4(second, 0.0);
#endif
  vec4 p = matrix * vec4(a.xyz, 1.0), q = matrix * vec4(b.xyz, 1.0);
  int corner = gl_VertexID % 6, piece = gl_VertexID / 6;
  float side = corner == 0 || corner == 2 || corner == 3 ? -1.0 : 1.0;
  float end = corner == 0 || corner == 1 || corner == 4 ? 0.0 : 1.0;
  float t0 = float(piece) / float(pieces), t1 = float(piece + 1) / float(pieces);
  float t = mix(t0, t1, end);
  /* What lies behind the eye is cut off. */
  float near = 1e-4;
  if (p.w < near && q.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (p.w < near) p = mix(q, p, (q.w - near) / (q.w - p.w));
  if (q.w < near) q = mix(p, q, (p.w - near) / (p.w - q.w));
  vec2 sp = p.xy / p.w * pixels * 0.5, sq = q.xy / q.w * pixels * 0.5;
  vec2 along = length(sq - sp) > 1e-3 ? normalize(sq - sp) : vec2(1.0, 0.0);
  vec2 aside = vec2(-along.y, along.x);
  float zoom = length(vec3(matrix[0].y, matrix[1].y, matrix[2].y)) / mix(p.w, q.w, 0.5);
  float amplitude = coil * zoom * pixels.y * 0.5;
  vec2 s0 = mix(sp, sq, t0) + aside * amplitude * (pieces > 1 ? wave(t0) : 0.0);
  vec2 s1 = mix(sp, sq, t1) + aside * amplitude * (pieces > 1 ? wave(t1) : 0.0);
  vec2 direction = length(s1 - s0) > 1e-3 ? normalize(s1 - s0) : along;
  /* Pieces reach a little beyond their ends, so that no gap opens where they bend. One pixel more
   * on both sides is for the edges, which fade out. */
  across = side * (0.5 * width + 1.0);
  vec2 s = mix(s0, s1, end) + direction * (2.0 * end - 1.0) * width * (pieces > 1 ? 0.25 : 0.0)
    + vec2(-direction.y, direction.x) * across;
  float depth = mix(p.z / p.w, q.z / q.w, t);
  color = paintOf(mix(a.w, b.w, t));
  gl_Position = vec4(s / (pixels * 0.5), depth, 1.0);
}`;

const lineFragment = `
uniform float width;
in vec4 color;
in float across;
out vec4 result;
void main() {
  float alpha = color.a * clamp(0.5 * width + 0.5 - abs(across), 0.0, 1.0);
  if (alpha < 0.02) discard;
  result = vec4(color.rgb * alpha, alpha);
}`;

/* Discs, or diamonds with a rim for pins. */
const pointVertex = `
uniform float width, slope;
uniform bool pinned;
uniform vec3 eye;
layout(location = 0) in int number;
out vec4 color;
void main() {
  vec4 x = texelFetch(shape, place(pinned ? number : gl_VertexID), 0);
  color = paintOf(x.w);
  gl_Position = matrix * vec4(x.xyz, 1.0);
  /* As far in front as it is wide, so that the face or spring at its vertex does not cut it. */
  float wide = 2.0 * slope * gl_Position.w * width / pixels.y;
  vec4 nearer = matrix * vec4(x.xyz + wide * normalize(eye - x.xyz), 1.0);
  gl_Position.z = nearer.z / nearer.w * gl_Position.w;
  gl_PointSize = width + 2.0;
}`;

const pointFragment = `
uniform float width;
uniform bool pinned;
uniform vec4 rim;
in vec4 color;
out vec4 result;
void main() {
  vec2 d = (gl_PointCoord - 0.5) * (width + 2.0); /* pixels */
  float inside = 0.5 * width - (pinned ? abs(d.x) + abs(d.y) : length(d));
  float alpha = clamp(inside + 0.5, 0.0, 1.0);
  float edge = clamp(inside - (pinned ? 0.16 * width : 1.0), 0.0, 1.0);
  if (alpha < 0.02) discard;
  vec3 outer = pinned ? rim.rgb : 0.62 * color.rgb;
  vec3 inner = pinned ? color.rgb : color.rgb * (1.0 - 0.5 * dot(d, vec2(0.5)) / width);
  result = vec4(mix(outer, inner, edge) * alpha, alpha);
}`;
