'use strict';
/* The eye: it turns about a point, comes nearer and moves along. Lengths are in metres about the
 * centre of the box; y is up, z comes towards the eye. Matrices are column by column. */

class Camera {
  constructor(flat) {
    this.flat = flat;
    this.slope = Math.tan(Math.PI / 12); /* half the height of the picture at distance 1 */
    this.aspect = 1;
    this.touched = false;
    this.reset();
  }

  reset() {
    this.yaw = this.flat ? 0 : 0.6;
    this.pitch = this.flat ? 0 : 0.32;
    this.target = [0, 0, 0];
    this.touched = false;
    this.fit();
  }

  /* Right, up and towards the eye, as rows. */
  basis() {
    const cy = Math.cos(this.yaw),
      sy = Math.sin(this.yaw);
    const cp = Math.cos(this.pitch),
      sp = Math.sin(this.pitch);
    return [
      [cy, 0, -sy],
      [-sp * sy, cp, -sp * cy],
      [cp * sy, sp, cp * cy],
    ];
  }

  /* As near as all corners of the box allow. */
  fit() {
    const [right, up, back] = this.basis();
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const x = [0, 1, 2].map(
        (c) => ((corner >> c) & 1 ? box.high[c] : box.low[c]) - box.center[c],
      );
      const dot = (v) => v[0] * x[0] + v[1] * x[1] + v[2] * x[2];
      const wide = Math.abs(dot(right)) / (this.slope * this.aspect),
        high = Math.abs(dot(up)) / this.slope;
      distance = Math.max(distance, dot(back) + 1.16 * Math.max(wide, high));
    }
    this.distance = Math.max(distance, 0.2 * box.size);
  }

  resize(aspect) {
    this.aspect = aspect;
    if (!this.touched) this.fit();
  }

  eye() {
    const back = this.basis()[2];
    return this.target.map((t, c) => t + this.distance * back[c]);
  }

  /* World to clip space. */
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
    this.yaw -= dx;
    this.pitch = Math.max(-1.55, Math.min(1.55, this.pitch + dy));
  }

  /* By parts of the height of the picture. */
  move(dx, dy) {
    const [right, up] = this.basis(),
      step = 2 * this.slope * this.distance;
    this.touched = true;
    this.target = this.target.map((t, c) => t - step * (dx * right[c] - dy * up[c]));
  }

  zoom(factor) {
    this.touched = true;
    this.distance = Math.max(0.01 * box.size, Math.min(40 * box.size, this.distance * factor));
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
