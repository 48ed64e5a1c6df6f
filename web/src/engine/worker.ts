// The Web Worker around one WebAssembly engine. First comes the compiled module, then messages; each
// is answered. Whatever is thrown (a trap, no memory) ends the engine and is sent as text.
import { WasmEngine } from './wasm_engine';

export interface Start {
  module: WebAssembly.Module;
}

export interface Broken {
  broken: string;
}

let engine: WasmEngine | null = null;

function sendBroken(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  self.postMessage({ broken: text } satisfies Broken);
}

// One after the other: messages that come while the engine starts wait for it.
let queue: Promise<void> = Promise.resolve();

async function handle(data: Start | string | ArrayBuffer): Promise<void> {
  try {
    if (typeof data !== 'string' && !(data instanceof ArrayBuffer)) {
      engine = await WasmEngine.start(data.module);
      return;
    }
    if (!engine) return;
    const answer = engine.message(data);
    if (typeof answer === 'string') self.postMessage(answer);
    else (self as unknown as Worker).postMessage(answer, [answer]);
  } catch (error) {
    engine = null;
    sendBroken(error);
  }
}

self.onmessage = (event: MessageEvent<Start | string | ArrayBuffer>) => {
  queue = queue.then(() => handle(event.data));
};
