'use strict';
/* Colors of the picture, light and dark; those of values are in shared/ramps.js. */

let printing = false;

const paints = {
  light: {
    face: [104, 148, 204],
    spring: [38, 52, 72],
    overFace: [24, 34, 50, 0.34],
    mass: [38, 52, 72],
    pin: [196, 32, 60],
    rim: [255, 255, 255],
    grid: [90, 106, 130, 0.26],
    obstacle: [236, 231, 222],
  },
  dark: {
    face: [96, 140, 198],
    spring: [206, 216, 230],
    overFace: [6, 10, 16, 0.42],
    mass: [206, 216, 230],
    pin: [255, 92, 112],
    rim: [16, 20, 28],
    grid: [170, 186, 210, 0.17],
    obstacle: [150, 146, 140],
  },
};

function themeName() {
  return document.documentElement.classList.contains('dark') && !printing ? 'dark' : 'light';
}
