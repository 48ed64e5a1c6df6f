// What the page plays: one scene on one engine, or on two beside each other with different methods.
// The parts of the page call its functions and listen to its signals; none of them talks to another.
import { type Engine, StoppedError } from './engine/engine';
import type { EnginePlace } from './engine/pick';
import type { MethodValue, Registry, Source } from './engine/protocol';
import { Side } from './side';
import { type Settings, Signal, Store } from './state';
import { type Aim, Thrower } from './throw';
import { Aimer } from './view/aim';
import type { CameraState } from './view/camera';
import { Dragger } from './view/drag';
import { listenToPointer } from './view/pointer';
import { Pusher } from './view/push';
import type { SceneView } from './view/scene_view';

/** A file that a person opened; kept for a second engine. */
export interface OpenedFile {
  name: string;
  bytes: Uint8Array;
}

/** All that an address holds. */
export interface Shared {
  source: Source;
  sets: string[];
  camera: CameraState | null;
  compare: MethodValue | null; // of the second side
  color: Settings['color'];
  /** Vertices that were pinned or released by hand. */
  pins: number[];
  throw: Aim | null;
}

const FIRST_SCENE = 'flag';
/** The scene that is thrown at a target from the start. */
const THROW_SCENE = 'throw';

/** Whether scenes start by themselves: not for who has asked the system for less motion. */
function startsByItself(): boolean { return !matchMedia('(prefers-reduced-motion: reduce)').matches; }

/** How often, and after how many ms each, a connection that broke is tried again. */
const RETRIES = 300;
const RETRY_TIME = 2000;
/** s of simulated time out of sight before a scene starts again. */
const OUT_OF_SIGHT_TIME = 1.5;

function isIntegrator(path: string): boolean {
  return /^integrator\b/.test(path);
}

export class App {
  readonly sides: Side[] = [];
  readonly settings = new Store<Settings>({
    playing: startsByItself(), speed: 1, color: 'none', faces: true, springs: false, pull: 1,
  });
  /** Which side the controls of methods belong to. */
  active = 0;
  source: Source = { builtin: FIRST_SCENE };
  registry!: Registry;
  /** A side's scene or values changed; its number. */
  readonly onInfo = new Signal<number>();
  readonly onFrame = new Signal<number>();
  /** The number of sides changed, or which is active. */
  readonly onSides = new Signal();
  readonly onError = new Signal<unknown>();
  readonly onNote = new Signal<string>();
  readonly onLoading = new Signal<boolean>();
  readonly thrower: Thrower;
  private files: OpenedFile[] = [];
  private aimer: Aimer;
  private dragger: Dragger;
  private pusher: Pusher;
  private outSince: number | null = null;

  constructor(readonly place: EnginePlace, readonly view: SceneView) {
    const onError = (error: unknown) => this.emitError(error);
    this.dragger = new Dragger(view, () => this.sides, () => this.settings.get().pull, onError);
    this.pusher = new Pusher(view, () => this.sides, onError);
    this.thrower = new Thrower(() => this.sides, () => this.reset(), onError);
    this.aimer = new Aimer(view, this.thrower);
    this.thrower.onChange.on(() => this.showThrow());
    listenToPointer(view.canvas, view.orbit, {
      take: (x, y, touch) => this.aimer.take(x, y, touch) || this.pusher.take(x, y) || this.dragger.take(x, y, touch),
      dragTo: (x, y) => this.hand.dragTo(x, y),
      drop: () => this.hand.drop(),
      togglePin: (x, y, touch) => void this.dragger.togglePin(x, y, touch),
      hover: (x, y) => {
        if (this.aimer.hover(x, y) || this.pusher.hover(x, y)) {
          this.dragger.leave();
          return 'obstacle';
        }
        return this.dragger.hover(x, y) ? 'vertex' : null;
      },
      leave: () => {
        this.dragger.leave();
        this.pusher.leave();
        this.aimer.leave();
      },
      cameraChanged: () => view.changed(),
    });
    this.settings.watch((now, before) => {
      view.setShow({ faces: now.faces, springs: now.springs });
      if (now.color !== before.color) this.recolor();
    });
  }

  /** What the pointer drags. */
  private get hand(): Aimer | Pusher | Dragger {
    return this.aimer.aiming ? this.aimer : this.pusher.pushing ? this.pusher : this.dragger;
  }

  get comparing(): boolean { return this.sides.length > 1; }
  get activeSide(): Side { return this.sides[this.active]; }

  /** Opens the first engine and asks what it can do. */
  async open(): Promise<void> {
    const engine = await this.place.open();
    this.addSide(engine);
    this.registry = await engine.registry();
  }

  /** Plays what an address holds, or the first scene. */
  async begin(shared: Shared | null): Promise<void> {
    if (shared) await this.restore(shared);
    else if (!this.place.first || !(await this.load(this.place.first.source, this.place.first.sets)))
      await this.load({ builtin: this.firstScene() });
    requestAnimationFrame((now) => this.tick(now, now));
  }

  private firstScene(): string {
    const names = this.registry.scenes.map((scene) => scene.name);
    return names.includes(FIRST_SCENE) ? FIRST_SCENE : names[0];
  }

  private addSide(engine: Engine): Side {
    const side = new Side(engine);
    const index = this.sides.length;
    this.sides.push(side);
    side.setColor(this.settings.get().color);
    side.onModel.on((isNew) => {
      const { info, scene, topology, frame } = side;
      if (!info || !scene || !topology || !frame) return;
      this.view.setModel(index, info, scene, topology, frame, isNew && index === 0);
    });
    side.onObstacles.on(() => {
      const { info, scene, frame, obstacles } = side;
      if (info && scene && frame) this.view.setObstacles(index, obstacles, info, scene, frame);
    });
    side.onInfo.on((info) => {
      this.view.layers[index]?.setPinned(info.pinned);
      this.onInfo.emit(index);
      this.thrower.look();
    });
    side.onFrame.on((frame) => {
      this.view.setFrame(index, frame, this.settings.get().color);
      this.dragger.follow(index, frame);
      this.onFrame.emit(index);
    });
    side.onError.on((error) => this.emitError(error));
    this.watchEngine(side);
    return side;
  }

  private watchEngine(side: Side): void {
    side.engine.onBroken = (why) => {
      this.onError.emit(new Error(why));
      if (this.place.kind === 'native') void this.reconnect(side);
    };
  }

  /** Tries until 'hooke view' is there again, with the same token, and plays the scene anew. */
  private async reconnect(side: Side): Promise<void> {
    for (let q = 0; q < RETRIES; q++) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_TIME));
      if (!this.sides.includes(side)) return;
      const engine = await this.place.open().catch(() => null);
      if (!engine) continue;
      side.engine = engine;
      this.watchEngine(side);
      if (await this.loadAgain([side])) this.onNote.emit("Connected again to 'hooke view'.");
      return;
    }
  }

  /** Loads the scene as it is into engines that have lost it. */
  private loadAgain(sides: Side[]): Promise<boolean> {
    const method = this.sides[1]?.info?.integrator;
    return this.whileLoading(async () => {
      for (const side of sides) {
        const pins = side.turnedPins;
        if (side === this.sides[1] && method) await this.loadSecond(side, method);
        else {
          for (const file of this.files) await side.engine.put(file.name, file.bytes);
          await side.load(this.source, side.info?.sets ?? []);
        }
        for (const vertex of pins) await side.turnPin(vertex);
      }
      if (this.thrower.aim) this.thrower.start(this.thrower.aim);
    });
  }

  private async whileLoading(act: () => Promise<void>): Promise<boolean> {
    this.onLoading.emit(true);
    try {
      await act();
      return true;
    } catch (error) {
      this.emitError(error);
      return false;
    } finally {
      this.onLoading.emit(false);
    }
  }

  /** Notifies listeners of an error, unless the user stopped the request. */
  private emitError(error: unknown): void {
    if (!(error instanceof StoppedError)) this.onError.emit(error);
  }

  /** Ends what the engines compute, and pauses. An engine that had to be started anew gets its scene
   * again, from its start. */
  async stop(): Promise<void> {
    this.settings.set({ playing: false });
    const emptied = this.sides.filter((side) => side.engine.stop() && side.info);
    if (!emptied.length) return;
    if (await this.loadAgain(emptied)) this.onNote.emit('Stopped; the scene is at its start.');
  }

  /** Loads a scene into every side; the second keeps its method. */
  load(source: Source, sets: string[] = [], files: OpenedFile[] = []): Promise<boolean> {
    return this.whileLoading(async () => {
      const second = this.sides[1]?.info?.integrator ?? null;
      this.thrower.forget();
      for (const file of files) await this.sides[0].engine.put(file.name, file.bytes);
      await this.sides[0].load(source, sets);
      this.source = source;
      this.files = files;
      this.showFor(this.sides[0].info!.triangles);
      if (second && this.sides[1]) await this.loadSecond(this.sides[1], second);
      if (startsByItself()) this.settings.set({ playing: true });
      if (source.builtin === THROW_SCENE) {
        this.thrower.start();
        this.onNote.emit('Drag the target: the throw follows.');
      }
    });
  }

  /** Springs are shown where there are no faces, and hidden under them. */
  private showFor(triangles: number): void {
    this.settings.set({ faces: true, springs: triangles === 0 });
  }

  private async loadSecond(side: Side, method: MethodValue): Promise<void> {
    for (const file of this.files) await side.engine.put(file.name, file.bytes);
    const common = this.sides[0].info!.sets.filter((set) => !isIntegrator(set));
    await side.load(this.source, [...common, `integrator=${JSON.stringify(method)}`]);
  }

  /** Plays the scene from its start under two methods; null: as it is now. */
  compare(first: MethodValue | null, second: MethodValue, sets: string[] = []): Promise<boolean> {
    return this.whileLoading(async () => {
      const side = this.sides[0];
      const kept = side.info!.sets.filter((set) => !sets.some((other) => other.split('=')[0] === set.split('=')[0]));
      const all = [...(first ? kept.filter((set) => !isIntegrator(set)) : kept), ...sets];
      if (first) all.push(`integrator=${JSON.stringify(first)}`);
      // Opened first, so that a refusal leaves the page as it was.
      const added = this.comparing ? this.sides[1] : await this.place.open();
      const camera = this.view.orbit.following ? null : this.view.orbit.state();
      this.view.setLayers(2);
      const other = added instanceof Side ? added : this.addSide(added);
      try {
        const pins = side.turnedPins;
        await side.load(this.source, all);
        await this.loadSecond(other, second);
        for (const vertex of pins) await Promise.all([side.turnPin(vertex), other.turnPin(vertex)]);
      } catch (error) {
        this.endCompare();
        throw error;
      }
      if (camera) this.view.orbit.restore(camera);
      if (this.thrower.aim) this.thrower.start(this.thrower.aim);
      this.onSides.emit();
      this.settings.set({ playing: true });
    });
  }

  endCompare(): void {
    if (!this.comparing) return;
    this.sides.pop()!.close();
    this.active = 0;
    this.view.setLayers(1);
    this.onSides.emit();
  }

  setActive(index: number): void {
    this.active = index;
    this.onSides.emit();
  }

  /** Changes values: methods on the active side alone, everything else on all. */
  change(assign: string[], remove: string[] = []): void {
    const paths = [...assign.map((text) => text.split('=')[0]), ...remove];
    const sides = paths.every(isIntegrator) ? [this.activeSide] : this.sides;
    for (const side of sides) side.change(assign, remove);
  }

  async reset(): Promise<void> {
    this.outSince = null;
    await Promise.all(this.sides.map((side) => side.reset())).catch((error) => this.emitError(error));
    this.view.forgetMotion();
    this.view.changed();
  }

  async step(): Promise<void> {
    this.settings.set({ playing: false });
    await Promise.all(this.sides.map((side) => side.steps(1)));
  }

  lookAgain(): void {
    this.view.lookAgain(this.sides[0].info?.dimension === 2);
  }

  private recolor(): void {
    for (const side of this.sides) {
      side.setColor(this.settings.get().color);
      void side.steps(0);
    }
  }

  private tick(now: number, before: number): void {
    requestAnimationFrame((next) => this.tick(next, now));
    const seconds = Math.max(0, now - before) / 1000;
    const { playing, speed } = this.settings.get();
    if (playing && !this.thrower.holding)
      this.sides.forEach((side, q) => {
        if (!this.isAhead(q)) side.advance(seconds, speed);
      });
    if (playing) this.thrower.tick(now);
    this.view.follow(seconds);
    this.view.drawIfChanged();
    this.restartWhenOutOfSight();
  }

  /** In a comparison no side runs away from the other by more than a step. */
  private isAhead(index: number): boolean {
    const own = this.sides[index].frame, other = this.sides[1 - index]?.frame;
    if (!own || !other || other.blownUp) return false;
    return own.time - other.time > 1.001 * Math.max(own.step, other.step);
  }

  private restartWhenOutOfSight(): void {
    const time = this.sides[0].frame?.time ?? 0;
    if (!this.settings.get().playing || this.dragger.dragging || this.pusher.pushing || this.thrower.on || !this.view.orbit.following ||
      !this.sides.every((side, q) => side.blownUp || this.view.outOfSight(q)) || this.sides[0].blownUp) {
      this.outSince = null;
      return;
    }
    this.outSince ??= time;
    if (time - this.outSince < OUT_OF_SIGHT_TIME) return;
    this.onNote.emit('It fell out of sight and starts again.');
    void this.reset();
  }

  private showThrow(): void {
    const { aim, found } = this.thrower;
    this.sides.forEach(({ info, scene, frame }, q) => {
      if (info && scene && frame) this.view.setThrow(q, aim?.target ?? null, found[q]?.path ?? [], info, scene, frame);
    });
  }

  private async turnPins(vertices: number[]): Promise<void> {
    for (const vertex of vertices) await Promise.all(this.sides.map((side) => side.turnPin(vertex)));
  }

  shared(): Shared {
    const { info } = this.sides[0];
    // What a program was started with means nothing elsewhere; its scene, as it is now, does.
    const whole = this.source.home && info !== null;
    return {
      source: whole ? { scene: info.scene, name: info.name } : this.source,
      sets: whole ? [] : (info?.sets ?? []),
      camera: this.view.orbit.following ? null : this.view.orbit.state(),
      compare: this.sides[1]?.info?.integrator ?? null,
      color: this.settings.get().color,
      pins: this.sides[0].turnedPins,
      throw: this.thrower.aim,
    };
  }

  async restore(shared: Shared): Promise<void> {
    if (shared.compare === null) this.endCompare();
    this.settings.set({ color: shared.color });
    const loaded = await this.load(shared.source, shared.sets);
    if (!loaded && !this.sides[0].info) await this.load({ builtin: this.firstScene() });
    else if (loaded && shared.compare) await this.compare(null, shared.compare);
    if (loaded) await this.turnPins(shared.pins).catch((error) => this.emitError(error));
    if (loaded && shared.throw) this.thrower.start(shared.throw);
    if (loaded && shared.camera) this.view.orbit.restore(shared.camera);
    this.view.changed();
  }
}
