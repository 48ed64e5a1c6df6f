// The controls of all parameters of a method or part: the important ones at once, the others behind
// 'more'.
import type { Param } from '../engine/protocol';
import type { Values } from '../scene_data';
import { type Control, makeControl } from './controls';
import { h } from './dom';

const SHOWN = 3;

export interface ParamListOptions {
  /** Names that are shown at once; without it the first few. */
  first?: (param: Param, value: unknown) => boolean;
}

/** Whether a value is given and not the usual one. */
export function isSpecial(param: Param, value: unknown): boolean {
  return value !== undefined && value !== null && JSON.stringify(value) !== JSON.stringify(param.default);
}

export class ParamList {
  readonly element = h('div', { class: 'params' });
  private controls = new Map<string, { control: Control; param: Param }>();

  constructor(params: Param[], values: Values, change: (name: string, value: unknown) => void, options: ParamListOptions = {}) {
    const simple = params.filter((param) => param.kind !== 'method');
    const isFirst = (param: Param, q: number) =>
      options.first ? options.first(param, values[param.name]) : q < SHOWN || simple.length === SHOWN + 1;
    const more = h('div', { class: 'params' });
    simple.forEach((param, q) => {
      const control = makeControl(param, values[param.name] ?? param.default, (value) => change(param.name, value));
      if (!control) return;
      this.controls.set(param.name, { control, param });
      (isFirst(param, q) ? this.element : more).append(control.element);
    });
    const count = more.childElementCount;
    if (count) this.element.append(h('details', { class: 'more' }, h('summary', {}, `${count} more`), more));
  }

  update(values: Values): void {
    for (const [name, { control, param }] of this.controls) control.update(values[name] ?? param.default);
  }
}
