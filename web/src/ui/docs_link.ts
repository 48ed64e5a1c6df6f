// Where a method is explained: docs/ beside the page, made from the project's documentation when the
// page is built, with an index from methods to places in it.
import { h } from './dom';

type Index = Record<string, string>;

let index: Promise<Index> | null = null;

async function readIndex(): Promise<Index> {
  try {
    const response = await fetch(new URL('docs/index.json', document.baseURI));
    return response.ok ? ((await response.json()) as Index) : {};
  } catch {
    return {};
  }
}

/** A link that appears once it is known where it leads. */
export function docsLink(method: string): HTMLElement {
  const place = h('span', {});
  index ??= readIndex();
  void index.then((known) => {
    if (known[method])
      place.replaceChildren(h('a', {
        href: new URL(known[method], document.baseURI).href, target: '_blank', rel: 'noopener',
        'aria-label': `${method} in the documentation, in a new tab`,
      }, 'More in the docs'));
  });
  return place;
}
