// The 3D view: one canvas, one camera, and one or two models side by side (one above the other where
// the canvas is tall). It draws only when something changed.
import { Plane, Vector3, WebGLRenderer } from 'three';
import type { Color, Frame, Info, ObstacleShape, Topology } from '../engine/protocol';
import type { SceneData } from '../scene_data';
import { OrbitCamera } from './camera';
import { ColorRange } from './colormap';
import { ModelLayer, type Show, WILD } from './model_layer';
import { readPalette } from './palette';
import type { Box, ObstacleHit } from './obstacle_layer';
import { firstHit, pickVertex, type Ray } from './pick_vertex';
import { layOut } from './surroundings';

/** Part of the canvas in CSS pixels, from its upper left. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

const WIDEST = 4; // a model that flies apart is framed up to so many times its first size
const NARROWEST = 0.4; // and one that draws together down to this
const LOOK_BACK = 3; // s of the motion that are framed
const TARGET_SIZE = 0.4; // radius of a target in sizes of the model
const TARGET_REACH: readonly [number, number] = [14, 30]; // px about its middle that belong to it: mouse and touch
const FALL = 1; // s in which most models come from their start to where they play

interface Bounds extends Box {
  first: number; // half the diagonal at the start
}

function include({ min, max }: Box, x: Float32Array): void {
  const stride = 3 * Math.max(1, Math.floor(x.length / 3 / 50_000));
  for (let i = 0; i + 2 < x.length; i += stride)
    for (let c = 0; c < 3; c++) {
      if (x[i + c] < min[c]) min[c] = x[i + c];
      if (x[i + c] > max[c]) max[c] = x[i + c];
    }
}

function emptyBox(): Box { return { min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] }; }

export class SceneView {
  readonly orbit = new OrbitCamera();
  readonly layers: ModelLayer[] = [];
  range = new ColorRange('none');
  private renderer: WebGLRenderer;
  private bounds: Bounds | null = null;
  private start: Box | null = null; // the bounds of a start
  private throwBox: Box | null = null; // of the targets and paths of a throw
  private recent: Box & { since: number } = { ...emptyBox(), since: 0 }; // where it was of late
  private width = 1;
  private height = 1;
  private dirty = true;
  /** While a person pulls at the model the view must not move under the hand. */
  steady = false;
  private show: Show = { faces: true, springs: false };
  private background = readPalette();

  /** simple: without smooth edges and fine pixels, for machines that draw on the CPU. */
  constructor(readonly canvas: HTMLCanvasElement, private simple: boolean) {
    this.renderer = new WebGLRenderer({ canvas, antialias: !simple, powerPreference: 'high-performance' });
    this.renderer.setScissorTest(true);
    this.setLayers(1);
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement!;
    this.width = Math.max(1, clientWidth);
    this.height = Math.max(1, clientHeight);
    this.renderer.setPixelRatio(this.simple ? 1 : Math.min(2, devicePixelRatio || 1));
    this.renderer.setSize(this.width, this.height, false);
    if (this.orbit.following) this.follow(null);
    this.draw(); // at once: the canvas is empty after a change of its size
  }

  setLayers(count: number): void {
    while (this.layers.length > count) this.layers.pop()!.dispose();
    while (this.layers.length < count) this.layers.push(new ModelLayer(this.background));
    for (const layer of this.layers) layer.show(this.show);
    this.changed();
  }

  area(index: number): Area {
    const { width, height } = this;
    if (this.layers.length === 1) return { left: 0, top: 0, width, height };
    const gap = 2;
    if (width >= height) {
      const half = (width - gap) / 2;
      return { left: index * (half + gap), top: 0, width: half, height };
    }
    const half = (height - gap) / 2;
    return { left: 0, top: index * (half + gap), width, height: half };
  }

  /** Which of the models a point of the canvas belongs to. */
  layerAt(x: number, y: number): number {
    for (let q = this.layers.length - 1; q > 0; q--) {
      const area = this.area(q);
      if (x >= area.left && y >= area.top) return q;
    }
    return 0;
  }

  setModel(index: number, info: Info, scene: SceneData, topology: Topology, frame: Frame, newView: boolean): void {
    const layer = this.layers[index];
    const { surroundings, min, max } = layOut(info, scene, frame.x);
    layer.setModel(topology, info.pinned, surroundings);
    layer.show(this.show);
    if (newView) {
      this.range.forget();
      this.start = { min, max };
      this.recent = { ...emptyBox(), since: frame.time + FALL - LOOK_BACK };
      this.bounds = { min: [...min], max: [...max], first: 0.5 * Math.hypot(...min.map((low, axis) => max[axis] - low)) || 1 };
      this.orbit.setUp(scene.up);
      this.orbit.look(info.dimension === 2);
      this.follow(null);
    }
    this.changed();
  }

  setObstacles(index: number, shapes: ObstacleShape[], info: Info, scene: SceneData, frame: Frame): void {
    const ground = shapes.length > scene.obstacles.length ? scene.obstacles.length : -1;
    this.layers[index].setObstacles(shapes, ground, layOut(info, scene, frame.x).surroundings);
    this.layers[index].obstacles.setPoses(frame.poses);
    if (this.orbit.following) this.follow(null);
    this.changed();
  }

  /** Shows the target of a throw and the path of the body; target null: there is none. */
  setThrow(index: number, target: readonly number[] | null, path: readonly number[], info: Info, scene: SceneData, frame: Frame): void {
    const layer = this.layers[index], { surroundings } = layOut(info, scene, frame.x), { flat, up } = surroundings;
    this.changed();
    if (!target) {
      layer.target.hide();
      if (this.throwBox) layer.setSurroundings(surroundings);
      this.throwBox = null;
      return;
    }
    const size = Math.hypot(...info.box_max.map((high, c) => high - info.box_min[c]));
    const below = Math.max(surroundings.floor, surroundings.water ?? -Infinity);
    layer.target.show(target, TARGET_SIZE * size, flat ? null : target.map((part, c) => (c === up ? below : part)));
    layer.target.showPath(path);
    if (this.steady) return;
    const box = emptyBox();
    for (const sign of [-1, 1]) include(box, new Float32Array(target.map((part) => part + sign * TARGET_SIZE * size)));
    include(box, new Float32Array(path));
    include(box, new Float32Array([...info.box_min, ...info.box_max]));
    this.throwBox = box;
    const center = box.min.map((low, c) => (low + box.max[c]) / 2) as [number, number, number];
    layer.setSurroundings({ ...surroundings, center, size: Math.max(...box.max.map((high, c) => high - box.min[c])) });
    if (this.orbit.following) this.bounds = this.bounds && { ...this.bounds, min: [...box.min], max: [...box.max] };
  }

  /** Whether the target of a throw is at a point of the canvas. */
  isOnTarget(x: number, y: number, touch: boolean): boolean {
    const { target } = this.layers[this.layerAt(x, y)];
    if (target.radius === 0) return false;
    const { origin, direction } = this.ray(x, y);
    const to = target.place.clone().sub(new Vector3().fromArray(origin)), along = to.dot(new Vector3().fromArray(direction));
    const reach = Math.max(target.radius, TARGET_REACH[touch ? 1 : 0] * this.pixelAngle() * along);
    return along > 0 && to.lengthSq() - along * along < reach * reach;
  }

  glowTarget(glow: boolean): void {
    for (const layer of this.layers) if (layer.target.setGlow(glow)) this.changed();
  }

  setFrame(index: number, frame: Frame, color: Color): boolean {
    if (color !== this.range.color) this.range = new ColorRange(color);
    const taken = this.layers[index]?.setFrame(frame, color, this.range) ?? false;
    if (taken && this.orbit.following && !this.steady && frame.strainMax < WILD) this.widen(frame);
    this.changed();
    return taken;
  }

  /** The view shows where the model is, and where it was in the last seconds. */
  private widen({ x, time }: Frame): void {
    if (!this.bounds) return;
    include(this.bounds, x);
    include(this.recent, x);
    if (time - this.recent.since < LOOK_BACK) return;
    Object.assign(this.bounds, { min: this.recent.min, max: this.recent.max });
    this.recent = { ...emptyBox(), since: time };
  }

  /** The model is back at its start. */
  forgetMotion(): void {
    this.recent = { ...emptyBox(), since: FALL - LOOK_BACK };
    if (this.start && this.bounds) Object.assign(this.bounds, { min: [...this.start.min], max: [...this.start.max] });
  }

  /** Lets the camera follow the model, unless a person has turned it. */
  follow(seconds: number | null): void {
    if (!this.orbit.following || !this.bounds || this.steady) return;
    const { first: alone } = this.bounds, thrown = this.throwBox;
    const first = thrown ? 0.5 * Math.hypot(...thrown.min.map((low, c) => thrown.max[c] - low)) : alone;
    const around = this.layers[0].obstacles.box();
    const min = this.bounds.min.map((low, c) => Math.min(low, around?.min[c] ?? low, thrown?.min[c] ?? low));
    const max = this.bounds.max.map((high, c) => Math.max(high, around?.max[c] ?? high, thrown?.max[c] ?? high));
    const low = new Vector3().fromArray(min), high = new Vector3().fromArray(max);
    const center = low.clone().add(high).multiplyScalar(0.5), half = high.sub(low).multiplyScalar(0.5);
    const radius = half.length();
    const area = this.area(0);
    // What falls for ever is let go rather than followed to where all of it is one dot.
    if (radius > WIDEST * first && seconds !== null) return;
    half.clampLength(NARROWEST * first, WIDEST * first);
    if (this.orbit.frame(center, half, area.width / area.height, seconds)) this.changed();
  }

  lookAgain(flat: boolean): void {
    this.orbit.look(flat);
    this.follow(null);
  }

  setShow(show: Show): void {
    this.show = show;
    for (const layer of this.layers) layer.show(show);
    this.changed();
  }

  readTheme(): void {
    this.background = readPalette();
    for (const layer of this.layers) layer.setPalette(this.background);
    this.changed();
  }

  changed(): void { this.dirty = true; }

  drawIfChanged(): void { if (this.dirty) this.draw(); }

  draw(): void {
    this.dirty = false;
    const ratio = this.renderer.getPixelRatio();
    this.layers.forEach((layer, q) => {
      const { left, top, width, height } = this.area(q);
      const bottom = this.height - top - height;
      this.renderer.setViewport(left, bottom, width, height);
      this.renderer.setScissor(left, bottom, width, height);
      layer.setViewport(width * ratio, height * ratio, ratio);
      this.renderer.render(layer.scene, this.orbit.place(width / height));
    });
  }

  /** The ray through a point of the canvas, in CSS pixels. */
  ray(x: number, y: number): Ray {
    const area = this.area(this.layerAt(x, y));
    const camera = this.orbit.place(area.width / area.height);
    const far = new Vector3(
      (2 * (x - area.left)) / area.width - 1, 1 - (2 * (y - area.top)) / area.height, 0.5).unproject(camera);
    const direction = far.sub(camera.position).normalize();
    return { origin: camera.position.toArray(), direction: direction.toArray() };
  }

  /** The vertex within some pixels of a point of the canvas, or -1. */
  pick(x: number, y: number, pixels: number): number {
    const index = this.layerAt(x, y), layer = this.layers[index];
    if (!layer.x || !layer.topology) return -1;
    const angle = pixels * this.pixelAngle();
    return pickVertex(layer.x, this.show.faces ? layer.topology.triangles : null, this.ray(x, y), angle);
  }

  /** The obstacle at a point of the canvas that can be moved; null: there is none, or a body is before it. */
  pickObstacle(x: number, y: number): ObstacleHit | null {
    const layer = this.layers[this.layerAt(x, y)], ray = this.ray(x, y);
    const hit = layer.obstacles.pick(ray);
    if (!hit?.movable || !layer.x || !layer.topology) return null;
    if (this.show.faces && firstHit(layer.x, layer.topology.triangles, ray) < hit.along) return null;
    return hit;
  }

  pixelAngle(): number { return this.orbit.pixelAngle(this.area(0).height); }

  position(index: number, vertex: number): Vector3 {
    return new Vector3().fromArray(this.layers[index].x!, 3 * vertex);
  }

  /** Where the ray of a point of the canvas meets the plane through `through` that faces the camera. */
  onPlane(x: number, y: number, through: Vector3): Vector3 {
    const { origin, direction } = this.ray(x, y);
    const facing = new Vector3();
    this.orbit.camera.getWorldDirection(facing);
    const plane = new Plane().setFromNormalAndCoplanarPoint(facing, through);
    const from = new Vector3().fromArray(origin), along = new Vector3().fromArray(direction);
    const t = -plane.distanceToPoint(from) / Math.max(1e-9, along.dot(plane.normal));
    return from.addScaledVector(along, t);
  }

  /** Where a vertex is on the canvas, in CSS pixels. */
  onScreen(index: number, vertex: number): [number, number] | null {
    return this.layers[index]?.x ? this.project(index, this.position(index, vertex)) : null;
  }

  private project(index: number, point: Vector3): [number, number] {
    const area = this.area(index);
    const p = point.project(this.orbit.place(area.width / area.height));
    return [area.left + (0.5 + 0.5 * p.x) * area.width, area.top + (0.5 - 0.5 * p.y) * area.height];
  }

  /** Where the middle of an obstacle is on the canvas, in CSS pixels. */
  obstacleOnScreen(index: number, obstacle: number): [number, number] | null {
    const middle = this.layers[index]?.obstacles.middle(obstacle);
    return middle && this.project(index, new Vector3().fromArray(middle));
  }

  /** Where the target of a throw is on the canvas, in CSS pixels. */
  targetOnScreen(index: number): [number, number] | null {
    const layer = this.layers[index]?.target;
    return layer?.radius ? this.project(index, layer.place.clone()) : null;
  }

  /** Whether a model is nowhere near the view any more, as after a fall. */
  outOfSight(index: number): boolean {
    const x = this.layers[index]?.x;
    if (!x || !this.bounds) return false;
    const stride = 3 * Math.max(1, Math.floor(x.length / 3 / 500));
    const area = this.area(index);
    const camera = this.orbit.place(area.width / area.height);
    const p = new Vector3();
    for (let i = 0; i + 2 < x.length; i += stride) {
      p.fromArray(x, i).project(camera);
      if (Math.abs(p.x) < 1.3 && Math.abs(p.y) < 1.3) return false;
    }
    return true;
  }

  dispose(): void {
    this.setLayers(0);
    this.renderer.dispose();
  }
}
