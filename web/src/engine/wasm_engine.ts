// The C library as a WebAssembly module: a message goes into its memory, the answer comes out.
// Nothing here knows of windows or workers, so that scripts run it under Node too.
import { Wasi } from './wasi';

interface Exports {
  memory: WebAssembly.Memory;
  _initialize?(): void;
  play_create(threads: number): number;
  play_buffer(handle: number, size: number): number;
  play_message(handle: number, size: number, binary: number): number;
  play_answer(handle: number): number;
  play_answer_size(handle: number): number;
}

export class WasmEngine {
  private constructor(private exports: Exports, private handle: number) {}

  static async start(module: WebAssembly.Module): Promise<WasmEngine> {
    const wasi = new Wasi();
    const instance = await WebAssembly.instantiate(module, wasi.imports(module));
    const exports = instance.exports as unknown as Exports;
    wasi.attach(exports.memory);
    exports._initialize?.();
    const handle = exports.play_create(1);
    if (!handle) throw new Error('The engine could not be started: there is not enough memory.');
    return new WasmEngine(exports, handle);
  }

  message(message: string | ArrayBuffer): string | ArrayBuffer {
    const { exports, handle } = this;
    const bytes = typeof message === 'string' ? new TextEncoder().encode(message) : new Uint8Array(message);
    const at = exports.play_buffer(handle, bytes.length);
    if (!at) throw new Error(`The engine has no memory for ${(bytes.length / 1e6).toFixed(1)} MB.`);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    const binary = exports.play_message(handle, bytes.length, typeof message === 'string' ? 0 : 1);
    // Only now: while the message was worked on the memory may have grown and moved.
    const answer = exports.memory.buffer.slice(
      exports.play_answer(handle) >>> 0,
      (exports.play_answer(handle) >>> 0) + (exports.play_answer_size(handle) >>> 0),
    );
    return binary ? answer : new TextDecoder().decode(answer);
  }
}
