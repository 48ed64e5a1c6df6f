// Dragging the target of a throw: it follows the pointer in the plane through it that faces the camera.
import { Vector3 } from 'three';
import type { Thrower } from '../throw';
import type { SceneView } from './scene_view';

export class Aimer {
  private grip: Vector3 | null = null; // from the target to where it was taken

  constructor(private view: SceneView, private thrower: Thrower) {}

  get aiming(): boolean { return this.grip !== null; }

  private get target(): Vector3 { return new Vector3().fromArray(this.thrower.aim!.target); }

  take(x: number, y: number, touch: boolean): boolean {
    if (!this.thrower.on || !this.view.isOnTarget(x, y, touch)) return false;
    this.grip = this.view.onPlane(x, y, this.target).sub(this.target);
    this.view.steady = true;
    this.thrower.hold(true);
    return true;
  }

  dragTo(x: number, y: number): void {
    if (!this.grip || !this.thrower.on) return;
    const to = this.view.onPlane(x, y, this.target).sub(this.grip);
    this.thrower.setTarget(to.toArray().map((part) => Number(part.toFixed(4))));
  }

  drop(): void {
    this.grip = null;
    this.view.steady = false;
    this.thrower.hold(false);
  }

  /** Whether the target is there. */
  hover(x: number, y: number): boolean {
    const over = this.thrower.on && this.view.isOnTarget(x, y, false);
    this.view.glowTarget(over);
    return over;
  }

  leave(): void { this.view.glowTarget(false); }
}
