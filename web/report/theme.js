'use strict';
/* Light or dark, before anything is drawn: as the notebook around the page says, else as the
 * system. The document gets the event 'theme' at a change. */

const darkQuery = window.matchMedia('(prefers-color-scheme: dark)');

/* The body around a frame; null where there is none, or one of another origin. */
function bodyAround() {
  try {
    return window === window.parent ? null : window.parent.document.body;
  } catch (error) {
    return null;
  }
}

function prefersDark() {
  const data = bodyAround()?.dataset ?? {};
  if (data.jpThemeLight) return data.jpThemeLight === 'false'; /* Jupyter */
  if (data.vscodeThemeKind) return !data.vscodeThemeKind.endsWith('light');
  return darkQuery.matches;
}

function applyTheme() {
  const root = document.documentElement;
  if (root.classList.contains('dark') === prefersDark()) return;
  root.classList.toggle('dark', prefersDark());
  document.dispatchEvent(new Event('theme'));
}

applyTheme();
document.documentElement.classList.toggle('framed', window !== window.parent);
darkQuery.addEventListener('change', applyTheme);
if (bodyAround()) new MutationObserver(applyTheme).observe(bodyAround(), {attributes: true});
