// The camera circles a target: azimuth and elevation about the scene's up axis, and a distance.
import { PerspectiveCamera, Vector3 } from 'three';

export interface CameraState {
  target: [number, number, number];
  azimuth: number; // rad, 0: from the front
  elevation: number; // rad, 0: level
  distance: number; // m
}

const FIELD = 35; // degrees, from the lower to the upper edge of the view
const ROOM = [1.18, 1.34]; // times the width and height of a model that the view shows; words stand below it
const STEEPEST = Math.PI / 2 - 0.01;
const EASE = 3; // 1/s, how fast the view follows what it frames

export class OrbitCamera {
  readonly camera = new PerspectiveCamera(FIELD, 1, 0.01, 100);
  /** Whether the view still frames the model by itself; ends when a person turns it. */
  following = true;
  private target = new Vector3();
  private azimuth = 0;
  private elevation = 0;
  private distance = 3;
  private size = 1;
  private up = new Vector3(0, 1, 0);
  private front = new Vector3(0, 0, 1);
  private right = new Vector3(1, 0, 0);

  /** Axis 0, 1 or 2 that points up. */
  setUp(axis: number): void {
    this.up.set(axis === 0 ? 1 : 0, axis === 1 ? 1 : 0, axis === 2 ? 1 : 0);
    this.front.set(0, axis === 2 ? -1 : 0, axis === 2 ? 0 : 1);
    this.right.crossVectors(this.up, this.front);
  }

  /** The usual look at a model: a plane one from the front, others from a little aside and above. */
  look(flat: boolean): void {
    this.azimuth = flat ? 0 : 0.55;
    this.elevation = flat ? 0 : 0.28;
    this.following = true;
  }

  /** Frames a box, at once or in a glide of this many seconds since the last call. Tells whether it moved. */
  frame(centre: Vector3, half: Vector3, aspect: number, seconds: number | null): boolean {
    const radius = half.length();
    const distance = this.distanceFor(half, aspect);
    const part = seconds === null ? 1 : 1 - Math.exp(-EASE * seconds);
    this.size = Math.max(radius, 1e-6);
    // Too little to be seen: the view is at rest, and need not be drawn again.
    if (seconds !== null && this.target.distanceTo(centre) + Math.abs(distance - this.distance) < 1e-3 * radius) return false;
    this.target.lerp(centre, part);
    this.distance += (distance - this.distance) * part;
    return true;
  }

  /** The least one from which all corners of a box about the target are in the view. */
  private distanceFor(half: Vector3, aspect: number): number {
    const slope = Math.tan((FIELD / 2) * (Math.PI / 180));
    const back = this.backwards();
    const side = new Vector3().crossVectors(this.up, back).normalize();
    const upward = new Vector3().crossVectors(back, side);
    let distance = 1e-6;
    for (let corner = 0; corner < 4; corner++) { // the other four are opposite to these, and further away or as near
      const p = new Vector3(half.x, corner & 1 ? half.y : -half.y, corner & 2 ? half.z : -half.z);
      const across = Math.max((ROOM[0] * Math.abs(p.dot(side))) / aspect, ROOM[1] * Math.abs(p.dot(upward)));
      distance = Math.max(distance, across / slope + Math.abs(p.dot(back)));
    }
    return distance;
  }

  /** From the target to the camera, of length 1. */
  private backwards(): Vector3 {
    const level = Math.cos(this.elevation);
    return new Vector3()
      .addScaledVector(this.right, level * Math.sin(this.azimuth))
      .addScaledVector(this.front, level * Math.cos(this.azimuth))
      .addScaledVector(this.up, Math.sin(this.elevation));
  }

  orbit(dx: number, dy: number): void {
    this.following = false;
    this.azimuth -= dx;
    this.elevation = Math.min(STEEPEST, Math.max(-STEEPEST, this.elevation + dy));
  }

  /** By parts of the view's height. */
  pan(dx: number, dy: number): void {
    this.following = false;
    const reach = 2 * this.distance * Math.tan((FIELD / 2) * (Math.PI / 180));
    const side = new Vector3(), upward = new Vector3();
    this.camera.matrixWorld.extractBasis(side, upward, new Vector3());
    this.target.addScaledVector(side, -dx * reach).addScaledVector(upward, dy * reach);
  }

  zoom(factor: number): void {
    this.following = false;
    this.distance = Math.min(1e3 * this.size, Math.max(1e-3 * this.size, this.distance * factor));
  }

  /** Places the camera for a view of this shape. */
  place(aspect: number): PerspectiveCamera {
    const { camera } = this;
    camera.up.copy(this.up);
    camera.position.copy(this.target).addScaledVector(this.backwards(), this.distance);
    camera.near = Math.max(this.distance / 200, (this.distance - 30 * this.size) / 2);
    camera.far = this.distance + 60 * this.size;
    camera.aspect = aspect;
    camera.lookAt(this.target);
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    return camera;
  }

  /** World units that a pixel covers at distance 1, in a view of this height. */
  pixelAngle(height: number): number {
    return (2 * Math.tan((FIELD / 2) * (Math.PI / 180))) / Math.max(1, height);
  }

  state(): CameraState {
    return {
      target: this.target.toArray(),
      azimuth: this.azimuth, elevation: this.elevation, distance: this.distance,
    };
  }

  restore(state: CameraState): void {
    this.target.fromArray(state.target);
    this.azimuth = state.azimuth;
    this.elevation = state.elevation;
    this.distance = state.distance;
    this.following = false;
  }
}
