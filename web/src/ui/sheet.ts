// On a phone controls and plots share a sheet below the view; a tab opens it, the same tab closes it.

export function listenToTabs(): void {
  const root = document.documentElement;
  const tabs = [...document.querySelectorAll<HTMLButtonElement>('#tabs button')];
  for (const tab of tabs)
    tab.addEventListener('click', () => {
      root.dataset.sheet = root.dataset.sheet === tab.dataset.sheet ? '' : tab.dataset.sheet;
      for (const other of tabs) other.setAttribute('aria-pressed', String(other.dataset.sheet === root.dataset.sheet));
    });
}
