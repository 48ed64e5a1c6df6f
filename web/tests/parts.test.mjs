// What surrounds the view: keys, downloads, honest messages, narrow windows, and no network.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { AT_REST, chooseScene, colorsAt, contrast, hashOf, hostsOf, isLoaded, onPage, openPlace, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

test('keys_pause_step_and_reset', onPage(() => place, {}, async (page) => {
  await page.keyboard.press('Space');
  await page.waitForTimeout(300);
  const paused = (await sides(page))[0].steps;
  await page.waitForTimeout(200);
  assert.equal((await sides(page))[0].steps, paused);
  await page.keyboard.press('.');
  await waitFor(page, (from) => window.hooke.sides()[0].steps === from + 1, paused);
  await page.keyboard.press('r');
  await waitFor(page, () => window.hooke.sides()[0].time === 0);
  await page.keyboard.press('l');
  assert.equal(await page.evaluate(() => window.hooke.scene().springs), true);
  await page.keyboard.press('w');
  await waitFor(page, () => window.hooke.sides()[0].sets.some((set) => set.startsWith('forces=')));
  await page.keyboard.press('h');
  assert.equal(await page.isVisible('dialog.help'), true);
  assert.deepEqual(page.errors, []);
}));

test('downloads_hold_what_they_say', onPage(() => place, {}, async (page) => {
  await chooseScene(page, 'net');
  await waitFor(page, () => window.hooke.sides()[0].frames > 10);
  const take = async (item) => {
    await page.click('button[aria-label="Download"]');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[role="menuitem"]:has-text("${item}")`)]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
  };
  const shape = await take('Shape');
  assert.equal(shape.name, 'net.obj');
  assert.equal(shape.bytes.toString().match(/^v /gm).length, (await sides(page))[0].vertices);
  const numbers = (await take('Numbers')).bytes.toString().trim().split('\n');
  assert.match(numbers[0], /^time \(s\),kinetic \(J\)/);
  assert.ok(numbers.length > 5);
  assert.deepEqual([...(await take('Picture')).bytes.subarray(1, 4)], [0x50, 0x4e, 0x47]);
  assert.equal(JSON.parse((await take('Scene')).bytes.toString()).bodies.length, 1);
  assert.ok((await take('Checkpoint')).bytes.length > 100);
  await page.click('button[aria-label="Download"]');
  await page.click('[role="menuitem"]:has-text("Film")');
  await page.waitForTimeout(900);
  const [film] = await Promise.all([page.waitForEvent('download'), page.click('.recording')]);
  assert.deepEqual([...readFileSync(await film.path()).subarray(0, 4)], [0x1a, 0x45, 0xdf, 0xa3], 'the mark of WebM');
  assert.deepEqual(page.errors, []);
}));

test('a_browser_without_webgl_is_told_so', onPage(() => place, {
    ready: false,
    init: () => { HTMLCanvasElement.prototype.getContext = () => null; },
  }, async (page) => {
  await page.waitForSelector('#loading.failed');
  assert.match(await page.textContent('#loading'), /WebGL/);
}));

test('a_browser_without_simd_is_told_so', onPage(() => place, {
  ready: false, init: () => { WebAssembly.validate = () => false; },
}, async (page, t) => {
  if (process.env.HOOKE_URL) return t.skip('the native engine needs no WebAssembly');
  await page.waitForSelector('#loading.failed');
  assert.match(await page.textContent('#loading'), /SIMD/);
}));

/** Contrast that a person sees at a glance. (Text asks for 4.5, single marks for 3; a cloth is a large area.) */
const VISIBLE = 2;

test('the_color_of_zero_strain_stands_out_from_the_light_and_from_the_dark_sky', onPage(() => place, {
  ...AT_REST, colorScheme: 'light', hash: hashOf({ source: { builtin: 'curtain' }, sets: [], color: 'strain' }),
}, async (page, t) => {
  await isLoaded(page); // at its start, where no spring is strained
  await waitFor(page, () => document.querySelector('.legend-words span').textContent === '0');
  await waitFor(page, () => getComputedStyle(document.querySelector('#loading')).visibility === 'hidden');
  const [{ vertices }] = await sides(page);
  const cloth = await Promise.all([0.3, 0.5, 0.7].map((part) =>
    page.evaluate((vertex) => window.hooke.vertex(0, vertex).screen, Math.round(part * (vertices - 1)))));
  const { x, y, width, height } = await page.locator('#view').boundingBox();
  const sky = [[0.05, 0.1], [0.05, 0.4], [0.5, 0.05]].map(([right, down]) => [x + right * width, y + down * height]);
  for (const theme of ['light', 'dark']) {
    await waitFor(page, (wanted) => (document.documentElement.dataset.theme === 'dark') === (wanted === 'dark'), theme);
    const colors = await colorsAt(page, [...cloth, ...sky]);
    const ratios = colors.slice(0, cloth.length).flatMap((front) => colors.slice(cloth.length).map((behind) => contrast(front, behind)));
    t.diagnostic(`${theme}: contrast ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`);
    assert.ok(Math.min(...ratios) > VISIBLE, `${theme}: ${ratios.map((ratio) => ratio.toFixed(2))}`);
    if (theme === 'light') await page.emulateMedia({ colorScheme: 'dark' });
  }
}));

test('nothing_is_wider_than_a_phone', onPage(() => place, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
  for (const tab of ['panel', 'plots']) {
    await page.click(`#tabs [data-sheet="${tab}"]`);
    assert.equal(await page.isVisible(`#${tab}`), true);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390), tab);
  }
  assert.deepEqual(page.errors, []);
}));

// One page for what only looks at it.
test('an_open_page', onPage(() => place, {}, async (page, t) => {
  await t.test('asks_nothing_of_other_machines', () => {
    assert.deepEqual(hostsOf(page), [new URL(place.url).host]);
  });

  await t.test('names_its_controls_for_screen_readers', async () => {
    const nameless = await page.$$eval('button, select, input:not([type=file])', (list) => list.filter((one) =>
      !one.getAttribute('aria-label') && !one.textContent.trim() && !(one.labels?.length)).map((one) => one.outerHTML.slice(0, 120)));
    assert.deepEqual(nameless, []);
  });

  await t.test('does_not_flatten_the_plot_of_times_by_one_slow_step', async () => {
    const title = 'Time for a step, ms';
    const top = () => page.evaluate((name) => window.hooke.plotTop(name), title);
    await waitFor(page, (name) => window.hooke.sides()[0].frames > 8 && window.hooke.plotTop(name) > 0, title);
    const before = await top();
    await page.evaluate(() => window.hooke.addSlowStep(1e5));
    const [{ frames }] = await sides(page);
    await waitFor(page, (from) => window.hooke.sides()[0].frames > from + 3, frames);
    await page.waitForTimeout(200); // plots are drawn some times a second
    assert.ok((await top()) < 100 * before, `the axis ends at ${await top()} ms, and at ${before} ms before`);
  });
}));
