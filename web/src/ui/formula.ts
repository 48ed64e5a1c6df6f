// The registry's one-line equations with raised and lowered signs: h^2 E(x+), d_s, M^-1.

/** Pieces of a formula: text as it is, raised or lowered. */
export function splitFormula(formula: string): { text: string; place: 'base' | 'up' | 'down' }[] {
  const pieces: { text: string; place: 'base' | 'up' | 'down' }[] = [];
  // Only after one or two letters: f_i has an index, per_mass is a word.
  const pattern = /\^(-?\w+)|(?<=\b[a-z]{1,2})_(\w{1,2})\b|(?<=\b[a-z])(\+)(?=[^\w(=]|$)/gi;
  let end = 0;
  for (const match of formula.matchAll(pattern)) {
    const before = formula.slice(end, match.index);
    if (before) pieces.push({ text: before, place: 'base' });
    if (match[1] !== undefined) pieces.push({ text: match[1].replace('-', '−'), place: 'up' });
    else if (match[2] !== undefined) pieces.push({ text: match[2], place: 'down' });
    else pieces.push({ text: '+', place: 'up' });
    end = match.index + match[0].length;
  }
  if (end < formula.length) pieces.push({ text: formula.slice(end), place: 'base' });
  return pieces;
}

const GREEK: Record<string, string> = { tau: 'τ', rho: 'ρ', alpha: 'α', beta: 'β', omega: 'ω', sum: 'Σ' };

function pretty(text: string): string {
  return text.replaceAll(' - ', ' − ').replace(/\b(tau|rho|alpha|beta|omega|sum)\b/g, (word) => GREEK[word]);
}

export function formulaElement(formula: string): HTMLElement {
  const element = document.createElement('p');
  element.className = 'formula';
  for (const { text, place } of splitFormula(formula)) {
    if (place === 'base') element.append(pretty(text));
    else {
      const moved = document.createElement(place === 'up' ? 'sup' : 'sub');
      moved.textContent = text;
      element.append(moved);
    }
  }
  return element;
}
