// One engine and what the page knows of it: its scene, its last frame, what was measured. Changes are
// sent one at a time; those that come meanwhile wait together, the last of each path counting. At most
// one frame is under way.
import type { Engine } from './engine/engine';
import type { Color, Frame, FrameRequest, Info, ObstacleShape, Source, Topology } from './engine/protocol';
import { History } from './history';
import { groundHeight, readScene, type SceneData } from './scene_data';
import { Signal } from './state';

/** Seconds of computing that a frame may take: so that 60 of them fit into a second, or most of the
 * time between two frames where the browser shows fewer. */
const BUDGET: readonly [number, number] = [0.012, 0.05];
const BUDGET_PART = 0.7;
/** A step that is not stable is shown in small numbers, and where energy leaps one by one and slowly:
 * it is worth a look. */
const UNSTABLE_STEPS = 4;
const LEAP = 6;
const LEAP_TIME = 0.12; // s
/** The longest time that is caught up after a pause of the page itself. */
const LONGEST = 0.1;
const AT_END = 1e-9; // s

interface Change {
  assign: Map<string, string>;
  remove: Set<string>;
}

function pathOf(assignment: string): string {
  return assignment.slice(0, assignment.indexOf('='));
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || (path.startsWith(prefix) && '.['.includes(path[prefix.length]));
}

export class Side {
  info: Info | null = null;
  scene: SceneData | null = null;
  topology: Topology | null = null;
  frame: Frame | null = null;
  obstacles: ObstacleShape[] = [];
  readonly history = new History();
  /** Frames received since the page was opened. */
  frames = 0;
  /** Simulated seconds per second of late. */
  rate = 0;
  /** Seconds of computing per simulated second of late; NaN: not measured with this method yet. */
  cost = NaN;
  /** s of simulated time where the motion waits; null: nowhere. */
  end: number | null = null;
  readonly onInfo = new Signal<Info>();
  /** A new model came; true: of a new scene. */
  readonly onModel = new Signal<boolean>();
  /** Other obstacles came. */
  readonly onObstacles = new Signal();
  readonly onFrame = new Signal<Frame>();
  readonly onError = new Signal<unknown>();
  private scenePins: number[] = [];
  private obstacleKey = '';
  private color: Color = 'none';
  private loading = 0;
  private underWay: Promise<void> | null = null; // the frame that was asked for
  private owed = 0; // seconds since the last frame was asked for
  private budget = BUDGET[0];
  private leaping = false;
  private kinetic = 0;
  private waiting: Change | null = null;
  private changing = false;

  constructor(public engine: Engine) {}

  get blownUp(): boolean { return this.frame?.blownUp ?? false; }

  async load(source: Source, sets: string[]): Promise<void> {
    this.loading++;
    try {
      const info = await this.engine.load(source, sets);
      this.waiting = null;
      this.history.clear();
      this.scenePins = info.pinned;
      await this.takeModel(info, true);
    } finally {
      this.loading--;
    }
  }

  async reset(): Promise<void> {
    this.loading++;
    try {
      const info = await this.engine.reset();
      this.history.clear();
      await this.takeModel(info, false);
    } finally {
      this.loading--;
    }
  }

  /** Vertices that were pinned or released by hand. */
  get turnedPins(): number[] {
    const now = this.info?.pinned ?? [], then = new Set(this.scenePins), held = new Set(now);
    return [...now.filter((vertex) => !then.has(vertex)), ...this.scenePins.filter((vertex) => !held.has(vertex))];
  }

  /** Pins a vertex, or releases it. */
  async turnPin(vertex: number): Promise<void> {
    const answer = await this.engine.pin(vertex);
    if (!this.info) return;
    this.info.pinned = answer.pinned;
    this.onInfo.emit(this.info);
  }

  /** Takes an answer over; a model of other size or connections is asked for anew. */
  private async takeModel(info: Info, isNew: boolean): Promise<void> {
    const before = this.info;
    const other = isNew || !before || before.vertices !== info.vertices || before.springs !== info.springs ||
      before.triangles !== info.triangles;
    this.info = info;
    this.cost = NaN;
    this.scene = readScene(info.scene);
    if (other) this.topology = await this.engine.topology();
    const key = JSON.stringify([this.scene.obstacles, groundHeight(this.scene), info.obstacles]);
    const others = isNew || key !== this.obstacleKey;
    if (others) this.obstacles = info.obstacles.length ? await this.engine.obstacles() : [];
    this.obstacleKey = key;
    const frame = await this.askAlone({ steps: 0, budget: this.budget, color: this.color });
    this.frame = frame;
    this.owed = 0;
    if (other) this.onModel.emit(isNew);
    if (other || others) this.onObstacles.emit();
    this.onInfo.emit(info);
    this.takeFrame(frame);
  }

  /** Changes values of the scene while it plays. */
  change(assign: string[], remove: string[] = []): void {
    this.waiting ??= { assign: new Map(), remove: new Set() };
    const { waiting } = this;
    for (const prefix of remove) {
      for (const path of [...waiting.assign.keys()]) if (isBelow(path, prefix)) waiting.assign.delete(path);
      waiting.remove.add(prefix);
    }
    for (const assignment of assign) waiting.assign.set(pathOf(assignment), assignment);
    if (!this.changing) void this.sendChanges();
  }

  private async sendChanges(): Promise<void> {
    this.changing = true;
    while (this.waiting) {
      const { assign, remove } = this.waiting;
      this.waiting = null;
      try {
        await this.takeModel(await this.engine.set([...assign.values()], [...remove]), false);
      } catch (error) {
        this.onError.emit(error);
        if (this.info) this.onInfo.emit(this.info); // the controls go back to what is
      }
    }
    this.changing = false;
  }

  /** Asks for the next frame, so many seconds on, unless one is under way. */
  advance(seconds: number, speed: number): void {
    if (!this.info || this.loading) return;
    this.owed = Math.min(LONGEST + LEAP_TIME, this.owed + seconds);
    this.budget = Math.min(BUDGET[1], Math.max(BUDGET[0], BUDGET_PART * seconds));
    const left = (this.end ?? Infinity) - (this.frame?.time ?? 0);
    if (this.underWay || this.blownUp || left < AT_END) return;
    if (this.unstable) return this.advanceUnstable(speed);
    const asked = Math.min(LONGEST, this.owed);
    this.owed = 0;
    void this.ask({ seconds: Math.min(left, asked * speed), budget: this.budget, color: this.color }, asked);
  }

  private get unstable(): boolean {
    return this.info !== null && this.info.stable_step !== null && this.info.step > this.info.stable_step;
  }

  private advanceUnstable(speed: number): void {
    const count = Math.min(this.leaping ? 1 : UNSTABLE_STEPS, Math.floor((this.owed * speed) / this.info!.step));
    if (count < 1 || (this.leaping && this.owed < LEAP_TIME)) return;
    const asked = this.owed;
    this.owed = 0;
    void this.ask({ steps: count, budget: this.budget, color: this.color }, asked);
  }

  /** Exactly so many steps; 0: the present state again, as for another color. */
  async steps(count: number): Promise<void> {
    if (!this.info || this.loading) return;
    await this.ask({ steps: count, budget: this.budget, color: this.color }, 0);
  }

  setColor(color: Color): void { this.color = color; }

  private async ask(request: FrameRequest, seconds: number): Promise<void> {
    const before = this.frame?.time ?? 0;
    try {
      const frame = await this.askAlone(request);
      if (seconds > 0) this.rate += 0.1 * (Math.max(0, frame.time - before) / seconds - this.rate);
      this.takeFrame(frame);
    } catch (error) {
      this.onError.emit(error);
    }
  }

  /** The frame, asked for once no other one is under way. */
  private async askAlone(request: FrameRequest): Promise<Frame> {
    while (this.underWay) await this.underWay;
    const answer = this.engine.frame(request);
    const settled = () => { this.underWay = null; };
    this.underWay = answer.then(settled, settled);
    return answer;
  }

  private takeFrame(frame: Frame): void {
    if (frame.stepsMade > 0) this.leaping = frame.kinetic > LEAP * (this.kinetic || frame.kinetic);
    if (frame.stepsMade > 0) this.kinetic = frame.kinetic;
    if (frame.stepsMade > 0) {
      const now = frame.milliseconds / 1000 / frame.step;
      this.cost = Number.isNaN(this.cost) ? now : this.cost + 0.1 * (now - this.cost);
    }
    this.frame = frame;
    this.frames++;
    // A frame without a step, as while a long step is waited for, measured nothing.
    if (Number.isFinite(frame.total) && (frame.stepsMade > 0 || !this.history.count)) this.history.add(frame);
    this.onFrame.emit(frame);
  }

  close(): void { this.engine.close(); }
}
