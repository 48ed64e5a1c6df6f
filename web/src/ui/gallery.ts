// The built-in scenes with their pictures, and a way to open an own file.
import type { App, OpenedFile } from '../app';
import { makeDialog } from './dialog';
import { h, prettyName } from './dom';
import { icon } from './icons';

const SVG = 'http://www.w3.org/2000/svg';

function picture(name: string): HTMLElement {
  const place = h('span', { class: 'thumb', 'aria-hidden': 'true' });
  if (!__THUMBS__.includes(name)) return place;
  // By reference, so that the drawing takes the color of the theme.
  const image = document.createElementNS(SVG, 'svg'), drawing = document.createElementNS(SVG, 'use');
  image.setAttribute('viewBox', '0 0 240 160');
  image.append(drawing);
  // Not before somebody looks: the page loads sooner without.
  new IntersectionObserver((changes, observer) => {
    if (!changes.some((change) => change.isIntersecting)) return;
    drawing.setAttribute('href', `${new URL(`thumbs/${name}.svg`, document.baseURI).href}#drawing`);
    observer.disconnect();
  }).observe(place);
  place.append(image);
  return place;
}

export function makeGallery(app: App, open: (files: OpenedFile[]) => void): HTMLDialogElement {
  const cards = h('div', { class: 'cards' });
  const choose = h('input', {
    type: 'file', multiple: true, hidden: true, accept: '.json,.obj,.ply,.stl,.off,.mesh,.msh,.node,.ele,.edge,.poly,.tet',
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
