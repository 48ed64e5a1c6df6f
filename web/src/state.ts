// What a person has set on the page itself, not in the scene; listeners are called at changes.
import type { Color } from './engine/protocol';

export interface Settings {
  playing: boolean;
  speed: number; // simulated seconds per second
  color: Color;
  faces: boolean;
  springs: boolean;
  pull: number; // stiffness of the handle, 1: as stiff as the springs at the vertex
}

export const SPEED_RANGE: readonly [number, number] = [0.01, 2];
export const PULL_RANGE: readonly [number, number] = [0.01, 10];

/** A value of several parts and who listens to it. */
export class Store<T extends object> {
  private listeners: ((value: T, before: T) => void)[] = [];

  constructor(private value: T) {}

  get(): Readonly<T> { return this.value; }

  set(part: Partial<T>): void {
    const before = this.value;
    this.value = { ...before, ...part };
    for (const listener of this.listeners) listener(this.value, before);
  }

  /** Called at every change, and once now. */
  watch(listener: (value: T, before: T) => void): void {
    this.listeners.push(listener);
    listener(this.value, this.value);
  }
}

/** An event with a value, and its listeners. */
export class Signal<T = void> {
  private listeners: ((value: T) => void)[] = [];
  on(listener: (value: T) => void): void { this.listeners.push(listener); }
  emit(value: T): void { for (const listener of this.listeners) listener(value); }
}
