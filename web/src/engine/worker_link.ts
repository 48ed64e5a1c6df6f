// A WebAssembly engine in a Web Worker of its own, so that the page stays smooth while it computes.
// The module is fetched and compiled once, whatever the number of engines.
import type { Link } from './engine';
import type { Broken, Start } from './worker';

let compiled: Promise<WebAssembly.Module> | null = null;

async function fetchModule(onProgress: (part: number) => void): Promise<WebAssembly.Module> {
  const response = await fetch(new URL('hooke.wasm', document.baseURI));
  if (!response.ok || !response.body)
    throw new Error(`The engine, hooke.wasm, is not there (${response.status} ${response.statusText}).`);
  const size = Number(response.headers.get('content-length')) || 0;
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let got = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value as Uint8Array<ArrayBuffer>);
    got += value.length;
    if (size) onProgress(Math.min(1, got / size));
  }
  return WebAssembly.compile(await new Blob(pieces).arrayBuffer());
}

export function compileEngine(onProgress: (part: number) => void): Promise<WebAssembly.Module> {
  compiled ??= fetchModule(onProgress);
  return compiled;
}

export class WorkerLink implements Link {
  onMessage: (message: string | ArrayBuffer) => void = () => {};
  onBroken: (why: string) => void = () => {};
  private worker: Worker;

  constructor(private module: WebAssembly.Module) { this.worker = this.start(); }

  private start(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'hooke' });
    worker.onmessage = (event: MessageEvent<string | ArrayBuffer | Broken>) => {
      const data = event.data;
      if (typeof data === 'string' || data instanceof ArrayBuffer) this.onMessage(data);
      else this.onBroken(`The engine stopped: ${data.broken}. Reload the page to go on.`);
    };
    worker.onerror = (event) => this.onBroken(`The engine could not be started: ${event.message}.`);
    worker.postMessage({ module: this.module } satisfies Start);
    return worker;
  }

  /** A worker hears nothing while it computes: it is ended, and another one takes its place. */
  restart(): void {
    this.worker.terminate();
    this.worker = this.start();
  }

  send(message: string | ArrayBuffer): void {
    if (typeof message === 'string') this.worker.postMessage(message);
    else this.worker.postMessage(message, [message]);
  }

  close(): void { this.worker.terminate(); }
}
