// What the tests share: a browser, the address of the page, and pages that fail on every error.
//
//   HOOKE_URL   an address to test, such as the one that 'hooke view' prints; else web/dist is served
//   CHROMIUM    the browser; else Debian's
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

export async function launch() {
  const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
  if (!executablePath) throw new Error('there is no Chromium; install the package chromium or set CHROMIUM');
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
  });
}

/** A browser, and the address of the page: the one that is given, HOOKE_URL, or that of web/dist. */
export async function openPlace(url = process.env.HOOKE_URL) {
  // Under a path of its own: the page must not count on being at the root.
  const server = url ? null : await serve(dist, '/some/where/');
  const browser = await launch();
  return {
    browser,
    url: url ?? server.url,
    async close() {
      await browser.close();
      server?.close();
    },
  };
}

/** ms that a single test may take. (The option --test-timeout of Node holds for all tests of a file
 * together, which a busy machine exceeds without any fault.) */
const TEST_TIME = 120_000;

function within(time, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the test took longer than ${time / 1000} s`)), time);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs a test on a new page, which is closed whatever happens: an open one goes on computing. */
export function onPage(place, options, act) {
  return async (t) => {
    const page = await within(TEST_TIME, openPage(place(), options));
    try {
      await within(TEST_TIME, act(page, t));
    } finally {
      await page.context().close();
    }
  };
}

/** A new page at the address, with everything that went wrong in page.errors. */
export async function openPage(place, { hash = '', ready = true, init = null, ...options } = {}) {
  const context = await place.browser.newContext({ viewport: { width: 960, height: 640 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') page.errors.push(message.text()); });
  page.requests = [];
  page.on('request', (request) => page.requests.push(request.url()));
  page.on('websocket', (socket) => page.requests.push(socket.url()));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (!why.includes('ERR_ABORTED')) page.errors.push(`${request.url()} ${why}`); // left for another page
  });
  if (init) await page.addInitScript(init);
  await page.goto(place.url + hash);
  if (ready) await waitFor(page, () => window.hooke?.sides()[0].frames > 2);
  return page;
}

export async function waitFor(page, condition, argument, timeout = 30000) {
  await page.waitForFunction(condition, argument, { timeout, polling: 50 });
}

/** The machines that the page has asked for something. */
export function hostsOf(page) {
  return [...new Set(page.requests.filter((url) => /^(http|ws)/.test(url)).map((url) => new URL(url).host))];
}

export function sides(page) { return page.evaluate(() => window.hooke.sides()); }

/** Loads a built-in scene through the gallery, as a person does. */
export async function chooseScene(page, name) {
  await page.click('.scenes-button');
  await page.click(`.card[data-scene="${name}"]`);
  await waitFor(page, (wanted) => window.hooke.scene().source.builtin === wanted && window.hooke.sides()[0].frames > 0, name);
}

/** For pages that wait at the start of their scene, and leave the machine to the test. */
export const AT_REST = { reducedMotion: 'reduce', ready: false };

export function isLoaded(page) { return waitFor(page, () => window.hooke?.sides()[0].frames > 0); }

/** The part of an address that holds a scene. */
export function hashOf(shared) {
  return '#s=p' + Buffer.from(JSON.stringify(shared)).toString('base64url');
}

/** The address that the page gives for its scene. */
export async function shareAddress(page) {
  await page.click('button[aria-label="Share"]');
  await page.waitForFunction(() => document.querySelector('.address').value !== '');
  return page.inputValue('.address');
}

/** Colors of the page at points in CSS pixels, as [red, green, blue] of 0 .. 255. */
export async function colorsAt(page, points) {
  const picture = await page.screenshot();
  return page.evaluate(async ([base64, places]) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const scale = image.width / innerWidth;
    return places.map(([x, y]) => [...context.getImageData(Math.round(x * scale), Math.round(y * scale), 1, 1).data].slice(0, 3));
  }, [picture.toString('base64'), points]);
}

/** Contrast ratio of two colors as WCAG 2 defines it, from 1 (the same luminance) to 21. */
export function contrast(first, second) {
  const luminance = (color) => color.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, q) => sum + [0.2126, 0.7152, 0.0722][q] * part, 0);
  const [low, high] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** What of the banner of a blow-up cannot be read, and what lies over or under it. */
export function bannerFaults(page, side) {
  return page.evaluate((index) => {
    const banner = document.querySelector(`.side-${index} .blow-up`);
    const box = banner.getBoundingClientRect(), own = banner.closest('.side-label').getBoundingClientRect();
    const faults = [];
    if (box.left < 0 || box.right > innerWidth) faults.push(`from ${box.left} to ${box.right} of ${innerWidth} px`);
    if (box.height > own.height / 3) faults.push(`${box.height} px high, of ${own.height} px`);
    for (const part of banner.querySelectorAll('p, button'))
      if (part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth + 1) faults.push(`cut off: ${part.textContent}`);
    for (const x of [0.02, 0.25, 0.5, 0.75, 0.98])
      for (const y of [0.1, 0.5, 0.9]) {
        const top = document.elementFromPoint(box.left + x * box.width, box.top + y * box.height);
        if (!banner.contains(top)) faults.push(`covered by ${top?.id || top?.className}`);
      }
    const { pinned } = window.hooke.sides()[index]; // where the model still is
    const hidden = pinned.filter((vertex) => {
      const [x, y] = window.hooke.vertex(index, vertex).screen;
      return x > box.left && x < box.right && y > box.top && y < box.bottom;
    });
    if (hidden.length > pinned.length / 3) faults.push(`hides ${hidden.length} of ${pinned.length} vertices that are pinned`);
    for (const other of document.querySelectorAll('.corner, .legend:not([hidden]), #transport, .side-method, .toast')) {
      const at = other.getBoundingClientRect();
      if (at.width && at.left < box.right && at.right > box.left && at.top < box.bottom && at.bottom > box.top) faults.push(`over ${other.className || other.id}`);
    }
    return faults;
  }, side);
}

/** What is seen in a part of a page: the part of pixels that are clearly colored, and how many colors
 * there are. */
export async function look(page, selector) {
  const picture = await page.locator(selector).screenshot();
  return page.evaluate(async (base64) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let colored = 0;
    const seen = new Set();
    for (let q = 0; q < data.length; q += 4) {
      const [r, g, b] = [data[q], data[q + 1], data[q + 2]];
      if (Math.max(r, g, b) - Math.min(r, g, b) > 50) colored++;
      seen.add((r >> 3) * 1024 + (g >> 3) * 32 + (b >> 3));
    }
    return { colored: colored / (data.length / 4), colors: seen.size };
  }, picture.toString('base64'));
}
