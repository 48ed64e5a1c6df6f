// A throw at a target: the engine finds it, a person drags the target, and the ball flies there.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AT_REST, chooseScene, isLoaded, onPage, openPlace, shareAddress, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

function throwNow(page) { return page.evaluate(() => window.hooke.throw()); }

const isFound = (page) => waitFor(page, () => window.hooke.throw().found.length > 0 && window.hooke.throw().found.every((one) => one?.done), null, 60000);

const far = (a, b) => Math.hypot(...a.map((part, q) => part - b[q]));

/** Where the middle of the ball is, which is its first vertex. */
function middle(page) { return page.evaluate(() => window.hooke.vertex(0, 0).position); }

/** Waits until the ball rests at the end of its flight. */
async function arrives(page) {
  await waitFor(page, () => {
    const { found, holding } = window.hooke.throw();
    return !holding && Math.abs(window.hooke.sides()[0].time - found[0].time) < 1e-6;
  }, null, 60000);
  return middle(page);
}

test('a_ball_is_thrown_at_its_target_from_the_start', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'throw');
  await isFound(page);
  const { aim, found } = await throwNow(page);
  assert.ok(found[0].distance < 1e-3, `${found[0].distance} m`);
  assert.ok(far(found[0].path.slice(-3), aim.target) < 1e-3);
  const at = await arrives(page);
  assert.ok(far(at, aim.target) < 0.02, `the ball is ${far(at, aim.target)} m from the target`);
  assert.match(await page.textContent('.throw [role=status]'), /^distance at 0\.80 s: below 0\.1 mm after \d+ iterations?$/);
  assert.match(await page.textContent('.throw-distance'), /^distance at 0\.80 s/);
  await waitFor(page, () => window.hooke.sides()[0].time < 0.4); // and it starts again
  assert.deepEqual(page.errors, []);
}));

test('the_throw_follows_a_target_that_is_dragged', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'throw');
  await isFound(page);
  const before = await throwNow(page), [x, y] = before.screen;
  await page.mouse.move(x, y);
  await page.mouse.down();
  await waitFor(page, () => window.hooke.throw().holding && window.hooke.sides()[0].time === 0);
  const camera = await page.evaluate(() => window.hooke.camera());
  for (const [dx, dy] of [[-60, -40], [-140, 20]]) {
    const { aim } = await throwNow(page);
    await page.mouse.move(x + dx, y + dy, { steps: 6 });
    await waitFor(page, ({ target }) => { // while it is held
      const { found: [found], aim } = window.hooke.throw(), far = (a, b) => Math.hypot(...a.map((part, c) => part - b[c]));
      return far(aim.target, target) > 0.2 && found.distance < 0.01 && far(found.path.slice(-3), aim.target) < 0.01;
    }, aim);
  }
  assert.deepEqual(await page.evaluate(() => window.hooke.camera()), camera, 'the view waits');
  assert.equal((await sides(page))[0].time, 0, 'and the ball does');
  await page.mouse.up();
  const after = await throwNow(page);
  assert.ok(far(after.aim.target, before.aim.target) > 0.2);
  const at = await arrives(page);
  assert.ok(far(at, after.aim.target) < 0.02, `the ball is ${far(at, after.aim.target)} m from the target`);
  assert.deepEqual(page.errors, []);
}));

test('target_and_time_are_set_by_keys_alone', onPage(() => place, AT_REST, async (page) => {
  await isLoaded(page);
  await chooseScene(page, 'ball');
  const box = page.locator('.throw input[type=checkbox]');
  await page.locator('.section summary', { hasText: 'Throw at a target' }).press('Enter');
  await box.press('Space');
  await isFound(page);
  const { aim } = await throwNow(page);
  const height = page.locator('.throw-settings input[aria-label="target y (m)"]');
  for (let q = 0; q < 4; q++) await height.press('ArrowUp');
  await waitFor(page, (y) => Math.abs(window.hooke.throw().aim.target[1] - y - 0.2) < 0.05, aim.target[1]);
  await page.locator('.throw-settings input.number').last().fill('0.5');
  await page.keyboard.press('Enter');
  await waitFor(page, () => window.hooke.throw().found[0]?.done && Math.abs(window.hooke.throw().found[0].time - 0.5) < 0.01);
  assert.ok((await throwNow(page)).found[0].distance < 1e-3);
  await box.press('Space');
  await waitFor(page, () => window.hooke.throw().aim === null && window.hooke.throw().screen === null);
  assert.deepEqual(page.errors, []);
}));

test('scenes_that_cannot_be_thrown_say_why', onPage(() => place, AT_REST, async (page) => {
  await isLoaded(page);
  for (const [name, integrator, words] of [['net_and_ball', 'implicit_midpoint', /contact in steps of 'implicit_midpoint' cannot be differentiated/], ['flag', null, /pins hold every body/]]) {
    await chooseScene(page, name);
    if (integrator) await page.selectOption('select[data-method="integrator"]', integrator);
    await waitFor(page, () => document.querySelector('.throw input[type=checkbox]').disabled);
    assert.match(await page.textContent('.throw .note'), words);
  }
  await chooseScene(page, 'throw');
  await isFound(page);
  await page.selectOption('select[data-method="integrator"]', 'implicit_midpoint');
  await page.waitForSelector('.toast.error');
  assert.match(await page.textContent('.toast.error'), /set passes to 1/);
  assert.equal((await throwNow(page)).aim, null, 'the throw ends');
  assert.deepEqual(page.errors, []);
}));

test('a_comparison_throws_on_both_sides_and_the_address_holds_the_target', onPage(() => place, AT_REST, async (page) => {
  await isLoaded(page);
  await chooseScene(page, 'throw');
  await isFound(page);
  const address = new URL(await shareAddress(page));
  const { aim } = await throwNow(page);
  await page.keyboard.press('Escape');
  await page.click('button[aria-label="Compare two methods"]');
  await page.click('text=symplectic Euler against RK4');
  await waitFor(page, () => window.hooke.throw().found.length === 2 && window.hooke.throw().found.every((one) => one?.done), null, 90000);
  for (const { distance } of (await throwNow(page)).found) assert.ok(distance < 1e-3, `${distance} m`);
  await page.goto('about:blank');
  await page.goto(place.url + address.hash);
  await isLoaded(page);
  await isFound(page);
  assert.deepEqual((await throwNow(page)).aim, aim);
  assert.deepEqual(page.errors, []);
}));
