// What stands around a model: a gradient behind it, a floor with lines and the model's shadow, and
// the surface of the fluid that it swims in.
import {
  BufferAttribute, BufferGeometry, CustomBlending, DoubleSide, Mesh, MinEquation, OneFactor, PlaneGeometry,
  type Scene, ShaderMaterial, Vector3, Vector4,
} from 'three';
import type { Palette } from './palette';
import { GRID, SHADOW, SKY, WATER } from './shaders';

export interface Surroundings {
  up: number; // axis
  flat: boolean; // a plane model: the lines stand behind it
  center: [number, number, number];
  size: number; // m
  floor: number; // height
  water: number | null; // height of its surface
}

function material(shader: { vertex: string; fragment: string }, uniforms: object, more: object = {}): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: shader.vertex, fragmentShader: shader.fragment,
    uniforms: uniforms as ShaderMaterial['uniforms'], side: DoubleSide, ...more,
  });
}

/** A number of the kind 1, 2, 5, 10 ... near the given one. */
function roundSize(size: number): number {
  const decade = 10 ** Math.floor(Math.log10(size));
  const part = size / decade;
  return decade * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

export class Backdrop {
  private sky: Mesh<BufferGeometry, ShaderMaterial>;
  private grid: Mesh<PlaneGeometry, ShaderMaterial>;
  private water: Mesh<PlaneGeometry, ShaderMaterial>;
  private shadow: Mesh<BufferGeometry, ShaderMaterial>;
  private floorThere = false;

  constructor(scene: Scene) {
    const triangle = new BufferGeometry();
    triangle.setAttribute('position', new BufferAttribute(new Float32Array([-1, -1, 0, 3, -1, 0, -1, 3, 0]), 3));
    this.sky = new Mesh(triangle, material(SKY, { top: { value: null }, bottom: { value: null } },
      { depthTest: false, depthWrite: false }));
    this.sky.renderOrder = -10;
    const clear = { transparent: true, depthWrite: false };
    this.grid = new Mesh(new PlaneGeometry(1, 1),
      material(GRID, { color: { value: null }, cell: { value: 1 }, reach: { value: 1 } }, clear));
    this.grid.renderOrder = 1;
    // The darker of floor and shadow, so that folds over folds do not darken it twice.
    this.shadow = new Mesh(new BufferGeometry(),
      material(SHADOW, { color: { value: null }, plane: { value: new Vector4() } },
        { ...clear, blending: CustomBlending, blendEquation: MinEquation, blendSrc: OneFactor, blendDst: OneFactor }));
    this.shadow.renderOrder = 2;
    this.water = new Mesh(new PlaneGeometry(1, 1),
      material(WATER, { color: { value: null }, reach: { value: 1 } }, clear));
    this.water.renderOrder = 3;
    for (const part of [this.sky, this.grid, this.shadow, this.water]) {
      part.frustumCulled = false;
      scene.add(part);
    }
  }

  setPalette(palette: Palette): void {
    this.sky.material.uniforms.top.value = palette['view-top'];
    this.sky.material.uniforms.bottom.value = palette['view-bottom'];
    this.grid.material.uniforms.color.value = palette['view-grid'];
    this.shadow.material.uniforms.color.value = palette['view-shadow'];
    this.water.material.uniforms.color.value = palette.water;
  }

  setSurroundings(around: Surroundings, faces: BufferGeometry, palette: Palette): void {
    this.setPalette(palette);
    const up = new Vector3(around.up === 0 ? 1 : 0, around.up === 1 ? 1 : 0, around.up === 2 ? 1 : 0);
    const reach = 5 * around.size;
    const normal = around.flat ? new Vector3(0, 0, 1) : up;
    this.lay(this.grid, normal, around.center, around.flat ? -0.001 * around.size : around.floor, 2 * reach);
    this.grid.material.uniforms.cell.value = roundSize(around.size / 8) / this.grid.scale.x;
    this.grid.material.uniforms.reach.value = (0.8 * reach) / this.grid.scale.x;
    this.water.visible = around.water !== null;
    this.lay(this.water, up, around.center, around.water ?? 0, reach);
    this.water.material.uniforms.reach.value = 0.5;
    this.floorThere = !around.flat && faces.index !== null && faces.index.count > 0;
    this.shadow.geometry = faces; // shared with the faces, which dispose of it
    this.shadow.visible = this.floorThere;
    (this.shadow.material.uniforms.plane.value as Vector4).set(up.x, up.y, up.z, around.floor + 1e-4 * around.size);
  }

  showShadow(shown: boolean): void { this.shadow.visible = shown && this.floorThere; }

  private lay(plane: Mesh, normal: Vector3, center: number[], height: number, size: number): void {
    plane.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
    plane.position.fromArray(center);
    plane.position.addScaledVector(normal, height - plane.position.dot(normal));
    plane.scale.setScalar(size);
  }

  dispose(): void {
    for (const part of [this.sky, this.grid, this.water]) part.geometry.dispose();
    for (const part of [this.sky, this.grid, this.water, this.shadow]) part.material.dispose();
  }
}
