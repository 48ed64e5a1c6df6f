// A stand-in for the engine while the page is worked on: ?mock. A small cloth by symplectic, forward
// or (clamped) backward Euler answers the same protocol, well enough to look at every part of the page.
import type { Link } from './engine';
import { MOCK_REGISTRY } from './mock_registry';
import type { Info, MethodValue } from './protocol';

const N = 21;
const LENGTH = 1 / (N - 1);
const MASS = 1 / (N * N);

interface Spring { i: number; j: number; l0: number }

export class MockLink implements Link {
  onMessage: (message: string | ArrayBuffer) => void = () => {};
  onBroken: (why: string) => void = () => {};
  private x = new Float64Array(3 * N * N);
  private v = new Float64Array(3 * N * N);
  private springs: Spring[] = [];
  private triangles: number[] = [];
  private pinned: number[] = [];
  private scene: Record<string, unknown> = {};
  private sets: string[] = [];
  private name = 'curtain';
  private time = 0;
  private steps = 0;
  private rest = 0;
  private blown = false;
  private held = -1;
  private target = [0, 0, 0];

  send(message: string | ArrayBuffer): void {
    setTimeout(() => {
      const answer = typeof message === 'string' ? this.answer(JSON.parse(message)) : this.take(message);
      this.onMessage(answer instanceof ArrayBuffer ? answer : JSON.stringify(answer));
    }, 2);
  }
  close(): void {}

  private take(message: ArrayBuffer): object {
    const [, id, length] = new Uint32Array(message, 0, 3);
    return { id, name: new TextDecoder().decode(new Uint8Array(message, 12, length)) };
  }

  private answer(ask: Record<string, never>): object | ArrayBuffer {
    const id = ask.id as number;
    switch (ask.ask as string) {
      case 'registry': return { id, ...MOCK_REGISTRY };
      case 'load': return this.load(id, ask);
      case 'set': return this.set(id, ask.assign ?? [], ask.remove ?? []);
      case 'reset': this.start(); return { id, ...this.info() };
      case 'topology': return this.topology(id);
      case 'frame': return this.frame(id, ask);
      case 'grab': return this.grab(id, ask.origin, ask.direction);
      case 'drag': this.target = ask.point; return { id };
      case 'drop': this.held = -1; return { id };
      case 'pin': return this.pin(id, ask.vertex);
      case 'save': return new Uint8Array([72, 75, 83, 86, id, 0, 0, 0, 35, 10]).buffer;
      default: return { id, error: `mock: cannot '${String(ask.ask)}'` };
    }
  }

  private load(id: number, ask: Record<string, never>): object {
    if (ask.file || (ask.scene && !String(ask.scene).trim().startsWith('{')))
      return { id, error: `${ask.file ?? ask.name}:3:7: this is no mesh or scene that the mock reads`, line: 3, column: 7 };
    this.name = ask.builtin ?? 'mine';
    this.sets = [];
    this.scene = {
      up: 'y', time: { duration: 5, step: 0 }, integrator: { type: 'symplectic_euler' },
      bodies: [{ name: 'cloth', springs: { EA: 12.5, damping: 0 }, mass: { total: 1 } }],
      forces: [{ type: 'gravity', g: 9.81, direction: [0, 0, 0] }],
    };
    this.start();
    return this.set(id, ask.sets ?? [], []);
  }

  private start(): void {
    this.springs = [];
    this.triangles = [];
    const at = (i: number, j: number) => j * N + i;
    const join = (i: number, j: number, l0: number) => this.springs.push({ i, j, l0 });
    for (let j = 0; j < N; j++)
      for (let i = 0; i < N; i++) {
        const p = at(i, j);
        this.x.set([i * LENGTH - 0.5, 0, j * LENGTH - 0.5], 3 * p);
        if (i + 1 < N) join(p, at(i + 1, j), LENGTH);
        if (j + 1 < N) join(p, at(i, j + 1), LENGTH);
        if (i + 1 < N && j + 1 < N) {
          join(p, at(i + 1, j + 1), Math.SQRT2 * LENGTH);
          join(at(i + 1, j), at(i, j + 1), Math.SQRT2 * LENGTH);
          this.triangles.push(p, at(i, j + 1), at(i + 1, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1));
        }
      }
    this.v.fill(0);
    this.pinned = [0, N - 1];
    this.time = this.steps = this.rest = 0;
    this.blown = false;
  }

  private set(id: number, assign: string[], remove: string[]): object {
    this.sets = this.sets.filter((set) => !remove.some((path) => set.startsWith(path)));
    for (const text of assign) {
      const path = text.slice(0, text.indexOf('='));
      let value: unknown = text.slice(path.length + 1);
      try { value = JSON.parse(value as string); } catch { /* a word */ }
      const keys = path.split(/[.[\]]+/).filter(Boolean);
      let inside: Record<string, unknown> = this.scene;
      for (const key of keys.slice(0, -1)) inside = (inside[key] ??= {}) as Record<string, unknown>;
      if (typeof value === 'number' && value < 0) return { id, error: `${path}: ${value} is below 0` };
      inside[keys.at(-1)!] = value;
      this.sets = [...this.sets.filter((set) => !set.startsWith(path + '=')), text];
    }
    this.blown = false;
    return { id, ...this.info() };
  }

  private value(path: string[], fallback: number): number {
    let at: unknown = this.scene;
    for (const key of path) at = (at as Record<string, unknown> | undefined)?.[key];
    return typeof at === 'number' ? at : fallback;
  }
  private step(): number { return this.value(['time', 'step'], 0) || 0.002; }
  private method(): MethodValue { return this.scene.integrator as MethodValue; }

  private info(): Info {
    const method = this.method();
    const schema = MOCK_REGISTRY.families.integrator.find((one) => one.name === method.type);
    const full: MethodValue = { ...method };
    for (const param of schema?.params ?? [])
      full[param.name] ??= param.kind === 'method' ? { type: 'newton', iterations: 1000, tolerance: 1e-9 } : param.default;
    return {
      title: 'A curtain of the mock', name: this.name, scene: JSON.stringify(this.scene), sets: this.sets,
      vertices: N * N, springs: this.springs.length, triangles: this.triangles.length / 3, bodies: 1, dimension: 3, length_min: LENGTH,
      box_min: [-0.5, 0, -0.5], box_max: [0.5, 0, 0.5], mass: 1, threads: 1, vectors: 'portable', step: this.step(),
      stable_step: method.type === 'backward_euler' ? null : 0.0045, stability: 'every step is stable', fps: 30, integrator: full,
      forces: this.scene.forces as MethodValue[], pinned: this.pinned, obstacles: [], throw_refusal: 'the mock throws nothing', notes: ['This is the mock.'],
    };
  }

  private forces(): Float64Array {
    const { x, v } = this;
    const f = new Float64Array(x.length);
    const k = this.value(['bodies', '0', 'springs', 'EA'], 12.5) / LENGTH;
    const forces = this.scene.forces as MethodValue[];
    const g = Number(forces.find((one) => one.type === 'gravity')?.g ?? (forces.some((one) => one.type === 'gravity') ? 9.81 : 0));
    const wind = forces.find((one) => one.type.includes('wind'));
    const air = wind ? ((wind.velocity as number[] | undefined) ?? [5, 0, 0]) : null;
    for (let q = 0; q < x.length; q += 3) {
      f[q + 1] -= MASS * g;
      for (let c = 0; c < 3; c++) f[q + c] += MASS * ((air ? air[c] : 0) - v[q + c]) * 0.6;
    }
    for (const { i, j, l0 } of this.springs) {
      const d = [0, 1, 2].map((c) => x[3 * j + c] - x[3 * i + c]);
      const l = Math.hypot(...d) || 1e-12;
      const pull = (k * (l - l0)) / l;
      for (let c = 0; c < 3; c++) {
        f[3 * i + c] += pull * d[c];
        f[3 * j + c] -= pull * d[c];
      }
    }
    if (this.held >= 0) for (let c = 0; c < 3; c++) f[3 * this.held + c] += 3 * k * (this.target[c] - x[3 * this.held + c]);
    return f;
  }

  private advance(): void {
    const h = this.step(), forward = this.method().type === 'forward_euler';
    // Not backward Euler: small steps of another method stand for its calm.
    const parts = this.method().type === 'backward_euler' ? Math.ceil(h / 0.002) : 1;
    for (let part = 0; part < parts; part++) {
      const f = this.forces(), small = h / parts;
      const old = forward ? this.v.slice() : this.v;
      for (let q = 0; q < this.v.length; q++) this.v[q] += (small * f[q]) / MASS;
      for (const p of this.pinned) this.v.fill(0, 3 * p, 3 * p + 3);
      for (let q = 0; q < this.x.length; q++) this.x[q] += small * old[q];
    }
    this.time += h;
    this.steps++;
    if (!(this.kinetic() < 1e6)) this.blown = true;
  }

  private kinetic(): number { return this.v.reduce((sum, v) => sum + 0.5 * MASS * v * v, 0); }

  private frame(id: number, ask: Record<string, never>): ArrayBuffer {
    const start = performance.now();
    let count = ask.steps as number | undefined;
    if (count === undefined) {
      this.rest += ask.seconds as number;
      count = Math.floor(this.rest / this.step());
      this.rest -= count * this.step();
    }
    let made = 0;
    for (; made < count && !this.blown; made++) {
      if (made && performance.now() - start > 1000 * (ask.budget as number)) break;
      this.advance();
    }
    const n = N * N, colored = (ask.color ?? 'none') !== 'none';
    const message = new ArrayBuffer(176 + n * (colored ? 16 : 12));
    new Uint32Array(message, 0, 4).set([0x52464b48, id, n, (this.blown ? 1 : 0) | (colored ? 4 : 0)]);
    let spring = 0, gravity = 0;
    const k = this.value(['bodies', '0', 'springs', 'EA'], 12.5) / LENGTH;
    for (const { i, j, l0 } of this.springs)
      spring += 0.5 * k * (Math.hypot(...[0, 1, 2].map((c) => this.x[3 * i + c] - this.x[3 * j + c])) - l0) ** 2;
    for (let q = 1; q < 3 * n; q += 3) gravity += MASS * 9.81 * this.x[q];
    const implicit = this.method().type === 'backward_euler';
    const kinetic = this.kinetic();
    new Float64Array(message, 16, 20).set([
      this.time, this.step(), kinetic, spring, gravity, 0, kinetic + spring + gravity, -0.1, 0.1, 3,
      made ? (performance.now() - start) / made : 0, implicit ? 4 + Math.round(Math.random()) : 0, implicit ? 4 : 0,
      implicit ? 1e-9 * (1 + Math.random()) : 0, made, this.steps, this.held, 0, 3, 0]);
    new Float32Array(message, 176, 3 * n).set(this.x);
    if (colored)
      new Float32Array(message, 176 + 12 * n, n).set(Float32Array.from({ length: n }, (_, q) => Math.hypot(...this.v.subarray(3 * q, 3 * q + 3))));
    return message;
  }

  private topology(id: number): ArrayBuffer {
    const message = new ArrayBuffer(24 + 4 * this.triangles.length + 8 * this.springs.length);
    new Uint32Array(message, 0, 6).set([0x50544b48, id, N * N, this.triangles.length / 3, this.springs.length, 0]);
    new Int32Array(message, 24, this.triangles.length).set(this.triangles);
    new Int32Array(message, 24 + 4 * this.triangles.length).set(this.springs.flatMap(({ i, j }) => [i, j]));
    return message;
  }

  private grab(id: number, origin: number[], direction: number[]): object {
    let best = -1, least = Infinity;
    for (let p = 0; p < N * N; p++) {
      const w = [0, 1, 2].map((c) => this.x[3 * p + c] - origin[c]);
      const along = w.reduce((sum, part, c) => sum + part * direction[c], 0);
      const away = Math.hypot(...w.map((part, c) => part - along * direction[c]));
      if (away < least) [best, least] = [p, away];
    }
    this.held = best;
    this.target = [...this.x.subarray(3 * best, 3 * best + 3)];
    return { id, vertex: best, point: this.target };
  }

  private pin(id: number, vertex: number): object {
    const held = !this.pinned.includes(vertex);
    this.pinned = held ? [...this.pinned, vertex] : this.pinned.filter((one) => one !== vertex);
    return { id, vertex, held, pinned: this.pinned };
  }
}
