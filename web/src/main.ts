// Puts the page together: looks at what the browser can do, opens an engine, builds the parts, and
// plays the scene that the address names, or the first one.
import './style.css';
import { App, type Shared } from './app';
import { pickEngine } from './engine/pick';
import { graphics } from './support';
import { exposeForTests } from './test_hooks';
import { SideLabels } from './ui/compare';
import { makeComputing } from './ui/computing';
import { Downloads } from './ui/download';
import { h } from './ui/dom';
import { listenToDrops, openFiles } from './ui/drop';
import { makeGallery } from './ui/gallery';
import { keyLine, makeHelp } from './ui/help';
import { listenToKeys } from './ui/keys';
import { Loading } from './ui/loading';
import { Panel } from './ui/panel';
import { makePlots } from './ui/plots';
import { decodeShared, makeShare } from './ui/share';
import { listenToTabs } from './ui/sheet';
import { makeLegend, makeStatus } from './ui/status';
import { onTheme } from './ui/theme';
import { Toasts } from './ui/toast';
import { makeTopbar } from './ui/topbar';
import { SceneView } from './view/scene_view';

function element(id: string): HTMLElement { return document.getElementById(id)!; }

/** What the address holds: a shared scene, or ?scene=NAME, a built-in one. */
async function readShared(toasts: Toasts): Promise<Shared | null> {
  try {
    const builtin = new URLSearchParams(location.search).get('scene');
    const named = builtin ? { source: { builtin }, sets: [], camera: null, compare: null, color: 'none' as const, pins: [], throw: null } : null;
    return (await decodeShared(location.hash)) ?? named;
  } catch {
    toasts.error(new Error('The scene in this address cannot be read; part of the address may be missing.'));
    return null;
  }
}

function build(app: App, toasts: Toasts, loading: Loading): ReturnType<typeof makePlots> {
  const stage = element('stage');
  const downloads = new Downloads(app);
  const onError = (error: unknown) => toasts.error(error);
  const open = (files: Parameters<typeof openFiles>[1]) => { openFiles(app, files).catch(onError); };
  const gallery = makeGallery(app, open);
  const help = makeHelp();
  const share = makeShare(app);
  app.onError.on(onError);
  app.onNote.on((text) => toasts.note(text));
  app.onLoading.on((now) => {
    loading.again(now);
    // At the start there is nothing of a former scene: what is said is about the address.
    if (now && app.sides[0].info) toasts.clear();
  });
  makeTopbar(app, downloads, {
    openGallery: () => gallery.showModal(), openHelp: () => help.showModal(), share: () => { share().catch(onError); }, onError,
  });
  const corner = h('div', { class: 'corner' });
  stage.append(corner);
  makeStatus(app, corner);
  corner.append(keyLine());
  makeLegend(app, stage);
  makeComputing(app, stage);
  new SideLabels(app, stage);
  const panel = new Panel(app, element('panel'));
  const plots = makePlots(app, element('plots'));
  listenToTabs();
  listenToDrops(open);
  listenToKeys(app, { toggleWind: () => panel.toggleWind(), openHelp: () => help.showModal(), note: (text) => toasts.note(text) });
  onTheme(() => app.view.readTheme());
  window.addEventListener('hashchange', async () => {
    const shared = await readShared(toasts);
    if (shared) await app.restore(shared);
  });
  return plots;
}

async function main(): Promise<void> {
  const loading = new Loading();
  const toasts = new Toasts(element('stage'));
  try {
    const kind = graphics();
    if (kind === 'none')
      throw new Error('This browser shows no 3D graphics (WebGL 2): it may be switched off, or the graphics driver is blocked. Any browser of the last years has it.');
    const place = await pickEngine((part) => loading.progress(part));
    const view = new SceneView(element('view') as HTMLCanvasElement, kind === 'software');
    const app = new App(place, view);
    await app.open();
    exposeForTests(app, build(app, toasts, loading));
    await app.begin(await readShared(toasts));
    loading.done();
  } catch (error) {
    loading.failed(error);
  }
}

void main();
