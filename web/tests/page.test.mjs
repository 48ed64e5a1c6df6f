// The page in a real browser: it loads without an error, plays, is pulled, compared, shared.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AT_REST, bannerFaults, chooseScene, hashOf, isLoaded, look, onPage, openPlace, shareAddress, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

test('the_page_loads_without_an_error_and_plays', onPage(() => place, {}, async (page) => {
  await waitFor(page, () => window.hooke.sides()[0].steps > 20);
  assert.deepEqual(page.errors, []);
}));

test('the_view_shows_a_cloth_and_not_an_empty_canvas', onPage(() => place, {}, async (page) => {
  await waitFor(page, () => window.hooke.sides()[0].time > 0.1);
  await page.keyboard.press('Space');
  // The cloth is blue in front and amber behind; all around it is nearly gray.
  const { colored, colors } = await look(page, '#view');
  assert.ok(colored > 0.03 && colored < 0.9, `a part of ${colored} of the view is cloth`);
  assert.ok(colors > 40, `${colors} colors`);
}));

test('every_scene_runs_100_steps', onPage(() => place, {}, async (page) => {
  await page.click('.scenes-button');
  const names = await page.$$eval('.card', (cards) => cards.map((card) => card.dataset.scene));
  await page.keyboard.press('Escape');
  assert.ok(names.length >= 12);
  for (const name of names) {
    await chooseScene(page, name);
    await waitFor(page, () => window.hooke.sides()[0].steps >= 100);
    assert.equal((await sides(page))[0].blownUp, false, name);
  }
  assert.deepEqual(page.errors, []);
}));

test('dragging_moves_the_vertex_under_the_pointer', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'trampoline');
  await waitFor(page, () => window.hooke.sides()[0].time > 0.1);
  // The middle of the sheet, in front of which its pinned rim may be just then: the last 120 vertices.
  const RIM = 1141;
  let x, y, grabbed = RIM;
  while (grabbed >= RIM) {
    [x, y] = await page.evaluate(() => window.hooke.vertex(0, 0).screen);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await waitFor(page, () => window.hooke.sides()[0].grabbed >= 0);
    [{ grabbed }] = await sides(page);
    if (grabbed < RIM) break;
    await page.mouse.up();
    await waitFor(page, () => window.hooke.sides()[0].grabbed < 0);
  }
  const camera = await page.evaluate(() => window.hooke.camera());
  const { screen: taken, position: start } = await page.evaluate((v) => window.hooke.vertex(0, v), grabbed);
  assert.ok(Math.hypot(taken[0] - x, taken[1] - y) < 40, `vertex ${grabbed} is at ${taken}, the pointer at ${x} ${y}`);
  await page.mouse.move(x, y - 50, { steps: 4 });
  await page.mouse.move(x, y - 100, { steps: 4 });
  await waitFor(page, ([v, from]) => from - window.hooke.vertex(0, v).screen[1] > 25, [grabbed, taken[1]]);
  assert.deepEqual(await page.evaluate(() => window.hooke.camera()), camera, 'pulling does not move the view');
  const { position: pulled } = await page.evaluate((v) => window.hooke.vertex(0, v), grabbed);
  await page.mouse.up();
  await waitFor(page, () => window.hooke.sides()[0].grabbed < 0);
  // The view follows again: back where it was in the scene, not on the screen.
  await waitFor(page, ([v, from, to]) => {
    const far = (a, b) => Math.hypot(...a.map((part, q) => part - b[q]));
    return far(window.hooke.vertex(0, v).position, from) < 0.5 * far(to, from);
  }, [grabbed, start, pulled]);
  assert.deepEqual(page.errors, []);
}));

test('every_method_can_be_chosen_live', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'hanging_chain');
  const integrators = await page.$$eval('select[data-method="integrator"] option', (list) => list.map((one) => one.value));
  assert.ok(integrators.length >= 10);
  for (const name of integrators) {
    await page.selectOption('select[data-method="integrator"]', name);
    await waitFor(page, (wanted) => window.hooke.sides()[0].method === wanted, name);
  }
  await page.selectOption('select[data-method="integrator"]', 'backward_euler');
  for (const [path, below] of [['integrator.minimizer', 'newton'], ['integrator.minimizer.linear', 'pcg'], ['integrator.minimizer.linear.preconditioner', null]]) {
    const select = `select[data-method="${path}"]`;
    await page.waitForSelector(select);
    const names = await page.$$eval(`${select} option`, (list) => list.map((one) => one.value));
    assert.ok(names.length >= 5, path);
    for (const name of names) {
      await page.selectOption(select, name);
      const steps = (await sides(page))[0].steps;
      await waitFor(page, ([wanted, p, from]) => document.querySelector('.toast.error') ||
        (document.querySelector(`select[data-method="${p}"]`)?.value === wanted && window.hooke.sides()[0].steps > from), [name, path, steps]);
      if (await page.locator('.toast.error').count() === 0) continue;
      // Builds without SuiteSparse have no CHOLMOD; they say so, and go on with what they had.
      assert.match(await page.textContent('.toast.error'), /cholesky/i);
      assert.equal(name, 'cholesky');
      await page.click('.toast.error button');
      assert.notEqual(await page.inputValue(select), name);
    }
    if (below) await page.selectOption(select, below);
  }
  assert.deepEqual(page.errors, []);
}));

test('compare_shows_forward_euler_blowing_up_beside_backward_euler', onPage(() => place, {}, async (page) => {
  await page.click('button[aria-label="Compare two methods"]');
  await page.click('text=forward Euler against backward Euler');
  await waitFor(page, () => window.hooke.sides().length === 2 && window.hooke.sides()[0].blownUp);
  const banner = await page.textContent('.side-0 .blow-up');
  assert.match(banner, /forward_euler blew up at t = .* s/);
  assert.equal(await page.isVisible('.side-1 .blow-up'), false);
  await waitFor(page, () => window.hooke.sides()[1].time > 0.15);
  const [left, right] = await sides(page);
  assert.equal(left.method, 'forward_euler');
  assert.equal(right.method, 'backward_euler');
  assert.equal(right.blownUp, false);
  assert.deepEqual(await bannerFaults(page, 0), []);
  assert.deepEqual(await page.$$eval('.plot', (plots) => plots.filter((plot) => plot.getBoundingClientRect().bottom > innerHeight).length), 0, 'plots end in the window');
  await page.click('.side-1 button[aria-label="End the comparison"]');
  assert.equal((await sides(page)).length, 1);
  assert.deepEqual(page.errors, []);
}));

async function dropFile(page, name, text) {
  await page.evaluate(([fileName, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], fileName));
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
}

test('a_bad_file_shows_its_error_and_a_good_one_plays', onPage(() => place, {}, async (page) => {
  await dropFile(page, 'mine.json', '{\n  "bodies": [\n    {"shape": {"type": "grid", "nx": -3}}\n  ]\n}');
  await page.waitForSelector('.toast.error');
  const text = await page.textContent('.toast.error');
  assert.match(text, /mine\.json/);
  assert.match(text, /line 3/);
  await page.click('.toast.error button');
  assert.equal(await page.locator('.toast.error').count(), 0);
  await dropFile(page, 'two.obj', 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n');
  await waitFor(page, () => window.hooke.sides()[0].vertices === 3);
  assert.deepEqual(page.errors, []);
}));

test('the_share_address_restores_scene_changes_and_camera', onPage(() => place, { ...AT_REST, hash: hashOf({ source: { builtin: 'trampoline' } }) }, async (page) => {
  await isLoaded(page);
  await page.fill('.force [data-param="g"] input.number', '3.5');
  await page.keyboard.press('Enter');
  await waitFor(page, () => window.hooke.sides()[0].sets.some((set) => set === 'forces[0].g=3.5'));
  await page.focus('#view');
  for (let q = 0; q < 4; q++) await page.keyboard.press('ArrowLeft');
  const camera = await page.evaluate(() => window.hooke.camera());
  const address = await shareAddress(page);
  await page.goto('about:blank');
  await page.goto(place.url + new URL(address).hash);
  await isLoaded(page);
  await waitFor(page, () => document.querySelector('#loading.done')); // the camera comes last
  assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'trampoline' });
  assert.ok((await sides(page))[0].sets.includes('forces[0].g=3.5'));
  const restored = await page.evaluate(() => window.hooke.camera());
  for (const name of ['azimuth', 'elevation', 'distance']) assert.ok(Math.abs(restored[name] - camera[name]) < 1e-6, name);
  assert.deepEqual(page.errors, []);
}));
