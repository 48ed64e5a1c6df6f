// Messages over the view: errors in the engine's words, which stay until they are closed, and short
// notes, which go by themselves.
import { EngineError } from '../engine/engine';
import { h } from './dom';
import { icon } from './icons';

const NOTE_TIME = 4000; // ms
const MOST = 3;

export class Toasts {
  private place = h('div', { class: 'toasts' });

  constructor(parent: HTMLElement) { parent.append(this.place); }

  error(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    const where = error instanceof EngineError && error.line
      ? `line ${error.line}${error.column ? `, column ${error.column}` : ''}`
      : '';
    this.add('alert', 'error', where, text);
  }

  note(text: string): void {
    const toast = this.add('status', 'note', '', text);
    setTimeout(() => toast.remove(), NOTE_TIME);
  }

  clear(): void { this.place.replaceChildren(); }

  private add(role: string, kind: string, where: string, text: string): HTMLElement {
    // The same thing twice is said once.
    for (const old of [...this.place.children]) if (old.getAttribute('data-text') === text) old.remove();
    while (this.place.childElementCount >= MOST) this.place.firstElementChild!.remove();
    const toast = h('div', { class: `toast ${kind}`, role, 'data-text': text },
      h('div', { class: 'toast-text' }, where ? h('strong', {}, where) : null, h('span', {}, text)),
      h('button', { class: 'icon-button small', type: 'button', 'aria-label': 'Close this message', onclick: () => toast.remove() },
        icon('close')));
    this.place.append(toast);
    return toast;
  }
}
