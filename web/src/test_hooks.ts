// What tests in a browser need to see and cannot read off the page: window.hooke.
import type { App } from './app';
import type { Throw } from './engine/protocol';
import type { Aim } from './throw';

export interface TestHooks {
  kind: string;
  sides(): { frames: number; time: number; steps: number; blownUp: boolean; vertices: number; method: string; sets: string[]; pinned: number[]; grabbed: number; total: number }[];
  /** Where a vertex is in the window, in CSS pixels, and in the scene, in m. */
  vertex(side: number, vertex: number): { screen: [number, number]; position: number[] } | null;
  /** Poses of the obstacles, 12 numbers each, and where the middle of one is in the window. */
  obstacles(side: number): { names: string[]; poses: number[]; late: boolean };
  obstacle(side: number, obstacle: number): [number, number] | null;
  /** Moves an obstacle as a hand does: to a displacement in m from its place in the scene. */
  moveObstacle(obstacle: number, point: number[]): Promise<unknown>;
  camera(): unknown;
  /** The throw at a target, and where the target of the first side is in the window. */
  throw(): { aim: Aim | null; found: (Throw | null)[]; holding: boolean; screen: [number, number] | null };
  setSpeed(speed: number): void;
  scene(): unknown;
  /** Adds a row to what was measured: a step of that many ms. */
  addSlowStep(milliseconds: number): void;
  /** The upper end of the axis of the plot with this title. */
  plotTop(title: string): number;
}

export function exposeForTests(app: App, plots: readonly { title: string; top: number }[]): void {
  const hooks: TestHooks = {
    kind: app.place.kind,
    sides: () => app.sides.map((side) => ({
      frames: side.frames, time: side.frame?.time ?? 0, steps: side.frame?.stepsInAll ?? 0, blownUp: side.blownUp,
      vertices: side.info?.vertices ?? 0, method: side.info?.integrator.type ?? '', sets: side.info?.sets ?? [],
      pinned: side.info?.pinned ?? [], grabbed: side.frame?.grabbed ?? -1,
      total: side.frame?.total ?? 0,
    })),
    vertex(side, vertex) {
      const screen = app.view.onScreen(side, vertex);
      if (!screen) return null;
      const box = app.view.canvas.getBoundingClientRect();
      return {
        screen: [box.left + screen[0], box.top + screen[1]],
        position: app.view.position(side, vertex).toArray(),
      };
    },
    obstacles: (side) => ({
      names: app.sides[side].info?.obstacles ?? [], poses: [...(app.sides[side].frame?.poses ?? [])],
      late: app.sides[side].frame?.late ?? false,
    }),
    obstacle(side, obstacle) {
      const screen = app.view.obstacleOnScreen(side, obstacle), box = app.view.canvas.getBoundingClientRect();
      return screen ? [box.left + screen[0], box.top + screen[1]] : null;
    },
    moveObstacle: (obstacle, point) => app.sides[0].engine.move(obstacle, point),
    throw() {
      const screen = app.view.targetOnScreen(0), box = app.view.canvas.getBoundingClientRect();
      const { aim, found, holding } = app.thrower;
      return { aim, found: [...found], holding, screen: screen && [box.left + screen[0], box.top + screen[1]] };
    },
    setSpeed: (speed) => app.settings.set({ speed }),
    camera: () => app.view.orbit.state(),
    addSlowStep(milliseconds) {
      const { frame, history } = app.sides[0];
      if (frame) history.add({ ...frame, milliseconds, time: frame.time + 1e-9 });
    },
    plotTop: (title) => plots.find((plot) => plot.title === title)?.top ?? NaN,
    scene: () => ({ source: app.source, ...app.settings.get() }),
  };
  (window as unknown as { hooke: TestHooks }).hooke = hooks;
}
