// The time and the cost of a step, in a corner of the view, with a way to play faster where that is
// slow; and the bar that explains the colors.
import type { App } from '../app';
import { rampGradient } from '../../shared/ramps.js';
import { COLOR_UNITS, LEAST_RANGE } from '../view/colormap';
import { h, prettyNumber } from './dom';
import { makeFaster } from './faster';
import { throttled } from './throttle';
import { throwText } from './throw_section';

const EVERY = 120; // ms between changes, so that numbers can be read

export function makeStatus(app: App, place: HTMLElement): void {
  const time = h('strong', {}), rate = h('span', {}), cost = h('span', {}), work = h('span', {});
  const faster = makeFaster(app), thrown = h('span', { class: 'throw-distance' });
  place.append(h('div', { class: 'status' }, time, thrown, rate, cost, work, faster.button));
  const show = throttled(EVERY, () => {
    const side = app.activeSide;
    const { frame } = side;
    const { playing, speed } = app.settings.get();
    if (!frame) return;
    time.textContent = `t = ${frame.time.toFixed(2)} s`;
    const moving = playing && !frame.blownUp && frame.stepsInAll > 30;
    rate.textContent = moving && side.rate < 0.93 * speed ? `${side.rate.toFixed(2)}× real time` : '';
    faster.look(moving ? { rate: side.rate, speed, cost: side.cost } : null);
    if (frame.stepsMade > 0)
      cost.textContent = `${frame.milliseconds.toFixed(frame.milliseconds < 0.1 ? 3 : 1)} ms a step`;
    work.textContent = frame.unconverged ? 'not converged'
      : frame.iterations > 0 ? `${frame.iterations.toFixed(0)} iterations` : '';
    if (frame.late) work.textContent = 'no space: the obstacle waits';
    if (frame.stationary && !frame.unconverged && !frame.late) work.textContent += ', stationary';
    work.title = frame.iterations > 0
      ? `Relative gradient ${frame.gradient.toExponential(1)}: the unbalanced force would change the step by `
        + 'this part of its own motion.'
        + (frame.stationary ? ' The equations are met, but it is not known whether this is a minimum.' : '')
      : '';
    work.classList.toggle('warning', frame.unconverged || frame.late);
  });
  const showThrow = throttled(EVERY, () => {
    thrown.textContent = app.thrower.on ? throwText(app.thrower.found[app.active]) : '';
  });
  app.thrower.onChange.on(showThrow);
  app.onFrame.on(show);
  app.onSides.on(show);
  app.settings.watch(show);
}

export function makeLegend(app: App, stage: HTMLElement): void {
  const bar = h('span', { class: 'legend-bar' });
  const low = h('span', {}), name = h('span', {}), high = h('span', {});
  const legend = h('div', { class: 'legend', hidden: true },
    bar, h('div', { class: 'legend-words' }, low, name, high));
  stage.append(legend);
  app.settings.watch(({ color }) => {
    legend.hidden = color === 'none';
    bar.style.background = rampGradient(color);
  });
  app.onFrame.on(throttled(EVERY, () => {
    const { color } = app.settings.get();
    if (color === 'none') return;
    const { range } = app.view;
    const factor = color === 'strain' ? 100 : 1;
    const isZero = range.high <= LEAST_RANGE; // as at rest
    low.textContent = isZero ? '0' : prettyNumber(factor * range.low, 2);
    high.textContent = isZero ? '0' : prettyNumber(factor * range.high, 2);
    name.textContent = `${color} (${COLOR_UNITS[color]})`;
  }));
}
