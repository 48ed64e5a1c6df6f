// Two methods side by side: what stands over each half of the view, and the comparisons worth a look.
import type { App } from '../app';
import type { Side } from '../side';
import { h, prettyName, prettyNumber } from './dom';
import { icon } from './icons';
import type { MenuItem } from './menu';

interface Preset {
  first: string;
  second: string;
  about: string;
  sets: string[];
}

/** The same step for both, so that it is the method that makes the difference. */
const PRESETS: Preset[] = [
  { first: 'forward_euler', second: 'backward_euler', about: 'one blows up, the other stays calm', sets: ['time.step=0.01'] },
  { first: 'backward_euler', second: 'implicit_midpoint', about: 'one loses energy, the other keeps it', sets: ['time.step=0.01'] },
  { first: 'symplectic_euler', second: 'rk4', about: 'first order against fourth, at a step that Hooke picks', sets: ['time.step=0'] },
];

const WORDS: Record<string, string> = { euler: 'Euler', rk4: 'RK4', bdf2: 'BDF2' };

function methodWords(name: string): string {
  return name.split('_').map((word) => WORDS[word] ?? word).join(' ');
}

export function compareItems(app: App): MenuItem[] {
  const known = new Set((app.registry.families.integrator ?? []).map((method) => method.name));
  const items: MenuItem[] = PRESETS.filter((preset) => known.has(preset.first) && known.has(preset.second)).map((preset) => ({
    text: `${methodWords(preset.first)} against ${methodWords(preset.second)}`,
    about: preset.about,
    act: () => void app.compare({ type: preset.first }, { type: preset.second }, preset.sets),
  }));
  if (app.comparing) items.push({ text: 'End the comparison', act: () => app.endCompare() });
  else {
    const now = app.sides[0].info?.integrator.type ?? '';
    const other = now === 'backward_euler' ? 'symplectic_euler' : 'backward_euler';
    items.push({
      text: `${methodWords(now)}, as it is set, against another`, about: 'choose the other one over its half of the view',
      act: () => void app.compare(null, { type: other }),
    });
  }
  return items;
}

/** Why a side stands still, in one sentence. */
export function blowUpText(side: Side): string {
  const { info, frame } = side;
  if (!info || !frame) return '';
  const { step, stable_step: stable } = info;
  let why = 'its energy left the bound';
  if (stable === 0) why = 'no step is stable with it here';
  else if (stable !== null && step > stable)
    why = `the step of ${prettyNumber(step)} s is above the stable step of ${prettyNumber(stable)} s`;
  const when = frame.time > 0 ? `at t = ${prettyNumber(frame.time)} s` : 'in its first step';
  return `${info.integrator.type} blew up ${when}: ${why}.`;
}

export class SideLabels {
  private place = h('div', { class: 'side-labels' });
  private labels: HTMLElement[] = [];
  private banners: HTMLElement[] = [];
  private selects: HTMLSelectElement[] = [];
  private times: HTMLElement[] = [];

  constructor(private app: App, stage: HTMLElement) {
    stage.append(this.place);
    this.build();
    app.onSides.on(() => this.build());
    app.onInfo.on((index) => this.showMethod(index));
    app.onFrame.on((index) => {
      this.showBlowUp(index);
      const time = this.app.sides[index]?.frame?.time ?? 0;
      if (this.times[index]) this.times[index].textContent = `t = ${time.toFixed(2)} s`;
    });
    new ResizeObserver(() => this.arrange()).observe(stage);
  }

  private build(): void {
    const { app } = this;
    this.selects = app.sides.map((side, q) => {
      const select = h('select', {
        'aria-label': q === 0 ? 'Method of the left side' : 'Method of the right side', 'data-side': q,
        onchange: () => {
          side.change([`integrator=${JSON.stringify({ type: select.value })}`], ['integrator']);
          app.setActive(q);
        },
      }, ...(app.registry.families.integrator ?? []).map((method) =>
        h('option', { value: method.name, title: method.summary }, prettyName(method.name))));
      return select;
    });
    this.times = app.sides.map(() => h('span', { class: 'side-time' }));
    this.banners = app.sides.map(() => h('div', { class: 'blow-up', role: 'alert', hidden: true }));
    this.labels = app.sides.map((_, q) => h('div', { class: `side-label side-${q}` },
      app.comparing ? h('div', { class: 'side-method' }, h('span', { class: 'side-line' }), this.selects[q], this.times[q],
        q === 1 ? h('button', {
          class: 'icon-button small', type: 'button', title: 'End the comparison', 'aria-label': 'End the comparison',
          onclick: () => app.endCompare(),
        }, icon('close')) : null) : null,
      this.banners[q]));
    this.place.replaceChildren(...this.labels);
    app.sides.forEach((_, q) => {
      this.showMethod(q);
      this.showBlowUp(q);
    });
    this.arrange();
  }

  private arrange(): void {
    this.labels.forEach((label, q) => {
      if (q >= this.app.view.layers.length) return;
      const area = this.app.view.area(q);
      Object.assign(label.style, { left: `${area.left}px`, top: `${area.top}px`, width: `${area.width}px`, height: `${area.height}px` });
      label.classList.toggle('second-column', area.left > 0);
      label.classList.toggle('at-bottom', area.top + area.height >= this.app.view.canvas.clientHeight - 1);
    });
  }

  private showMethod(index: number): void {
    const info = this.app.sides[index]?.info;
    if (info && this.selects[index]) this.selects[index].value = info.integrator.type;
  }

  private showBlowUp(index: number): void {
    const side = this.app.sides[index], banner = this.banners[index];
    if (!side || !banner || banner.hidden !== side.blownUp) return;
    banner.hidden = !side.blownUp;
    if (!side.blownUp) return;
    const text = h('p', {}, blowUpText(side));
    const why = h('small', {});
    side.engine.why().then((words) => { why.textContent = words; }, () => {}); // none is no harm
    // Folded: the banner must not cover the motion.
    banner.replaceChildren(h('div', {}, text, h('details', {}, h('summary', {}, 'Where it began'), why)),
      h('button', { class: 'text-button', type: 'button', onclick: () => void this.app.reset() }, 'Start again'));
  }
}
