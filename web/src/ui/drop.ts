// A file that is dropped anywhere on the page is opened: a scene, or a mesh with what belongs to it.
import type { App, OpenedFile } from '../app';
import { h } from './dom';
import { readFiles } from './gallery';

/** Loads opened files: the scene among them with its meshes, or the first mesh. */
export async function openFiles(app: App, files: OpenedFile[]): Promise<void> {
  if (!files.length) return;
  const scene = files.find((file) => file.name.toLowerCase().endsWith('.json'));
  const others = files.filter((file) => file !== scene);
  if (scene) await app.load({ scene: new TextDecoder().decode(scene.bytes), name: scene.name }, [], others);
  else {
    // Of TetGen's files the one with the vertices stands for all.
    const mesh = others.find((file) => !/\.(ele|edge)$/i.test(file.name)) ?? others[0];
    await app.load({ file: mesh.name }, [], others);
  }
}

export function listenToDrops(open: (files: OpenedFile[]) => void): void {
  const cover = h('div', { class: 'drop-cover', hidden: true }, h('p', {}, 'Drop a scene or a mesh'));
  document.body.append(cover);
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  let depth = 0; // of elements that were entered and not left
  window.addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    depth++;
    cover.hidden = false;
  });
  window.addEventListener('dragleave', () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) cover.hidden = true;
  });
  window.addEventListener('dragover', (event) => { if (hasFiles(event)) event.preventDefault(); });
  window.addEventListener('drop', (event) => {
    depth = 0;
    cover.hidden = true;
    if (!hasFiles(event)) return;
    event.preventDefault();
    void readFiles(event.dataTransfer!.files).then(open);
  });
}
