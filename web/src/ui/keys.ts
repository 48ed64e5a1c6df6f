// Keys that work wherever the focus is, unless it is where one types or chooses.
import type { App } from '../app';

export interface KeyActions {
  toggleWind(): boolean;
  openHelp(): void;
  note(text: string): void;
}

/** Whether a key belongs to the element that has the focus. */
function isTaken(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog')) return true;
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLInputElement && target.type !== 'range' && target.type !== 'checkbox') return true;
  return key === ' ' && target.closest('button, summary, a, input') !== null;
}

export function listenToKeys(app: App, actions: KeyActions): void {
  const act: Record<string, () => void> = {
    ' ': () => app.settings.set({ playing: !app.settings.get().playing }),
    '.': () => void app.step(),
    r: () => void app.reset(),
    w: () => actions.note(actions.toggleWind() ? 'Wind on' : 'Wind off'),
    l: () => app.settings.set({ springs: !app.settings.get().springs }),
    f: () => app.settings.set({ faces: !app.settings.get().faces }),
    h: () => actions.openHelp(),
  };
  window.addEventListener('keydown', (event) => {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey || !(key in act) || isTaken(event.target, key)) return;
    event.preventDefault();
    if (event.repeat && key !== '.') return;
    act[key]();
  });
  // A control that was used with the mouse would keep keys for itself: Space, or the letters by which
  // a list is searched. Who goes by Tab stays where they are.
  let pointer = false;
  window.addEventListener('pointerdown', () => { pointer = true; }, true);
  window.addEventListener('keydown', () => { pointer = false; }, true);
  const release = () => app.view.canvas.focus({ preventScroll: true });
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest?.('#topbar button, #transport button, #panel button, #panel summary, .computing button');
    if (button && event.detail > 0 && !button.getAttribute('aria-haspopup')) release();
  });
  document.addEventListener('change', (event) => {
    const control = event.target as HTMLElement;
    const typed = control instanceof HTMLInputElement && control.type !== 'range' && control.type !== 'checkbox';
    if (pointer && !typed && control.matches('#panel *, .side-label *')) setTimeout(release);
  });
}
