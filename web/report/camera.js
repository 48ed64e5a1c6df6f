'use strict';
/* The eye of the picture: the orbit of shared/orbit.js about the center of the box, which it frames until a
 * person moves it. Lengths are in meters from that center; y is up, z comes towards the eye. */

const MARGIN = [1.16, 1.16]; /* width and height of the picture, in those of the box */

class Camera extends Orbit {
  constructor(flat) {
    super();
    this.flat = flat;
    this.size = box.size;
    this.aspect = 1;
    this.reset();
  }

  reset() {
    this.look(this.flat);
    this.target = [0, 0, 0];
    this.touched = false;
    this.fit();
  }

  fit() {
    const half = [0, 1, 2].map((c) => (box.high[c] - box.low[c]) / 2);
    this.distance = Math.max(this.distanceFor(half, this.aspect, MARGIN), 0.2 * box.size);
  }

  resize(aspect) {
    this.aspect = aspect;
    if (!this.touched) this.fit();
  }

  /* World to clip space, column by column. */
  matrix() {
    const rows = this.basis(),
      eye = this.eye();
    const near = 0.02 * this.distance,
      far = this.distance + 20 * box.size;
    const view = rows.map((r) => [...r, -(r[0] * eye[0] + r[1] * eye[1] + r[2] * eye[2])]);
    const sx = 1 / (this.slope * this.aspect),
      sy = 1 / this.slope;
    const a = -(far + near) / (far - near),
      b = (-2 * far * near) / (far - near);
    const m = new Float32Array(16);
    for (let c = 0; c < 4; c++) {
      m[4 * c] = sx * view[0][c];
      m[4 * c + 1] = sy * view[1][c];
      m[4 * c + 2] = a * view[2][c] + (c === 3 ? b : 0);
      m[4 * c + 3] = -view[2][c];
    }
    return m;
  }

  turn(dx, dy) {
    this.touched = true;
    super.turn(dx, dy);
  }

  move(dx, dy) {
    this.touched = true;
    super.move(dx, dy);
  }

  zoom(factor) {
    this.touched = true;
    super.zoom(factor);
  }
}

/* Mouse, fingers and wheel on the canvas. changed() is called after each move. */
function steer(canvas, camera, changed) {
  const fingers = new Map();
  let spread = 0;

  function gather() {
    const points = [...fingers.values()];
    const center = [0, 1].map((c) => points.reduce((sum, p) => sum + p[c], 0) / points.length);
    const apart =
      points.length > 1 ? Math.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1]) : 0;
    return {center, apart};
  }

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    spread = gather().apart;
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = gather().center;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const {center, apart} = gather(),
      height = canvas.clientHeight || 1;
    const dx = (center[0] - before[0]) / height,
      dy = (center[1] - before[1]) / height;
    if (camera.flat || fingers.size > 1 || event.shiftKey || event.buttons & 6) camera.move(dx, dy);
    else camera.turn(4 * dx, 4 * dy);
    if (fingers.size > 1 && spread > 0 && apart > 0) camera.zoom(spread / apart);
    spread = apart;
    changed();
  });
  for (const name of ['pointerup', 'pointercancel'])
    canvas.addEventListener(name, (event) => {
      fingers.delete(event.pointerId);
      spread = fingers.size > 1 ? gather().apart : 0;
    });
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      camera.zoom(Math.exp(0.0015 * lines * Math.max(-200, Math.min(200, event.deltaY))));
      changed();
    },
    {passive: false},
  );
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('dblclick', () => {
    camera.reset();
    changed();
  });
}
