// What the sections of the panel share.
import type { App } from '../app';
import type { Method } from '../engine/protocol';
import { h } from './dom';

export function section(title: string, open: boolean, ...content: HTMLElement[]): HTMLDetailsElement {
  return h('details', { class: 'section', open }, h('summary', {}, h('h2', {}, title)),
    h('div', { class: 'section-body' }, ...content));
}

/** One of the fixed parts of a scene, such as springs or mass. */
export function partSchema(app: App, name: string): Method {
  return app.registry.families.part?.find((part) => part.name === name) ??
    { name, summary: '', formula: null, params: [] };
}
