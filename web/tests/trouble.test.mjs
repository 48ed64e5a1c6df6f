// What goes wrong, and what a person does in the middle of it: addresses that cannot be read, steps
// that take long, pins and pulls that have to stay.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chooseScene, onPage, openPlace, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

/** The part of an address that holds a scene. */
function hashOf(shared) {
  return '#s=p' + Buffer.from(JSON.stringify(shared)).toString('base64url');
}

const CURTAIN = hashOf({ source: { builtin: 'curtain' }, sets: [] });

for (const [what, hash, words] of [
  ['a_cut_share_address', CURTAIN.slice(0, 30), /address may be missing/],
  ['an_empty_share_address', '#s=', /address may be missing/],
  ['a_shared_scene_with_a_mistake', hashOf({ source: { scene: '{\n "bodies": 3}', name: 'mine' }, sets: [] }), /mine/],
])
  test(`${what}_shows_its_error_while_the_first_scene_plays`, onPage(() => place, { hash }, async (page) => {
    await waitFor(page, () => window.hooke.sides()[0].steps > 5);
    assert.match(await page.textContent('.toast.error'), words);
  }));

test('a_share_address_that_cannot_be_read_leaves_the_scene_as_it_is', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'net');
  await page.evaluate((hash) => { location.hash = hash; }, CURTAIN.slice(0, 30));
  await page.waitForSelector('.toast.error');
  assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'net' });
}));

test('the_address_names_a_built_in_scene', async (t) => {
  const url = new URL(place.url);
  url.searchParams.set('scene', 'curtain');
  await onPage(() => ({ ...place, url: url.href }), {}, async (page) => {
    assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'curtain' });
  })(t);
});

const LARGE = hashOf({
  source: { builtin: 'curtain' },
  sets: ['bodies[0].shape.nx=250', 'bodies[0].shape.ny=250', 'integrator={"type":"backward_euler"}', 'time.step=0.05'],
});

function isComputing() {
  return /computing, [1-9]/.test(document.querySelector('.computing:not([hidden])')?.textContent ?? '');
}

test('a_large_scene_that_is_loaded_shows_its_time_and_is_stopped', onPage(() => place, { ready: false, hash: LARGE }, async (page) => {
  await waitFor(page, isComputing);
  await page.click('.computing button');
  await waitFor(page, () => window.hooke.sides()[0].steps > 5); // of the first scene, in its place
  assert.equal(await page.locator('.toast.error').count(), 0);
}));

test('a_long_step_shows_its_time_and_is_stopped', onPage(() => place, { ready: false, hash: LARGE }, async (page) => {
  await waitFor(page, () => window.hooke?.sides()[0].frames > 0); // it is loaded, and the first step takes long
  await waitFor(page, isComputing);
  await page.click('.computing button');
  await waitFor(page, () => document.querySelector('.computing').hidden && window.hooke.sides()[0].frames > 1);
  assert.equal(await page.evaluate(() => window.hooke.scene().playing), false);
  await chooseScene(page, 'net'); // the engine is alive
  await waitFor(page, () => window.hooke.sides()[0].steps > 5);
  assert.equal(await page.locator('.toast.error').count(), 0);
}));

test('a_pull_reaches_both_sides_of_a_comparison', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'trampoline');
  await page.click('button[aria-label="Compare two methods"]');
  await page.click('text=backward Euler against implicit midpoint');
  await waitFor(page, () => window.hooke.sides().length === 2 && window.hooke.sides()[1].time > 0.05);
  const [x, y] = await page.evaluate(() => window.hooke.vertex(0, 0).screen);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await waitFor(page, () => window.hooke.sides().every((side) => side.grabbed >= 0 && side.grabbed === window.hooke.sides()[0].grabbed));
  await page.mouse.up();
  await waitFor(page, () => window.hooke.sides().every((side) => side.grabbed < 0));
}));

test('in_slow_motion_a_fast_hand_puts_no_more_energy_in', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'trampoline');
  const rise = async (speed) => {
    await page.evaluate((value) => window.hooke.setSpeed(value), speed);
    await page.keyboard.press('r');
    await waitFor(page, () => window.hooke.sides()[0].time > 0 && window.hooke.sides()[0].time < 1);
    const [x, y] = await page.evaluate(() => window.hooke.vertex(0, 0).screen);
    const start = (await sides(page))[0];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await waitFor(page, () => window.hooke.sides()[0].grabbed >= 0);
    let most = start.total;
    for (let q = 0; q < 12; q++) { // up and down by 200 px, each in about a tenth of a second
      await page.mouse.move(x, y - (q % 2 ? 0 : 200), { steps: 4 });
      await page.waitForTimeout(100);
      most = Math.max(most, (await sides(page))[0].total);
    }
    await page.mouse.up();
    return most - start.total;
  };
  const real = await rise(1), slow = await rise(0.05);
  assert.ok(slow < 2 * real, `${slow} J in slow motion, ${real} J in real time`);
}));

test('pins_made_by_hand_stay_at_the_start_and_in_downloads_and_addresses', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'curtain');
  await page.keyboard.press('Space');
  await page.waitForTimeout(300);
  const [{ pinned, vertices }] = await sides(page);
  const [x, y] = await page.evaluate((v) => window.hooke.vertex(0, v).screen, Math.floor(vertices / 2));
  await page.mouse.dblclick(x, y);
  await waitFor(page, (count) => window.hooke.sides()[0].pinned.length === count + 1, pinned.length);
  const [added] = (await sides(page))[0].pinned.filter((vertex) => !pinned.includes(vertex));
  await page.keyboard.press('r');
  await waitFor(page, () => window.hooke.sides()[0].time === 0);
  assert.ok((await sides(page))[0].pinned.includes(added), 'after R');
  await page.click('button[aria-label="Download"]');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[role="menuitem"]:has-text("Scene")')]);
  const scene = JSON.parse(readFileSync(await download.path(), 'utf8'));
  assert.ok(scene.pins.some((pin) => pin.select.vertices?.includes(added)), 'in the download');
  await page.click('button[aria-label="Share"]');
  await page.waitForFunction(() => document.querySelector('.address').value !== '');
  const address = await page.inputValue('.address');
  await page.goto('about:blank');
  await page.goto(place.url + new URL(address).hash);
  await waitFor(page, (vertex) => window.hooke?.sides()[0].pinned.includes(vertex), added);
}));

test('less_motion_on_request_does_not_start_by_itself', onPage(() => place, { reducedMotion: 'reduce', ready: false }, async (page) => {
  await waitFor(page, () => window.hooke?.sides()[0].vertices > 0);
  await page.waitForTimeout(500);
  assert.equal((await sides(page))[0].steps, 0);
  await page.keyboard.press('Space');
  await waitFor(page, () => window.hooke.sides()[0].steps > 5);
}));

test('the_direction_of_gravity_is_the_one_that_is_used', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'curtain');
  const boxes = page.locator('.force [data-param="direction"] .boxes input');
  assert.deepEqual(await boxes.evaluateAll((list) => list.map((box) => box.value)), ['0', '-1', '0']);
}));

test('after_a_list_was_used_with_the_mouse_keys_go_to_the_scene', onPage(() => place, {}, async (page) => {
  const select = page.locator('select[data-method="integrator"]');
  await select.dispatchEvent('pointerdown');
  await select.focus();
  await select.selectOption('backward_euler');
  await waitFor(page, () => document.activeElement?.id === 'view');
  await page.keyboard.press('Space');
  assert.equal(await page.evaluate(() => window.hooke.scene().playing), false);
}));

test('a_blow_up_is_told_in_the_words_of_the_engine', onPage(() => place, {}, async (page) => {
  await page.click('button[aria-label="Compare two methods"]');
  await page.click('text=forward Euler against backward Euler');
  await waitFor(page, () => document.querySelector('.side-0 .blow-up small')?.textContent.length > 10);
}));
