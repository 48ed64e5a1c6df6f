// The time and the cost of a step, in a corner of the view, with a way to play faster where that is
// slow; and the bar that explains the colours.
import type { App } from '../app';
import { COLOR_UNITS, gradient } from '../view/colormap';
import { h, prettyNumber } from './dom';

const EVERY = 120; // ms between changes, so that numbers can be read
const SLOW = 0.6; // of the speed that is wanted
const PATIENCE = 3000; // ms
/** What keeps cloth in real time: large steps, and a constant matrix that is factorised once. */
const FAST = [
  'integrator={"type":"backward_euler","minimizer":{"type":"local_global","iterations":10,"tolerance":0}}',
  `time.step=${1 / 60}`,
];

/** A button that shows when playing has been slow for a while, and a faster method is known. */
function makeFaster(app: App): { button: HTMLElement; look(rate: number): void } {
  let slowSince = 0;
  const button = h('button', {
    class: 'text-button', type: 'button', hidden: true,
    title: 'Steps of 1/60 s by backward Euler with ten local/global iterations',
    onclick: () => {
      button.hidden = true;
      app.change(FAST, ['integrator']);
    },
  });
  return {
    button,
    look(rate) {
      const now = performance.now();
      const method = app.activeSide.info?.integrator;
      const fast = (method?.minimizer as { type?: string } | undefined)?.type === 'local_global';
      if (rate > SLOW || fast || app.comparing || !app.settings.get().playing) slowSince = now;
      button.hidden = now - slowSince < PATIENCE;
      button.textContent = method?.type === 'backward_euler' ? 'Play faster, with local/global iterations'
        : 'Play faster, with backward Euler';
    },
  };
}

export function makeStatus(app: App, place: HTMLElement): void {
  const time = h('strong', {}), rate = h('span', {}), cost = h('span', {}), work = h('span', {});
  const faster = makeFaster(app);
  place.append(h('div', { class: 'status' }, time, rate, cost, work, faster.button));
  let last = 0;
  app.onFrame.on((index) => {
    const now = performance.now();
    const side = app.sides[index];
    const { frame } = side;
    const { playing, speed } = app.settings.get();
    if (index !== app.active || !frame || (now - last < EVERY && playing)) return;
    last = now;
    time.textContent = `t = ${frame.time.toFixed(2)} s`;
    const moving = playing && !frame.blownUp && frame.stepsInAll > 30;
    rate.textContent = moving && side.rate < 0.93 * speed ? `${side.rate.toFixed(2)}× real time` : '';
    faster.look(moving ? side.rate / speed : 1);
    if (frame.stepsMade > 0)
      cost.textContent = `${frame.milliseconds.toFixed(frame.milliseconds < 0.1 ? 3 : 1)} ms a step`;
    work.textContent = frame.unconverged ? 'not converged'
      : frame.iterations > 0 ? `${frame.iterations.toFixed(0)} iterations` : '';
    if (frame.stationary && !frame.unconverged) work.textContent += ', stationary';
    work.title = frame.iterations > 0
      ? `Relative gradient ${frame.gradient.toExponential(1)}: the unbalanced force would change the step by `
        + 'this part of its own motion.'
        + (frame.stationary ? ' The equations are met, but it is not known whether this is a minimum.' : '')
      : '';
    work.classList.toggle('warning', frame.unconverged);
  });
}

export function makeLegend(app: App, stage: HTMLElement): void {
  const bar = h('span', { class: 'legend-bar' });
  const low = h('span', {}), name = h('span', {}), high = h('span', {});
  const legend = h('div', { class: 'legend', hidden: true },
    bar, h('div', { class: 'legend-words' }, low, name, high));
  stage.append(legend);
  app.settings.watch(({ color }) => {
    legend.hidden = color === 'none';
    bar.style.background = gradient(color);
  });
  let last = 0;
  app.onFrame.on(() => {
    const { color } = app.settings.get();
    if (color === 'none' || performance.now() - last < EVERY) return;
    last = performance.now();
    const { range } = app.view;
    const factor = color === 'strain' ? 100 : 1;
    low.textContent = prettyNumber(factor * range.low, 2);
    high.textContent = prettyNumber(factor * range.high, 2);
    name.textContent = `${color} (${COLOR_UNITS[color]})`;
  });
}
