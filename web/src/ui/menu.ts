// A button with a list of things to do below it. Arrow keys go through the list, Escape closes it.
import { h } from './dom';
import { icon, type IconName } from './icons';

export interface MenuItem {
  text: string;
  about?: string;
  act: () => void;
}

export interface Menu {
  element: HTMLElement;
  button: HTMLButtonElement;
}

/** items is asked each time the menu opens. */
export function makeMenu(name: string, iconName: IconName, items: () => MenuItem[]): Menu {
  const list = h('div', { class: 'menu-list', role: 'menu', hidden: true });
  const button = h('button', {
    class: 'icon-button', type: 'button', 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-label': name, title: name,
  }, icon(iconName));
  const element = h('div', { class: 'menu' }, button, list);

  function close(): void {
    list.hidden = true;
    button.setAttribute('aria-expanded', 'false');
  }
  function open(): void {
    list.replaceChildren(...items().map((item) => h('button', {
      type: 'button', role: 'menuitem',
      onclick: () => {
        close();
        button.focus();
        item.act();
      },
    }, h('span', {}, item.text), item.about ? h('small', {}, item.about) : null)));
    list.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    (list.firstElementChild as HTMLElement | null)?.focus();
  }
  button.addEventListener('click', () => (list.hidden ? open() : close()));
  element.addEventListener('keydown', (event) => {
    const entries = [...list.children] as HTMLElement[];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Escape' && !list.hidden) {
      close();
      button.focus();
    } else if (event.key === 'ArrowDown' && at >= 0) entries[(at + 1) % entries.length].focus();
    else if (event.key === 'ArrowUp' && at >= 0) entries[(at + entries.length - 1) % entries.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener('pointerdown', (event) => {
    if (!list.hidden && !element.contains(event.target as Node)) close();
  });
  element.addEventListener('focusout', (event) => {
    if (!list.hidden && event.relatedTarget && !element.contains(event.relatedTarget as Node)) close();
  });
  return { element, button };
}
