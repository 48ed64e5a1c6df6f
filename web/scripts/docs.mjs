// docs/*.md of the project as plain pages beside the page, and an index from the name of each method
// to where the theory speaks of it: the section that names it most often.
//
//   node scripts/docs.mjs
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked } from 'marked';

const root = fileURLToPath(new URL('../..', import.meta.url));
const from = join(root, 'docs');
const to = fileURLToPath(new URL('../public/docs', import.meta.url));
const pages = ['theory', 'scene', 'outputs', 'robustness', 'performance', 'gpu', 'experiments', 'layouts', 'glossary', 'cli'].filter((page) => existsSync(join(from, `${page}.md`)));

/** The anchor of a heading, as code hosts make it. */
function anchor(heading) {
  return heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
}

function plain(html) {
  return html.replace(/<[^>]+>/g, '').replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

const style = `
:root { color-scheme: light dark; }
body { max-width: 54rem; margin: 2rem auto; padding: 0 1.2rem; font: 16px/1.6 system-ui, sans-serif; }
pre, code { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { padding: 0.8em 1em; overflow: auto; border-radius: 8px; background: color-mix(in srgb, currentColor 7%, transparent); }
table { border-collapse: collapse; display: block; overflow: auto; }
th, td { padding: 0.3em 0.7em; border: 1px solid color-mix(in srgb, currentColor 22%, transparent); text-align: left; vertical-align: top; }
h2, h3 { margin-top: 2em; } :target { background: color-mix(in srgb, #1c5d99 18%, transparent); }
img { max-width: 100%; } nav { display: flex; flex-wrap: wrap; gap: 1em; font-size: 0.9em; }`;

function pageHtml(page, markdown) {
  const body = marked.parse(markdown)
    .replace(/<h([1-4])>(.*?)<\/h\1>/g, (_, level, text) => `<h${level} id="${anchor(plain(text))}">${text}</h${level}>`)
    .replace(/href="([^":]+)\.md(#[^"]*)?"/g, (all, name, hash = '') => (pages.includes(name) ? `href="${name}.html${hash}"` : all));
  const links = pages.map((other) => `<a href="${other}.html">${other}</a>`).join('');
  const title = markdown.match(/^# (.*)$/m)?.[1] ?? page;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><link rel="icon" href="../icon.svg" type="image/svg+xml"><style>${style}</style></head>
<body><nav><a href="../">Play</a>${links}</nav>
${body}</body></html>
`;
}

/** Sections of a page: heading and text, the text of deeper headings not included. */
function sections(markdown) {
  const result = [];
  for (const part of markdown.split(/^(?=#{2,4} )/m)) {
    const heading = part.match(/^#{2,4} (.*)$/m)?.[1];
    if (heading && part.startsWith('#')) result.push({ heading: heading.replaceAll('`', ''), text: part });
  }
  return result;
}

/** The names of all methods: the tables of the registries list them, a line each. */
function methodNames() {
  const names = [];
  for (const folder of readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    for (const file of readdirSync(join(root, 'src', folder.name)).filter((name) => name.endsWith('.def')))
      for (const [, name] of readFileSync(join(root, 'src', folder.name, file), 'utf8').matchAll(/^HK_\w+\((\w+)/gm)) names.push(name);
  return [...new Set(names)];
}

function makeIndex() {
  const index = {};
  for (const page of ['theory', 'scene', 'outputs'].filter((name) => pages.includes(name))) {
    const parts = sections(readFileSync(join(from, `${page}.md`), 'utf8'));
    for (const name of methodNames()) {
      if (index[name]) continue;
      const count = (text) => text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0;
      const best = parts.reduce((most, part) => (count(part.text) > count(most.text) ? part : most), { heading: '', text: '' });
      if (best.heading) index[name] = `docs/${page}.html#${anchor(best.heading)}`;
    }
  }
  return index;
}

rmSync(to, { recursive: true, force: true });
mkdirSync(to, { recursive: true });
for (const page of pages) writeFileSync(join(to, `${page}.html`), pageHtml(page, readFileSync(join(from, `${page}.md`), 'utf8')));
for (const file of readdirSync(from).filter((name) => /\.(png|svg|csv)$/.test(name))) copyFileSync(join(from, file), join(to, file));
// Diagrams of these pages; the photographs beside them are those of the README.
mkdirSync(join(to, 'pictures'));
for (const file of readdirSync(join(from, 'pictures')).filter((name) => name.endsWith('.svg'))) copyFileSync(join(from, 'pictures', file), join(to, 'pictures', file));
const index = makeIndex();
writeFileSync(join(to, 'index.json'), JSON.stringify(index));
console.log(`docs: ${pages.length} pages, ${Object.keys(index).length} methods`);
