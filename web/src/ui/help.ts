// What can be done with pointer and keys.
import { h } from './dom';
import { makeDialog } from './dialog';

export const KEYS: [string, string][] = [
  ['Space', 'pause or play'],
  ['.', 'one step'],
  ['R', 'back to the start'],
  ['W', 'wind on or off'],
  ['L', 'springs'],
  ['F', 'faces'],
  ['H', 'this help'],
];

const POINTER: [string, string][] = [
  ['drag a vertex', 'pulls it, by a spring whose stiffness is set under View and pull'],
  ['drag an obstacle', 'moves it; what is in its way is pushed, and where there is no space it waits'],
  ['drag the target of a throw', 'finds the throw that reaches it; switched on under Throw at a target'],
  ['double-click a vertex', 'pins it, or releases it'],
  ['drag elsewhere', 'turns the view; with Alt also over the model'],
  ['right button or Shift', 'moves the view'],
  ['wheel', 'zooms'],
  ['touch', 'one finger pulls or turns, two move and zoom, a double tap pins'],
  ['arrows, + and −', 'turn and zoom while the view has the focus'],
  ['drop a file', 'opens a scene (.json) or a mesh (.obj .ply .stl .off .mesh .msh .node .poly .tet)'],
];

export function makeHelp(): HTMLDialogElement {
  const rows = (list: [string, string][], key: boolean) => h('dl', { class: 'help-list' },
    ...list.flatMap(([what, does]) => [h('dt', {}, key ? h('kbd', {}, what) : what), h('dd', {}, does)]));
  return makeDialog('How to play', 'help',
    h('h3', {}, 'Keys'), rows(KEYS, true),
    h('h3', {}, 'Pointer'), rows(POINTER, false),
    h('p', { class: 'fine' }, 'Hooke simulates masses joined by springs, V = ½ k (l − l₀)². Every method of the library works here, with its own words: what is set in the panel is what a scene file would say. ',
      h('a', { href: new URL('docs/theory.html', document.baseURI).href, target: '_blank', rel: 'noopener' }, 'The theory behind it')));
}

/** The keys in one line, along the edge of the view. */
export function keyLine(): HTMLElement {
  return h('p', { class: 'keys', 'aria-hidden': 'true' },
    ...KEYS.flatMap(([key, does]) => [h('span', {}, h('kbd', {}, key), does.replace('this help', 'help'))]));
}
