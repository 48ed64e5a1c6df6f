// Elements in one expression: h('button', { class: 'icon', onclick: act }, 'Play').
import { numberText } from '../../shared/numbers.js';

type Child = Node | string | null | undefined | false;
type Properties = Record<string, unknown>;

function apply(element: Element, properties: Properties): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === 'class') element.setAttribute('class', String(value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, properties);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** A number that labels and what they label share. */
let lastId = 0;
export function newId(word: string): string { return `${word}-${++lastId}`; }

/** A number with four digits, as people write it. */
export function formatNumber(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e');
    return `${Number(mantissa)}e${Number(exponent)}`;
  }
  return String(Number(value.toPrecision(digits)));
}

/** A number for reading, with a true minus and powers of ten. */
export function prettyNumber(value: number, digits = 3): string { return numberText(value, digits); }

/** m/s^2 as m/s²; "1" is no unit. */
export function prettyUnit(unit: string): string {
  if (unit === '1') return '';
  return unit.replace(/\^(\d)/g, (_, digit: string) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).replace(/ (?=[a-zA-Z])/g, '·');
}

/** rest_scale as rest scale. */
export function prettyName(name: string): string { return name.replaceAll('_', ' '); }
