'use strict';
/* The picture, by WebGL 2. Positions and normals of a frame lie in textures, so that faces, springs
 * and masses find their ends by number; springs are quads of constant width on the screen. */

class View {
  /* Throws where there is no WebGL 2. */
  constructor(canvas) {
    const gl = canvas.getContext('webgl2', {
      antialias: true,
      alpha: true,
      preserveDrawingBuffer: true,
    });
    if (!gl) throw new Error('no WebGL 2');
    this.canvas = canvas;
    this.gl = gl;
    this.programs = {
      face: this.compile('', faceVertex, faceFragment),
      spring: this.compile('#define INDEXED\n', lineVertex, lineFragment),
      line: this.compile('', lineVertex, lineFragment),
      point: this.compile('', pointVertex, pointFragment),
      obstacle: this.compile('', obstacleVertex, faceFragment),
    };
    this.shape = new Float32Array(4096 * Math.max(1, Math.ceil(motion.n / 1024)));
    this.normals = new Float32Array(4096 * Math.max(1, Math.ceil(corners.vertex.length / 1024)));
    this.textures = [this.texture(this.shape), this.texture(this.normals), this.rampTexture()];
    this.makeBuffers();
    this.makeGrid();
    this.obstacles = obstacles.map((one) => this.obstacleBuffers(one));
  }

  obstacleBuffers(one) {
    const gl = this.gl,
      count = one.triangles.length / 4,
      data = new Float32Array((one.x.length / 6) * 7),
      index = new Uint32Array(3 * count);
    for (let v = 0; v < one.x.length / 6; v++) data.set(one.x.subarray(6 * v, 6 * v + 6), 7 * v);
    for (let t = 0; t < count; t++)
      for (let k = 0; k < 3; k++) {
        index[3 * t + k] = one.triangles[4 * t + k];
        data[7 * index[3 * t + k] + 6] = one.triangles[4 * t + 3];
      }
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, index);
    this.buffer(gl.ARRAY_BUFFER, data);
    for (const [place, size, offset] of [
      [0, 3, 0],
      [1, 3, 12],
      [2, 1, 24],
    ]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 28, offset);
    }
    return {array, count: 3 * count};
  }

  compile(define, vertex, fragment) {
    const gl = this.gl,
      program = gl.createProgram();
    const head = shaderHead.replace('\n', `\n${define}`);
    for (const [type, text] of [
      [gl.VERTEX_SHADER, vertex],
      [gl.FRAGMENT_SHADER, fragment],
    ]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, head + text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
        throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
      throw new Error(gl.getProgramInfoLog(program));
    const places = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0;
    for (let q = 0; q < count; q++) {
      const {name} = gl.getActiveUniform(program, q);
      places[name] = gl.getUniformLocation(program, name);
    }
    return {program, places};
  }

  /* 1024 vectors a row. */
  texture(data) {
    const gl = this.gl,
      texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, 1024, data.length / 4096);
    this.sharpen(gl.NEAREST);
    return texture;
  }

  rampTexture() {
    const gl = this.gl,
      texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 256, 1);
    this.sharpen(gl.LINEAR);
    return texture;
  }

  sharpen(filter) {
    const gl = this.gl;
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, name, filter);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
      gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  }

  buffer(target, data) {
    const gl = this.gl,
      buffer = gl.createBuffer();
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, data, gl.STATIC_DRAW);
    return buffer;
  }

  makeBuffers() {
    const gl = this.gl;
    this.empty = gl.createVertexArray();
    this.faces = gl.createVertexArray();
    gl.bindVertexArray(this.faces);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, corners.faces);
    this.buffer(gl.ARRAY_BUFFER, corners.vertex);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, 1, gl.INT, 0, 0);
    this.springs = gl.createVertexArray();
    gl.bindVertexArray(this.springs);
    this.buffer(gl.ARRAY_BUFFER, motion.springs);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, 2, gl.INT, 0, 0);
    gl.vertexAttribDivisor(0, 1);
    /* Those that hold longest first: at any time the pins that hold are the first ones. */
    const mesh = {vertices: motion.n, triangles: motion.faces, springs: motion.springs};
    const order = markedPins(mesh, motion.pins, motion.releases);
    order.sort((a, b) => motion.releases[b] - motion.releases[a]);
    this.releases = order.map((q) => motion.releases[q]);
    this.pins = gl.createVertexArray();
    gl.bindVertexArray(this.pins);
    this.buffer(
      gl.ARRAY_BUFFER,
      Int32Array.from(order, (q) => motion.pins[q]),
    );
    gl.enableVertexAttribArray(0);
    gl.vertexAttribIPointer(0, 1, gl.INT, 0, 0);
    gl.vertexAttribI4i(0, 0, 0, 0, 0); /* where masses are drawn, which need no number */
  }

  /* Lines on the floor, or behind a flat scene. */
  makeGrid() {
    const gl = this.gl,
      lines = [],
      flat = facts.model.dimension === 2;
    const [u, v, w] = flat ? [0, 1, 2] : [0, 2, 1];
    this.gridStep = roundStep(
      Math.max(box.high[u] - box.low[u], box.high[v] - box.low[v], 0.3 * box.size) / 8,
    );
    const level = box.low[w] - box.center[w] - (flat ? 1e-3 : 1e-4) * box.size;
    const bound = (axis, sign) => {
      const edge = sign > 0 ? box.high[axis] : box.low[axis];
      return (
        Math.round((edge + sign * (flat ? 1.5 : 0.35) * box.size) / this.gridStep) * this.gridStep
      );
    };
    for (const [a, b] of [
      [u, v],
      [v, u],
    ])
      for (let at = bound(a, -1); at <= bound(a, 1) + 0.5 * this.gridStep; at += this.gridStep)
        for (const sign of [-1, 1]) {
          const x = [0, 0, 0];
          x[a] = at - box.center[a];
          x[b] = bound(b, sign) - box.center[b];
          x[w] = level;
          lines.push(...x);
        }
    this.gridCount = lines.length / 6;
    this.grid = gl.createVertexArray();
    gl.bindVertexArray(this.grid);
    this.buffer(gl.ARRAY_BUFFER, new Float32Array(lines));
    for (let q = 0; q < 2; q++) {
      gl.enableVertexAttribArray(q);
      gl.vertexAttribPointer(q, 3, gl.FLOAT, false, 24, 12 * q);
      gl.vertexAttribDivisor(q, 1);
    }
  }

  /* Takes the frame at a time. */
  load(time, options) {
    const gl = this.gl;
    const put = (unit, data) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, this.textures[unit]);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 1024, data.length / 4096, gl.RGBA, gl.FLOAT, data);
    };
    fillShape(time, options.color, this.shape);
    put(0, this.shape);
    if (!options.faces) return;
    addNormals(this.shape, corners.faces, this.normals, 4, corners.vertex);
    put(1, this.normals);
  }

  setRamp(color) {
    const gl = this.gl;
    if (color === 'none') return;
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, this.textures[2]);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, rampBytes(color));
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 3),
      canvas = this.canvas;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    this.ratio = ratio;
  }

  /* Makes a program the current one, with what all of them know. */
  use(name, camera, options, paint, ramped) {
    const gl = this.gl,
      {program, places} = this.programs[name];
    gl.useProgram(program);
    for (const [unit, sampler] of ['shape', 'normals', 'ramp'].entries())
      if (places[sampler]) gl.uniform1i(places[sampler], unit);
    const most = options.range > 0 ? options.range : 1;
    const least = options.color === 'strain' ? -most : 0;
    gl.uniformMatrix4fv(places.matrix, false, camera.matrix());
    gl.uniform2f(places.range, least, 1 / (most - least));
    gl.uniform2f(places.pixels, this.canvas.width, this.canvas.height);
    gl.uniform1i(places.ramped, ramped ? 1 : 0);
    gl.uniform4f(
      places.paint,
      paint[0] / 255,
      paint[1] / 255,
      paint[2] / 255,
      paint.length > 3 ? paint[3] : 1,
    );
    return places;
  }

  draw(time, camera, options) {
    const gl = this.gl,
      colors = paints[themeName()];
    if (gl.isContextLost()) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.drawGrid(camera, options, colors);
    this.drawObstacles(time, camera, options, colors);
    if (options.faces) this.drawFaces(camera, options, colors);
    if (options.springCount > 0) this.drawSprings(camera, options, colors);
    if (options.points) this.drawPoints(camera, options, colors);
    this.drawPins(time, camera, options, colors);
  }

  drawGrid(camera, options, colors) {
    const gl = this.gl,
      places = this.use('line', camera, options, colors.grid, false);
    gl.uniform1f(places.width, this.ratio);
    gl.uniform1i(places.pieces, 1);
    gl.uniform1f(places.coil, 0);
    gl.bindVertexArray(this.grid);
    gl.depthMask(false);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, this.gridCount);
    gl.depthMask(true);
  }

  setLight(places, camera) {
    const gl = this.gl,
      [right, up, back] = camera.basis(),
      light = back.map((b, c) => b + 0.7 * up[c] - 0.45 * right[c]);
    const size = Math.hypot(...light);
    gl.uniform3f(places.eye, ...camera.eye());
    gl.uniform3f(places.light, ...light.map((l) => l / size));
  }

  drawObstacles(time, camera, options, colors) {
    const gl = this.gl,
      places = this.use('obstacle', camera, options, colors.obstacle, false);
    this.setLight(places, camera);
    obstacles.forEach((one, q) => {
      const p = poseAt(one, time),
        turn = new Float32Array(9),
        move = [0, 0, 0];
      axes.forEach(([axis, sign], c) => {
        for (let k = 0; k < 3; k++) turn[3 * k + c] = sign * p[3 * axis + k]; /* by columns */
        move[c] = sign * p[9 + axis] - box.center[c];
      });
      gl.uniformMatrix3fv(places.turn, false, turn);
      gl.uniform3f(places.move, ...move);
      gl.bindVertexArray(this.obstacles[q].array);
      gl.drawElements(gl.TRIANGLES, this.obstacles[q].count, gl.UNSIGNED_INT, 0);
    });
  }

  drawFaces(camera, options, colors) {
    const gl = this.gl,
      places = this.use('face', camera, options, colors.face, options.color !== 'none');
    this.setLight(places, camera);
    gl.bindVertexArray(this.faces);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
    gl.drawElements(gl.TRIANGLES, motion.faces.length, gl.UNSIGNED_INT, 0);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  drawSprings(camera, options, colors) {
    const gl = this.gl,
      count = options.springCount;
    const ramped = options.color !== 'none' && !options.faces;
    const places = this.use(
      'spring',
      camera,
      options,
      options.faces ? colors.overFace : colors.spring,
      ramped,
    );
    const width = options.faces ? 1 : count <= 100 ? 3 : count <= 1000 ? 2 : 1.2;
    gl.uniform1f(places.width, width * this.ratio);
    gl.uniform1i(places.pieces, options.coil > 0 ? 240 : 1);
    gl.uniform1f(places.coil, options.coil);
    gl.bindVertexArray(this.springs);
    gl.drawArraysInstanced(gl.TRIANGLES, 0, options.coil > 0 ? 1440 : 6, count);
  }

  drawPoints(camera, options, colors) {
    const gl = this.gl,
      ramped = options.color !== 'none';
    const places = this.use('point', camera, options, colors.mass, ramped);
    /* Neighbors do not cover each other, unless they are far away. */
    const apart =
      (facts.model.length_min * this.canvas.clientHeight) / (2 * camera.slope * camera.distance);
    const largest = motion.n <= 20 ? 16 : motion.n <= 100 ? 10 : motion.n <= 1000 ? 6 : 4;
    const width = Math.max(motion.n <= 10000 ? 3 : 2, Math.min(largest, 0.7 * apart));
    gl.uniform1f(places.width, width * this.ratio);
    gl.uniform1f(places.slope, camera.slope);
    gl.uniform3f(places.eye, ...camera.eye());
    gl.uniform1i(places.pinned, 0);
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.POINTS, 0, motion.n);
  }

  drawPins(time, camera, options, colors) {
    const gl = this.gl;
    let count = 0;
    while (count < this.releases.length && this.releases[count] > time) count++;
    if (count === 0) return;
    const places = this.use('point', camera, options, colors.pin, false);
    const width = count <= 10 ? 17 : count <= 40 ? 10 : 6;
    gl.uniform1f(places.width, width * this.ratio);
    gl.uniform1f(places.slope, camera.slope);
    gl.uniform3f(places.eye, ...camera.eye());
    gl.uniform1i(places.pinned, 1);
    gl.uniform4f(places.rim, ...colors.rim.map((c) => c / 255), 1);
    gl.bindVertexArray(this.pins);
    gl.drawArrays(gl.POINTS, 0, count);
  }
}
