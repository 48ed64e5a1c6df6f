'use strict';
/* Puts the parts together: playback, controls, plots. "#t=1.5" in the address stops at that time,
 * "#color=speed" chooses a color. */

const element = (id) => document.getElementById(id);
const icon = (path) =>
  `<svg width="16" height="16" viewBox="0 0 16 16" fill="currentColor" aria-hidden="true"><path d="${path}"/></svg>`;
const icons = {play: icon('M4 2v12l10-6z'), pause: icon('M3 2h4v12H3zM9 2h4v12H9z')};

const wishes = new URLSearchParams(window.location.hash.slice(1));
const kindCounts =
  facts.drawn.kinds; /* edge, shear, bending, from a file; stored edge, file, shear, bending */
const edgeCount = kindCounts[0] + kindCounts[3];
const hasFaces = motion.faces.length > 0;

const options = {
  color: ['strain', 'speed', 'none'].includes(wishes.get('color')) ? wishes.get('color') : 'strain',
  range: 1,
  faces: hasFaces,
  springs:
    motion.springs.length === 0
      ? 'none'
      : hasFaces && edgeCount > 6000
        ? 'none'
        : edgeCount > 0
          ? 'edges'
          : 'all',
  springCount: 0,
  coil: 0,
  points: !hasFaces && motion.n <= 3000,
};

const player = {time: motion.start, playing: false, speed: 1, stamp: 0, loaded: NaN, stale: true};
const camera = new Camera(facts.model.dimension === 2);
let view = null;
const plots = [];

/* ---- Drawing ---- */

function render() {
  if (view) {
    view.resize();
    camera.resize(view.canvas.width / view.canvas.height);
    if (player.loaded !== player.time) view.load(player.time, options);
    player.loaded = player.time;
    view.draw(player.time, camera, options);
  }
  element('slider').value = player.time;
  const stored = frameAt(player.time),
    next = Math.min(stored + 1, motion.count - 1);
  const span = motion.times[next] - motion.times[stored];
  const part = span > 0 ? (player.time - motion.times[stored]) / span : 0;
  const first = headOf(stored, HEAD.index),
    frame = Math.floor(first + part * (headOf(next, HEAD.index) - first) + 1e-6);
  const digits = facts.run.interval < 0.01 ? 4 : 3;
  element('clock').textContent = `${player.time.toFixed(digits)} s · frame ${countText(frame)}`;
  for (const plot of plots) plot.point(player.time);
  player.stale = false;
}

function tick(now) {
  if (player.playing) {
    const passed = Math.min(0.1, (now - player.stamp) / 1000) * player.speed;
    player.time =
      player.time >= motion.end ? motion.start : Math.min(motion.end, player.time + passed);
    player.stale = true;
  }
  player.stamp = now;
  if (player.stale) render();
  window.requestAnimationFrame(tick);
}

function change(reload) {
  if (reload) player.loaded = NaN;
  player.stale = true;
}

/* ---- Playback ---- */

function play(on) {
  player.playing = on && motion.end > motion.start;
  element('play').innerHTML = player.playing ? icons.pause : icons.play;
  element('play').setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
}

function seek(time) {
  play(false);
  player.time = Math.max(motion.start, Math.min(motion.end, time));
  change(false);
}

function stepFrame(direction) {
  const at = frameAt(player.time),
    between = player.time > motion.times[at] + 1e-12;
  const next = direction > 0 ? at + 1 : between ? at : at - 1;
  seek(motion.times[Math.max(0, Math.min(motion.count - 1, next))]);
}

/* ---- Options ---- */

function showLegend() {
  const {color} = options,
    legend = element('legend');
  legend.hidden = color === 'none' || !view;
  if (color === 'none') return;
  options.range = valueRange(color);
  element('legend-bar').style.background = rampGradient(color);
  const strain = color === 'strain',
    most = strain ? 100 * options.range : options.range;
  setText('legend-title', strain ? 'mean strain at a vertex' : 'speed, m/s');
  setText('legend-low', strain ? `−${numberText(most, 2)} %` : '0');
  setText('legend-mid', strain ? '0' : numberText(most / 2, 2));
  setText('legend-high', strain ? `+${numberText(most, 2)} %` : numberText(most, 2));
}

function applyOptions() {
  const count = motion.springs.length / 2;
  options.springCount = {none: 0, edges: edgeCount, all: count}[options.springs];
  /* A few springs look like springs. */
  const few = count <= 8 && !hasFaces;
  options.coil = few ? 0.07 * facts.model.length_min : 0;
  element('color').value = options.color;
  element('faces').checked = options.faces;
  element('springs').value = options.springs;
  element('points').checked = options.points;
  showLegend();
  if (view) view.setRamp(options.color);
  change(true);
}

function cycle(id, key) {
  const values = [...element(id).options]
    .filter((option) => !option.disabled)
    .map((option) => option.value);
  options[key] = values[(values.indexOf(options[key]) + 1) % values.length];
}

const keys = {
  ' ': () => play(!player.playing),
  ArrowLeft: () => stepFrame(-1),
  ArrowRight: () => stepFrame(1),
  Home: () => seek(motion.start),
  End: () => seek(motion.end),
  '+': () => camera.zoom(0.9),
  '-': () => camera.zoom(1 / 0.9),
  c: () => cycle('color', 'color'),
  f: () => {
    options.faces = hasFaces && !options.faces;
  },
  l: () => cycle('springs', 'springs'),
  m: () => {
    options.points = !options.points;
  },
  r: () => camera.reset(),
};

const turns = {
  ArrowLeft: [0.08, 0],
  ArrowRight: [-0.08, 0],
  ArrowUp: [0, 0.08],
  ArrowDown: [0, -0.08],
};

function onKey(event) {
  const {target, key} = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === 'SELECT') return;
  if (key === ' ' && ['BUTTON', 'SUMMARY'].includes(target.tagName)) return;
  if (key === ' ' && target.type === 'checkbox') return;
  const scrolls = key === 'Home' || key === 'End';
  if (scrolls && target !== element('canvas') && target !== element('slider')) return;
  if (event.shiftKey && turns[key] && !camera.flat) camera.turn(...turns[key]);
  else if (keys[key] && !(event.shiftKey && turns[key])) keys[key]();
  else if (keys[key.toLowerCase()] && key.length === 1) keys[key.toLowerCase()]();
  else return;
  event.preventDefault();
  applyOptions();
}

function listen() {
  element('play').addEventListener('click', () => play(!player.playing));
  element('slider').addEventListener('input', (event) => seek(Number(event.target.value)));
  element('speed').addEventListener('change', (event) => {
    player.speed = Number(event.target.value);
  });
  for (const id of ['color', 'springs'])
    element(id).addEventListener('change', (event) => {
      options[id] = event.target.value;
      applyOptions();
    });
  for (const id of ['faces', 'points'])
    element(id).addEventListener('change', (event) => {
      options[id] = event.target.checked;
      applyOptions();
    });
  element('reset').addEventListener('click', () => {
    camera.reset();
    change(false);
  });
  document.addEventListener('keydown', onKey);
  new ResizeObserver(() => change(false)).observe(element('canvas'));
  document.addEventListener('theme', () => applyOptions());
  window.addEventListener('beforeprint', () => setPrinting(true));
  window.addEventListener('afterprint', () => setPrinting(false));
}

/* Paper is light: the picture is drawn anew for it, at the moment that is shown. A scene that is
 * not long comes along. */
function setPrinting(on) {
  const text = [...document.querySelectorAll('.text')].find((part) => !part.hidden);
  if (on && text.textContent.length < 8000) {
    text.dataset.closed = text.open ? '' : 'yes';
    text.open = true;
  } else if (!on && text.dataset.closed) text.open = false;
  printing = on;
  applyOptions();
  render();
  for (const plot of plots) plot.draw();
}

/* ---- Start ---- */

function startView() {
  const canvas = element('canvas');
  try {
    view = new View(canvas);
  } catch (error) {
    console.warn(error);
    element('no-webgl').hidden = false;
    canvas.hidden = true;
    document.querySelector('.stage').classList.add('empty');
    return;
  }
  setText('scale', `grid: ${numberText(view.gridStep)} m`);
  canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
  canvas.addEventListener('webglcontextrestored', () => {
    view = new View(canvas);
    applyOptions();
  });
  steer(canvas, camera, () => change(false));
}

function startControls() {
  const slider = element('slider');
  /* What is over in a moment is shown slowly. */
  for (const option of [...element('speed').options].reverse())
    if (player.speed > Number(option.value) && motion.end - motion.start < 1.2 * player.speed)
      player.speed = Number(option.value);
  element('speed').value = String(player.speed);
  slider.min = motion.start;
  slider.max = motion.end;
  element('faces-label').hidden = !hasFaces;
  element('springs-label').hidden = motion.springs.length === 0;
  /* Where all springs are edges, or none is, there is nothing to choose between. */
  for (const option of element('springs').options)
    if (option.value === 'edges' && (edgeCount === 0 || edgeCount === motion.springs.length / 2)) {
      if (edgeCount === 0) option.disabled = option.hidden = true;
      else option.textContent = 'shown';
    } else if (option.value === 'all' && edgeCount === motion.springs.length / 2)
      option.disabled = option.hidden = true;
  if (!view) document.querySelector('.options').hidden = true;
}

const same = (a, b) => a.every((value, q) => Object.is(value, b[q]));

/* Leaves out what is nothing but zeros, and what says the same as a line before it. */
function addPlot(title, unit, series, more = {}) {
  const shown = series.filter(
    (one, q) =>
      (one.always || one.values.some((value) => Number.isFinite(value) && value !== 0)) &&
      (one.always || !series.slice(0, q).some((other) => same(other.values, one.values))),
  );
  if (shown.length === 0) return;
  plots.push(
    new Plot(element('plots'), {title, unit, times: rows.time, series: shown, seek, ...more}),
  );
}

const divided = (a, b, factor = 1) =>
  a.map((value, q) => (b[q] > 0 ? (factor * value) / b[q] : NaN));

function startPlots() {
  const color = (name) => `var(--${name})`;
  addPlot(
    'Energy',
    'J',
    ['kinetic', 'spring', 'gravity', 'other', 'total'].map((name) => ({
      name,
      color: color(name),
      values: rows[name],
      dashed: name === 'total',
      always: name === 'total',
    })),
    {prefixed: true},
  );
  addPlot('Strain', '%', [
    {name: 'largest', color: color('kinetic'), values: rows.strain_max.map((value) => 100 * value)},
    {name: 'smallest', color: color('spring'), values: rows.strain_min.map((value) => 100 * value)},
  ]);
  const timed = rows.seconds.some((value) => value > 0); // not where states came from no run
  if (timed)
    addPlot(
      'Time to compute a frame',
      'ms',
      [
        {
          name: 'wall clock',
          color: color('spring'),
          values: divided(rows.seconds, rows.frames, 1000),
        },
      ],
      {fromZero: true},
    );
  if (timed && facts.run.steps_per_frame > 1)
    addPlot(
      'Time to compute a step',
      'ms',
      [
        {
          name: 'mean of the frame',
          color: color('kinetic'),
          values: divided(rows.seconds, rows.steps, 1000),
        },
      ],
      {fromZero: true},
    );
  if (rows.iterations.some((value) => value > 0))
    addPlot(
      'Iterations of a step',
      '',
      [
        {name: 'minimizer', color: color('spring'), values: divided(rows.iterations, rows.steps)},
        {
          name: 'at most',
          color: color('kinetic'),
          values: rows.worst_iterations.map((value, q) => (rows.steps[q] > 0 ? value : NaN)),
        },
        {
          name: 'linear solver',
          color: color('gravity'),
          values: divided(rows.linear_iterations, rows.steps),
        },
      ],
      {fromZero: true},
    );
  addPlot(
    'Largest speed',
    'm/s',
    [{name: 'of a vertex', color: color('gravity'), values: rows.speed_max}],
    {fromZero: true},
  );
  if (rows.contacts.some((value) => value > 0)) {
    addPlot(
      'Contacts',
      '',
      [{name: 'pairs and vertices that touch', color: color('spring'), values: rows.contacts}],
      {fromZero: true},
    );
    addPlot(
      'Least gap',
      'mm',
      [
        {
          name: 'of all contacts',
          color: color('kinetic'),
          values: rows.least_gap.map((value) => (Number.isFinite(value) ? 1000 * value : NaN)),
        },
      ],
      {fromZero: true},
    );
  }
  const redraw = () => plots.forEach((plot) => plot.draw());
  new ResizeObserver(redraw).observe(element('plots'));
  redraw();
}

fillFacts();
startView();
startControls();
startPlots();
listen();
applyOptions();
const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
if (wishes.has('t')) seek(Number(wishes.get('t')) || motion.start);
else play(!calm && Boolean(view));
if (!player.playing) play(false);
render();
window.requestAnimationFrame(tick);
