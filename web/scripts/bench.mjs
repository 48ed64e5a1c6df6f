// Milliseconds a step in Chromium against one native thread, in turns:
//
//   node scripts/bench.mjs [--rounds N]          after 'make web' and 'make demo' (or make test)
//
// The WebAssembly engine runs in a Web Worker, as on the page, but nothing is drawn; the native one is
// 'hooke view --threads 1' (HOOKE: another program). Both play the same motion and measure their steps
// themselves. Each round is some steps of the one, then of the other; the figures are medians, the
// ratio is the median of those of the rounds. Whatever else runs on the machine spoils them.
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { launch } from '../tests/browser.mjs';
import { startView } from '../tests/program.mjs';
import { serve } from '../tests/serve.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const ROUND = 150; // ms of native steps, about
const option = process.argv.indexOf('--rounds');
const ROUNDS = option > 0 ? Number(process.argv[option + 1]) : 9;

const localGlobal = (acceleration) => [
  `integrator=${JSON.stringify({ type: 'backward_euler', minimizer: { type: 'local_global', iterations: 10, tolerance: 0, acceleration } })}`,
  `time.step=${1 / 60}`,
];
const size = ['bodies[0].shape.nx=81', 'bodies[0].shape.ny=81'];
const CASES = [
  { name: 'curtain, as it is', sets: [], ratio: 2.5 },
  { name: '81 x 81, 10 local/global iterations', sets: [...size, ...localGlobal('none')], most: 8 },
  { name: '81 x 81, the same with anderson', sets: [...size, ...localGlobal('anderson')], most: 8 },
];

/** Puts window.ask(request) into a page, which answers as docs/protocol.md says; of a frame, its numbers. */
async function makeAsk(page, connect, argument) {
  await page.evaluate(connect, argument); // sets window.send, and window.receive is called
  await page.evaluate(() => {
    let id = 0, settle;
    window.receive = (data) => {
      if (typeof data !== 'string') settle.resolve({ milliseconds: new Float64Array(data, 16, 20)[10], flags: new Uint32Array(data, 12, 1)[0] });
      else if (JSON.parse(data).error) settle.reject(new Error(JSON.parse(data).error));
      else settle.resolve(JSON.parse(data));
    };
    window.ask = (request) => new Promise((resolve, reject) => {
      settle = { resolve, reject };
      window.send(JSON.stringify({ id: ++id, ...request }));
    });
  });
  return (request) => page.evaluate((one) => window.ask(one), request);
}

async function openWasm(browser, place) {
  const { outputFiles } = await build({ entryPoints: [here('../src/engine/worker.ts')], bundle: true, format: 'iife', write: false, target: 'es2022' });
  const page = await browser.newPage();
  await page.goto(`${place.url}engine.json`); // any file: only its origin counts
  return makeAsk(page, async (text) => {
    const module = await WebAssembly.compile(await (await fetch('hooke.wasm')).arrayBuffer());
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
    worker.onmessage = ({ data }) => window.receive(data.broken ? JSON.stringify({ error: data.broken }) : data);
    worker.postMessage({ module });
    window.send = (message) => worker.postMessage(message);
  }, outputFiles[0].text);
}

async function openNative(browser, view) {
  const page = await browser.newPage();
  const { origin, search } = new URL(view.url);
  await page.goto(`${origin}/engine.json`);
  return makeAsk(page, (address) => new Promise((resolve, reject) => {
    const socket = new WebSocket(address, 'hooke');
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => window.receive(data);
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("'hooke view' refuses the connection"));
    window.send = (message) => socket.send(message);
  }), `${origin.replace('http', 'ws')}/${search}`);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(engines, { name, sets, ratio, most }) {
  let info;
  for (const ask of engines) info = await ask({ ask: 'load', builtin: 'curtain', sets });
  const time = async (ask, steps) => {
    const { milliseconds, flags } = await ask({ ask: 'frame', steps });
    if (flags & 1) throw new Error(`${name}: it blew up`);
    return milliseconds;
  };
  let steps = 3;
  for (let q = 0; q < 2; q++) { // warm, and then long enough
    const [, native] = [await time(engines[0], steps), await time(engines[1], steps)];
    steps = Math.min(2000, Math.max(1, Math.ceil(ROUND / Math.max(native, 1e-3))));
  }
  const rounds = [];
  for (let q = 0; q < ROUNDS; q++) rounds.push([await time(engines[0], steps), await time(engines[1], steps)]);
  const [wasm, native] = [0, 1].map((side) => median(rounds.map((round) => round[side])));
  const times = median(rounds.map(([one, other]) => one / other));
  const wanted = ratio ? `wanted ${ratio} times at most` : `wanted ${most} ms at most`;
  console.log(`${name.padEnd(38)} ${wasm.toFixed(3).padStart(8)} ms in Chromium ${native.toFixed(3).padStart(8)} ms native ` +
    `${times.toFixed(2).padStart(6)} times  ${wanted}; ${info.integrator.type}, step ${info.step.toPrecision(3)} s, ${steps} steps a round`);
}

if (!existsSync(here('../public/hooke.wasm'))) throw new Error("public/hooke.wasm is not there: 'make web' builds it");
const view = await startView('curtain', '--threads', '1');
if (view.missing) throw new Error(view.missing);
const [browser, place] = [await launch(), await serve(here('../public'))];
try {
  const engines = [await openWasm(browser, place), await openNative(browser, view)];
  console.log(`milliseconds a step, medians of ${ROUNDS} rounds; load of the machine before: ${loadavg()[0].toFixed(2)}`);
  for (const one of CASES) await measure(engines, one);
} finally {
  await browser.close();
  place.close();
  await view.close();
}
