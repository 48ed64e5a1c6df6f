// Parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle } from '../scripts/load_engine.mjs';

const { scaleOf } = await bundle('../src/ui/scale.ts');
const { splitFormula } = await bundle('../src/ui/formula.ts');
const { pickVertex } = await bundle('../src/view/pick_vertex.ts');
const { markedPins } = await bundle('../shared/pins.js');
const { isClosed } = await bundle('../src/view/normals.ts');
const { addNormals } = await bundle('../shared/normals.js');
const { MemoryFiles } = await bundle('../src/engine/memory_files.ts');
const { decodeFrame, encodePut } = await bundle('../src/engine/protocol.ts');
const { ColorRange } = await bundle('../src/view/colormap.ts');
const { usualLargest } = await bundle('../src/ui/usual.ts');
const { isSlowByStep, fasterThan } = await bundle('../src/ui/faster.ts');
const { filesOf } = await bundle('../src/scene_data.ts');
const { History } = await bundle('../src/history.ts');
const { Orbit } = await bundle('../shared/orbit.js');
const { RAMP_COLORS, rampBytes, rampGradient } = await bundle('../shared/ramps.js');
const { numberText, prefixFor, roundStep } = await bundle('../shared/numbers.js');

const param = (more) => ({ name: 'p', unit: '1', help: '', kind: 'number', default: null, min: 0, max: null, ...more });

test('sliders_give_back_the_value_that_they_show', () => {
  for (const [schema, values] of [
    [param({ unit: 'N/m', default: 1000 }), [1000, 20, 3e5]],
    [param({ unit: 'm/s^2', default: 9.81 }), [9.81, 3, 0]],
    [param({ min: 1e-6, max: 1, unit: 's' }), [1e-5, 0.01, 1]],
    [param({ max: 1, default: 0.5 }), [0.5, 0, 1]],
    [param({ min: null, unit: 'm', default: 0 }), [-1, 0, 2]],
  ]) {
    const scale = scaleOf(schema, values[0]);
    for (const value of values) assert.ok(Math.abs(scale.value(scale.position(value)) - value) <= 1e-9 * Math.max(1, Math.abs(value)), `${value}`);
  }
});

test('a_slider_that_allows_zero_reaches_it', () => {
  assert.equal(scaleOf(param({ unit: 'N s/m' }), 0.002).value(0), 0);
  assert.ok(scaleOf(param({ min: 1e-6, max: 1 }), 0.01).value(0) >= 1e-6);
});

test('formulas_raise_powers_and_lower_indices_but_not_words', () => {
  const raised = (text) => splitFormula(text).filter((piece) => piece.place === 'up').map((piece) => piece.text);
  const lowered = (text) => splitFormula(text).filter((piece) => piece.place === 'down').map((piece) => piece.text);
  assert.deepEqual(raised('x+ = x + h^2 M^-1 f'), ['+', '2', '−1']);
  assert.deepEqual(lowered('f_i = -(linear + per_mass m_i) v_i'), ['i', 'i', 'i']);
  assert.equal(splitFormula('x += alpha p').length, 1);
  assert.equal(splitFormula('h^2 E(x+)').map((piece) => piece.text).join(''), 'h2 E(x+)');
});

test('the_vertex_that_is_seen_is_picked_and_not_the_one_behind', () => {
  // Two triangles across the view at z = 0 and z = -1; the ray comes from z = 5.
  const x = new Float32Array([-1, -1, 0, 1, -1, 0, 0, 1, 0, -1, -1, -1, 1, -1, -1, 0, 1, -1]);
  const triangles = new Uint32Array([3, 4, 5, 0, 1, 2]);
  const ray = { origin: [0, 0.8, 5], direction: [0, 0, -1] };
  assert.equal(pickVertex(x, triangles, ray, 0.01), 2);
  assert.equal(pickVertex(x, null, { origin: [0.99, -1, 5], direction: [0, 0, -1] }, 0.01), 1);
  assert.equal(pickVertex(x, triangles, { origin: [3, 3, 5], direction: [0, 0, -1] }, 0.01), -1);
});

test('of_many_pins_in_a_patch_the_border_is_marked', () => {
  // A grid of 20 x 20 squares, its middle 10 x 10 vertices held.
  const n = 21, at = (i, j) => j * n + i, triangles = [];
  for (let j = 0; j + 1 < n; j++)
    for (let i = 0; i + 1 < n; i++)
      triangles.push(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i, j + 1));
  const topology = { vertices: n * n, triangles: new Uint32Array(triangles), springs: new Uint32Array([at(5, 5), at(20, 20)]) };
  const pinned = [];
  for (let j = 5; j < 15; j++) for (let i = 5; i < 15; i++) pinned.push(at(i, j));
  const marked = (mesh, pins, releases = null) => markedPins(mesh, pins, releases).map((q) => pins[q]);
  assert.deepEqual(marked(topology, pinned), pinned.filter((v) => [5, 14].includes(v % n) || [5, 14].includes(Math.floor(v / n))));
  assert.deepEqual(marked(topology, pinned.slice(0, 30)), pinned.slice(0, 30), 'a few are all marked');
  const all = Array.from({ length: n * n }, (_, v) => v);
  assert.deepEqual(marked(topology, all), all, 'what is held as a whole is marked as a whole');
  const chain = { vertices: 100, triangles: new Uint32Array(), springs: new Uint32Array(Array.from({ length: 99 }, (_, q) => [q, q + 1]).flat()) };
  assert.deepEqual(marked(chain, all.slice(0, 80)), [79]);
  const released = all.slice(0, 80).map((q) => (q < 40 ? Infinity : 1));
  assert.deepEqual(marked(chain, all.slice(0, 80), released), [39, 79], 'pins beside others that are released earlier are a border, too');
});

test('a_tetrahedron_is_closed_and_a_triangle_is_not', () => {
  assert.equal(isClosed(new Uint32Array([0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0]), 4), true);
  assert.equal(isClosed(new Uint32Array([0, 1, 2]), 3), false);
});

test('normals_stand_on_a_flat_triangle', () => {
  const normals = new Float32Array(9);
  addNormals(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]), new Uint32Array([0, 1, 2]), normals, 3, null);
  assert.deepEqual([...normals], [0, 0, 1, 0, 0, 1, 0, 0, 1]);
  // A vertex with a value beside its position, and with two corners.
  const wide = new Float32Array(16);
  addNormals(new Float32Array([0, 0, 0, 9, 1, 0, 0, 9, 0, 1, 0, 9]), new Uint32Array([3, 1, 2]), wide, 4, [0, 1, 2, 0]);
  assert.deepEqual([...wide], [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
});

test('files_in_memory_grow_are_renamed_and_stay_below_the_root', () => {
  const files = new MemoryFiles();
  files.create('a').write(1000, new Uint8Array([7, 8]));
  const got = new Uint8Array(4);
  assert.equal(files.file('a').read(999, got), 3);
  assert.deepEqual([...got], [0, 7, 8, 0]);
  assert.equal(files.rename('a', 'b'), true);
  assert.equal(files.file('a'), undefined);
  assert.equal(MemoryFiles.normalize('/x/../../y/./z'), 'y/z');
});

test('a_message_that_is_no_frame_or_too_short_is_refused', () => {
  assert.throws(() => decodeFrame(new ArrayBuffer(8)), /no frame/);
  const short = new ArrayBuffer(176);
  new Uint32Array(short, 0, 4).set([0x52464b48, 1, 1000, 0]);
  assert.throws(() => decodeFrame(short), /no frame/);
  const put = new Uint8Array(encodePut(3, 'a.obj', new Uint8Array([1, 2])));
  assert.deepEqual([...put], [0x48, 0x4b, 0x55, 0x54, 3, 0, 0, 0, 5, 0, 0, 0, 97, 46, 111, 98, 106, 1, 2]);
});

test('history_forgets_the_oldest_and_starts_anew_when_time_goes_back', () => {
  const history = new History();
  const frame = (time) => ({ time, kinetic: 1, spring: 2, gravity: 3, other: 0, total: 6, gradient: 0, iterations: 0, linearIterations: 0, milliseconds: 1, step: 0.1 });
  for (let q = 0; q < 40000; q++) history.add(frame(0.1 * q));
  assert.ok(history.count <= 32768 && history.count > 20000);
  assert.ok(Math.abs(history.column('time').at(-1) - 3999.9) < 1e-9);
  assert.ok(Math.abs(history.column('time', history.since(10))[0] - 3989.9) < 0.11);
  history.add(frame(0));
  assert.equal(history.count, 1);
});

test('a_plot_shows_common_values_whole_and_cuts_off_single_ones', () => {
  const values = Array.from({ length: 100 }, (_, q) => 1 + 0.01 * q); // 1 .. 2
  assert.ok(usualLargest([...values, 500]) < 7);
  assert.ok(usualLargest(values) > 2, 'nothing is cut off without a hiccup');
  assert.ok(usualLargest([...values, ...values.map((value) => 10 * value)]) > 20, 'half of the values are no hiccup');
  assert.equal(usualLargest([]), Infinity);
});

test('playing_is_slow_by_its_step_only_where_a_step_takes_longer_than_it_simulates', () => {
  assert.equal(isSlowByStep({ rate: 0.2, speed: 1, cost: 4 }), true);
  assert.equal(isSlowByStep({ rate: 0.2, speed: 1, cost: 0.1 }), false, 'the browser draws slowly');
  assert.equal(isSlowByStep({ rate: 0.1, speed: 0.1, cost: 4 }), false, 'slow motion is asked for, and kept');
  assert.equal(isSlowByStep({ rate: 1, speed: 2, cost: 0.7 }), false, 'real time, though twice that is asked for');
  assert.equal(isSlowByStep({ rate: 0.2, speed: 1, cost: NaN }), false, 'nothing is measured yet');
});

test('a_faster_method_says_what_it_changes_and_never_makes_steps_smaller', () => {
  const explicit = fasterThan({ integrator: { type: 'rk4' }, step: 1e-4 });
  assert.equal(explicit.name, 'Play faster: backward Euler, steps of 1/60 s');
  assert.ok(explicit.sets.includes(`time.step=${1 / 60}`));
  const implicit = fasterThan({ integrator: { type: 'backward_euler', minimizer: { type: 'newton' } }, step: 0.04 });
  assert.equal(implicit.name, 'Play faster: local/global iterations');
  assert.ok(implicit.sets.includes('time.step=0.04'));
  assert.equal(fasterThan({ integrator: { type: 'backward_euler', minimizer: { type: 'local_global' } }, step: 1e-3 }), null);
});

test('the_files_that_a_scene_reads_are_found', () => {
  const scene = { bodies: [{ mesh: 'a.obj', springs: { file: 'b.txt' } }, { mesh: { vertices: [] } }, { shape: 'grid' }] };
  assert.deepEqual(filesOf(JSON.stringify(scene)), ['a.obj', 'b.txt']);
});

test('a_blow_up_sets_the_range_of_colors_only_until_another_motion_does', () => {
  const range = new ColorRange('strain');
  range.follow(-1e6, 1e6, true);
  assert.equal(range.high, 1e6);
  range.follow(-0.01, 0.02);
  assert.equal(range.high, 0.02);
  range.follow(-1e6, 1e6, true);
  assert.equal(range.high, 0.02);
});

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

test('an_orbit_has_three_perpendicular_directions_whatever_points_up', () => {
  for (const axis of [0, 1, 2]) {
    const orbit = new Orbit();
    orbit.setUp(axis);
    assert.equal(orbit.basis()[1][axis], 1, 'a level view has the up axis upwards');
    orbit.turn(0.7, 0.4);
    const [side, upward, back] = orbit.basis();
    for (const [a, b, product] of [[side, side, 1], [upward, upward, 1], [side, upward, 0], [side, back, 0], [upward, back, 0]])
      assert.ok(Math.abs(dot(a, b) - product) < 1e-14);
    assert.ok(back[axis] > 0.38, 'a view that is turned by 0.4 looks from above');
    const cross = [side[1] * upward[2] - side[2] * upward[1], side[2] * upward[0] - side[0] * upward[2], side[0] * upward[1] - side[1] * upward[0]];
    assert.ok(Math.abs(dot(cross, back) - 1) < 1e-14, 'right-handed');
    orbit.turn(0, 9);
    assert.ok(Math.abs(orbit.basis()[1][axis]) > 0, 'never straight down');
  }
});

test('an_orbit_frames_a_box_and_touches_the_edge_of_the_view', () => {
  const orbit = new Orbit(), half = [3, 1, 2], aspect = 1.6;
  orbit.look(false);
  orbit.distance = orbit.distanceFor(half, aspect, [1, 1]);
  const [side, upward, back] = orbit.basis();
  let farthest = 0;
  for (let corner = 0; corner < 8; corner++) {
    const x = half.map((size, c) => ((corner >> c) & 1 ? size : -size)), depth = orbit.distance - dot(back, x);
    farthest = Math.max(farthest, Math.abs(dot(side, x)) / (depth * orbit.slope * aspect), Math.abs(dot(upward, x)) / (depth * orbit.slope));
  }
  assert.ok(Math.abs(farthest - 1) < 1e-12, `the outermost corner is at ${farthest} of the view`);
});

test('a_point_under_the_hand_moves_with_it', () => {
  const orbit = new Orbit();
  orbit.look(false);
  const [side, upward] = orbit.basis(), before = [...orbit.target], height = 2 * orbit.slope * orbit.distance;
  orbit.move(0.25, 0);
  const moved = orbit.target.map((t, c) => t - before[c]);
  assert.ok(Math.abs(dot(moved, side) + 0.25 * height) < 1e-12 && Math.abs(dot(moved, upward)) < 1e-12);
});

test('color_ramps_go_from_the_first_color_of_the_legend_to_the_last', () => {
  for (const color of ['strain', 'speed']) {
    const bytes = rampBytes(color), named = rampGradient(color).match(/#\w{6}/g);
    const hex = (q) => '#' + [...bytes.slice(4 * q, 4 * q + 3)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    assert.equal(bytes.length, 4 * RAMP_COLORS);
    assert.equal(hex(0), named[0]);
    assert.equal(hex(RAMP_COLORS - 1), named.at(-1));
  }
});

test('numbers_are_written_as_people_read_them', () => {
  for (const [value, text] of [[0, '0'], [NaN, '–'], [null, '–'], [0.12345, '0.1235'], [-2.5, '−2.5'], [12345, '12,345'], [-1200, '−1,200'],
    [1e7, '10⁷'], [2.5e-6, '2.5·10⁻⁶'], [-1e-5, '−1·10⁻⁵']]) assert.equal(numberText(value), text);
  assert.equal(roundStep(0.03), 0.05);
  assert.deepEqual(prefixFor(2500), [1e3, 'k']);
});
