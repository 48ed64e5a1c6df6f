// The native program, for tests and benchmarks of the page: build/release/hooke, or HOOKE.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const program = process.env.HOOKE ?? here('../../build/release/hooke');

/** Runs it to its end: {missing: why}, or what spawnSync returns. */
export function runHooke(...words) {
  if (!existsSync(program)) return { missing: `there is no ${program}: make demo builds it` };
  return spawnSync(program, words, { encoding: 'utf8' });
}

/** Starts 'hooke view' with web/dist as its page: {missing: why}, or {url, close}. */
export async function startView(...words) {
  if (!existsSync(program)) return { missing: `there is no ${program}: make demo builds it` };
  const child = spawn(program, ['view', ...words, '--page', here('../dist')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { said += data; });
  while (!/\?token=\w+\n/.test(said) && child.exitCode === null)
    await Promise.race([once(child.stdout, 'data'), ended]);
  const url = said.match(/http:\S+\?token=\w+/)?.[0];
  if (!url) return { missing: `hooke view: ${said.trim()}` };
  return {
    url,
    async close() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
