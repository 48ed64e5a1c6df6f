// The obstacles of a scene in three.js: one mesh each, placed by the pose of the frame. The ground itself
// is drawn by the backdrop; other planes are checkered.
import {
  BufferAttribute, BufferGeometry, CustomBlending, DoubleSide, Matrix4, Mesh, MinEquation, OneFactor, type Scene,
  ShaderMaterial, Vector4,
} from 'three';
import type { ObstacleShape } from '../engine/protocol';
import type { Palette } from './palette';
import { firstHit, type Ray } from './pick_vertex';
import { OBSTACLES, SHADOW } from './shaders';

export interface Box {
  min: number[];
  max: number[];
}

export interface ObstacleHit {
  obstacle: number;
  along: number; // m from the eye
}

function shadeOf({ x, triangles, shades }: ObstacleShape): Float32Array {
  const shade = new Float32Array(x.length / 3);
  shades.forEach((dark, t) => {
    for (let k = 0; k < 3; k++) shade[triangles[3 * t + k]] = dark;
  });
  return shade;
}

function geometryOf(shape: ObstacleShape): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(shape.x, 3));
  geometry.setAttribute('normal', new BufferAttribute(shape.normals, 3));
  geometry.setAttribute('shade', new BufferAttribute(shadeOf(shape), 1));
  geometry.setIndex(new BufferAttribute(shape.triangles, 1));
  return geometry;
}

export class ObstacleLayer {
  private shapes: ObstacleShape[] = [];
  private meshes: (Mesh<BufferGeometry, ShaderMaterial> | null)[] = [];
  private shadows: (Mesh<BufferGeometry, ShaderMaterial> | null)[] = [];
  private poses: Float32Array = new Float32Array(0);
  private plane = new Vector4();
  private glowing = -1;

  constructor(private scene: Scene) {}

  /** hidden: the number of the ground, or -1. up, floor: where shadows fall; null: nowhere. */
  setShapes(shapes: ObstacleShape[], hidden: number, palette: Palette, floor: Vector4 | null): void {
    this.clear();
    this.shapes = shapes;
    if (floor) this.plane.copy(floor);
    shapes.forEach((shape, q) => {
      if (q === hidden) {
        this.meshes.push(null);
        this.shadows.push(null);
        return;
      }
      const geometry = geometryOf(shape);
      const mesh = new Mesh(geometry, new ShaderMaterial({
        vertexShader: OBSTACLES.vertex, fragmentShader: OBSTACLES.fragment, side: DoubleSide,
        // Behind the faces of bodies, which lie a thickness in front and are offset by 1 themselves.
        polygonOffset: true, polygonOffsetFactor: 3, polygonOffsetUnits: 3,
        uniforms: { color: { value: palette.obstacle }, glow: { value: 0 } },
      }));
      const shadow = shape.endless || !floor ? null : new Mesh(geometry, new ShaderMaterial({
        vertexShader: SHADOW.vertex, fragmentShader: SHADOW.fragment, side: DoubleSide, transparent: true, depthWrite: false,
        blending: CustomBlending, blendEquation: MinEquation, blendSrc: OneFactor, blendDst: OneFactor,
        uniforms: { color: { value: palette['view-shadow'] }, plane: { value: this.plane } },
      }));
      for (const part of [mesh, shadow]) {
        if (!part) continue;
        part.frustumCulled = false;
        part.matrixAutoUpdate = false;
        this.scene.add(part);
      }
      if (shadow) shadow.renderOrder = 2;
      this.meshes.push(mesh);
      this.shadows.push(shadow);
    });
  }

  setPalette(palette: Palette): void {
    for (const mesh of this.meshes) if (mesh) mesh.material.uniforms.color.value = palette.obstacle;
    for (const shadow of this.shadows) if (shadow) shadow.material.uniforms.color.value = palette['view-shadow'];
  }

  setPoses(poses: Float32Array): void {
    this.poses = poses;
    this.meshes.forEach((mesh, q) => {
      if (!mesh || poses.length < 12 * (q + 1)) return;
      const p = poses.subarray(12 * q, 12 * q + 12);
      const matrix = new Matrix4().set(p[0], p[1], p[2], p[9], p[3], p[4], p[5], p[10], p[6], p[7], p[8], p[11], 0, 0, 0, 1);
      for (const part of [mesh, this.shadows[q]]) {
        if (!part) continue;
        part.matrix.copy(matrix);
        part.matrixWorldNeedsUpdate = true;
      }
    });
  }

  /** Where the obstacles are that have an end; null: there is none. */
  box(): Box | null { return this.boxOf(({ endless }) => !endless); }

  private boxOf(counts: (shape: ObstacleShape, q: number) => boolean): Box | null {
    const box: Box = { min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] };
    this.shapes.forEach((shape, q) => {
      if (!counts(shape, q)) return;
      const { x } = shape;
      const p = this.pose(q);
      for (let i = 0; i < x.length; i += 3)
        for (let c = 0; c < 3; c++) {
          const at = p[3 * c] * x[i] + p[3 * c + 1] * x[i + 1] + p[3 * c + 2] * x[i + 2] + p[9 + c];
          if (at < box.min[c]) box.min[c] = at;
          if (at > box.max[c]) box.max[c] = at;
        }
    });
    return box.max[0] >= box.min[0] ? box : null;
  }

  /** The middle of an obstacle. */
  middle(q: number): number[] | null {
    const box = this.boxOf((_, other) => other === q);
    return box && box.min.map((low, c) => (low + box.max[c]) / 2);
  }

  private pose(q: number): ArrayLike<number> {
    return this.poses.length >= 12 * (q + 1) ? this.poses.subarray(12 * q, 12 * q + 12) : [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];
  }

  /** The first obstacle on a ray. */
  pick(ray: Ray): (ObstacleHit & { movable: boolean }) | null {
    let best: (ObstacleHit & { movable: boolean }) | null = null;
    this.shapes.forEach((shape, q) => {
      const p = this.pose(q);
      const back = (v: readonly number[]) => [0, 1, 2].map((c) => p[c] * v[0] + p[3 + c] * v[1] + p[6 + c] * v[2]) as [number, number, number];
      const origin = back(ray.origin.map((part, c) => part - p[9 + c]));
      const along = firstHit(shape.x, shape.triangles, { origin, direction: back(ray.direction) });
      if (along < (best?.along ?? Infinity)) best = { obstacle: q, along, movable: shape.movable && !shape.endless };
    });
    return best;
  }

  /** Marks the obstacle under the pointer; -1: none. Returns whether that is new. */
  setHover(obstacle: number): boolean {
    if (obstacle === this.glowing) return false;
    this.glowing = obstacle;
    this.meshes.forEach((mesh, q) => { if (mesh) mesh.material.uniforms.glow.value = q === obstacle ? 1 : 0; });
    return true;
  }

  clear(): void {
    for (const part of [...this.meshes, ...this.shadows]) {
      if (!part) continue;
      this.scene.remove(part);
      part.geometry.dispose();
      part.material.dispose();
    }
    this.meshes = [];
    this.shadows = [];
    this.shapes = [];
    this.glowing = -1;
  }
}
