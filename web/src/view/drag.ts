// Dragging a vertex: the engine ties it to a handle by a spring; the handle moves in the plane through
// the vertex that faces the camera. In a comparison the same vertex is dragged on both sides. The
// handle follows the pointer in simulated time: in slow motion, or where the machine is slow, a hand
// as fast as the pointer would put many times the energy into the scene.
import { Vector3 } from 'three';
import type { Frame } from '../engine/protocol';
import type { Side } from '../side';
import type { SceneView } from './scene_view';

const MOUSE_REACH = 14; // px
const TOUCH_REACH = 30;
const HOVER_LIMIT = 100_000; // vertices; above, looking for one at every move takes too long
const AIM = 5; // px about the vertex that was picked, when the engine is asked for it
/** The fastest that a handle moves: sizes of the scene per simulated second. */
const HAND_SPEED = 4;

interface Hand {
  at: Vector3; // where the engine has the handle
  time: number; // s of simulated time when it got there
  sending: boolean;
}

interface Held {
  index: number; // of the side where it was taken
  vertex: number;
  through: Vector3;
  hands: Hand[]; // of each side, once its engine has taken the vertex
}

export class Dragger {
  private held: Held | null = null;
  private newest: Vector3 | null = null;

  constructor(private view: SceneView, private sides: () => Side[], private pull: () => number,
    private onError: (error: unknown) => void) {}

  get dragging(): boolean { return this.held !== null; }

  take(x: number, y: number, touch: boolean): boolean {
    const index = this.view.layerAt(x, y);
    const vertex = this.view.pick(x, y, touch ? TOUCH_REACH : MOUSE_REACH);
    if (vertex < 0) return false;
    const point = this.view.position(index, vertex);
    const origin = new Vector3().fromArray(this.view.ray(x, y).origin);
    const direction = point.clone().sub(origin);
    const radius = AIM * this.view.pixelAngle() * direction.length();
    const held: Held = { index, vertex, through: point, hands: [] };
    this.held = held;
    this.newest = null;
    this.view.steady = true;
    this.view.layers[index].setHover(-1);
    void this.grab(held, origin, direction.normalize(), radius);
    return true;
  }

  private async grab(held: Held, origin: Vector3, direction: Vector3, radius: number): Promise<void> {
    try {
      const answer = await this.sides()[held.index].engine.grab(origin.toArray(), direction.toArray(), radius, this.pull());
      if (this.held !== held) return;
      if (answer.vertex < 0) {
        this.held = null;
        return;
      }
      held.vertex = answer.vertex;
      held.through.fromArray(answer.point);
      await Promise.all(this.sides().map(async (side, q) => {
        const point = q === held.index ? answer.point : (await side.engine.grabVertex(answer.vertex, this.pull())).point;
        if (this.held !== held) return;
        held.hands[q] = { at: new Vector3().fromArray(point), time: side.frame?.time ?? 0, sending: false };
      }));
    } catch (error) {
      this.onError(error);
    }
  }

  dragTo(x: number, y: number): void {
    if (!this.held) return;
    this.newest = this.view.onPlane(x, y, this.held.through);
    this.view.layers[this.held.index].setHandle(this.held.vertex, this.newest);
    this.view.changed();
  }

  /** A frame came: the handle of its side goes on towards the pointer. */
  follow(index: number, frame: Frame): void {
    const hand = this.held?.hands[index], side = this.sides()[index];
    if (!hand || !this.newest || hand.sending || !side?.info) return;
    const { box_min: low, box_max: high } = side.info;
    const size = Math.hypot(...high.map((value, q) => value - low[q])) || 1;
    const reach = HAND_SPEED * size * Math.max(0, frame.time - hand.time);
    const way = this.newest.clone().sub(hand.at);
    hand.time = frame.time;
    if (reach === 0 || way.length() === 0) return;
    hand.at.addScaledVector(way, Math.min(1, reach / way.length()));
    hand.sending = true;
    side.engine.drag(hand.at.toArray()).catch(this.onError).finally(() => { hand.sending = false; });
  }

  drop(): void {
    if (!this.held) return;
    const { index } = this.held;
    this.held = null;
    this.newest = null;
    this.view.steady = false;
    this.view.layers[index]?.setHandle(-1, null);
    this.view.changed();
    for (const side of this.sides()) side.engine.drop().catch(this.onError);
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
      await Promise.all(this.sides().map((side) => side.turnPin(vertex)));
    } catch (error) {
      this.onError(error);
    }
    this.view.changed();
  }
}
