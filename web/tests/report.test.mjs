// The report of a run, opened from the disk as people do who got it by mail.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { look, onPage, openPlace } from './browser.mjs';
import { runHooke } from './program.mjs';

let folder, place, run;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hooke-report-'));
  run = runHooke('run', 'flag', '--report', '--quiet', '-o', join(folder, 'flag'), '--set', 'time.duration=0.5');
  if (!run.missing) place = await openPlace(pathToFileURL(join(folder, 'flag', 'report.html')).href);
});
after(async () => {
  await place?.close();
  rmSync(folder, { recursive: true });
});

test('a_report_opens_from_the_disk_and_plays', (t) => (run.missing ? t.skip(run.missing) : onPage(() => place, { ready: false, offline: true }, async (page) => {
  assert.equal(run.status, 0, run.stderr);
  await page.waitForSelector('#plots svg');
  const at = (time) => page.waitForFunction((start) => document.getElementById('clock').textContent.startsWith(start), `${time} s`);
  await page.locator('#slider').fill('0.1'); // it plays by itself until somebody takes the slider
  await at('0.100');
  const early = await page.locator('#canvas').screenshot();
  await page.locator('#slider').fill('0.4');
  await at('0.400');
  assert.notDeepEqual(await page.locator('#canvas').screenshot(), early, 'another time is another picture');
  const { colored, colors } = await look(page, '#canvas');
  assert.ok(colored > 0.03 && colors > 40, `the canvas is empty: ${colored} of it is colored, in ${colors} colors`);
  await page.click('#play');
  await page.waitForFunction(() => !document.getElementById('clock').textContent.startsWith('0.400 s'));
  const lines = await page.$$eval('#plots figure', (plots) => plots.map((plot) => plot.querySelectorAll('path.line').length));
  assert.ok(lines.length >= 3 && lines.every((count) => count > 0), `plots with ${lines} lines`);
  assert.deepEqual(page.requests, [place.url], 'nothing but the file itself is read');
  assert.deepEqual(page.errors, []);
})(t)));

const onGround = {
  bodies: [{ shape: { type: 'grid', nx: 6, ny: 6, plane: 'xz' }, transform: { translate: [0, 0.01, 0] }, mass: 1 }],
  forces: ['gravity', { type: 'contact', ground: true }],
  time: { duration: 0.5, step: 0.01, frames_per_second: 20 },
  integrator: 'backward_euler',
  outputs: [],
};

test('a_report_with_contact_shows_contacts_and_the_least_gap', async (t) => {
  if (run.missing) return t.skip(run.missing);
  writeFileSync(join(folder, 'ground.json'), JSON.stringify(onGround));
  const made = runHooke('run', join(folder, 'ground.json'), '--report', '--quiet', '-o', join(folder, 'ground'));
  assert.equal(made.status, 0, made.stderr);
  await onPage(() => place, { ready: false, offline: true }, async (page) => {
    const shown = () => page.evaluate(() => ({
      titles: document.getElementById('plots').textContent,
      rows: document.getElementById('table-run').textContent,
    }));
    await page.waitForSelector('#plots svg');
    assert.ok(!/Least gap/.test((await shown()).titles), 'a scene without contact shows none');
    await page.goto(pathToFileURL(join(folder, 'ground', 'report.html')).href);
    await page.waitForSelector('#plots svg');
    const { titles, rows } = await shown();
    assert.match(titles, /Contacts/);
    assert.match(titles, /Least gap/);
    assert.match(rows, /Contacts36 at most in a frame/);
    assert.match(rows, /Least gap0\.\d+ mm/);
    assert.deepEqual(page.errors, []);
  })(t);
});

test('a_report_in_a_notebook_fills_its_frame_and_follows_its_theme', (t) => (run.missing ? t.skip(run.missing) : onPage(() => place, { ready: false, offline: true }, async (page) => {
  await page.goto('about:blank');
  await page.setContent('<body data-jp-theme-light="false"><iframe width="900" height="420" style="border: 0"></iframe>');
  await page.$eval('iframe', (frame, html) => { frame.srcdoc = html; }, readFileSync(join(folder, 'flag', 'report.html'), 'utf8'));
  const frame = await (await page.waitForSelector('iframe')).contentFrame();
  await frame.waitForSelector('#plots svg');
  const dark = () => frame.evaluate(() => document.documentElement.classList.contains('dark'));
  const { bottom, width, canvas } = await frame.evaluate(() => ({
    bottom: document.getElementById('reset').getBoundingClientRect().bottom,
    width: document.documentElement.scrollWidth,
    canvas: document.getElementById('canvas').clientHeight,
  }));
  assert.ok(bottom <= 420 && width <= 900 && canvas > 200, `controls end at ${bottom}, width ${width}, picture ${canvas} high`);
  assert.equal(await dark(), true, 'the system is light, the notebook is dark');
  await page.evaluate(() => { document.body.dataset.jpThemeLight = 'true'; });
  await frame.waitForFunction(() => !document.documentElement.classList.contains('dark'));
  assert.deepEqual(page.errors, []);
})(t)));
