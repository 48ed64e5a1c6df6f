// What mouse, pen, fingers and arrow keys do in the view: a vertex or obstacle under the pointer is dragged,
// anything else turns the view; the right button, Shift or two fingers move it, wheel and pinch zoom;
// a double click on a vertex pins or releases it.
import type { OrbitCamera } from './camera';

export interface PointerActions {
  /** Takes the vertex or obstacle there; false: there is none. */
  take(x: number, y: number, touch: boolean): boolean;
  dragTo(x: number, y: number): void;
  drop(): void;
  togglePin(x: number, y: number, touch: boolean): void;
  /** What is there: a vertex, an obstacle that can be moved, or nothing; called at most once a frame. */
  hover(x: number, y: number): 'vertex' | 'obstacle' | null;
  leave(): void;
  cameraChanged(): void;
}

type Mode = 'none' | 'orbit' | 'pan' | 'drag' | 'pinch';

interface Point {
  x: number;
  y: number;
}

const TURN = 0.006; // rad a pixel
const DOUBLE_TIME = 350; // ms
const DOUBLE_REACH = 24; // px

export function listenToPointer(canvas: HTMLCanvasElement, orbit: OrbitCamera, actions: PointerActions): void {
  const pointers = new Map<number, Point>();
  let mode: Mode = 'none';
  let lastDown = { x: 0, y: 0, time: -1e9 };
  let hoverAt: Point | null = null;

  function place(event: PointerEvent | WheelEvent): Point {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  function end(): void {
    if (mode === 'drag') actions.drop();
    mode = 'none';
    canvas.classList.remove('dragging', 'turning');
  }

  function isDouble(at: Point, time: number): boolean {
    const near = Math.hypot(at.x - lastDown.x, at.y - lastDown.y) < DOUBLE_REACH;
    const double = near && time - lastDown.time < DOUBLE_TIME;
    lastDown = { ...at, time: double ? -1e9 : time };
    return double;
  }

  canvas.addEventListener('pointerdown', (event) => {
    const at = place(event);
    canvas.setPointerCapture(event.pointerId);
    canvas.focus({ preventScroll: true });
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      end();
      mode = 'pinch';
      return;
    }
    if (pointers.size > 2) return;
    const touch = event.pointerType === 'touch';
    if (event.button === 0 && !event.shiftKey && isDouble(at, event.timeStamp)) {
      actions.togglePin(at.x, at.y, touch);
      return;
    }
    if (event.button !== 0 || event.shiftKey) mode = 'pan';
    else if (!event.altKey && !event.ctrlKey && actions.take(at.x, at.y, touch)) mode = 'drag';
    else mode = 'orbit';
    canvas.classList.add(mode === 'drag' ? 'dragging' : 'turning');
  });

  function pinch(id: number, to: Point): void {
    const [first, second] = [...pointers.keys()];
    const other = pointers.get(id === first ? second : first)!;
    const from = pointers.get(id)!;
    const before = Math.hypot(from.x - other.x, from.y - other.y);
    const after = Math.hypot(to.x - other.x, to.y - other.y);
    if (before > 0 && after > 0) orbit.zoom(before / after);
    const height = canvas.clientHeight;
    orbit.pan((to.x - from.x) / 2 / height, (to.y - from.y) / 2 / height);
    actions.cameraChanged();
  }

  canvas.addEventListener('pointermove', (event) => {
    const at = place(event);
    const from = pointers.get(event.pointerId);
    if (!from) {
      if (event.pointerType !== 'touch') hoverAt = at;
      return;
    }
    const dx = at.x - from.x, dy = at.y - from.y;
    if (mode === 'pinch') pinch(event.pointerId, at);
    else if (mode === 'drag') actions.dragTo(at.x, at.y);
    else if (mode === 'orbit') orbit.orbit(TURN * dx, TURN * dy);
    else if (mode === 'pan') orbit.pan(dx / canvas.clientHeight, dy / canvas.clientHeight);
    if (mode === 'orbit' || mode === 'pan') actions.cameraChanged();
    pointers.set(event.pointerId, at);
  });

  function lift(event: PointerEvent): void {
    pointers.delete(event.pointerId);
    if (pointers.size === 0 || mode === 'drag') end();
    else if (mode === 'pinch' && pointers.size === 1) mode = 'orbit';
  }
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointerleave', () => {
    hoverAt = null;
    actions.leave();
  });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    orbit.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, 0.0012 * lines * event.deltaY))));
    actions.cameraChanged();
  }, { passive: false });

  canvas.addEventListener('keydown', (event) => {
    const turn: Record<string, [number, number]> = {
      ArrowLeft: [0.08, 0], ArrowRight: [-0.08, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08],
    };
    if (event.key in turn && !event.ctrlKey && !event.metaKey) orbit.orbit(...turn[event.key]);
    else if (event.key === '+' || event.key === '=') orbit.zoom(0.9);
    else if (event.key === '-') orbit.zoom(1 / 0.9);
    else return;
    event.preventDefault();
    actions.cameraChanged();
  });

  // Looking for a vertex takes a pass over all of them: once a frame is enough.
  function lookForHover(): void {
    requestAnimationFrame(lookForHover);
    if (!hoverAt || mode !== 'none') return;
    const over = actions.hover(hoverAt.x, hoverAt.y);
    canvas.classList.toggle('over-vertex', over === 'vertex');
    canvas.classList.toggle('over-obstacle', over === 'obstacle');
    hoverAt = null;
  }
  lookForHover();
}
