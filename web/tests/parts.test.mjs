// What surrounds the view: keys, downloads, honest messages, narrow windows, and no network.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chooseScene, hostsOf, onPage, openPlace, sides, waitFor } from './browser.mjs';

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

test('nothing_is_wider_than_a_phone', onPage(() => place, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
  for (const tab of ['panel', 'plots']) {
    await page.click(`#tabs [data-sheet="${tab}"]`);
    assert.equal(await page.isVisible(`#${tab}`), true);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390), tab);
  }
  assert.deepEqual(page.errors, []);
}));

test('the_page_asks_nothing_of_other_machines', onPage(() => place, {}, async (page) => {
  assert.deepEqual(hostsOf(page), [new URL(place.url).host]);
}));

test('names_of_controls_come_with_labels_for_screen_readers', onPage(() => place, {}, async (page) => {
  const nameless = await page.$$eval('button, select, input:not([type=file])', (list) => list.filter((one) =>
    !one.getAttribute('aria-label') && !one.textContent.trim() && !(one.labels?.length)).map((one) => one.outerHTML.slice(0, 120)));
  assert.deepEqual(nameless, []);
}));
