// One model in three.js: faces, springs, masses, pins, the handle that drags a vertex. All share one
// buffer of positions, into which each frame's message goes as it is.
import {
  BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, LineSegments, Mesh, Points, Scene,
  ShaderMaterial, Vector2, Vector3, Vector4, type IUniform,
} from 'three';
import type { Color, Frame, ObstacleShape, Topology } from '../engine/protocol';
import { Backdrop, type Surroundings } from './backdrop';
import { bareSprings } from './bare_springs';
import { type ColorRange, colorTexture } from './colormap';
import { ObstacleLayer } from './obstacle_layer';
import { addNormals } from '../../shared/normals.js';
import { markedPins } from '../../shared/pins.js';
import { isClosed, SMOOTH_LIMIT } from './normals';
import type { Palette } from './palette';
import { makeRibbons, type Ribbons } from './ribbons';
import { FACES, LINES, POINTS } from './shaders';
import { TargetLayer } from './target_layer';

const LINE_LIMIT = 3_000_000; // springs; above, they are not drawn
const RIBBON_LIMIT = 20_000;
const PIN_LIMIT = 50_000;
const MASS_LIMIT = 5_000;
/** Strain from which on a model counts as flying apart: ten times as long as at rest. */
export const WILD = 10;

export interface Show {
  faces: boolean;
  springs: boolean;
}

export class ModelLayer {
  readonly scene = new Scene();
  readonly obstacles = new ObstacleLayer(this.scene);
  readonly target: TargetLayer;
  /** What is left out because there is too much of it. */
  notes: string[] = [];
  topology: Topology | null = null;
  x: Float32Array | null = null;
  private color: Color = 'none';
  private valueUniforms: Record<string, IUniform> = {
    map: { value: colorTexture('strain') }, range: { value: new Vector2(0, 1) }, useValues: { value: 0 },
  };
  private backdrop: Backdrop;
  private position: BufferAttribute | null = null;
  private normal: BufferAttribute | null = null;
  private value: BufferAttribute | null = null;
  private faces: Mesh<BufferGeometry, ShaderMaterial>;
  private lines: LineSegments<BufferGeometry, ShaderMaterial>;
  private masses: Points<BufferGeometry, ShaderMaterial>;
  private pins: Points<BufferGeometry, ShaderMaterial>;
  private hover: Points<BufferGeometry, ShaderMaterial>;
  private handleEnds = new BufferAttribute(new Float32Array(6), 3);
  private handle: LineSegments<BufferGeometry, ShaderMaterial>;
  private handleVertex = -1;
  private ribbons: Ribbons | null = null;
  private smooth = false;
  private few = false;
  private shown: Show = { faces: true, springs: false };
  private wild = false;
  private closed = false;

  constructor(private palette: Palette) {
    this.backdrop = new Backdrop(this.scene);
    this.target = new TargetLayer(this.scene, palette);
    this.faces = new Mesh(new BufferGeometry(), this.material(FACES, {
      front: { value: palette['cloth-front'] }, back: { value: palette['cloth-back'] }, useNormals: { value: 1 },
    }));
    this.faces.material.side = DoubleSide;
    // Lines on a face would otherwise flicker in and out of it.
    this.faces.material.polygonOffset = true;
    this.faces.material.polygonOffsetFactor = this.faces.material.polygonOffsetUnits = 1;
    this.lines = new LineSegments(new BufferGeometry(), this.material(LINES, { opacity: { value: 1 } }));
    this.lines.material.transparent = true;
    this.masses = new Points(new BufferGeometry(), this.pointMaterial(0, 0));
    this.pins = new Points(new BufferGeometry(), this.pointMaterial(1, 0.0001));
    this.hover = new Points(new BufferGeometry(), this.pointMaterial(2, 0.0004));
    const line = new BufferGeometry();
    this.handleEnds.setUsage(DynamicDrawUsage);
    line.setAttribute('position', this.handleEnds);
    line.setAttribute('value', new BufferAttribute(new Float32Array(2), 1));
    this.handle = new LineSegments(line, this.material(LINES, { opacity: { value: 1 } }));
    this.handle.material.depthTest = false;
    this.handle.visible = this.hover.visible = false;
    for (const part of [this.faces, this.lines, this.masses, this.pins, this.handle, this.hover]) {
      part.frustumCulled = false; // bounds would have to be computed for each frame
      this.scene.add(part);
    }
    this.setPalette(palette);
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    this.backdrop.setPalette(palette);
    this.obstacles.setPalette(palette);
    this.target.setPalette(palette);
    const set = (material: ShaderMaterial, name: string, color: keyof Palette) => {
      material.uniforms[name].value = palette[color];
    };
    set(this.faces.material, 'front', 'cloth-front');
    set(this.faces.material, 'back', this.closed ? 'cloth-front' : 'cloth-back');
    set(this.lines.material, 'color', 'spring');
    set(this.masses.material, 'color', 'mass');
    set(this.pins.material, 'color', 'pin');
    set(this.handle.material, 'color', 'handle');
    set(this.hover.material, 'color', 'handle');
    if (this.ribbons) set(this.ribbons.mesh.material, 'color', 'spring');
  }

  setModel(topology: Topology, pinned: number[], surroundings: Surroundings): void {
    const n = topology.vertices;
    this.topology = topology;
    this.x = null;
    this.wild = false;
    this.notes = [];
    this.few = topology.triangles.length === 0 && n <= 12;
    this.smooth = topology.triangles.length <= 3 * SMOOTH_LIMIT;
    this.position = new BufferAttribute(new Float32Array(3 * n), 3).setUsage(DynamicDrawUsage);
    this.value = new BufferAttribute(new Float32Array(n), 1).setUsage(DynamicDrawUsage);
    // A shader needs the attribute also where it does not look at it; one vertex is enough then.
    this.normal = new BufferAttribute(new Float32Array(this.smooth ? 3 * n : 3), 3).setUsage(DynamicDrawUsage);
    this.replaceGeometry(this.faces, topology.triangles);
    if (this.smooth) this.faces.geometry.setAttribute('normal', this.normal);
    this.faces.material.uniforms.useNormals.value = this.smooth ? 1 : 0;
    if (!this.smooth) this.notes.push('Faces are shaded flat: there are many.');
    this.closed = isClosed(topology.triangles, n);
    this.makeSprings(topology);
    this.replaceGeometry(this.masses, null);
    this.masses.visible = topology.triangles.length === 0 && n <= MASS_LIMIT;
    this.replaceGeometry(this.pins, null);
    this.replaceGeometry(this.hover, new Uint32Array(1));
    this.hover.visible = false;
    this.setPinned(pinned);
    this.setHandle(-1, null);
    this.backdrop.setSurroundings(surroundings, this.faces.geometry, this.palette);
    this.setPalette(this.palette);
  }

  /** The floor of another size or at another place. */
  setSurroundings(around: Surroundings): void {
    this.backdrop.setSurroundings(around, this.faces.geometry, this.palette);
    this.backdrop.showShadow(this.faces.visible);
  }

  /** ground: the number of the ground among the obstacles, or -1. */
  setObstacles(shapes: ObstacleShape[], ground: number, around: Surroundings): void {
    this.setSurroundings(around);
    const up = [0, 1, 2].map((axis) => (axis === around.up ? 1 : 0));
    const floor = around.flat ? null : new Vector4(up[0], up[1], up[2], around.floor + 1e-4 * around.size);
    this.obstacles.setShapes(shapes, ground, this.palette, floor);
  }

  private makeSprings(topology: Topology): void {
    this.ribbons?.dispose(this.scene);
    this.ribbons = null;
    const count = topology.springs.length / 2;
    const bare = bareSprings(topology);
    const asRibbons = bare.length > 0 && bare.length / 2 <= RIBBON_LIMIT;
    const asLines = (!asRibbons || bare.length < topology.springs.length) && count <= LINE_LIMIT;
    this.replaceGeometry(this.lines, asLines ? topology.springs : new Uint32Array(0));
    if (asRibbons)
      this.ribbons = makeRibbons(this.scene, bare, this.few, this.palette.spring, this.valueUniforms);
    if (!asRibbons && !asLines) this.notes.push(`Springs are not drawn: ${count.toLocaleString('en')} are too many.`);
  }

  setPinned(pinned: number[]): void {
    // Only the index is new: to dispose of the geometry would take the positions from the others.
    const marked = this.topology ? markedPins(this.topology, pinned, null).map((q) => pinned[q]) : pinned;
    this.pins.geometry.setIndex(new BufferAttribute(new Uint32Array(marked.length <= PIN_LIMIT ? marked : []), 1));
  }

  /** Takes the frame's arrays over. Returns whether they fit the model that is shown. The range of the
   * colors is common to all models beside each other. */
  setFrame(frame: Frame, color: Color, range: ColorRange): boolean {
    if (!this.topology || frame.vertices !== this.topology.vertices || !this.position || !this.value) return false;
    this.x = frame.x;
    this.position.array = frame.x;
    this.position.needsUpdate = true;
    if (this.wild !== frame.strainMax > WILD) {
      this.wild = !this.wild;
      this.applyShow();
    }
    if (this.smooth && this.faces.visible && this.topology.triangles.length) {
      addNormals(frame.x, this.topology.triangles, this.normal!.array as Float32Array, 3, null);
      this.normal!.needsUpdate = true;
    }
    const values = color === 'none' ? null : frame.values;
    this.setColor(color, values !== null);
    if (values) {
      this.value.array = values;
      this.value.needsUpdate = true;
      range.follow(frame.valueMin, frame.valueMax, this.wild);
      (this.valueUniforms.range.value as Vector2).set(range.low, range.high);
    }
    this.ribbons?.update(frame.x, values);
    this.obstacles.setPoses(frame.poses);
    if (this.handleVertex >= 0) {
      const at = 3 * this.handleVertex;
      this.handleEnds.setXYZ(0, frame.x[at], frame.x[at + 1], frame.x[at + 2]);
      this.handleEnds.needsUpdate = true;
    }
    return true;
  }

  private setColor(color: Color, there: boolean): void {
    this.valueUniforms.useValues.value = there ? 1 : 0;
    if (color === this.color) return;
    this.color = color;
    this.valueUniforms.map.value.dispose();
    this.valueUniforms.map.value = colorTexture(color);
  }

  show(show: Show): void {
    this.shown = show;
    this.applyShow();
  }

  /** Faces of a model that flies apart would each cover the whole view, thousands of times over, and
   * stop the machine; threads show the same. */
  private applyShow(): void {
    const covered = (this.topology?.triangles.length ?? 0) > 0;
    const faces = this.shown.faces && !this.wild;
    const springs = this.shown.springs || (this.wild && covered && this.shown.faces);
    if (faces && !this.faces.visible && this.x && this.smooth && this.topology) {
      addNormals(this.x, this.topology.triangles, this.normal!.array as Float32Array, 3, null);
      this.normal!.needsUpdate = true;
    }
    this.faces.visible = faces;
    this.backdrop.showShadow(faces);
    this.lines.visible = springs;
    this.lines.material.uniforms.opacity.value = covered && faces ? 0.4 : 0.85;
    // A net or a rope among bodies with faces has nothing else to be seen by.
    if (this.ribbons) this.ribbons.mesh.visible = springs || covered;
  }

  /** The vertex that is dragged, and where to; -1: none. */
  setHandle(vertex: number, target: Vector3 | null): void {
    this.handleVertex = vertex;
    this.handle.visible = vertex >= 0 && target !== null;
    if (!target || !this.x) return;
    this.handleEnds.setXYZ(0, this.x[3 * vertex], this.x[3 * vertex + 1], this.x[3 * vertex + 2]);
    this.handleEnds.setXYZ(1, target.x, target.y, target.z);
    this.handleEnds.needsUpdate = true;
  }

  setHover(vertex: number): boolean {
    const shown = this.hover.visible ? (this.hover.geometry.index?.array[0] ?? -1) : -1;
    if (shown === vertex) return false;
    this.hover.visible = vertex >= 0;
    const index = this.hover.geometry.index;
    if (vertex >= 0 && index) {
      index.array[0] = vertex;
      index.needsUpdate = true;
    }
    return true;
  }

  /** In device pixels. */
  setViewport(width: number, height: number, ratio: number): void {
    this.masses.material.uniforms.size.value = (this.few ? 26 : 7) * ratio;
    this.pins.material.uniforms.size.value = (this.few ? 16 : this.pinCount() > 60 ? 6 : this.pinCount() > 16 ? 8 : 11) * ratio;
    this.hover.material.uniforms.size.value = (this.few ? 34 : 18) * ratio;
    this.ribbons?.setViewport(width, height, ratio);
    this.target.setViewport(width, height, ratio);
  }

  private pinCount(): number { return this.pins.geometry.index?.count ?? 0; }

  private replaceGeometry(part: { geometry: BufferGeometry }, index: Uint32Array | null): void {
    part.geometry.dispose();
    const geometry = new BufferGeometry();
    if (this.position && this.value) {
      geometry.setAttribute('position', this.position);
      geometry.setAttribute('value', this.value);
    }
    if (index) geometry.setIndex(new BufferAttribute(index, 1));
    part.geometry = geometry;
  }

  private material(shader: { vertex: string; fragment: string }, uniforms: Record<string, IUniform>): ShaderMaterial {
    return new ShaderMaterial({
      vertexShader: shader.vertex,
      fragmentShader: shader.fragment,
      uniforms: { color: { value: this.palette.spring }, ...this.valueUniforms, ...uniforms },
    });
  }

  private pointMaterial(form: number, nearer: number): ShaderMaterial {
    const material = this.material(POINTS, { form: { value: form }, size: { value: 8 }, nearer: { value: nearer } });
    // Marks are not values: only masses take the colors of the legend.
    if (form !== 0) material.uniforms.useValues = { value: 0 };
    return material;
  }

  dispose(): void {
    for (const part of [this.faces, this.lines, this.masses, this.pins, this.handle, this.hover]) {
      part.geometry.dispose();
      part.material.dispose();
    }
    this.ribbons?.dispose(this.scene);
    this.backdrop.dispose();
    this.obstacles.clear();
    this.target.dispose();
    this.valueUniforms.map.value.dispose();
  }
}
