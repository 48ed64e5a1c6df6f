// A throw at a target, as the page asks for it: each engine finds the velocity with which its body is at
// the target at a time. While that is sought, or a person drags the target, the motion waits at its start;
// then it plays up to that time, rests there for a moment, and starts again.
import type { Throw } from './engine/protocol';
import type { Side } from './side';
import { Signal } from './state';

export interface Aim {
  target: number[]; // m
  seconds: number;
}

export const USUAL_SECONDS = 0.8;
export const SECONDS_RANGE: readonly [number, number] = [0.1, 5];
const BUDGET = 0.012; // s of computing of one request
const REST = 900; // ms at the target
const LEAST = 1e-9; // s; what is nearer to the end is there
/** Where a first target stands, from the middle of the model: sizes of the model aside and upward. */
const ASIDE = 4, UPWARD = 0.8;

export class Thrower {
  aim: Aim | null = null;
  /** What is known of the throw of each side; null: nothing yet. */
  found: (Throw | null)[] = [];
  readonly onChange = new Signal();
  private held = false; // a person holds the target
  private waiting = false; // for the throw, to start with it
  private launching = false;
  private asking = new Set<Side>();
  private arrived: number | null = null; // ms, when all sides were at the target

  constructor(private sides: () => Side[], private restart: () => Promise<void>, private onError: (error: unknown) => void) {}

  get on(): boolean { return this.aim !== null; }
  /** Whether the motion waits at its start. */
  get holding(): boolean { return this.on && (this.held || this.waiting || this.launching); }

  /** Throws at a target; null: at one beside the model. */
  start(aim: Aim | null = null): void {
    this.aim = aim ?? { target: this.firstTarget(), seconds: USUAL_SECONDS };
    this.found = [];
    this.seek();
  }

  end(): void {
    if (!this.on) return;
    this.release();
    void this.restart();
  }

  /** All engines forget the throw; one that is lost or empty has forgotten it already. */
  private release(): void {
    this.forget();
    for (const side of this.sides()) side.engine.endThrow().catch(() => {});
  }

  /** The engines have forgotten the throw, as with another scene. */
  forget(): void {
    this.aim = null;
    this.found = [];
    this.held = this.waiting = false;
    for (const side of this.sides()) side.end = null;
    this.onChange.emit();
  }

  setSeconds(seconds: number): void {
    if (!this.aim) return;
    this.aim = { ...this.aim, seconds };
    this.seek();
  }

  setTarget(target: number[]): void {
    if (!this.aim) return;
    const flat = this.sides()[0]?.info?.dimension === 2;
    this.aim = { ...this.aim, target: flat ? [target[0], target[1], 0] : target };
    this.seek();
  }

  /** A person takes the target, or lets it go. */
  hold(held: boolean): void {
    this.held = held && this.on;
    if (!this.on) return; // another scene came while it was held
    if (held) void this.restart();
    else this.seek();
  }

  /** The scene changed, or the target did. */
  look(): void {
    for (const side of this.sides()) if (this.on && side.info) void this.ask(side);
  }

  private seek(): void {
    if (!this.waiting && !this.held) void this.restart();
    this.waiting = true;
    this.onChange.emit();
    this.look();
  }

  private firstTarget(): number[] {
    const { info, scene } = this.sides()[0];
    if (!info || !scene) return [0, 0, 0];
    const { box_min: min, box_max: max } = info;
    const size = Math.hypot(...max.map((high, c) => high - min[c])) || 1;
    const aside = scene.up === 0 ? 1 : 0;
    const shift = (c: number) => (c === aside ? ASIDE : c === scene.up ? UPWARD : 0) * size;
    return min.map((low, c) => Number(((low + max[c]) / 2 + shift(c)).toFixed(3)));
  }

  /** Asks until the throw at the present target is found; the target may move meanwhile. */
  private async ask(side: Side): Promise<void> {
    if (this.asking.has(side)) return;
    this.asking.add(side);
    try {
      for (let done = false; this.aim && !done;) {
        const { aim } = this;
        const answer = await side.engine.throwAt(aim.target, aim.seconds, BUDGET);
        const index = this.sides().indexOf(side);
        if (!this.aim || index < 0) break;
        this.found[index] = answer;
        side.end = answer.time;
        done = answer.done && aim === this.aim;
        this.onChange.emit();
      }
    } catch (error) {
      this.release();
      this.onError(error);
    } finally {
      this.asking.delete(side);
    }
    await this.launch();
  }

  /** Starts the motion with the throw that all sides have found. */
  private async launch(): Promise<void> {
    if (!this.on || !this.waiting || this.held || this.asking.size || this.launching) return;
    this.launching = true;
    this.waiting = false;
    await this.restart();
    this.launching = false;
    this.arrived = null;
  }

  /** Called at every picture while the motion plays. */
  tick(now: number): void {
    const isThere = this.on && !this.holding && this.sides().every((side) =>
      !side.blownUp && side.end !== null && (side.frame?.time ?? 0) > side.end - LEAST);
    this.arrived = isThere ? (this.arrived ?? now) : null;
    if (this.arrived === null || now - this.arrived < REST) return;
    this.arrived = null;
    void this.restart();
  }
}
