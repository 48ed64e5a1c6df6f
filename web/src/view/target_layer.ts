// The target of a throw in three.js: rings that face the camera, a thread from them down to the floor, which
// shows where they are in space, and the path of the body's center as a band.
import {
  BufferAttribute, BufferGeometry, type IUniform, LineSegments, Mesh, PlaneGeometry, type Scene, ShaderMaterial, Vector2, Vector3,
} from 'three';
import type { Palette } from './palette';
import { makeRibbons, type Ribbons } from './ribbons';
import { LINES, TARGET } from './shaders';

const GLOW = 1.15; // times the size under the pointer

/** Bands and lines in one color, whatever colors the model has. */
function plainColor(): Record<string, IUniform> {
  return { map: { value: null }, range: { value: new Vector2(0, 1) }, useValues: { value: 0 } };
}

export class TargetLayer {
  readonly place = new Vector3();
  radius = 0; // m; 0: there is no target
  private rings: Mesh<PlaneGeometry, ShaderMaterial>;
  private thread: LineSegments<BufferGeometry, ShaderMaterial>;
  private threadEnds = new BufferAttribute(new Float32Array(6), 3);
  private path: Ribbons | null = null;
  private pieces = 0;

  constructor(private scene: Scene, private palette: Palette) {
    this.rings = new Mesh(new PlaneGeometry(2, 2), new ShaderMaterial({
      vertexShader: TARGET.vertex, fragmentShader: TARGET.fragment, transparent: true, depthWrite: false,
      uniforms: { color: { value: palette.pin }, radius: { value: 0 } },
    }));
    this.rings.renderOrder = 4;
    const line = new BufferGeometry();
    line.setAttribute('position', this.threadEnds);
    line.setAttribute('value', new BufferAttribute(new Float32Array(2), 1));
    this.thread = new LineSegments(line, new ShaderMaterial({
      vertexShader: LINES.vertex, fragmentShader: LINES.fragment, transparent: true,
      uniforms: { ...plainColor(), color: { value: palette.pin }, opacity: { value: 0.55 } },
    }));
    for (const part of [this.rings, this.thread]) {
      part.frustumCulled = false;
      part.visible = false;
      scene.add(part);
    }
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    for (const part of [this.rings, this.thread]) part.material.uniforms.color.value = palette.pin;
    if (this.path) this.path.mesh.material.uniforms.color.value = palette.handle;
  }

  /** floor: the point of the floor below the target; null: there is none. */
  show(target: readonly number[], radius: number, floor: readonly number[] | null): void {
    this.place.fromArray(target);
    this.radius = radius;
    this.rings.position.copy(this.place);
    this.rings.material.uniforms.radius.value = radius;
    this.rings.visible = true;
    this.thread.visible = floor !== null;
    if (!floor) return;
    this.threadEnds.setXYZ(0, target[0], target[1], target[2]);
    this.threadEnds.setXYZ(1, floor[0], floor[1], floor[2]);
    this.threadEnds.needsUpdate = true;
  }

  /** The points of the path, three numbers each; empty: none is known. */
  showPath(points: readonly number[]): void {
    const pieces = Math.max(0, points.length / 3 - 1);
    if (pieces !== this.pieces) {
      this.path?.dispose(this.scene);
      const ends = Uint32Array.from({ length: 2 * pieces }, (_, q) => (q + 1) >> 1);
      this.path = pieces ? makeRibbons(this.scene, ends, false, this.palette.handle, plainColor()) : null;
      this.pieces = pieces;
    }
    this.path?.update(new Float32Array(points), null);
  }

  hide(): void {
    this.radius = 0;
    this.rings.visible = this.thread.visible = false;
    this.showPath([]);
  }

  /** Marks the target under the pointer. Returns whether that is new. */
  setGlow(glow: boolean): boolean {
    const { radius } = this.rings.material.uniforms, next = this.radius * (glow ? GLOW : 1);
    const isNew = radius.value !== next;
    radius.value = next;
    return isNew;
  }

  /** In device pixels. */
  setViewport(width: number, height: number, ratio: number): void { this.path?.setViewport(width, height, ratio); }

  dispose(): void {
    this.hide();
    for (const part of [this.rings, this.thread]) {
      part.geometry.dispose();
      part.material.dispose();
    }
  }
}
