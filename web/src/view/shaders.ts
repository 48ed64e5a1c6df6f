// The shaders of the view. Colors are linear inside and written as sRGB. Light comes from the
// viewer's upper left, so that a cloth shows its folds from every side.

const OUTPUT = /* glsl */ `
vec3 toScreen(vec3 c) {
  return mix(c * 12.92, 1.055 * pow(max(c, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}`;

const LIGHT = /* glsl */ `
const vec3 KEY = vec3(-0.36, 0.62, 0.70);
vec3 lit(vec3 base, vec3 n) {
  float key = max(dot(n, KEY), 0.0);
  float sky = 0.5 + 0.5 * n.y;
  vec3 light = mix(vec3(0.30, 0.29, 0.31), vec3(0.52, 0.54, 0.58), sky) + 0.72 * key * vec3(1.0, 0.98, 0.94);
  float shine = pow(max(dot(n, normalize(KEY + vec3(0.0, 0.0, 1.0))), 0.0), 40.0);
  return base * light + 0.05 * shine;
}`;

const VALUE_COLOR = /* glsl */ `
uniform sampler2D map;
uniform vec2 range;
uniform float useValues;
vec3 colored(vec3 base, float value) {
  float place = clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
  return mix(base, texture2D(map, vec2(place * 255.0 / 256.0 + 0.5 / 256.0, 0.5)).rgb, useValues);
}`;

/** Faces: the smooth normal where it is near to the triangle's own, and that one at sharp edges. */
export const FACES = {
  vertex: /* glsl */ `
attribute float value;
varying vec3 place, smoothNormal;
varying float vertexValue;
void main() {
  vec4 p = modelViewMatrix * vec4(position, 1.0);
  place = p.xyz;
  smoothNormal = normalMatrix * normal;
  vertexValue = value;
  gl_Position = projectionMatrix * p;
}`,
  fragment: /* glsl */ `
uniform vec3 front, back;
uniform float useNormals;
varying vec3 place, smoothNormal;
varying float vertexValue;
${VALUE_COLOR}${LIGHT}${OUTPUT}
void main() {
  vec3 flatNormal = normalize(cross(dFdx(place), dFdy(place)));
  vec3 n = flatNormal;
  float size = length(smoothNormal);
  if (useNormals > 0.5 && size > 0.0) {
    vec3 s = smoothNormal / size;
    if (dot(s, flatNormal) < 0.0) s = -s;
    n = normalize(mix(flatNormal, s, smoothstep(0.55, 0.85, dot(s, flatNormal))));
  }
  vec3 base = colored(gl_FrontFacing ? front : back, vertexValue);
  gl_FragColor = vec4(toScreen(lit(base, n)), 1.0);
}`,
};

/** Obstacles: plain, with the squares of planes lighter and darker. */
export const OBSTACLES = {
  vertex: /* glsl */ `
attribute float shade;
varying vec3 outward;
varying float dark;
void main() {
  outward = normalMatrix * normal;
  dark = shade;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`,
  fragment: /* glsl */ `
uniform vec3 color;
uniform float glow;
varying vec3 outward;
varying float dark;
${LIGHT}${OUTPUT}
void main() {
  vec3 n = normalize(outward) * (gl_FrontFacing ? 1.0 : -1.0);
  vec3 base = color * (1.0 - 0.18 * dark) * (1.0 + 0.25 * glow);
  gl_FragColor = vec4(toScreen(lit(base, n)), 1.0);
}`,
};

/** Springs as lines of one pixel. */
export const LINES = {
  vertex: /* glsl */ `
attribute float value;
varying float vertexValue;
void main() {
  vertexValue = value;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`,
  fragment: /* glsl */ `
uniform vec3 color;
uniform float opacity;
varying float vertexValue;
${VALUE_COLOR}${OUTPUT}
void main() { gl_FragColor = vec4(toScreen(colored(color, vertexValue)), opacity); }`,
};

/** Springs as ribbons some pixels wide, straight or wound as a coil; one instance a spring. */
export const RIBBONS = {
  vertex: /* glsl */ `
attribute float along, side;
attribute vec3 start, end;
attribute vec2 endValues;
uniform vec2 viewport;
uniform float width, coils, radius;
varying float vertexValue, across;
vec3 curve(float t, vec3 a, vec3 b) {
  vec3 d = b - a;
  float size = length(d);
  vec3 sideways = normalize(cross(d, vec3(0.0, 0.0, 1.0)) + vec3(1e-6, 0.0, 0.0));
  float wound = smoothstep(0.08, 0.13, t) * (1.0 - smoothstep(0.87, 0.92, t));
  float phase = 6.2831853 * coils * (t - 0.1) / 0.8;
  float loop = 0.35 * radius / max(size, 1e-9) * (cos(phase) - 1.0) * wound;
  return mix(a, b, coils > 0.0 ? t + loop : t) + sideways * (radius * sin(phase) * wound * step(0.5, coils));
}
vec2 screen(vec4 p) { return p.xy / max(p.w, 1e-6) * viewport * 0.5; }
void main() {
  vec3 a = (modelViewMatrix * vec4(start, 1.0)).xyz, b = (modelViewMatrix * vec4(end, 1.0)).xyz;
  float e = coils > 0.0 ? 0.001 : 0.5;
  vec4 p = projectionMatrix * vec4(curve(along, a, b), 1.0);
  vec4 before = projectionMatrix * vec4(curve(max(along - e, 0.0), a, b), 1.0);
  vec4 after = projectionMatrix * vec4(curve(min(along + e, 1.0), a, b), 1.0);
  vec2 d = screen(after) - screen(before);
  vec2 n = length(d) > 1e-6 ? normalize(vec2(-d.y, d.x)) : vec2(0.0, 1.0);
  p.xy += n * side * width / viewport * p.w;
  vertexValue = mix(endValues.x, endValues.y, along);
  across = side;
  gl_Position = p;
}`,
  fragment: /* glsl */ `
uniform vec3 color;
varying float vertexValue, across;
${VALUE_COLOR}${LIGHT}${OUTPUT}
void main() {
  vec3 n = normalize(vec3(0.5 * across, 0.3, sqrt(1.0 - 0.8 * across * across)));
  gl_FragColor = vec4(toScreen(lit(colored(color, vertexValue), n)), 1.0);
}`,
};

/** Masses as small balls (shape 0), pins as diamonds (1), what is under the pointer as a ring (2). */
export const POINTS = {
  vertex: /* glsl */ `
attribute float value;
uniform float size, nearer;
varying float vertexValue;
void main() {
  vertexValue = value;
  vec4 p = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  p.z -= nearer * p.w;
  gl_Position = p;
  gl_PointSize = size;
}`,
  fragment: /* glsl */ `
uniform vec3 color;
uniform int form;
varying float vertexValue;
${VALUE_COLOR}${LIGHT}${OUTPUT}
void main() {
  vec2 c = vec2(2.0, -2.0) * gl_PointCoord + vec2(-1.0, 1.0);
  float r = length(c);
  if (form == 1) {
    float d = abs(c.x) + abs(c.y);
    if (d > 1.0) discard;
    gl_FragColor = vec4(toScreen(d > 0.62 ? vec3(1.0) : color), 1.0);
  } else if (form == 2) {
    if (r > 1.0 || r < 0.62) discard;
    gl_FragColor = vec4(toScreen(color), 1.0);
  } else {
    if (r > 1.0) discard;
    gl_FragColor = vec4(toScreen(lit(colored(color, vertexValue), vec3(c, sqrt(1.0 - r * r)))), 1.0);
  }
}`,
};

/** A target: rings about a point that face the camera. */
export const TARGET = {
  vertex: /* glsl */ `
uniform float radius;
varying vec2 place;
void main() {
  place = position.xy;
  vec4 p = modelViewMatrix * vec4(0.0, 0.0, 0.0, 1.0);
  p.xy += radius * place;
  gl_Position = projectionMatrix * p;
}`,
  fragment: /* glsl */ `
uniform vec3 color;
varying vec2 place;
${OUTPUT}
void main() {
  const float BANDS = 5.0 * 3.14159265;
  float r = length(place), edge = fwidth(r);
  float colored = max(smoothstep(-BANDS * edge, BANDS * edge, sin(BANDS * r)), step(r, 0.1));
  float inside = 1.0 - smoothstep(1.0 - 2.0 * edge, 1.0, r);
  gl_FragColor = vec4(mix(vec3(1.0), toScreen(color), colored), inside * mix(0.5, 0.92, colored));
}`,
};

/** A gradient over the whole view. */
export const SKY = {
  vertex: /* glsl */ `
varying float height;
void main() {
  height = 0.5 + 0.5 * position.y;
  gl_Position = vec4(position.xy, 0.9999, 1.0);
}`,
  fragment: /* glsl */ `
uniform vec3 top, bottom;
varying float height;
${OUTPUT}
void main() { gl_FragColor = vec4(mix(toScreen(bottom), toScreen(top), smoothstep(0.0, 1.0, height)), 1.0); }`,
};

/** A plane with lines every cell that fade with the distance from the middle. */
export const GRID = {
  vertex: /* glsl */ `
varying vec2 place;
void main() {
  place = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`,
  fragment: /* glsl */ `
uniform vec3 color;
uniform float cell, reach;
varying vec2 place;
${OUTPUT}
float lines(float every) {
  vec2 q = place / every;
  vec2 width = fwidth(q);
  vec2 near = abs(fract(q - 0.5) - 0.5) / width;
  // Where lines would run into each other they fade to nothing.
  vec2 thin = 1.0 - smoothstep(vec2(0.15), vec2(0.5), width);
  return max((1.0 - min(near.x, 1.0)) * thin.x, (1.0 - min(near.y, 1.0)) * thin.y);
}
void main() {
  float fade = 1.0 - smoothstep(0.25 * reach, reach, length(place));
  float strength = max(0.4 * lines(cell), 0.85 * lines(5.0 * cell)) * fade;
  if (strength < 0.004) discard;
  gl_FragColor = vec4(toScreen(color), strength);
}`,
};

/** Every vertex dropped onto the floor: a shadow of light from straight above. */
export const SHADOW = {
  vertex: /* glsl */ `
uniform vec4 plane; // the up axis, and the height of the floor
void main() {
  vec3 at = (modelMatrix * vec4(position, 1.0)).xyz;
  vec3 p = at + plane.xyz * (plane.w - dot(at, plane.xyz));
  gl_Position = projectionMatrix * viewMatrix * vec4(p, 1.0);
}`,
  fragment: /* glsl */ `
uniform vec3 color;
${OUTPUT}
void main() { gl_FragColor = vec4(toScreen(color), 1.0); }`,
};

/** The surface of a fluid. */
export const WATER = {
  vertex: GRID.vertex,
  fragment: /* glsl */ `
uniform vec3 color;
uniform float reach;
varying vec2 place;
${OUTPUT}
void main() {
  float fade = 1.0 - smoothstep(0.3 * reach, 0.9 * reach, length(place));
  gl_FragColor = vec4(toScreen(color), 0.32 * fade);
}`,
};
