// Obstacles on the page: they are seen, added, dragged with the mouse, and never leave the scene broken.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AT_REST, chooseScene, colorsAt, isLoaded, onPage, openPlace, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

function obstacles(page) { return page.evaluate(() => window.hooke.obstacles(0)); }

/** Drags an obstacle by pixels of the window, in small moves. */
async function drag(page, obstacle, dx, dy) {
  const [x, y] = await page.evaluate((q) => window.hooke.obstacle(0, q), obstacle);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx / 2, y + dy / 2, { steps: 5 });
  await page.mouse.move(x + dx, y + dy, { steps: 5 });
}

test('a_scene_with_obstacles_shows_them', onPage(() => place, AT_REST, async (page) => {
  await isLoaded(page);
  await chooseScene(page, 'cloth_on_ball');
  const { names, poses } = await obstacles(page);
  assert.deepEqual(names, ['ball', 'ground']);
  assert.equal(poses.length, 24);
  const [x, y] = await page.evaluate(() => window.hooke.obstacle(0, 0));
  const [[r, g, b]] = await colorsAt(page, [[x, y + 40]]);
  assert.ok(Math.max(r, g, b) - Math.min(r, g, b) < 45 && r > 60 && r < 235, `the ball is gray, not ${[r, g, b]}`);
  assert.deepEqual(page.errors, []);
}));

test('a_ball_under_a_cloth_is_dragged_and_takes_the_cloth_along', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'cloth_on_ball');
  await page.evaluate(() => window.hooke.setSpeed(2));
  await waitFor(page, () => window.hooke.sides()[0].time > 0.5, null, 90000);
  const [{ steps }] = await sides(page);
  await page.evaluate(() => window.hooke.moveObstacle(0, [0.4, 0.2, 0]));
  await waitFor(page, () => Math.abs(window.hooke.obstacles(0).poses[9] - 0.4) < 1e-3, null, 60000);
  await waitFor(page, (from) => window.hooke.sides()[0].steps > from + 10, steps);
  assert.equal((await sides(page))[0].blownUp, false);
  const least = await page.evaluate(() => {
    const { poses } = window.hooke.obstacles(0), center = [poses[9], 0.35 + poses[10], poses[11]];
    const { vertices } = window.hooke.sides()[0];
    let near = Infinity;
    for (let v = 0; v < vertices; v++)
      near = Math.min(near, Math.hypot(...window.hooke.vertex(0, v).position.map((part, c) => part - center[c])));
    return near;
  });
  assert.ok(least > 0.35, `a vertex is ${least} m from the middle of a ball of 0.35 m`);
  assert.deepEqual(page.errors, []);
}));

test('a_ball_is_added_and_dragged_and_waits_where_there_is_no_space', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'trampoline');
  await page.selectOption('select[data-method="integrator"]', 'backward_euler');
  await waitFor(page, () => window.hooke.sides()[0].method === 'backward_euler');
  await page.click('button[data-add="ball"]');
  await waitFor(page, () => window.hooke.obstacle(0, 0) !== null);
  await drag(page, 0, -220, 0); // against the rim of the sheet, which is pinned
  await waitFor(page, () => document.querySelector('.status').textContent.includes('no space: the obstacle waits'));
  const [{ steps }] = await sides(page);
  await waitFor(page, (from) => window.hooke.sides()[0].steps > from + 20, steps);
  assert.equal((await sides(page))[0].blownUp, false);
  const { poses } = await obstacles(page);
  assert.ok(Math.hypot(...poses.slice(9)) > 0.02, 'it went as far as it could');
  await page.mouse.up();
  await waitFor(page, () => !window.hooke.obstacles(0).late);
  await page.click('.obstacle-list li[data-obstacle="ball"] button');
  await waitFor(page, () => window.hooke.obstacles(0).names.length === 0);
  assert.deepEqual(page.errors, []);
}));

test('a_floor_and_contact_are_switched_on_and_off', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'net');
  await page.selectOption('select[data-method="integrator"]', 'backward_euler');
  await waitFor(page, () => window.hooke.sides()[0].method === 'backward_euler');
  const contact = page.locator('.obstacles input[type=checkbox]').first();
  assert.equal(await contact.isChecked(), false);
  // The checkbox follows the scene, some time after the engine has it.
  const isOn = () => window.hooke.obstacles(0).names.includes('ground')
    && document.querySelector('.obstacles input[type=checkbox]').checked;
  const isOff = () => window.hooke.obstacles(0).names.length === 0
    && !document.querySelector('.obstacles input[type=checkbox]').checked;
  await page.click('button[data-add="floor"]');
  await waitFor(page, isOn);
  await contact.click();
  await waitFor(page, isOff);
  await contact.click();
  await waitFor(page, isOn);
  const [{ steps }] = await sides(page);
  await waitFor(page, (from) => window.hooke.sides()[0].steps > from + 10, steps);
  assert.equal((await sides(page))[0].blownUp, false);
  assert.deepEqual(page.errors, []);
}));

test('friction_is_set_by_a_slider', onPage(() => place, AT_REST, async (page) => {
  await isLoaded(page);
  await chooseScene(page, 'dominoes');
  const box = page.locator('.obstacles [data-param="friction"] input.number');
  assert.equal(await box.inputValue(), '0.5');
  await box.fill('0.25');
  await box.press('Enter');
  await waitFor(page, () => window.hooke.sides()[0].sets.some((set) => set === 'forces[1].friction=0.25'));
  assert.deepEqual(page.errors, []);
}));
