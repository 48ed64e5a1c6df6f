// The WebAssembly engine under Node, through the very code that drives it in the browser:
//
//   const engine = await loadEngine('public/hooke.wasm');
//   engine.ask({ ask: 'load', builtin: 'flag' });          JSON in, JSON or ArrayBuffer out
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A module of the page, for Node. */
export async function bundle(path) {
  const { outputFiles } = await build({ entryPoints: [here(path)], bundle: true, format: 'esm', write: false, target: 'es2022' });
  return import('data:text/javascript;base64,' + Buffer.from(outputFiles[0].contents).toString('base64'));
}

export async function loadEngine(wasm) {
  const [{ WasmEngine }, protocol] = await Promise.all([bundle('../src/engine/wasm_engine.ts'), bundle('../src/engine/protocol.ts')]);
  const engine = await WasmEngine.start(await WebAssembly.compile(readFileSync(wasm)));
  let id = 0;
  return {
    protocol,
    ask(request) {
      const answer = engine.message(JSON.stringify({ id: ++id, ...request }));
      if (typeof answer !== 'string') return answer;
      const value = JSON.parse(answer);
      if (value.error) throw new Error(value.error);
      return value;
    },
    put(name, bytes) { return JSON.parse(engine.message(protocol.encodePut(++id, name, bytes))); },
  };
}
