// One engine plays one scene. What carries its messages (a Web Worker, a WebSocket) is a Link; the
// Engine numbers the requests and hands each answer to whoever asked.
import {
  binaryId, decodeFrame, decodeObstacles, decodeSave, decodeTopology, encodePut, encodeRequest, MAX_PUT,
  type Frame, type FrameRequest, type Grab, type Info, type ObstacleShape, type Pin, type Placed, type Registry,
  type Source, type Throw, type Topology,
} from './protocol';

/** Carries messages both ways, in order. */
export interface Link {
  send(message: string | ArrayBuffer): void;
  close(): void;
  /** Set by the engine. */
  onMessage: (message: string | ArrayBuffer) => void;
  /** Set by the engine: the link broke and says why. */
  onBroken: (why: string) => void;
  /** Ends what the engine computes by starting it anew, empty. Only where no message gets through
   * meanwhile. */
  restart?(): void;
}

/** What an engine answers to a request that it refuses. */
export class EngineError extends Error {
  constructor(text: string, readonly line: number | null, readonly column: number | null) {
    super(text);
    this.name = 'EngineError';
  }
}

/** The user stopped the request; no message is shown. */
export class StoppedError extends Error {
  constructor() {
    super('Stopped.');
    this.name = 'StoppedError';
  }
}

interface Waiting {
  since: number; // ms, of performance.now()
  resolve: (answer: never) => void;
  reject: (error: Error) => void;
}

type Vector = readonly number[];

export class Engine {
  /** Called when the engine is lost. */
  onBroken: (why: string) => void = () => {};
  private waiting = new Map<number, Waiting>();
  private lastId = 0;
  private broken: string | null = null;

  constructor(private link: Link) {
    link.onMessage = (message) => this.receive(message);
    link.onBroken = (why) => this.breakOff(why);
  }

  registry(): Promise<Registry> { return this.ask('registry', {}); }
  load(source: Source, sets: string[]): Promise<Info> { return this.ask('load', { ...source, sets }); }
  set(assign: string[], remove: string[]): Promise<Info> {
    return this.ask('set', remove.length ? { assign, remove } : { assign });
  }
  reset(): Promise<Info> { return this.ask('reset', {}); }
  async topology(): Promise<Topology> { return decodeTopology(await this.ask('topology', {})); }
  async frame(request: FrameRequest): Promise<Frame> {
    return decodeFrame(await this.ask('frame', request));
  }
  grab(origin: Vector, direction: Vector, radius: number, stiffness: number): Promise<Grab> {
    return this.ask('grab', { origin, direction, radius, stiffness });
  }
  async obstacles(): Promise<ObstacleShape[]> { return decodeObstacles(await this.ask('obstacles', {})); }
  /** Takes an obstacle, and has it go to a point: its displacement from its place in the scene. */
  move(obstacle: number, point?: Vector): Promise<Placed> { return this.ask('move', point ? { obstacle, point } : { obstacle }); }
  /** Moved obstacles stay where they are. */
  stay(): Promise<object> { return this.ask('stay', {}); }
  /** Goes on with a throw at a target, for so many seconds of computing. */
  throwAt(target: Vector, time: number, budget: number): Promise<Throw> { return this.ask('throw', { target, time, budget }); }
  endThrow(): Promise<object> { return this.ask('throw', {}); }
  drag(point: Vector): Promise<object> { return this.ask('drag', { point }); }
  drop(): Promise<object> { return this.ask('drop', {}); }
  /** Why it blew up, or ''. */
  async why(): Promise<string> { return (await this.ask<{ text: string }>('why', {})).text; }
  grabVertex(vertex: number, stiffness: number): Promise<Grab> { return this.ask('grab', { vertex, stiffness }); }

  /** Cancels what is computed. Returns whether the engine is empty now, and has to load its scene. */
  stop(): boolean {
    if (!this.link.restart) {
      void this.ask('stop', {}).catch(() => {});
      return false;
    }
    this.link.restart();
    for (const waiting of this.waiting.values()) waiting.reject(new StoppedError());
    this.waiting.clear();
    return true;
  }

  /** Milliseconds since the oldest request was made that is not answered yet. */
  waited(): number {
    const [first] = this.waiting.values();
    return first ? performance.now() - first.since : 0;
  }

  pin(vertex: number): Promise<Pin> { return this.ask('pin', { vertex }); }
  async save(what: 'obj' | 'checkpoint' | 'scene'): Promise<Uint8Array> {
    return decodeSave(await this.ask('save', { what }));
  }

  async put(name: string, bytes: Uint8Array): Promise<string> {
    if (bytes.length > MAX_PUT)
      throw new Error(`${name} has ${(bytes.length / 1e6).toFixed(0)} MB; files of at most 64 MB can be opened here.`);
    const answer = await this.request<{ name: string }>((id) => encodePut(id, name, bytes));
    return answer.name;
  }

  close(): void {
    this.onBroken = () => {};
    this.breakOff('closed');
    this.link.close();
  }

  private ask<T>(ask: string, fields: object): Promise<T> {
    return this.request((id) => encodeRequest(id, ask, fields));
  }

  private request<T>(encode: (id: number) => string | ArrayBuffer): Promise<T> {
    if (this.broken !== null) return Promise.reject(new Error(this.broken));
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { since: performance.now(), resolve: resolve as (answer: never) => void, reject });
      this.link.send(encode(id));
    });
  }

  private receive(message: string | ArrayBuffer): void {
    const answer = typeof message === 'string' ? JSON.parse(message) : null;
    const id = answer ? answer.id : binaryId(message as ArrayBuffer);
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id);
    if (answer && typeof answer.error === 'string')
      waiting.reject(new EngineError(answer.error, answer.line ?? null, answer.column ?? null));
    else waiting.resolve((answer ?? message) as never);
  }

  private breakOff(why: string): void {
    if (this.broken !== null) return;
    this.broken = why;
    for (const waiting of this.waiting.values()) waiting.reject(new Error(why));
    this.waiting.clear();
    this.onBroken(why);
  }
}
