// The forces of a scene, each with a switch and its parameters; others can be added. A force that is
// switched off is taken out of the scene, and its values are kept here for when it comes back.
import type { App } from '../app';
import type { Info, MethodValue } from '../engine/protocol';
import { forceAsUsed, type SceneData, type Values } from '../scene_data';
import { docsLink } from './docs_link';
import { h, newId, prettyName } from './dom';
import { formulaElement } from './formula';
import { icon } from './icons';
import { assignment } from './method_control';
import { ParamList } from './param_list';

interface Entry {
  value: MethodValue;
  on: boolean;
}

function isWind(type: string): boolean { return type.includes('wind'); }

export class ForcesSection {
  readonly element = h('div', {});
  private list = h('div', {});
  private adder = h('select', { class: 'add-force', 'aria-label': 'Add a force' });
  private entries: Entry[] = [];
  private lists: (ParamList | null)[] = [];
  private shape = '';
  private scene = '';
  private triangles = 0;
  private up = 1;

  constructor(private app: App) {
    this.adder.addEventListener('change', () => {
      if (!this.adder.value) return;
      this.entries.push({ value: { type: this.adder.value }, on: true });
      this.send();
    });
    this.element.append(this.list, this.adder);
  }

  update(info: Info, scene: SceneData): void {
    this.triangles = info.triangles;
    this.up = scene.up;
    if (this.scene !== info.name + info.title) {
      this.scene = info.name + info.title;
      this.entries = [];
    }
    this.merge(scene.forces.filter((force) => force.type !== 'springs'));
    const shape = JSON.stringify(this.entries.map(({ value, on }) => [value.type, on]));
    if (shape !== this.shape) this.build(shape);
    else this.entries.forEach(({ value }, q) => this.lists[q]?.update(forceAsUsed(value, this.up) as Values));
  }

  /** The scene's forces in their order; those that are off keep their places between them. */
  private merge(forces: MethodValue[]): void {
    const on = this.entries.filter((entry) => entry.on);
    if (on.length === forces.length && on.every((entry, q) => entry.value.type === forces[q].type)) {
      on.forEach((entry, q) => { entry.value = forces[q]; });
      return;
    }
    const off = this.entries.filter((entry) => !entry.on);
    this.entries = [...forces.map((value) => ({ value, on: true })), ...off];
  }

  private build(shape: string): void {
    const focused = document.activeElement?.getAttribute('data-force');
    this.shape = shape;
    this.lists = [];
    this.list.replaceChildren(...this.entries.map((entry, q) => this.card(entry, q)));
    const methods = (this.app.registry.families.force ?? []).filter((force) => force.name !== 'springs');
    this.adder.replaceChildren(h('option', { value: '' }, 'Add a force …'),
      ...methods.map((force) => h('option', { value: force.name, title: force.summary }, prettyName(force.name))));
    if (focused) this.list.querySelector<HTMLElement>(`[data-force="${focused}"]`)?.focus();
  }

  private card(entry: Entry, q: number): HTMLElement {
    const schema = this.app.registry.families.force?.find((force) => force.name === entry.value.type);
    const id = newId('force');
    const box = h('input', {
      id, type: 'checkbox', 'data-force': q,
      onchange: () => {
        entry.on = box.checked;
        this.send();
      },
    });
    box.checked = entry.on;
    const place = () => this.entries.filter((other) => other.on).indexOf(entry);
    const list = schema && entry.on
      ? new ParamList(schema.params, forceAsUsed(entry.value, this.up) as Values,
        (name, value) => this.app.change([assignment(`forces[${place()}].${name}`, value)]))
      : null;
    this.lists[q] = list;
    const remove = h('button', {
      class: 'icon-button small', type: 'button', title: 'Remove this force', 'aria-label': `Remove ${prettyName(entry.value.type)}`,
      onclick: () => {
        this.entries.splice(this.entries.indexOf(entry), 1);
        this.send();
      },
    }, icon('trash'));
    return h('div', { class: `force ${entry.on ? '' : 'off'}` },
      h('div', { class: 'force-head' }, box, h('label', { for: id }, prettyName(entry.value.type)), remove),
      schema ? h('p', { class: 'summary' }, schema.summary, ' ', docsLink(schema.name)) : null,
      schema?.formula && entry.on ? formulaElement(schema.formula) : null,
      list?.element ?? null);
  }

  private send(): void {
    const forces = this.entries.filter((entry) => entry.on).map((entry) => entry.value);
    this.app.change([`forces=${JSON.stringify(forces)}`], ['forces']);
  }

  /** Wind off, the wind that was there on again, or a new one; whether it is on. */
  toggleWind(): boolean {
    const winds = this.entries.filter((entry) => isWind(entry.value.type));
    const on = !winds.some((entry) => entry.on);
    for (const entry of winds) entry.on = on;
    if (!winds.length) this.entries.push({ value: { type: this.triangles ? 'face_wind' : 'wind' }, on: true });
    this.send();
    return on;
  }
}
