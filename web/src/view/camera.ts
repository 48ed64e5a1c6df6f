// The camera of three.js, placed where the orbit is, and its way to what it frames.
import { PerspectiveCamera, Vector3 } from 'three';
import { Orbit } from '../../shared/orbit.js';

export interface CameraState {
  target: [number, number, number];
  azimuth: number; // rad, 0: from the front
  elevation: number; // rad, 0: level
  distance: number; // m
}

const MARGIN = [1.18, 1.34]; // times the width and height of a model that the view shows; words stand below it
const EASE = 3; // 1/s, how fast the view follows what it frames

export class OrbitCamera {
  readonly camera = new PerspectiveCamera(50, 1, 0.01, 100);
  /** Whether the view still frames the model by itself; ends when a person turns it. */
  following = true;
  private turning = new Orbit();

  constructor() { this.camera.fov = (2 * Math.atan(this.turning.slope) * 180) / Math.PI; }

  /** Axis 0, 1 or 2 that points up. */
  setUp(axis: number): void { this.turning.setUp(axis); }

  /** The usual look at a model: a flat one from the front, others from a little aside and above. */
  look(flat: boolean): void {
    this.turning.look(flat);
    this.following = true;
  }

  /** Frames a box, at once or in a glide of this many seconds since the last call. Returns whether it moved. */
  frame(center: Vector3, half: Vector3, aspect: number, seconds: number | null): boolean {
    const o = this.turning;
    const radius = half.length();
    const distance = Math.max(o.distanceFor(half.toArray(), aspect, MARGIN), 1e-6);
    const part = seconds === null ? 1 : 1 - Math.exp(-EASE * seconds);
    const target = new Vector3(...o.target);
    o.size = Math.max(radius, 1e-6);
    // Too little to be seen: the view is at rest, and need not be drawn again.
    if (seconds !== null && target.distanceTo(center) + Math.abs(distance - o.distance) < 1e-3 * radius) return false;
    o.target = target.lerp(center, part).toArray();
    o.distance += (distance - o.distance) * part;
    return true;
  }

  orbit(dx: number, dy: number): void {
    this.following = false;
    this.turning.turn(dx, dy);
  }

  /** By parts of the view's height. */
  pan(dx: number, dy: number): void {
    this.following = false;
    this.turning.move(dx, dy);
  }

  zoom(factor: number): void {
    this.following = false;
    this.turning.zoom(factor);
  }

  /** Places the camera for a view of this shape. */
  place(aspect: number): PerspectiveCamera {
    const { camera, turning: o } = this;
    camera.up.set(...o.up);
    camera.position.set(...o.eye());
    camera.near = Math.max(o.distance / 200, (o.distance - 30 * o.size) / 2);
    camera.far = o.distance + 60 * o.size;
    camera.aspect = aspect;
    camera.lookAt(...o.target);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    return camera;
  }

  /** World units that a pixel covers at distance 1, in a view of this height. */
  pixelAngle(height: number): number { return (2 * this.turning.slope) / Math.max(1, height); }

  state(): CameraState {
    const { target, azimuth, elevation, distance } = this.turning;
    return { target: [...target], azimuth, elevation, distance };
  }

  restore(state: CameraState): void {
    const { target, azimuth, elevation, distance } = state;
    Object.assign(this.turning, { target: [...target], azimuth, elevation, distance });
    this.following = false;
  }
}
