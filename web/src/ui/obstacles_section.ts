// Contact and obstacles: contact on or off, friction, a floor, balls and boxes that are put beside the model
// and then dragged in the view. New things stand where nothing is in their way.
import type { App } from '../app';
import type { Info, MethodValue } from '../engine/protocol';
import { groundHeight, type SceneData } from '../scene_data';
import { type Control, makeControl } from './controls';
import { h } from './dom';
import { icon } from './icons';
import { assignment } from './method_control';

/** Sizes in parts of the scene's size. */
const BALL = 0.12, BOX = 0.2, GAP = 0.05;
/** Thickness in parts of the shortest spring. */
const THICKNESS = 0.1;

interface Range {
  min: number[];
  max: number[];
}

export class ObstaclesSection {
  readonly element = h('div', { class: 'obstacles' });
  private contact = h('input', { type: 'checkbox', onchange: () => this.setContact(this.contact.checked) });
  private list = h('ul', { class: 'obstacle-list' });
  private frictionPlace = h('div', {});
  private friction: Control | null = null;
  private off: MethodValue | null = null; // the force contact that was switched off
  private scene: SceneData | null = null;
  private info: Info | null = null;
  private last = '';

  constructor(private app: App) {
    const add = (word: string, act: () => void) => h('button', { type: 'button', 'data-add': word, onclick: act }, word);
    this.element.append(
      h('label', { class: 'check' }, this.contact, 'contact'),
      this.frictionPlace,
      h('div', { class: 'obstacle-buttons', role: 'group', 'aria-label': 'Add an obstacle' },
        add('floor', () => this.addFloor()), add('ball', () => this.addBall()), add('box', () => this.addBox())),
      this.list,
      h('p', { class: 'summary' }, 'Drag a ball or a box in the view. It pushes what is in its way.'));
  }

  update(info: Info, scene: SceneData): void {
    if (this.last !== info.name + info.title) this.off = null;
    this.last = info.name + info.title;
    this.info = info;
    this.scene = scene;
    this.contact.checked = this.contactAt() >= 0;
    this.showFriction();
    this.list.replaceChildren(...info.obstacles.map((name, q) => this.row(name, q)));
  }

  private contactAt(): number { return this.scene?.forces.findIndex((force) => force.type === 'contact') ?? -1; }

  /** A slider where the force has the parameter. */
  private showFriction(): void {
    const param = this.app.registry.families.force?.find((force) => force.name === 'contact')?.params
      .find((one) => one.name === 'friction' && one.kind === 'number');
    const at = this.contactAt();
    this.frictionPlace.hidden = !param || at < 0;
    if (!param || at < 0) return;
    const value = this.scene!.forces[at].friction ?? param.default;
    if (this.friction) return this.friction.update(value);
    this.friction = makeControl({ ...param, max: param.max ?? 2 }, value, (next) => {
      const place = this.contactAt();
      if (place >= 0) this.app.change([assignment(`forces[${place}].friction`, next)]);
    });
    if (this.friction) this.frictionPlace.replaceChildren(this.friction.element);
  }

  private row(name: string, q: number): HTMLElement {
    const isGround = q === this.scene!.obstacles.length;
    return h('li', { 'data-obstacle': name }, h('span', {}, name), h('button', {
      class: 'icon-button small', type: 'button', title: 'Remove this obstacle', 'aria-label': `Remove ${name}`,
      onclick: () => {
        if (isGround) this.app.change([`forces[${this.contactAt()}].ground=false`]);
        else this.sendObstacles(this.scene!.obstacles.filter((_, other) => other !== q));
      },
    }, icon('trash')));
  }

  /** The force contact as it is, as it was before it was switched off, or a new one. */
  private contactForce(): MethodValue {
    const at = this.contactAt();
    if (at >= 0) return this.scene!.forces[at];
    const shortest = this.info?.length_min ?? 0;
    const thick = Math.min(0.01, Math.max(1e-6, THICKNESS * (shortest > 0 ? shortest : 0.01)));
    return this.off ?? { type: 'contact', thickness: thick, distance: thick };
  }

  private forcesWith(contact: MethodValue | null): string {
    const others = this.scene!.forces.filter((force) => force.type !== 'contact' && force.type !== 'springs');
    return `forces=${JSON.stringify(contact ? [...others, contact] : others)}`;
  }

  private setContact(on: boolean): void {
    if (!this.scene) return;
    const contact = this.contactForce();
    if (!on) this.off = contact;
    this.app.change([this.forcesWith(on ? contact : null)], ['forces']);
  }

  /** What obstacles are put around: the model as it is and as it began, and the other obstacles. */
  private range(): Range {
    const { box_min: min, box_max: max } = this.info!;
    const range = { min: [...min], max: [...max] };
    const x = this.app.sides[0].frame?.x ?? new Float32Array(0);
    for (let i = 0; i < x.length; i++) {
      range.min[i % 3] = Math.min(range.min[i % 3], x[i]);
      range.max[i % 3] = Math.max(range.max[i % 3], x[i]);
    }
    return range;
  }

  private size(): number {
    const { box_min: min, box_max: max } = this.info!;
    return Math.max(...max.map((high, c) => high - min[c])) || 1;
  }

  private addFloor(): void {
    if (!this.info || !this.scene) return;
    if (groundHeight(this.scene) !== null) return this.app.onNote.emit('There is a floor already.');
    const { up } = this.scene;
    const height = this.range().min[up] - GAP * this.size();
    this.app.change([this.forcesWith({ ...this.contactForce(), ground: true, height: Number(height.toPrecision(4)) })], ['forces']);
  }

  private addBall(): void {
    const radius = BALL * this.size();
    this.place('ball', radius, (center) => ({ type: 'ball', center, radius }));
  }

  private addBox(): void {
    const side = BOX * this.size();
    this.place('box', side / 2, (center) => ({ type: 'box', center, size: [side, side, side], radius: Number((0.05 * side).toPrecision(4)) }));
  }

  /** Puts a thing of so many m to each side beside all that is there. */
  private place(word: string, half: number, make: (center: number[]) => MethodValue): void {
    if (!this.info || !this.scene) return;
    const { min, max } = this.range(), box = this.app.view.layers[0].obstacles.box();
    const aside = this.scene.up === 0 ? 1 : 0;
    const edge = Math.max(max[aside], box?.max[aside] ?? -Infinity);
    const center = min.map((low, c) => (low + max[c]) / 2);
    center[aside] = edge + half + GAP * this.size();
    const ground = groundHeight(this.scene);
    if (ground !== null) center[this.scene.up] = Math.max(center[this.scene.up], ground + half);
    const names = new Set([...this.info.obstacles, ...this.scene.bodies.map((body) => body.name)]);
    let name = word;
    for (let k = 2; names.has(name); k++) name = `${word}${k}`;
    const made = { name, ...make(center.map((part) => Number(part.toPrecision(6)))) } as MethodValue;
    this.sendObstacles([...this.scene.obstacles, made]);
    this.app.onNote.emit(`A ${word} stands beside the model: drag it.`);
  }

  private sendObstacles(obstacles: MethodValue[]): void {
    const assign = [`obstacles=${JSON.stringify(obstacles)}`], remove = ['obstacles'];
    if (this.contactAt() < 0 && obstacles.length) {
      assign.push(this.forcesWith(this.contactForce()));
      remove.push('forces');
    }
    this.app.change(assign, remove);
  }
}
