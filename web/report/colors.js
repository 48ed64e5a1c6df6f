'use strict';
/* The colours of the picture, light and dark. */

let printing = false;

const ramps = {
  /* pressed, at rest, stretched */
  strain: {
    light: [
      [31, 95, 191],
      [122, 170, 230],
      [208, 214, 223],
      [240, 158, 104],
      [200, 50, 31],
    ],
    dark: [
      [72, 142, 255],
      [98, 140, 200],
      [128, 138, 152],
      [232, 148, 92],
      [255, 92, 66],
    ],
  },
  /* at rest to fast */
  speed: {
    light: [
      [44, 58, 110],
      [42, 110, 158],
      [52, 168, 142],
      [160, 202, 84],
      [250, 216, 60],
    ],
    dark: [
      [70, 86, 150],
      [52, 128, 178],
      [60, 182, 150],
      [176, 214, 92],
      [255, 226, 84],
    ],
  },
};

const paints = {
  light: {
    face: [104, 148, 204],
    spring: [38, 52, 72],
    overFace: [24, 34, 50, 0.34],
    mass: [38, 52, 72],
    pin: [196, 32, 60],
    rim: [255, 255, 255],
    grid: [90, 106, 130, 0.26],
  },
  dark: {
    face: [96, 140, 198],
    spring: [206, 216, 230],
    overFace: [6, 10, 16, 0.42],
    mass: [206, 216, 230],
    pin: [255, 92, 112],
    rim: [16, 20, 28],
    grid: [170, 186, 210, 0.17],
  },
};

function themeName() {
  return document.documentElement.classList.contains('dark') && !printing ? 'dark' : 'light';
}

/* 256 colours of a ramp, four bytes each. */
function rampBytes(color) {
  const stops = ramps[color][themeName()];
  const bytes = new Uint8Array(1024);
  for (let q = 0; q < 256; q++) {
    const place = (q / 255) * (stops.length - 1),
      stop = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++)
      bytes[4 * q + c] = stops[stop][c] + (place - stop) * (stops[stop + 1][c] - stops[stop][c]);
    bytes[4 * q + 3] = 255;
  }
  return bytes;
}

function rampGradient(color) {
  const stops = ramps[color][themeName()];
  return `linear-gradient(90deg, ${stops.map((stop) => `rgb(${stop.join(' ')})`).join(', ')})`;
}
