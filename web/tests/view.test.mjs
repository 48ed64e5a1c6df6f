// The page from 'hooke view', with the native program as its engine.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chooseScene, hostsOf, onPage, openPlace, sides, waitFor } from './browser.mjs';
import { startView } from './program.mjs';

let view, place;
before(async () => {
  view = await startView('trampoline', '--threads', '1');
  if (!view.missing) place = await openPlace(view.url);
});
after(async () => {
  await place?.close();
  await view.close?.();
});

/** On a page of 'hooke view', or skipped where it is not there. */
function onView(act) {
  return (t) => (view.missing ? t.skip(view.missing) : onPage(() => place, {}, act)(t));
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
  for (const name of ['cloth', 'curve', 'jelly_block']) {
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
