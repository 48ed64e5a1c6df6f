// What was measured at each frame, for the plots and for the table that can be downloaded. When it is
// full the oldest quarter is forgotten.
import type { Frame } from './engine/protocol';

export const COLUMNS = [
  'time', 'kinetic', 'spring', 'gravity', 'other', 'total', 'gradient', 'iterations', 'linear_iterations',
  'milliseconds', 'step',
] as const;
export type Column = (typeof COLUMNS)[number];

export const COLUMN_UNITS: Record<Column, string> = {
  time: 's', kinetic: 'J', spring: 'J', gravity: 'J', other: 'J', total: 'J', gradient: '', iterations: '',
  linear_iterations: '', milliseconds: 'ms', step: 's',
};

const CAPACITY = 32768;

export class History {
  count = 0;
  private data = Object.fromEntries(
    COLUMNS.map((column) => [column, new Float64Array(CAPACITY)])) as Record<Column, Float64Array>;

  clear(): void { this.count = 0; }

  add(frame: Frame): void {
    const { data } = this;
    // Time that does not go on, or goes back, is a new start.
    if (this.count && frame.time < data.time[this.count - 1]) this.clear();
    if (this.count && frame.time === data.time[this.count - 1]) this.count--;
    if (this.count === CAPACITY) this.forgetQuarter();
    const q = this.count++;
    data.time[q] = frame.time;
    data.kinetic[q] = frame.kinetic;
    data.spring[q] = frame.spring;
    data.gravity[q] = frame.gravity;
    data.other[q] = frame.other;
    data.total[q] = frame.total;
    data.gradient[q] = frame.gradient;
    data.iterations[q] = frame.iterations;
    data.linear_iterations[q] = frame.linearIterations;
    data.milliseconds[q] = frame.milliseconds;
    data.step[q] = frame.step;
  }

  private forgetQuarter(): void {
    const quarter = CAPACITY / 4;
    for (const column of COLUMNS) this.data[column].copyWithin(0, quarter);
    this.count -= quarter;
  }

  /** The first row that is at most so many simulated seconds old. */
  since(seconds: number): number {
    if (!this.count) return 0;
    const from = this.data.time[this.count - 1] - seconds;
    let low = 0, high = this.count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.data.time[middle] < from) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  column(column: Column, from = 0): Float64Array { return this.data[column].subarray(from, this.count); }
}
