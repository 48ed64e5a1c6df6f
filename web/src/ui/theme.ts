// Light or dark: the system's choice until a person makes one here. theme.js sets it before the page
// is painted; this switches it.

const KEY = 'hooke.theme';
type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners: (() => void)[] = [];

function systemTheme(): Theme { return system.matches ? 'dark' : 'light'; }

export function theme(): Theme {
  return document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
}

function apply(next: Theme): void {
  document.documentElement.dataset.theme = next;
  for (const listener of listeners) listener();
}

/** Called when the colors have changed, and once now. */
export function onTheme(listener: () => void): void {
  listeners.push(listener);
  listener();
}

export function switchTheme(): void {
  const next: Theme = theme() === 'dark' ? 'light' : 'dark';
  try {
    if (next === systemTheme()) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // Storage may be forbidden: the choice then lasts for this visit.
  }
  apply(next);
}

system.addEventListener('change', () => apply(systemTheme()));
