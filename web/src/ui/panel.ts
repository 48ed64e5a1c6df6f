// The panel of controls: method, step, material, forces, obstacles, view, and what the scene is made of. It is
// built from the registry and from what the engine returns about the scene.
import type { App } from '../app';
import type { SceneData, Values } from '../scene_data';
import { h } from './dom';
import { ForcesSection } from './forces_section';
import { assignment, MethodControl } from './method_control';
import { ObstaclesSection } from './obstacles_section';
import { isSpecial, ParamList } from './param_list';
import { partSchema, section } from './parts';
import { SceneSection } from './scene_section';
import { StepSection } from './step_section';
import { ThrowSection } from './throw_section';
import { viewSection } from './view_section';

export class Panel {
  private method: MethodControl | null = null;
  private methodPlace = h('div', {});
  private sideTabs = h('div', { class: 'side-tabs', role: 'group', 'aria-label': 'Whose method', hidden: true });
  private step: StepSection;
  private material = h('div', {});
  private materialKey = '';
  private materialLists: { list: ParamList; read: (scene: SceneData) => Values }[] = [];
  private forces: ForcesSection;
  private obstacles: ObstaclesSection;
  private throwing: ThrowSection;
  private about: SceneSection;

  constructor(private app: App, place: HTMLElement) {
    this.step = new StepSection(app);
    this.forces = new ForcesSection(app);
    this.obstacles = new ObstaclesSection(app);
    this.throwing = new ThrowSection(app);
    this.about = new SceneSection();
    place.append(
      section('Method', true, this.sideTabs, this.methodPlace),
      section('Step', true, this.step.element),
      section('Springs and mass', true, this.material),
      section('Forces', true, this.forces.element),
      section('Contact and obstacles', true, this.obstacles.element),
      this.throwing.element,
      section('View and pull', true, viewSection(app)),
      section('Scene', false, this.about.element),
    );
    app.onInfo.on((index) => {
      if (index === app.active) this.showMethod();
      if (index === 0) this.showScene();
    });
    app.onSides.on(() => {
      this.showTabs();
      this.showMethod();
    });
  }

  private showTabs(): void {
    const { app } = this;
    this.sideTabs.hidden = !app.comparing;
    this.sideTabs.replaceChildren(...app.sides.map((_, q) => h('button', {
      type: 'button', 'aria-pressed': String(q === app.active), onclick: () => app.setActive(q),
    }, q === 0 ? 'Left' : 'Right')));
  }

  private showMethod(): void {
    const info = this.app.activeSide.info;
    if (!info) return;
    if (this.method) this.method.update(info.integrator);
    else {
      this.method = new MethodControl(this.app.registry, 'integrator', 'integrator', 'integrator',
        (assign, remove) => this.app.change(assign, remove), info.integrator);
      this.methodPlace.append(this.method.element);
    }
    this.step.update(this.app.activeSide);
  }

  private showScene(): void {
    const { info, scene } = this.app.sides[0];
    if (!info || !scene) return;
    this.showMaterial(scene);
    this.forces.update(info, scene);
    this.obstacles.update(info, scene);
    this.throwing.update(info);
    this.about.update(info, this.app.view.layers[0].notes, this.app.place.kind, this.app.registry);
    this.step.update(this.app.activeSide);
  }

  private showMaterial(scene: SceneData): void {
    // Which controls there are depends on the bodies and on which values are given.
    const key = JSON.stringify(scene.bodies.map((body) => [body.name, Object.keys(body.springs), Object.keys(body.mass)]));
    if (key === this.materialKey) {
      for (const { list, read } of this.materialLists) list.update(read(scene));
      return;
    }
    this.materialKey = key;
    this.materialLists = [];
    this.material.replaceChildren(...scene.bodies.map((body, q) => h('div', { class: 'body' },
      scene.bodies.length > 1 ? h('h3', {}, body.name) : null,
      this.part('springs', q, (from) => from.bodies[q]?.springs ?? {}, scene, ['damping']),
      this.part('mass', q, (from) => from.bodies[q]?.mass ?? {}, scene, []))));
  }

  private part(name: string, body: number, read: (scene: SceneData) => Values, scene: SceneData, always: string[]): HTMLElement {
    const list = new ParamList(partSchema(this.app, name).params, read(scene),
      (param, value) => this.app.change([assignment(`bodies[${body}].${name}.${param}`, value)]),
      { first: (param, value) => always.includes(param.name) || (typeof value === 'number' && isSpecial(param, value)) });
    this.materialLists.push({ list, read });
    return h('div', { class: 'part' }, h('h3', {}, name), list.element);
  }

  toggleWind(): boolean { return this.forces.toggleWind(); }
}
