// The built-in scenes with their pictures, and a way to open an own file.
import type { App, OpenedFile } from '../app';
import { makeDialog } from './dialog';
import { h, prettyName } from './dom';
import { icon } from './icons';

function picture(name: string): HTMLElement {
  const there = __THUMBS__.includes(name);
  const image = h('span', { class: 'thumb', 'aria-hidden': 'true' });
  // As a mask, so that the drawing takes the colour of the theme.
  if (there) image.style.setProperty('--thumb', `url("${new URL(`thumbs/${name}.svg`, document.baseURI).href}")`);
  else image.classList.add('none');
  return image;
}

export function makeGallery(app: App, open: (files: OpenedFile[]) => void): HTMLDialogElement {
  const cards = h('div', { class: 'cards' });
  const choose = h('input', {
    type: 'file', multiple: true, hidden: true, accept: '.json,.obj,.ply,.stl,.off,.mesh,.msh,.node,.ele,.edge,.tet',
    onchange: async () => {
      dialog.close();
      open(await readFiles(choose.files));
      choose.value = '';
    },
  });
  const openButton = h('button', { class: 'text-button wide', type: 'button', onclick: () => choose.click() },
    icon('open'), 'Open your own scene or mesh …');
  const dialog = makeDialog('Scenes', 'gallery', cards,
    h('p', { class: 'fine' }, 'Files stay on this machine. They can also be dropped anywhere on the page: JSON scenes, and OBJ, PLY, STL, OFF, MEDIT, Gmsh or TetGen meshes.'),
    openButton, choose);
  for (const scene of app.registry.scenes)
    cards.append(h('button', {
      class: 'card', type: 'button', 'data-scene': scene.name,
      onclick: () => {
        dialog.close();
        app.view.canvas.focus({ preventScroll: true }); // else Space would open the gallery again
        void app.load({ builtin: scene.name });
      },
    }, picture(scene.name), h('strong', {}, prettyName(scene.name)), h('span', {}, scene.title)));
  app.onInfo.on(() => {
    for (const card of cards.querySelectorAll<HTMLElement>('.card'))
      card.setAttribute('aria-current', String(card.dataset.scene === app.source.builtin));
  });
  return dialog;
}

export async function readFiles(list: FileList | null): Promise<OpenedFile[]> {
  return Promise.all([...(list ?? [])].map(async (file) => ({
    name: file.name, bytes: new Uint8Array(await file.arrayBuffer()),
  })));
}
