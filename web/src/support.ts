// What this browser can do. The page says what is missing rather than staying empty.

/** A function that adds nothing: (v128.const 0) dropped; valid only where there is SIMD. */
const SIMD_MODULE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, // magic and version
  1, 4, 1, 96, 0, 0, // one type: () -> ()
  3, 2, 1, 0, // one function of it
  10, 23, 1, 21, 0, // its body of 21 bytes, no locals
  253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // v128.const 0
  26, 11, // drop, end
]);

export function hasWasmSimd(): boolean {
  return typeof WebAssembly === 'object' && WebAssembly.validate(SIMD_MODULE);
}

export type Graphics = 'none' | 'software' | 'hardware';

/** Whether there is WebGL 2, and whether it is emulated on the CPU. */
export function graphics(): Graphics {
  try {
    const gl = document.createElement('canvas').getContext('webgl2');
    if (!gl) return 'none';
    const names = gl.getExtension('WEBGL_debug_renderer_info');
    const name = names ? String(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) : '';
    gl.getExtension('WEBGL_lose_context')?.loseContext(); // browsers allow only some at a time
    return /swiftshader|llvmpipe|software|basic render/i.test(name) ? 'software' : 'hardware';
  } catch {
    return 'none';
  }
}
