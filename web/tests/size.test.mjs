// The first load: everything that the page asks for before it plays, compressed.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const LIMIT = 1.5e6;

test('the_first_load_is_under_one_and_a_half_megabytes', (t) => {
  if (!existsSync(new URL('hooke.wasm', dist))) return t.skip('dist holds no engine');
  const files = ['index.html', 'hooke.wasm', 'engine.json', 'theme.js', 'icon.svg', 'docs/index.json',
    ...readdirSync(new URL('assets/', dist)).map((name) => `assets/${name}`)];
  const sizes = files.map((file) => gzipSync(readFileSync(new URL(file, dist)), { level: 6 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  t.diagnostic(files.map((file, q) => `${file} ${(sizes[q] / 1e3).toFixed(1)} kB`).join(', '));
  assert.ok(total < LIMIT, `${(total / 1e6).toFixed(2)} MB`);
});

test('the_lock_file_names_no_registry', () => {
  const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8');
  assert.ok(!/"resolved"/.test(lock));
  for (const [, version] of Object.entries(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).dependencies))
    assert.match(version, /^\d+\.\d+\.\d+$/);
});
