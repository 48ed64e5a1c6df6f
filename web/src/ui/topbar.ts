// The bar on top: scenes, comparison, share, download, what to show, theme, help; and the buttons that
// play, which stand in the bar's middle, or at the foot of the view on a phone.
import type { App } from '../app';
import { compareItems } from './compare';
import { h } from './dom';
import type { Downloads } from './download';
import { icon, type IconName } from './icons';
import { makeMenu } from './menu';
import { onTheme, switchTheme, theme } from './theme';

export interface TopbarActions {
  openGallery(): void;
  openHelp(): void;
  share(): void;
  onError(error: unknown): void;
}

function button(name: string, iconName: IconName, act: () => void, key = ''): HTMLButtonElement {
  return h('button', {
    class: 'icon-button', type: 'button', 'aria-label': name, title: key ? `${name} (${key})` : name, onclick: act,
  }, icon(iconName));
}

function transport(app: App): HTMLElement {
  const play = button('Pause', 'pause', () => app.settings.set({ playing: !app.settings.get().playing }), 'Space');
  play.classList.add('play');
  app.settings.watch(({ playing }) => {
    play.replaceChildren(icon(playing ? 'pause' : 'play'));
    play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    play.title = playing ? 'Pause (Space)' : 'Play (Space)';
  });
  return h('div', { id: 'transport', role: 'group', 'aria-label': 'Play' },
    play, button('One step', 'step', () => void app.step(), '.'), button('Back to the start', 'reset', () => void app.reset(), 'R'));
}

function toggle(name: string, iconName: IconName, part: 'panel' | 'plots'): HTMLButtonElement {
  const root = document.documentElement;
  const element = button(name, iconName, () => {
    root.dataset[part] = root.dataset[part] === 'closed' ? 'open' : 'closed';
    element.setAttribute('aria-pressed', String(root.dataset[part] !== 'closed'));
  });
  element.setAttribute('aria-pressed', 'true');
  element.classList.add('desktop');
  return element;
}

export function makeTopbar(app: App, downloads: Downloads, actions: TopbarActions): void {
  const bar = document.getElementById('topbar')!;
  const title = h('span', { class: 'scene-title' }, '');
  const scenes = h('button', { class: 'scenes-button', type: 'button', title: 'Choose a scene', onclick: actions.openGallery },
    icon('gallery'), h('span', { class: 'word' }, 'Scenes'), title);
  app.onInfo.on(() => { title.textContent = app.sides[0].info?.title ?? ''; });

  const compare = makeMenu('Compare two methods', 'compare', () => compareItems(app));
  app.onSides.on(() => compare.button.setAttribute('aria-pressed', String(app.comparing)));
  let recording = false;
  const attempt = (act: () => void | Promise<void>) => () => {
    Promise.resolve().then(act).catch(actions.onError);
  };
  const download = makeMenu('Download', 'download', () => [
    { text: 'Picture', about: 'PNG of the view', act: attempt(() => downloads.picture()) },
    { text: recording ? 'Stop the film and save it' : 'Film', about: recording ? '' : 'WebM of the view, until it is stopped', act: attempt(() => downloads.film()) },
    { text: 'Shape', about: 'OBJ of the mesh as it is now', act: attempt(() => downloads.save('obj')) },
    { text: 'Numbers', about: 'CSV of energies, errors and times', act: attempt(() => downloads.table()) },
    { text: 'Scene', about: 'JSON, for hooke run', act: attempt(() => downloads.save('scene')) },
    { text: 'Checkpoint', about: 'the exact state', act: attempt(() => downloads.save('checkpoint')) },
  ]);
  const stop = h('button', { class: 'recording', type: 'button', hidden: true, onclick: attempt(() => downloads.film()) },
    icon('record'), 'Stop');
  downloads.onRecording.on((now) => {
    recording = now;
    stop.hidden = !now;
  });
  const themeButton = button('Dark or light', 'dark', switchTheme);
  onTheme(() => themeButton.replaceChildren(icon(theme() === 'dark' ? 'light' : 'dark')));
  bar.append(
    scenes, h('span', { class: 'space' }), stop, compare.element, button('Share', 'share', actions.share), download.element,
    toggle('Plots', 'plots', 'plots'), toggle('Controls', 'panel', 'panel'), themeButton,
    button('Help', 'help', actions.openHelp, 'H'));
  bar.after(transport(app));
}
