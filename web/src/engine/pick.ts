// Which engine drives the page: engine.json says {"socket": true} where 'hooke view' serves it, and
// may name what to load first; on a plain file server it says false, and WebAssembly is used.
import { Engine } from './engine';
import type { Source } from './protocol';
import { socketAddress, SocketLink } from './socket_link';
import { compileEngine, WorkerLink } from './worker_link';
import { hasWasmSimd } from '../support';

export interface EnginePlace {
  kind: 'wasm' | 'native' | 'mock';
  open(): Promise<Engine>;
  /** What 'hooke view' was started with. */
  first: { source: Source; sets: string[] } | null;
}

interface EngineFile {
  socket: boolean | string;
  load?: Source & { sets?: string[] };
}

async function readEngineFile(): Promise<EngineFile> {
  try {
    const response = await fetch(new URL('engine.json', document.baseURI));
    return response.ok ? ((await response.json()) as EngineFile) : { socket: false };
  } catch {
    return { socket: false };
  }
}

function firstOf({ load }: EngineFile): EnginePlace['first'] {
  if (!load) return null;
  const { sets = [], ...source } = load;
  return { source, sets };
}

export async function pickEngine(onProgress: (part: number) => void): Promise<EnginePlace> {
  if (__MOCK__ && new URLSearchParams(location.search).has('mock')) {
    const { MockLink } = await import('./mock');
    return { kind: 'mock', open: async () => new Engine(new MockLink()), first: null };
  }
  const file = await readEngineFile();
  if (file.socket) {
    const path = typeof file.socket === 'string' ? file.socket : 'socket';
    const address = socketAddress(location, path);
    return {
      kind: 'native',
      open: async () => new Engine(await SocketLink.open(address)),
      first: firstOf(file),
    };
  }
  if (!hasWasmSimd())
    throw new Error(
      "This browser has no WebAssembly with SIMD, which the engine is made of. Any browser from 2023 on has it (Safari 16.4, Chrome 91, Firefox 89); or run 'hooke view', where the native program computes.");
  const module = await compileEngine(onProgress);
  return { kind: 'wasm', open: async () => new Engine(new WorkerLink(module)), first: null };
}
