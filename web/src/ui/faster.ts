// A way to play faster, offered where playing is behind real time because of the steps: each takes
// longer to compute than the time that it simulates. Where the browser draws slowly, or slow motion is
// asked for, another method would not help, and none is offered.
import type { App } from '../app';
import type { Info } from '../engine/protocol';
import { h, prettyNumber } from './dom';

const SLOW = 0.6; // of real time
const PATIENCE = 3000; // ms
/** What keeps cloth in real time: large steps, and a constant matrix that is factorized once. */
const FAST = { type: 'backward_euler', minimizer: { type: 'local_global', iterations: 10, tolerance: 0 } };
const FAST_STEP = 1 / 60; // s

export interface Pace {
  rate: number; // simulated seconds per second
  speed: number; // the rate that is asked for
  cost: number; // seconds of computing per simulated second
}

export function isSlowByStep({ rate, speed, cost }: Pace): boolean {
  const wanted = Math.min(1, speed);
  return rate < SLOW * wanted && cost * wanted > 1;
}

function stepWords(step: number): string {
  return Math.abs(step * 60 - 1) < 1e-9 ? '1/60 s' : `${prettyNumber(step)} s`;
}

/** What the button sets and what it says of that; null: nothing faster is known. */
export function fasterThan({ integrator, step }: Pick<Info, 'integrator' | 'step'>): { sets: string[]; name: string; about: string } | null {
  if ((integrator.minimizer as { type?: string } | undefined)?.type === FAST.minimizer.type) return null;
  const largeStep = Math.max(step, FAST_STEP);
  const steps = largeStep > step ? `, steps of ${stepWords(largeStep)}` : '';
  const method = integrator.type === FAST.type ? 'local/global iterations' : 'backward Euler';
  return {
    sets: [`integrator=${JSON.stringify(FAST)}`, `time.step=${largeStep}`],
    name: `Play faster: ${method}${steps}`,
    about: `Backward Euler with ${FAST.minimizer.iterations} local/global iterations a step${steps} in place of `
      + `${integrator.type}${steps ? ` with steps of ${stepWords(step)}` : ''}: less exact, and the motion is damped more.`,
  };
}

export function makeFaster(app: App): { button: HTMLElement; look(pace: Pace | null): void } {
  let slowSince = performance.now();
  const hide = () => {
    slowSince = performance.now();
    button.hidden = true;
  };
  const button = h('button', {
    class: 'text-button', type: 'button', hidden: true,
    onclick: () => {
      const faster = app.activeSide.info && fasterThan(app.activeSide.info);
      hide();
      if (!faster) return;
      app.change(faster.sets, ['integrator']);
      app.onNote.emit(faster.about);
    },
  }, 'Play faster');
  return {
    button,
    /** null: it does not play. */
    look(pace) {
      const { info } = app.activeSide;
      const faster = info && fasterThan(info);
      if (!pace || !faster || app.comparing || !isSlowByStep(pace)) return hide();
      button.hidden = performance.now() - slowSince < PATIENCE;
      button.textContent = faster.name;
      button.title = faster.about;
    },
  };
}
