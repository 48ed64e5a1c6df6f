// What goes wrong, and what a person does in the middle of it: addresses that cannot be read, steps
// that take long, pins and pulls that have to stay.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { AT_REST, bannerFaults, chooseScene, hashOf, isLoaded, onPage, openPlace, shareAddress, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

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

test('a_share_address_that_cannot_be_read_leaves_the_scene_as_it_is', onPage(() => place, { ...AT_REST, hash: CURTAIN }, async (page) => {
  await isLoaded(page);
  await page.evaluate((hash) => { location.hash = hash; }, CURTAIN.slice(0, 30));
  await page.waitForSelector('.toast.error');
  assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'curtain' });
}));

test('the_address_names_a_built_in_scene', async (t) => {
  const url = new URL(place.url);
  url.searchParams.set('scene', 'curtain');
  await onPage(() => ({ ...place, url: url.href }), AT_REST, async (page) => {
    await isLoaded(page);
    assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'curtain' });
  })(t);
});

function curtainOf(n) {
  return hashOf({
    source: { builtin: 'curtain' },
    sets: [`bodies[0].shape.nx=${n}`, `bodies[0].shape.ny=${n}`, 'integrator={"type":"backward_euler"}', 'time.step=0.05'],
  });
}

function isComputing() {
  return /computing, [1-9]/.test(document.querySelector('.computing:not([hidden])')?.textContent ?? '');
}

test('a_large_scene_that_is_loaded_shows_its_time_and_is_stopped', onPage(() => place, { ready: false, hash: curtainOf(1000) }, async (page) => {
  await waitFor(page, isComputing);
  await page.click('.computing button');
  await waitFor(page, () => window.hooke.sides()[0].steps > 5); // of the first scene, in its place
  assert.equal(await page.locator('.toast.error').count(), 0);
}));

test('a_long_step_shows_its_time_and_is_stopped', onPage(() => place, { ready: false, hash: curtainOf(250) }, async (page) => {
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
    for (let q = 0; q < 8; q++) { // up and down by 200 px, each in about a tenth of a second
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

test('pins_made_or_released_by_hand_stay_so_at_the_start_and_in_downloads_and_addresses', onPage(() => place, { ...AT_REST, hash: CURTAIN }, async (page) => {
  await isLoaded(page);
  await page.keyboard.press('.');
  await waitFor(page, () => window.hooke.sides()[0].steps === 1);
  const [{ pinned, vertices }] = await sides(page);
  const [x, y] = await page.evaluate((v) => window.hooke.vertex(0, v).screen, Math.floor(vertices / 2));
  for (const more of [1, 0, 1]) { // pins, releases, pins
    await page.mouse.dblclick(x, y);
    await waitFor(page, (count) => window.hooke.sides()[0].pinned.length === count, pinned.length + more);
    await page.waitForTimeout(500); // or two double clicks are one of four
  }
  const [added] = (await sides(page))[0].pinned.filter((vertex) => !pinned.includes(vertex));
  await page.mouse.dblclick(...(await page.evaluate((v) => window.hooke.vertex(0, v).screen, pinned[0])));
  await waitFor(page, (vertex) => !window.hooke.sides()[0].pinned.includes(vertex), pinned[0]);
  const expected = [...pinned.slice(1), added].sort((a, b) => a - b);
  const pins = async () => (await sides(page))[0].pinned.sort((a, b) => a - b);
  await page.keyboard.press('r');
  await waitFor(page, () => window.hooke.sides()[0].time === 0);
  assert.deepEqual(await pins(), expected, 'after R');
  await page.click('button[aria-label="Download"]');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('[role="menuitem"]:has-text("Scene")')]);
  const scene = readFileSync(await download.path(), 'utf8');
  for (const hash of [new URL(await shareAddress(page)).hash, hashOf({ source: { scene, name: 'downloaded' }, sets: [] })]) {
    await page.goto('about:blank');
    await page.goto(place.url + hash);
    await waitFor(page, (vertices) => window.hooke?.sides()[0].pinned.sort((a, b) => a - b).join() === vertices.join(), expected);
  }
}));

test('less_motion_on_request_does_not_start_by_itself', onPage(() => place, { reducedMotion: 'reduce', ready: false }, async (page) => {
  await waitFor(page, () => window.hooke?.sides()[0].vertices > 0);
  await page.waitForTimeout(500);
  assert.equal((await sides(page))[0].steps, 0);
  await page.keyboard.press('Space');
  await waitFor(page, () => window.hooke.sides()[0].steps > 5);
}));

test('the_direction_of_gravity_is_the_one_that_is_used', onPage(() => place, { ...AT_REST, hash: CURTAIN }, async (page) => {
  await isLoaded(page);
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

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const BLOWN_UP = hashOf({ source: { builtin: 'curtain' }, sets: ['integrator=forward_euler', 'time.step=0.01'], color: 'strain' });

test('on_a_phone_a_blow_up_and_its_message_are_both_seen', onPage(() => place, { ...PHONE, ready: false, hash: BLOWN_UP }, async (page) => {
  await waitFor(page, () => window.hooke?.sides()[0].blownUp && document.querySelector('.blow-up small')?.textContent.length > 10);
  assert.match(await page.textContent('.blow-up p'), /forward_euler blew up at t = .* s: the step of 0.01 s is above the stable step of .* s/);
  assert.deepEqual(await bannerFaults(page, 0), []);
  await waitFor(page, () => !['', '0'].includes(document.querySelector('.legend-words span:last-child').textContent));
  await page.click('#tabs [data-sheet="plots"]'); // drawn though no frame comes any more
  await waitFor(page, () => window.hooke.plotTop('Energy, J') > 0);
  await page.click('#tabs [data-sheet="plots"]');
  await page.click('button[aria-label="Compare two methods"]');
  await page.click('text=forward Euler against backward Euler');
  await waitFor(page, () => window.hooke.sides().length === 2 && document.querySelector('.side-0 .side-method ~ .blow-up:not([hidden]) small')?.textContent.length > 10);
  assert.deepEqual(await bannerFaults(page, 0), []);
  await page.click('#tabs [data-sheet="plots"]'); // now the sides are beside each other
  await waitFor(page, () => document.querySelectorAll('.at-bottom').length === 2);
  const overlaps = (await bannerFaults(page, 0)).filter((fault) => !fault.includes('px high') && !fault.startsWith('hides'));
  assert.deepEqual(overlaps, []);
}));

const SLOW = hashOf({ source: { builtin: 'curtain' }, sets: ['time.step=1e-5'] });

test('a_faster_method_is_offered_where_steps_are_slow_and_says_what_it_changes', onPage(() => place, { hash: SLOW }, async (page) => {
  const button = page.locator('.status button');
  await button.waitFor({ state: 'visible' });
  assert.equal(await button.textContent(), 'Play faster: backward Euler, steps of 1/60 s');
  assert.match(await button.getAttribute('title'), /in place of symplectic_euler with steps of 10⁻⁵ s/);
  await button.click();
  assert.equal(await button.isVisible(), false);
  await waitFor(page, () => window.hooke.sides()[0].method === 'backward_euler' && window.hooke.sides()[0].time > 0.3);
  assert.equal(await button.isVisible(), false);
  assert.match(await page.textContent('.toast.note'), /damped more/);
}));
