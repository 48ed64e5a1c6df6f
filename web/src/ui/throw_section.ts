// A throw at a target: the switch, where the target is and when the body is to be there, and how near it comes.
// Scenes that cannot be differentiated, or where pins hold everything, say so.
import type { App } from '../app';
import type { Info, Throw } from '../engine/protocol';
import { SECONDS_RANGE, USUAL_SECONDS } from '../throw';
import { type Control, makeControl } from './controls';
import { h, newId, prettyNumber } from './dom';
import { section } from './parts';

const AXES = ['x', 'y', 'z'];
const STEP = 0.05; // m, of the arrow keys

/** A distance as one measures it. */
export function distanceText(meters: number): string {
  if (meters < 1e-4) return 'below 0.1 mm';
  if (meters < 0.01) return `${prettyNumber(1000 * meters, 2)} mm`;
  return meters < 1 ? `${prettyNumber(100 * meters, 2)} cm` : `${prettyNumber(meters, 3)} m`;
}

/** How near a throw comes, in a sentence. */
export function throwText(found: Throw | null | undefined): string {
  if (!found || found.distance === null) return `finding the throw, ${Math.round(100 * (found?.part ?? 0))} %`;
  const count = found.iterations === 1 ? '1 iteration' : `${found.iterations} iterations`;
  return `distance at ${found.time.toFixed(2)} s: ${distanceText(found.distance)} after ${count}`;
}

export class ThrowSection {
  readonly element = section('Throw at a target', false);
  private box = h('input', { type: 'checkbox', onchange: () => this.turn(this.box.checked) });
  private refusal = h('p', { class: 'note' });
  private settings = h('div', { class: 'throw-settings' });
  private place: HTMLInputElement[];
  private seconds: Control;
  private status = h('p', { role: 'status' });
  private on = false;

  constructor(private app: App) {
    const { thrower } = app;
    this.place = AXES.map((axis, c) => h('input', {
      id: newId('target'), class: 'number', type: 'number', step: STEP, 'aria-label': `target ${axis} (m)`,
      oninput: () => this.setPlace(c),
    }));
    this.seconds = makeControl({
      name: 'time', unit: 's', kind: 'number', default: USUAL_SECONDS, min: SECONDS_RANGE[0], max: SECONDS_RANGE[1],
      help: 'when the center of the body is to be at the target',
    }, USUAL_SECONDS, (value) => thrower.setSeconds(value as number))!;
    this.settings.append(
      h('div', { class: 'row' }, h('div', { class: 'row-name' }, h('span', {}, 'target', h('span', { class: 'unit' }, 'm'))),
        h('div', { class: 'boxes' }, ...this.place)),
      this.seconds.element, this.status,
      h('p', { class: 'summary' }, 'Drag the target in the view. The velocity at the start is found by the derivatives of the motion.'));
    this.element.lastElementChild!.append(h('div', { class: 'throw' },
      h('label', { class: 'check' }, this.box, 'throw at a target'), this.refusal, this.settings));
    thrower.onChange.on(() => this.show());
    this.show();
  }

  update(info: Info): void {
    this.refusal.textContent = info.throw_refusal ? `Not in this scene: ${info.throw_refusal}.` : '';
    this.refusal.hidden = info.throw_refusal === '';
    this.show();
  }

  private turn(on: boolean): void {
    if (on) this.app.thrower.start();
    else this.app.thrower.end();
  }

  private setPlace(axis: number): void {
    const value = this.place[axis].valueAsNumber, { aim } = this.app.thrower;
    if (aim && Number.isFinite(value)) this.app.thrower.setTarget(aim.target.map((part, c) => (c === axis ? value : part)));
  }

  private show(): void {
    const { aim, found } = this.app.thrower;
    if (aim && !this.on) this.element.open = true;
    this.on = aim !== null;
    this.box.checked = this.on;
    this.box.disabled = !this.refusal.hidden && !this.on;
    this.settings.hidden = !this.on;
    if (!aim) return;
    this.place.forEach((box, c) => {
      if (document.activeElement !== box) box.value = String(Number(aim.target[c].toFixed(3)));
    });
    this.seconds.update(aim.seconds);
    const { sides } = this.app;
    this.status.textContent = sides.map((_, q) => (sides.length > 1 ? ['Left: ', 'Right: '][q] : '') + throwText(found[q])).join('\n');
  }
}
