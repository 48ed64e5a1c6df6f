// Live plots against simulated time: energies; the error that is left in a step and its iterations;
// milliseconds a step. In a comparison each side has its color, and dashes distinguish the energies.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { App } from '../app';
import type { Column } from '../history';
import { h, prettyNumber } from './dom';
import { onTheme } from './theme';
import { throttled } from './throttle';
import { usualLargest } from './usual';

const WINDOW = 12; // s of simulated time
const SHORTEST = 2; // s; a window that starts smaller would only zoom out
const EVERY = 100; // ms
const LARGEST = 1e14; // of a value that is drawn

interface Line {
  column: Column;
  name: string;
  color: string; // a variable of the style sheet
  dash?: number[];
  scale?: string;
}

interface Definition {
  title: string;
  /** Whether the legend says whose line is whose; a narrow plot leaves it to its neighbor. */
  sides: boolean;
  lines: Line[];
  log?: boolean;
  /** Whether single large values are cut off. */
  robust?: boolean;
}

const ENERGY: Line[] = [
  { column: 'kinetic', name: 'kinetic', color: '--plot-kinetic', dash: [6, 4] },
  { column: 'spring', name: 'spring', color: '--plot-spring', dash: [2, 3] },
  { column: 'gravity', name: 'gravity', color: '--plot-gravity', dash: [10, 4] },
  { column: 'total', name: 'total', color: '--plot-total' },
];

const DEFINITIONS: Definition[] = [
  { title: 'Energy, J', sides: true, lines: ENERGY },
  {
    title: 'Error left in a step', sides: false, log: true,
    lines: [
      { column: 'gradient', name: 'error', color: '--plot-error', scale: 'y' },
      { column: 'iterations', name: 'iterations', color: '--plot-iterations', scale: 'count', dash: [4, 3] },
    ],
  },
  { title: 'Time for a step, ms', sides: true, robust: true, lines: [{ column: 'milliseconds', name: 'ms', color: '--plot-time' }] },
];

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

class Chart {
  readonly element = h('figure', { class: 'plot' });
  private body = h('div', { class: 'plot-body' });
  private legend = h('figcaption', {});
  private plot: uPlot | null = null;
  private hidden = new Set<string>();
  private nothing = h('p', { class: 'nothing', hidden: true }, 'Nothing to solve: the method is explicit.');

  constructor(private app: App, private definition: Definition) {
    this.element.append(this.legend, this.body, this.nothing);
    new ResizeObserver(() => {
      this.plot?.setSize(this.size());
      this.update(); // nothing is drawn while it is hidden
    }).observe(this.body);
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(50, this.body.clientWidth), height: Math.max(50, this.body.clientHeight) };
  }

  private color(line: Line, side: number): string {
    return css(this.app.comparing ? `--side-${side}` : line.color);
  }

  /** For each side all lines; in a comparison a side's lines differ by their dashes alone. */
  private series(): { line: Line; side: number }[] {
    return this.app.sides.flatMap((_, side) => this.definition.lines.map((line) => ({ line, side })));
  }

  build(): void {
    this.plot?.destroy();
    const text = css('--text-soft'), grid = css('--line');
    const font = '11px system-ui, sans-serif';
    const axis = { stroke: text, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 } };
    const values = (_: uPlot, ticks: (number | null)[]) => ticks.map((tick) => (tick === null ? '' : prettyNumber(tick, 3)));
    const twoScales = this.definition.lines.some((line) => line.scale === 'count');
    this.plot = new uPlot({
      ...this.size(),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      padding: [8, twoScales ? 0 : 10, 0, 0],
      scales: {
        x: { time: false, range: (_, min, max) => [min ?? 0, Math.max(max ?? 0, (min ?? 0) + SHORTEST)] },
        y: this.definition.log
          ? { distr: 3, range: (_, min, max) => logRange(min, max) }
          : { range: (_, min, max) => this.range(min, max) },
        count: { range: (_, __, max) => [0, Math.max(4, 1.15 * (max ?? 0))] },
      },
      axes: [
        { ...axis, size: 26, space: 60 },
        { ...axis, size: 52, values, space: 26, ...(this.definition.log ? { splits: (_: uPlot, __: number, low: number, high: number) => decades(low, high), filter: (_: uPlot, ticks: number[]) => ticks } : {}) },
        ...(twoScales ? [{ ...axis, side: 1 as const, scale: 'count', size: 34, grid: { show: false }, space: 26 }] : []),
      ],
      series: [
        {},
        ...this.series().map(({ line, side }) => ({
          stroke: this.color(line, side), width: line.column === 'total' ? 2 : 1.5, dash: this.dash(line, side),
          scale: line.scale ?? 'y', spanGaps: true, points: { show: false }, show: !this.hidden.has(line.name),
        })),
      ],
    }, [[], ...this.series().map(() => [])] as unknown as uPlot.AlignedData, this.body);
    this.buildLegend();
    this.update();
  }

  private dash(line: Line, side: number): number[] | undefined {
    if (!this.app.comparing && this.definition.lines === ENERGY) return undefined;
    if (this.app.comparing && this.definition.lines.length === 1) return side === 1 ? [6, 4] : undefined;
    return line.dash;
  }

  private buildLegend(): void {
    const { app, definition } = this;
    const swatch = (line: Line) => {
      const mark = h('i', { class: `swatch ${this.dash(line, 0) ? 'dashed' : ''}` });
      mark.style.setProperty('--color', app.comparing ? css('--text') : this.color(line, 0));
      return mark;
    };
    const toggles = definition.lines.length < 2 ? [] : definition.lines.map((line) => h('button', {
      type: 'button', 'aria-pressed': String(!this.hidden.has(line.name)), title: `Show or hide ${line.name}`,
      onclick: () => {
        if (!this.hidden.delete(line.name)) this.hidden.add(line.name);
        this.build();
      },
    }, swatch(line), line.name));
    const sides = !app.comparing || !definition.sides ? [] : app.sides.map((_, q) => {
      const mark = h('i', { class: 'swatch' });
      mark.style.setProperty('--color', css(`--side-${q}`));
      return h('span', {}, mark, q === 0 ? 'left' : 'right');
    });
    this.legend.replaceChildren(h('strong', {}, definition.title), ...sides, ...toggles);
  }

  private range(min: number | null, max: number | null): [number, number] {
    const low = min ?? 0, high = max ?? 1;
    const margin = 0.06 * (high - low) || 0.5 * Math.abs(high) || 1;
    return [this.definition.lines === ENERGY ? low - margin : 0, high + margin];
  }

  /** What can be drawn. A side that blows up must not press the other one's lines flat, and a dashed
   * line to 1e30 would keep the browser busy for ever. */
  private limits(): [number, number] {
    if (this.definition.robust) return [0, this.usual()];
    if (!this.app.comparing || this.definition.lines !== ENERGY) return [-LARGEST, LARGEST];
    const shown = ENERGY.filter((line) => !this.hidden.has(line.name));
    const spans = this.app.sides.map(({ history }) => {
      const from = history.since(WINDOW);
      let low = Infinity, high = -Infinity;
      for (const line of shown)
        for (const value of history.column(line.column, from)) {
          if (value < low) low = value;
          if (value > high) high = value;
        }
      return { low, high, size: high - low };
    });
    const calm = spans.reduce((least, span) => (span.size < least.size ? span : least));
    const margin = 2 * Math.max(calm.size, 0.5 * Math.abs(calm.high), 1e-12);
    return [Math.max(-LARGEST, calm.low - margin), Math.min(LARGEST, calm.high + margin)];
  }

  /** One step during which the machine was busy is cut off at the top. */
  private usual(): number {
    return Math.min(LARGEST, usualLargest(this.app.sides.flatMap(({ history }) => {
      const from = history.since(WINDOW);
      return this.definition.lines.flatMap((line) => [...history.column(line.column, from)]);
    })));
  }

  get title(): string { return this.definition.title; }

  /** The value at the upper end of the left axis. */
  get top(): number { return this.plot?.scales.y.max ?? NaN; }

  update(): void {
    if (!this.plot || this.body.clientWidth === 0) return;
    const limits = this.limits();
    const tables = this.app.sides.map(({ history }) => {
      const from = history.since(WINDOW);
      return [history.column('time', from),
        ...this.definition.lines.map((line) => this.readable(history.column(line.column, from), line, limits))];
    });
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables as unknown as uPlot.AlignedData[]);
    this.plot.setData(data as unknown as uPlot.AlignedData);
    if (this.definition.log) this.showNothing(!this.app.sides.some((side) => side.frame && side.frame.iterations > 0));
  }

  /** Instead of axes without anything between them. */
  private showNothing(shown: boolean): void {
    this.nothing.hidden = !shown;
    this.body.classList.toggle('empty', shown);
  }

  private readable(column: Float64Array, line: Line, [low, high]: [number, number]): ArrayLike<number | null> {
    // A logarithm has no zero: explicit methods leave no error, and show none.
    if (this.definition.log && line.scale !== 'count') return Array.from(column, (value) => (value > 0 ? value : null));
    return column.map((value) => Math.min(high, Math.max(low, value)));
  }
}

/** Powers of ten, six at most. */
function decades(low: number, high: number): number[] {
  const first = Math.round(Math.log10(low)), last = Math.round(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / 5));
  const result: number[] = [];
  for (let power = first; power <= last; power += every) result.push(10 ** power);
  return result;
}

function logRange(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !(min > 0)) return [1e-9, 1];
  return [10 ** Math.floor(Math.log10(min)), 10 ** Math.max(Math.floor(Math.log10(min)) + 1, Math.ceil(Math.log10(max)))];
}

/** The plots, below each other or side by side; returns what tests look at. */
export function makePlots(app: App, place: HTMLElement): readonly { title: string; top: number }[] {
  const charts = DEFINITIONS.map((definition) => new Chart(app, definition));
  place.append(...charts.map((chart) => chart.element));
  const rebuild = () => {
    place.classList.toggle('comparing', app.comparing); // whose legends are longer
    charts.forEach((chart) => chart.build());
  };
  onTheme(rebuild);
  app.onSides.on(rebuild);
  app.onFrame.on(throttled(EVERY, () => {
    for (const chart of charts) chart.update();
  }));
  return charts;
}
