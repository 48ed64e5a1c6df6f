// What the scene is made of, and what the engine had to say about it.
import type { Info, Registry } from '../engine/protocol';
import { h, prettyNumber } from './dom';

export class SceneSection {
  readonly element = h('div', {});

  update(info: Info, left: string[], kind: string, registry: Registry): void {
    const facts: [string, string][] = [
      ['masses', info.vertices.toLocaleString('en')],
      ['springs', info.springs.toLocaleString('en')],
      ['triangles', info.triangles.toLocaleString('en')],
      ['mass in all', `${prettyNumber(info.mass)} kg`],
      ['held', info.pinned.length.toLocaleString('en')],
      ['engine', kind === 'native' ? `native, ${info.threads} threads, ${info.vectors}` : 'WebAssembly'],
      ['version', registry.version],
    ];
    const set = info.sets.map((text) => h('li', {}, h('code', {}, text.length > 90 ? text.slice(0, 88) + ' …' : text)));
    this.element.replaceChildren(
      h('p', {}, info.title),
      h('dl', { class: 'facts' }, ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
      ...[...left, ...info.notes].map((note) => h('p', { class: 'note' }, note)),
      ...(set.length ? [h('p', {}, 'Changed here:'), h('ul', { class: 'sets' }, ...set)] : []));
  }
}
