// A window over the page, closed by Escape, its button, or a press beside it.
import { h } from './dom';
import { icon } from './icons';

export function makeDialog(title: string, name: string, ...content: (HTMLElement | null)[]): HTMLDialogElement {
  const dialog = h('dialog', { class: `dialog ${name}`, 'aria-labelledby': `${name}-title` },
    h('div', { class: 'dialog-body' },
      h('header', {}, h('h2', { id: `${name}-title` }, title),
        h('button', { class: 'icon-button', type: 'button', 'aria-label': 'Close', onclick: () => dialog.close() }, icon('close'))),
      ...content));
  // The body covers the dialog, so that a press on the dialog itself is one beside it.
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  return dialog;
}
