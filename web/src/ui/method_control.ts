// A method with its parameters: which one of its family, what it does, its equation, and the methods
// that are nested in it, each in the same way.
import type { Method, MethodValue, Registry } from '../engine/protocol';
import type { Values } from '../scene_data';
import { docsLink } from './docs_link';
import { h, newId, prettyName } from './dom';
import { formulaElement } from './formula';
import { ParamList } from './param_list';

export type ChangeScene = (assign: string[], remove?: string[]) => void;

export function assignment(path: string, value: unknown): string {
  return `${path}=${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

export class MethodControl {
  readonly element = h('div', { class: 'method' });
  private type = '';
  private list: ParamList | null = null;
  private nested = new Map<string, MethodControl>();
  private select: HTMLSelectElement | null = null;
  private selectId = newId('method');

  constructor(
    private registry: Registry, private family: string, private name: string, private path: string,
    private change: ChangeScene, value: MethodValue,
  ) { this.update(value); }

  update(value: MethodValue): void {
    if (value.type !== this.type) return this.build(value);
    if (this.select) this.select.value = value.type; // a choice that was refused goes back
    this.list?.update(value as Values);
    for (const [name, control] of this.nested) if (value[name]) control.update(value[name] as MethodValue);
  }

  private methods(): Method[] { return this.registry.families[this.family] ?? []; }

  private build(value: MethodValue): void {
    // A rebuild would lose the place of whoever works with the keyboard.
    const focused = document.activeElement?.id === this.selectId;
    this.type = value.type;
    this.nested.clear();
    this.list = null;
    const schema = this.methods().find((method) => method.name === value.type);
    this.element.replaceChildren(this.picker(value.type));
    if (schema) this.describe(schema, value);
    if (focused) document.getElementById(this.selectId)?.focus();
  }

  private picker(type: string): HTMLElement {
    const id = this.selectId;
    const select = h('select', {
      id, 'data-method': this.path,
      // All at once: what was set inside the former method means nothing to the new one.
      onchange: () => this.change([`${this.path}=${JSON.stringify({ type: select.value })}`], [this.path]),
    }, ...this.methods().map((method) =>
      h('option', { value: method.name, title: method.summary }, prettyName(method.name))));
    select.value = type;
    this.select = select;
    return h('div', { class: 'row kind-method' },
      h('div', { class: 'row-name' }, h('label', { for: id }, prettyName(this.name))), select);
  }

  private describe(schema: Method, value: MethodValue): void {
    this.element.append(h('p', { class: 'summary' }, schema.summary, ' ', docsLink(schema.name)));
    if (schema.formula) this.element.append(formulaElement(schema.formula));
    this.list = new ParamList(schema.params, value as Values,
      (name, next) => this.change([assignment(`${this.path}.${name}`, next)]));
    this.element.append(this.list.element);
    for (const param of schema.params) {
      const inner = value[param.name];
      if (param.kind !== 'method' || !param.family || !inner) continue;
      const control = new MethodControl(
        this.registry, param.family, param.name, `${this.path}.${param.name}`, this.change, inner as MethodValue);
      control.element.classList.add('nested');
      this.nested.set(param.name, control);
      this.element.append(control.element);
    }
  }
}
