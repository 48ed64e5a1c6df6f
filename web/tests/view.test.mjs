// The page from 'hooke view', with the native program as its engine.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AT_REST, chooseScene, hostsOf, isLoaded, onPage, openPage, openPlace, shareAddress, sides, waitFor } from './browser.mjs';
import { startView } from './program.mjs';

const folder = mkdtempSync(join(tmpdir(), 'hooke-view-'));
const options = ['--threads', '1', '--token-file', join(folder, 'token')];
let view, place;
before(async () => {
  view = await startView('trampoline', ...options);
  if (!view.missing) place = await openPlace(view.url);
});
after(async () => {
  await place?.close();
  await view.close?.();
  rmSync(folder, { recursive: true });
});

/** On a page of 'hooke view', or skipped where it is not there. */
function onView(act, options = {}, more = '') {
  return (t) => (view.missing ? t.skip(view.missing) : onPage(() => ({ ...place, url: view.url + more }), options, act)(t));
}

test('the_page_of_hooke_view_loads_without_an_error_and_plays_natively', onView(async (page) => {
  await waitFor(page, () => window.hooke.sides()[0].steps > 20);
  assert.equal(await page.evaluate(() => window.hooke.kind), 'native');
  assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'trampoline' });
  assert.deepEqual(hostsOf(page), [new URL(view.url).host]);
  assert.ok(page.requests.some((url) => url.startsWith('ws://')), 'there is a socket');
  assert.ok(!page.requests.some((url) => url.endsWith('.wasm')), 'and no WebAssembly');
  assert.deepEqual(page.errors, []);
}));

test('scenes_of_every_kind_run_100_steps_natively', onView(async (page) => {
  for (const name of ['cloth_on_ball', 'curve', 'jelly_block']) {
    await chooseScene(page, name);
    await waitFor(page, () => window.hooke.sides()[0].steps >= 100);
    assert.equal((await sides(page))[0].blownUp, false, name);
  }
  assert.deepEqual(page.errors, []);
}));

test('a_vertex_is_pulled_and_a_method_changed_natively', onView(async (page) => {
  await waitFor(page, () => window.hooke.sides()[0].time > 0.1);
  const [x, y] = await page.evaluate(() => window.hooke.vertex(0, 0).screen);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await waitFor(page, () => window.hooke.sides()[0].grabbed >= 0);
  await page.mouse.move(x, y - 80, { steps: 4 });
  await waitFor(page, (from) => from - window.hooke.vertex(0, window.hooke.sides()[0].grabbed).screen[1] > 25, y);
  await page.mouse.up();
  await page.selectOption('select[data-method="integrator"]', 'backward_euler');
  await waitFor(page, () => window.hooke.sides()[0].method === 'backward_euler');
  assert.deepEqual(page.errors, []);
}));

test('a_target_that_is_dragged_is_hit_natively', onView(async (page) => {
  await chooseScene(page, 'throw');
  await waitFor(page, () => window.hooke.throw().found[0]?.done && !window.hooke.throw().holding);
  // The target may still move on the screen, while the view turns to the scene.
  let x, y, aim;
  for (let held = false; !held;) {
    ({ screen: [x, y], aim } = await page.evaluate(() => window.hooke.throw()));
    await page.mouse.move(x, y);
    await page.mouse.down();
    held = await waitFor(page, () => window.hooke.throw().holding, null, 3000).then(() => true, () => false);
    if (!held) await page.mouse.up();
  }
  await page.mouse.move(x - 90, y - 30, { steps: 6 });
  await page.mouse.up();
  await waitFor(page, (before) => {
    const { aim: now, found: [found], holding } = window.hooke.throw();
    return !holding && now.target[0] < before - 0.1 && found.distance < 1e-3 && window.hooke.sides()[0].time > 0.1;
  }, aim.target[0]);
  assert.deepEqual(page.errors, []);
}));

test('a_scene_that_reads_files_is_not_offered_as_an_address', async (t) => {
  const mesh = join(folder, 'two.obj');
  writeFileSync(mesh, 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n');
  const own = await startView(mesh, ...options);
  if (own.missing) return t.skip(own.missing);
  try {
    await onPage(() => ({ ...place, url: own.url }), AT_REST, async (page) => {
      await isLoaded(page);
      await page.click('button[aria-label="Share"]');
      await page.waitForSelector('.toast.error');
      assert.match(await page.textContent('.toast.error'), /reads two\.obj, and an address holds no files/);
      assert.equal(await page.locator('dialog[open]').count(), 0);
    })(t);
  } finally {
    await own.close();
  }
});

// The last one, since it starts the program anew.
test('a_page_of_hooke_view', onView(async (page, t) => {
  await t.test('says_what_the_share_address_holds_which_opens_for_others', async () => {
    const address = await shareAddress(page);
    assert.match(await page.textContent('dialog.share'), /token of this 'hooke view', too, and opens only while that runs and where it is reached/);
    await page.keyboard.press('Escape');
    const other = await openPage({ ...place, url: address }, AT_REST); // in a context of its own, as of another person
    await isLoaded(other);
    assert.deepEqual(await other.evaluate(() => window.hooke.scene().source), { builtin: 'net' });
    assert.deepEqual(other.errors, []);
    await other.context().close();
  });

  await t.test('connects_again_after_a_restart_with_the_same_token', async () => {
    const before = new URL(view.url);
    await view.close();
    await page.waitForSelector('.toast.error');
    assert.match(await page.textContent('.toast.error'), /with the same --port and --token-file this page connects by itself/);
    view = await startView('trampoline', ...options, '--port', before.port);
    assert.equal(view.url, before.href);
    await page.waitForSelector('.toast.note:has-text("Connected again")');
    assert.deepEqual(await page.evaluate(() => window.hooke.scene().source), { builtin: 'net' });
    await waitFor(page, () => window.hooke.sides()[0].steps > 5);
    assert.equal(await page.locator('.toast.error').count(), 0);
  });
}, {}, '&scene=net'));
