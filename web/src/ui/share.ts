// The scene, what was changed in it, and the camera in the part of the address behind '#', which never
// leaves the browser: JSON, compressed where the browser can, in base64 with letters that addresses
// allow. "z" says compressed, "p" plain.
import type { App, Shared } from '../app';
import { filesOf } from '../scene_data';
import type { Aim } from '../throw';
import { makeDialog } from './dialog';
import { h } from './dom';

const LONGEST = 200_000; // letters of an address that browsers surely keep

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let q = 0; q < bytes.length; q += 8192) text += String.fromCharCode(...bytes.subarray(q, q + 8192));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

async function pass(bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(through as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function encodeShared(shared: Shared): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(shared));
  if (typeof CompressionStream === 'undefined') return 'p' + toBase64(bytes);
  return 'z' + toBase64(await pass(bytes, new CompressionStream('deflate-raw')));
}

function isAim(value: unknown): value is Aim {
  const { target, seconds } = (value ?? {}) as Partial<Aim>;
  return Array.isArray(target) && target.length === 3 && [...target, seconds].every(Number.isFinite);
}

export async function decodeShared(hash: string): Promise<Shared | null> {
  if (!hash.startsWith('#s=')) return null;
  const match = hash.match(/^#s=([zp])([\w-]+)$/);
  if (!match) throw new Error('no shared scene');
  const bytes = fromBase64(match[2]);
  const plain = match[1] === 'z' ? await pass(bytes, new DecompressionStream('deflate-raw')) : bytes;
  const shared = JSON.parse(new TextDecoder().decode(plain)) as Partial<Shared>;
  if (!shared.source || typeof shared.source !== 'object') throw new Error('no shared scene');
  return {
    source: shared.source,
    sets: Array.isArray(shared.sets) ? shared.sets.map(String) : [],
    camera: shared.camera ?? null,
    compare: shared.compare ?? null,
    color: shared.color ?? 'none',
    throw: isAim(shared.throw) ? shared.throw : null,
    pins: Array.isArray(shared.pins) ? shared.pins.filter(Number.isInteger) : [],
  };
}

export function makeShare(app: App): () => Promise<void> {
  const field = h('input', { class: 'address', readonly: true, 'aria-label': 'Address of this scene' });
  const status = h('p', { class: 'fine', role: 'status' });
  const native = app.place.kind === 'native';
  const dialog = makeDialog('Share this scene', 'share',
    h('p', {}, 'This address holds the scene, what was changed in it, and the camera. Nothing is uploaded.'),
    native ? h('p', {}, "It holds the token of this 'hooke view', too, and opens only while that runs and where it is reached. For others, download the scene: it opens with 'hooke view', or dropped on this page elsewhere.") : null,
    field, status);
  field.addEventListener('focus', () => field.select());
  return async () => {
    const files = app.source.file ? [app.source.file] : filesOf(app.sides[0].info?.scene ?? '{}');
    if (files.length) throw new Error(`This scene reads ${files.join(', ')}, and an address holds no files. Download the scene, and share it together with ${files.length > 1 ? 'them' : 'this file'}.`);
    const address = new URL(location.href);
    address.searchParams.delete('scene'); // the address says all of it
    address.hash = 's=' + (await encodeShared(app.shared()));
    if (address.href.length > LONGEST) throw new Error('This scene is too large for an address. Download it as a scene file instead.');
    const here = new URL(location.href);
    here.hash = address.hash;
    history.replaceState(null, '', here);
    field.value = address.href;
    status.textContent = '';
    dialog.showModal();
    field.focus();
    try {
      await navigator.clipboard.writeText(address.href);
      status.textContent = 'It is in the clipboard.';
    } catch {
      status.textContent = 'Copy it from here.';
    }
  };
}
