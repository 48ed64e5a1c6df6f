// 'computing, 7 s' with a button that stops it, where an engine has not answered for a while: a long
// step, or a large scene that is loaded.
import type { App } from '../app';
import { h } from './dom';

const PATIENCE = 500; // ms before it is shown
const EVERY = 200; // ms between looks

export function makeComputing(app: App, stage: HTMLElement): void {
  const text = h('span', {});
  const stop = h('button', { class: 'text-button', type: 'button', onclick: () => void app.stop() }, 'Stop');
  const box = h('div', { class: 'computing', role: 'status', hidden: true }, text, stop);
  stage.append(box);
  setInterval(() => {
    const waited = Math.max(0, ...app.sides.map((side) => side.engine.waited()));
    box.hidden = waited < PATIENCE;
    if (!box.hidden) text.textContent = `computing, ${Math.floor(waited / 1000)} s`;
  }, EVERY);
}
