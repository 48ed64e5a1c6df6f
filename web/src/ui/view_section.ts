// What is drawn, in which colors, and how hard the pointer pulls.
import type { App } from '../app';
import type { Color } from '../engine/protocol';
import { PULL_RANGE } from '../state';
import { makeControl } from './controls';
import { h } from './dom';

const COLORS: [Color, string][] = [
  ['none', 'plain'], ['strain', 'strain'], ['speed', 'speed'], ['force', 'force'],
];

function checkbox(app: App, name: 'faces' | 'springs', key: string): HTMLElement {
  const box = h('input', { type: 'checkbox', onchange: () => app.settings.set({ [name]: box.checked }) });
  app.settings.watch((now) => { box.checked = now[name]; });
  return h('label', { class: 'check' }, box, name, h('kbd', {}, key));
}

export function viewSection(app: App): HTMLElement {
  const colors = COLORS.map(([color, word]) => h('button', {
    type: 'button', 'data-color': color, onclick: () => app.settings.set({ color }),
  }, word));
  app.settings.watch((now) => {
    for (const button of colors) button.setAttribute('aria-pressed', String(button.dataset.color === now.color));
  });
  const pull = makeControl({
    name: 'pull', unit: '1', kind: 'number', default: 1, min: PULL_RANGE[0], max: PULL_RANGE[1],
    help: 'stiffness of the spring between pointer and vertex; 1: as stiff as the springs at the vertex',
  }, 1, (value) => app.settings.set({ pull: value as number }))!;
  return h('div', {},
    h('div', { class: 'row' }, h('div', { class: 'row-name' }, h('span', { id: 'color-by' }, 'color by')),
      h('div', { class: 'segments', role: 'group', 'aria-labelledby': 'color-by' }, ...colors)),
    h('div', { class: 'checks' }, checkbox(app, 'faces', 'F'), checkbox(app, 'springs', 'L')),
    pull.element,
    h('button', { class: 'text-button', type: 'button', onclick: () => app.lookAgain() }, 'Fit the view'));
}
