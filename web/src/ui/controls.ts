// One control for one parameter of a schema: what kind it is, its unit, its range and its sentence
// all come from the registry.
import type { Param } from '../engine/protocol';
import { formatNumber, h, newId, prettyName, prettyNumber, prettyUnit } from './dom';
import { type Scale, scaleOf } from './scale';

export interface Control {
  element: HTMLElement;
  /** Shows another value, unless a person is changing it right now. */
  update(value: unknown): void;
}

export type Change = (value: unknown) => void;

const SLIDER_STEPS = 1000;

export function rangeText(param: Param): string {
  const { min, max } = param;
  if (min === null && max === null) return '';
  if (max === null) return `at least ${prettyNumber(min!)}`;
  if (min === null) return `at most ${prettyNumber(max)}`;
  return `${prettyNumber(min)} to ${prettyNumber(max)}`;
}

/** Name, unit and, when the name is pressed, the sentence that explains it. */
function row(param: Param, id: string, ...parts: HTMLElement[]): HTMLElement {
  const unit = prettyUnit(param.unit);
  const range = rangeText(param);
  const sentence = param.help + (range ? ` (${range})` : '');
  const help = h('p', { class: 'help-text', id: `${id}-help`, hidden: true }, sentence);
  const label = h('label', { for: id, title: sentence }, prettyName(param.name),
    unit ? h('span', { class: 'unit' }, unit) : null);
  const toggle = h('button', {
    class: 'why', type: 'button', 'aria-label': `What is ${prettyName(param.name)}?`, 'aria-expanded': 'false',
    title: sentence,
    onclick: () => {
      help.hidden = !help.hidden;
      toggle.setAttribute('aria-expanded', String(!help.hidden));
    },
  }, 'i');
  return h('div', { class: `row kind-${param.kind}`, 'data-param': param.name },
    h('div', { class: 'row-name' }, label, toggle), ...parts, help);
}

function numberBox(id: string, label: string, change: (value: number | null) => void): HTMLInputElement {
  const box = h('input', {
    id, class: 'number', type: 'text', inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false',
    'aria-label': label,
  });
  const take = () => {
    const text = box.value.trim().replace(',', '.').replace('−', '-');
    const value = text === '' ? null : Number(text);
    const wrong = value !== null && !Number.isFinite(value);
    box.setAttribute('aria-invalid', String(wrong));
    if (!wrong) change(value);
  };
  box.addEventListener('change', take);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') take();
  });
  return box;
}

function clamp(param: Param, value: number): number {
  return Math.min(param.max ?? Infinity, Math.max(param.min ?? -Infinity, value));
}

function numberControl(param: Param, start: unknown, change: Change): Control {
  const id = newId(param.name);
  let value = typeof start === 'number' ? start : null;
  let scale: Scale | null = value === null ? null : scaleOf(param, value);
  let sliding = false;
  const slider = h('input', {
    type: 'range', min: 0, max: SLIDER_STEPS, step: 1, tabindex: 0, 'aria-label': prettyName(param.name),
    'aria-describedby': `${id}-help`,
  });
  const box = numberBox(id, prettyName(param.name), (typed) => {
    if (typed === null) return show();
    const kept = clamp(param, param.kind === 'integer' ? Math.round(typed) : typed);
    if (kept !== value) change((value = kept));
    show();
  });
  box.placeholder = 'not given';

  function show(): void {
    if (value !== null && (!scale || value < scale.low || value > scale.high)) scale = scaleOf(param, value);
    slider.disabled = value === null;
    box.value = value === null ? '' : formatNumber(value);
    if (value !== null && scale && !sliding) slider.value = String(Math.round(SLIDER_STEPS * scale.position(value)));
    slider.setAttribute('aria-valuetext', value === null ? 'not given' : `${formatNumber(value)} ${prettyUnit(param.unit)}`);
    slider.style.setProperty('--part', `${(Number(slider.value) / SLIDER_STEPS) * 100}%`);
  }
  slider.addEventListener('input', () => {
    sliding = true;
    const raw = clamp(param, scale!.value(Number(slider.value) / SLIDER_STEPS));
    const next = param.kind === 'integer' ? Math.round(raw) : Number(raw.toPrecision(4));
    if (next !== value) change((value = next));
    show();
  });
  slider.addEventListener('change', () => {
    sliding = false;
    show();
  });
  show();
  return {
    element: row(param, id, h('div', { class: 'slide' }, slider, box)),
    update(next) {
      if (sliding || document.activeElement === box) return;
      value = typeof next === 'number' ? next : null;
      show();
    },
  };
}

function booleanControl(param: Param, start: unknown, change: Change): Control {
  const id = newId(param.name);
  const box = h('input', { id, type: 'checkbox', 'aria-describedby': `${id}-help`, onchange: () => change(box.checked) });
  box.checked = start === true;
  const element = row(param, id, box);
  return { element, update: (value) => { box.checked = value === true; } };
}

function choiceControl(param: Param, start: unknown, change: Change): Control {
  const id = newId(param.name);
  const select = h('select', { id, 'aria-describedby': `${id}-help`, onchange: () => change(select.value) },
    ...(param.choices ?? []).map((choice) => h('option', { value: choice }, prettyName(choice))));
  select.value = String(start ?? param.default ?? '');
  return { element: row(param, id, select), update: (value) => { select.value = String(value); } };
}

function vectorControl(param: Param, start: unknown, change: Change): Control {
  const id = newId(param.name);
  let value = (Array.isArray(start) ? start : [0, 0, 0]) as number[];
  let direction = value; // what the slider scales, also once it was at zero
  const length = () => Math.hypot(...value);
  const size: Param = { ...param, kind: 'number', min: 0, max: null, default: Math.hypot(...((param.default as number[]) ?? [1])) };
  let scale = scaleOf(size, length());
  const boxes = [0, 1, 2].map((axis) => numberBox(axis === 0 ? id : `${id}-${axis}`, `${prettyName(param.name)} ${'xyz'[axis]}`, (typed) => {
    if (typed === null) return show();
    value = value.map((old, q) => (q === axis ? typed : old));
    if (length() > 0) direction = value;
    change(value);
    show();
  }));
  let sliding = false;
  const slider = h('input', {
    type: 'range', min: 0, max: SLIDER_STEPS, 'aria-label': `${prettyName(param.name)}, size`,
    'aria-describedby': `${id}-help`,
    oninput: () => {
      sliding = true;
      const known = Math.hypot(...direction);
      const unit = known > 0 ? direction.map((part) => part / known) : [1, 0, 0];
      const wanted = scale.value(Number(slider.value) / SLIDER_STEPS);
      value = unit.map((part) => Number((part * wanted).toPrecision(4)));
      change(value);
      show();
    },
    onchange: () => { sliding = false; },
  });
  function show(): void {
    if (length() > scale.high) scale = scaleOf(size, length());
    boxes.forEach((box, axis) => { box.value = formatNumber(value[axis]); });
    if (!sliding) slider.value = String(Math.round(SLIDER_STEPS * scale.position(length())));
    slider.setAttribute('aria-valuetext', `${formatNumber(length())} ${prettyUnit(param.unit)}`);
    slider.style.setProperty('--part', `${(Number(slider.value) / SLIDER_STEPS) * 100}%`);
  }
  show();
  return {
    element: row(param, id, h('div', { class: 'vector' }, slider, h('div', { class: 'boxes' }, ...boxes))),
    update(next) {
      if (!Array.isArray(next) || sliding || boxes.includes(document.activeElement as HTMLInputElement)) return;
      value = next as number[];
      if (length() > 0) direction = value;
      show();
    },
  };
}

/** null for kinds that are set in scene files alone: tables, selections, texts. */
export function makeControl(param: Param, value: unknown, change: Change): Control | null {
  switch (param.kind) {
    case 'number':
    case 'integer': return numberControl(param, value, change);
    case 'boolean': return booleanControl(param, value, change);
    case 'choice': return choiceControl(param, value, change);
    case 'vector': return vectorControl(param, value, change);
    default: return null;
  }
}
