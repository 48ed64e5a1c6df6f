// Before anything is painted: the theme that was chosen on an earlier visit, or the system's.
(function () {
  var theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  try {
    var chosen = localStorage.getItem('hooke.theme');
    if (chosen === 'light' || chosen === 'dark') theme = chosen;
  } catch (error) {
    // Storage may be forbidden; the system's theme is then used.
  }
  document.documentElement.dataset.theme = theme;
})();
