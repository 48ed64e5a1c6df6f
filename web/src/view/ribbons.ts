// Springs that are some pixels wide, for models without faces; where there are only a few they are
// wound as coils, as in a drawing of Hooke's law.
import {
  BufferAttribute, type Color, DoubleSide, DynamicDrawUsage, InstancedBufferAttribute,
  InstancedBufferGeometry, type IUniform, Mesh, type Scene, ShaderMaterial, Vector2,
} from 'three';
import { RIBBONS } from './shaders';

const COIL_PIECES = 240;
const COILS = 11;
const COIL_WIDTH = 0.075; // of the spring's length when first seen

export interface Ribbons {
  mesh: Mesh<InstancedBufferGeometry, ShaderMaterial>;
  update(x: Float32Array, values: Float32Array | null): void;
  setViewport(width: number, height: number, ratio: number): void;
  dispose(scene: Scene): void;
}

/** A band of pieces along t = 0 .. 1 with two edges. */
function band(pieces: number): InstancedBufferGeometry {
  const geometry = new InstancedBufferGeometry();
  const along = new Float32Array(2 * (pieces + 1)), side = new Float32Array(2 * (pieces + 1));
  const index: number[] = [];
  for (let q = 0; q <= pieces; q++) {
    along[2 * q] = along[2 * q + 1] = q / pieces;
    side[2 * q] = -1;
    side[2 * q + 1] = 1;
    if (q < pieces) index.push(2 * q, 2 * q + 1, 2 * q + 2, 2 * q + 2, 2 * q + 1, 2 * q + 3);
  }
  geometry.setAttribute('along', new BufferAttribute(along, 1));
  geometry.setAttribute('side', new BufferAttribute(side, 1));
  geometry.setIndex(index);
  return geometry;
}

export function makeRibbons(
  scene: Scene, springs: Uint32Array, coiled: boolean, color: Color, valueUniforms: Record<string, IUniform>,
): Ribbons {
  const count = springs.length / 2;
  const geometry = band(coiled ? COIL_PIECES : 1);
  geometry.instanceCount = count;
  const instanced = (size: number) =>
    new InstancedBufferAttribute(new Float32Array(size * count), size).setUsage(DynamicDrawUsage);
  const start = instanced(3), end = instanced(3), endValues = instanced(2);
  geometry.setAttribute('start', start);
  geometry.setAttribute('end', end);
  geometry.setAttribute('endValues', endValues);
  const material = new ShaderMaterial({
    vertexShader: RIBBONS.vertex,
    fragmentShader: RIBBONS.fragment,
    side: DoubleSide,
    uniforms: {
      ...valueUniforms,
      color: { value: color }, viewport: { value: new Vector2(1, 1) }, width: { value: 2 },
      coils: { value: coiled ? COILS : 0 }, radius: { value: 0 },
    },
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  scene.add(mesh);

  // Coils keep their width while the spring swings, so that it is the length that is seen to change.
  function setRadius(x: Float32Array): void {
    const a = 3 * springs[0], b = 3 * springs[1];
    const length = Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
    material.uniforms.radius.value = COIL_WIDTH * length;
  }

  return {
    mesh,
    update(x, values) {
      if (coiled && count && material.uniforms.radius.value === 0) setRadius(x);
      const from = start.array as Float32Array, to = end.array as Float32Array;
      const pair = endValues.array as Float32Array;
      for (let s = 0; s < count; s++) {
        const i = 3 * springs[2 * s], j = 3 * springs[2 * s + 1];
        for (let c = 0; c < 3; c++) {
          from[3 * s + c] = x[i + c];
          to[3 * s + c] = x[j + c];
        }
        pair[2 * s] = values ? values[i / 3] : 0;
        pair[2 * s + 1] = values ? values[j / 3] : 0;
      }
      start.needsUpdate = end.needsUpdate = endValues.needsUpdate = true;
    },
    setViewport(width, height, ratio) {
      (material.uniforms.viewport.value as Vector2).set(width, height);
      material.uniforms.width.value = (coiled ? 3.2 : count > 2000 ? 1.4 : 2.6) * ratio;
    },
    dispose(from) {
      from.remove(mesh);
      geometry.dispose();
      material.dispose();
    },
  };
}
