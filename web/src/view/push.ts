// Moving an obstacle: it follows the pointer in the plane through the point where it was taken that faces
// the camera. The engine moves it at a bounded speed and pushes what is in its way; where there is no space
// the obstacle waits, and the page says so. In a comparison it moves on both sides.
import { Vector3 } from 'three';
import type { Side } from '../side';
import type { SceneView } from './scene_view';

interface Pushed {
  index: number; // of the side where it was taken
  obstacle: number;
  through: Vector3; // where it was taken
  start: (Vector3 | null)[]; // of each side: its displacement then
  sending: boolean[];
}

export class Pusher {
  private pushed: Pushed | null = null;
  private newest: Vector3 | null = null;

  constructor(private view: SceneView, private sides: () => Side[], private onError: (error: unknown) => void) {}

  get pushing(): boolean { return this.pushed !== null; }

  take(x: number, y: number): boolean {
    const hit = this.view.pickObstacle(x, y);
    if (!hit) return false;
    const { origin, direction } = this.view.ray(x, y);
    const pushed: Pushed = {
      index: this.view.layerAt(x, y), obstacle: hit.obstacle, start: [], sending: [],
      through: new Vector3().fromArray(origin).addScaledVector(new Vector3().fromArray(direction), hit.along),
    };
    this.pushed = pushed;
    this.newest = null;
    this.view.steady = true;
    this.sides().forEach((side, q) => void this.grab(pushed, side, q));
    return true;
  }

  private async grab(pushed: Pushed, side: Side, index: number): Promise<void> {
    try {
      const { point } = await side.engine.move(pushed.obstacle);
      pushed.start[index] = new Vector3().fromArray(point);
      await this.send(pushed, side, index);
    } catch (error) {
      if (this.pushed === pushed) this.drop();
      this.onError(error);
    }
  }

  dragTo(x: number, y: number): void {
    if (!this.pushed) return;
    this.newest = this.view.onPlane(x, y, this.pushed.through).sub(this.pushed.through);
    const pushed = this.pushed;
    this.sides().forEach((side, q) => void this.send(pushed, side, q));
  }

  /** The newest place; while one is on its way the others wait, and the last of them counts. */
  private async send(pushed: Pushed, side: Side, index: number): Promise<void> {
    const start = pushed.start[index];
    if (!start || pushed.sending[index]) return;
    pushed.sending[index] = true;
    try {
      let sent: Vector3 | null = null;
      while (this.pushed === pushed && this.newest && sent !== this.newest) {
        sent = this.newest;
        await side.engine.move(pushed.obstacle, start.clone().add(sent).toArray());
      }
    } catch (error) {
      this.onError(error);
    } finally {
      pushed.sending[index] = false;
    }
  }

  drop(): void {
    if (!this.pushed) return;
    this.pushed = null;
    this.newest = null;
    this.view.steady = false;
    for (const side of this.sides()) if (side.frame?.late) side.engine.stay().catch(this.onError);
  }

  /** Whether an obstacle that can be moved is there. */
  hover(x: number, y: number): boolean {
    const index = this.view.layerAt(x, y), hit = this.view.pickObstacle(x, y);
    this.view.layers.forEach((layer, q) => {
      if (layer.obstacles.setHover(q === index && hit ? hit.obstacle : -1)) this.view.changed();
    });
    return hit !== null;
  }

  leave(): void {
    for (const layer of this.view.layers) if (layer.obstacles.setHover(-1)) this.view.changed();
  }
}
