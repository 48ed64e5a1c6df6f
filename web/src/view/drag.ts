// Dragging a vertex: the engine ties it to a handle by a spring; the handle moves in the plane through
// the vertex that faces the camera. Only the newest place of the handle is sent, one at a time.
import { Vector3 } from 'three';
import type { Side } from '../side';
import type { SceneView } from './scene_view';

const MOUSE_REACH = 14; // px
const TOUCH_REACH = 30;
const HOVER_LIMIT = 100_000; // vertices; above, looking for one at every move takes too long
const AIM = 5; // px about the vertex that was picked, when the engine is asked for it

interface Held {
  index: number;
  vertex: number;
  through: Vector3;
}

export class Dragger {
  private held: Held | null = null;
  private newest: Vector3 | null = null;
  private sending = false;

  constructor(private view: SceneView, private sides: () => Side[], private pull: () => number,
    private tell: (error: unknown) => void) {}

  get dragging(): boolean { return this.held !== null; }

  take(x: number, y: number, touch: boolean): boolean {
    const index = this.view.layerAt(x, y);
    const vertex = this.view.pick(x, y, touch ? TOUCH_REACH : MOUSE_REACH);
    if (vertex < 0) return false;
    const point = this.view.position(index, vertex);
    const origin = new Vector3().fromArray(this.view.ray(x, y).origin);
    const direction = point.clone().sub(origin);
    const radius = AIM * this.view.pixelAngle() * direction.length();
    const held: Held = { index, vertex, through: point };
    this.held = held;
    this.view.steady = true;
    this.view.layers[index].setHover(-1);
    this.sides()[index].engine
      .grab(origin.toArray(), direction.normalize().toArray(), radius, this.pull())
      .then((answer) => {
        if (this.held !== held) return;
        if (answer.vertex < 0) this.held = null;
        else {
          held.vertex = answer.vertex;
          held.through.fromArray(answer.point);
        }
      })
      .catch(this.tell);
    return true;
  }

  dragTo(x: number, y: number): void {
    if (!this.held) return;
    this.newest = this.view.onPlane(x, y, this.held.through);
    this.view.layers[this.held.index].setHandle(this.held.vertex, this.newest);
    this.view.changed();
    if (!this.sending) void this.send(this.sides()[this.held.index]);
  }

  private async send(side: Side): Promise<void> {
    this.sending = true;
    try {
      while (this.newest && this.held) {
        const target = this.newest;
        this.newest = null;
        await side.engine.drag(target.toArray());
      }
    } catch (error) {
      this.tell(error);
    }
    this.sending = false;
  }

  drop(): void {
    if (!this.held) return;
    const { index } = this.held;
    this.held = null;
    this.newest = null;
    this.view.steady = false;
    this.view.layers[index]?.setHandle(-1, null);
    this.view.changed();
    this.sides()[index]?.engine.drop().catch(this.tell);
  }

  hover(x: number, y: number): boolean {
    const index = this.view.layerAt(x, y);
    const vertices = this.view.layers[index].topology?.vertices ?? 0;
    const vertex = vertices > HOVER_LIMIT ? -1 : this.view.pick(x, y, MOUSE_REACH);
    this.view.layers.forEach((layer, q) => {
      if (layer.setHover(q === index ? vertex : -1)) this.view.changed();
    });
    return vertex >= 0;
  }

  leave(): void {
    for (const layer of this.view.layers) if (layer.setHover(-1)) this.view.changed();
  }

  /** Pins or releases the vertex there, in every engine. */
  async togglePin(x: number, y: number, touch: boolean): Promise<void> {
    const vertex = this.view.pick(x, y, touch ? TOUCH_REACH : MOUSE_REACH);
    if (vertex < 0) return;
    try {
      await Promise.all(this.sides().map(async (side, index) => {
        const answer = await side.engine.pin(vertex);
        if (side.info) side.info.pinned = answer.pinned;
        this.view.layers[index]?.setPinned(answer.pinned);
      }));
    } catch (error) {
      this.tell(error);
    }
    this.view.changed();
  }
}
