// The page in a real browser: it loads without an error, plays, is pulled, compared, shared.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chooseScene, openPage, openPlace, sides, waitFor } from './browser.mjs';

let place;
before(async () => { place = await openPlace(); });
after(async () => { await place.close(); });

test('the_page_loads_without_an_error_and_plays', async () => {
  const page = await openPage(place);
  await waitFor(page, () => window.hooke.sides()[0].steps > 20);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test('the_view_shows_a_cloth_and_not_an_empty_canvas', async () => {
  const page = await openPage(place);
  await chooseScene(page, 'curtain');
  await page.keyboard.press('Space');
  const picture = await page.locator('#view').screenshot();
  const { cloth, colors } = await page.evaluate(async (base64) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let colored = 0;
    const seen = new Set();
    for (let q = 0; q < data.length; q += 4) {
      const [r, g, b] = [data[q], data[q + 1], data[q + 2]];
      // The cloth is blue in front and amber behind; all around it is nearly grey.
      if (Math.max(r, g, b) - Math.min(r, g, b) > 50) colored++;
      seen.add((r >> 3) * 1024 + (g >> 3) * 32 + (b >> 3));
    }
    return { cloth: colored / (data.length / 4), colors: seen.size };
  }, picture.toString('base64'));
  assert.ok(cloth > 0.03 && cloth < 0.9, `a part of ${cloth} of the view is cloth`);
  assert.ok(colors > 40, `${colors} colours`);
  await page.context().close();
});

test('every_scene_runs_100_steps', async () => {
  const page = await openPage(place);
  await page.click('.scenes-button');
  const names = await page.$$eval('.card', (cards) => cards.map((card) => card.dataset.scene));
  await page.keyboard.press('Escape');
  assert.ok(names.length >= 10);
  for (const name of names) {
    await chooseScene(page, name);
    await waitFor(page, () => window.hooke.sides()[0].steps >= 100);
    assert.equal((await sides(page))[0].blownUp, false, name);
  }
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test('dragging_moves_the_vertex_under_the_pointer', async () => {
  const page = await openPage(place);
  await chooseScene(page, 'net');
  await waitFor(page, () => window.hooke.sides()[0].time > 0.5);
  const middle = Math.floor((await sides(page))[0].vertices / 2);
  const start = await page.evaluate((v) => window.hooke.vertex(0, v), middle);
  const [x, y] = start.screen;
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - 60, { steps: 5 });
  await page.mouse.move(x, y - 120, { steps: 5 });
  await waitFor(page, ([v, from]) => from - window.hooke.vertex(0, v).screen[1] > 60, [middle, y]);
  const camera = await page.evaluate(() => window.hooke.camera());
  await page.mouse.up();
  await waitFor(page, ([v, from]) => from - window.hooke.vertex(0, v).screen[1] < 50, [middle, y]);
  assert.deepEqual((await page.evaluate(() => window.hooke.camera())).azimuth, camera.azimuth, 'pulling does not turn the view');
  await page.context().close();
});

test('a_double_click_pins_and_releases', async () => {
  const page = await openPage(place);
  await chooseScene(page, 'net');
  await page.keyboard.press('Space');
  const [{ pinned, vertices }] = await sides(page);
  const [x, y] = await page.evaluate((v) => window.hooke.vertex(0, v).screen, Math.floor(vertices / 2));
  await page.mouse.dblclick(x, y);
  await waitFor(page, (count) => window.hooke.sides()[0].pinned.length === count + 1, pinned.length);
  await page.waitForTimeout(500);
  await page.mouse.dblclick(x, y);
  await waitFor(page, (count) => window.hooke.sides()[0].pinned.length === count, pinned.length);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test('every_method_can_be_chosen_live', async () => {
  const page = await openPage(place);
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
      await waitFor(page, ([wanted, p, from]) => document.querySelector(`select[data-method="${p}"]`)?.value === wanted &&
        (window.hooke.sides()[0].steps > from || document.querySelector('.toast.error')), [name, path, steps]);
      const refused = await page.$eval('.toast.error', (toast) => toast.textContent).catch(() => '');
      // Builds without SuiteSparse have no CHOLMOD, and say so.
      if (refused) {
        assert.match(name + refused, /cholesky/i);
        await page.click('.toast button');
      }
    }
    if (below) await page.selectOption(select, below);
  }
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

test('compare_shows_forward_euler_blowing_up_beside_backward_euler', async () => {
  const page = await openPage(place);
  await page.click('button[aria-label="Compare two methods"]');
  await page.click('text=forward Euler against backward Euler');
  await waitFor(page, () => window.hooke.sides().length === 2 && window.hooke.sides()[0].blownUp);
  const banner = await page.textContent('.side-0 .blow-up');
  assert.match(banner, /forward_euler blew up at t = .* s/);
  assert.equal(await page.isVisible('.side-1 .blow-up'), false);
  await waitFor(page, () => window.hooke.sides()[1].time > 0.3);
  const [left, right] = await sides(page);
  assert.equal(left.method, 'forward_euler');
  assert.equal(right.method, 'backward_euler');
  assert.equal(right.blownUp, false);
  await page.click('.side-1 button[aria-label="End the comparison"]');
  assert.equal((await sides(page)).length, 1);
  assert.deepEqual(page.errors, []);
  await page.context().close();
});

async function dropFile(page, name, text) {
  await page.evaluate(([fileName, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], fileName));
    window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
}

test('a_bad_file_shows_its_error_and_a_good_one_plays', async () => {
  const page = await openPage(place);
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
  await page.context().close();
});

test('the_share_address_restores_scene_changes_and_camera', async () => {
  const page = await openPage(place);
  await chooseScene(page, 'trampoline');
  await page.fill('.force [data-param="g"] input.number', '3.5');
  await page.keyboard.press('Enter');
  await waitFor(page, () => window.hooke.sides()[0].sets.some((set) => set === 'forces[0].g=3.5'));
  await page.focus('#view');
  for (let q = 0; q < 4; q++) await page.keyboard.press('ArrowLeft');
  const camera = await page.evaluate(() => window.hooke.camera());
  await page.click('button[aria-label="Share"]');
  const address = await page.inputValue('.address');
  const other = await openPage(place, { hash: new URL(address).hash });
  assert.deepEqual(await other.evaluate(() => window.hooke.scene().source), { builtin: 'trampoline' });
  assert.ok((await sides(other))[0].sets.includes('forces[0].g=3.5'));
  const restored = await other.evaluate(() => window.hooke.camera());
  for (const name of ['azimuth', 'elevation', 'distance']) assert.ok(Math.abs(restored[name] - camera[name]) < 1e-6, name);
  assert.deepEqual(other.errors, []);
  await page.context().close();
  await other.context().close();
});
