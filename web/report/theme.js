'use strict';
/* Light or dark, before anything is drawn: as the notebook around the page says, else as the
 * system. A change is told to the document as the event 'theme'. */

const darkQuery = window.matchMedia('(prefers-color-scheme: dark)');

/* The body around a frame; null where there is none, or one of another origin. */
function bodyAround() {
  try {
    return window === window.parent ? null : window.parent.document.body;
  } catch (error) {
    return null;
  }
}

function wantsDark() {
  const told = bodyAround()?.dataset ?? {};
  if (told.jpThemeLight) return told.jpThemeLight === 'false'; /* Jupyter */
  if (told.vscodeThemeKind) return !told.vscodeThemeKind.endsWith('light');
  return darkQuery.matches;
}

function applyTheme() {
  const root = document.documentElement;
  if (root.classList.contains('dark') === wantsDark()) return;
  root.classList.toggle('dark', wantsDark());
  document.dispatchEvent(new Event('theme'));
}

applyTheme();
document.documentElement.classList.toggle('framed', window !== window.parent);
darkQuery.addEventListener('change', applyTheme);
if (bodyAround()) new MutationObserver(applyTheme).observe(bodyAround(), {attributes: true});
