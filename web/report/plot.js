'use strict';
/* Plots over time as SVG: axes with units, a legend with the values at the time of the playback, a
 * cursor that moves with it and can be dragged. */

const svgSpace = 'http://www.w3.org/2000/svg';

function svgElement(name, attributes, parent) {
  const element = document.createElementNS(svgSpace, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

/* Round numbers from low to high, about so many. */
function ticksBetween(low, high, about) {
  const step = roundStep((high - low) / about),
    ticks = [];
  for (let q = Math.ceil(low / step - 1e-6); q * step <= high + 1e-6 * step; q++)
    ticks.push(q * step);
  return {ticks, step};
}

function tickText(value, step) {
  if (Math.abs(value) < 1e-9 * step) return '0';
  if (Math.abs(value) >= 1e6 || step < 1e-4) return numberText(value, 3);
  return signText(Number(value.toFixed(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)))));
}

class Plot {
  /* series: [{name, color, values, dashed}], values as long as `times`; seek(time) moves the
   * playback. unit gets a prefix such as k or m where that reads better. */
  constructor(parent, {title, unit, times, series, prefixed, fromZero, seek}) {
    this.times = times;
    this.series = series.map((one) => ({...one, shown: true}));
    this.seek = seek;
    this.fromZero = fromZero;
    this.figure = document.createElement('figure');
    this.figure.className = 'plot';
    const caption = document.createElement('figcaption'),
      name = document.createElement('span');
    let most = 0;
    for (const one of series)
      for (const value of one.values)
        if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
    const [size, prefix] = prefixed ? prefixFor(most) : [1, ''];
    this.size = size;
    this.unit = prefix + unit;
    name.className = 'name';
    name.textContent = this.unit ? `${title}, ${this.unit}` : title;
    caption.append(name);
    for (const one of this.series) caption.append(this.legendEntry(one));
    this.figure.append(caption);
    this.svg = svgElement('svg', {role: 'img', 'aria-label': `${title} over time`}, this.figure);
    parent.append(this.figure);
    this.listen();
    this.time = times[0];
  }

  legendEntry(one) {
    const button = document.createElement('button'),
      mark = document.createElement('i');
    button.type = 'button';
    button.className = 'entry';
    button.title = 'Show or hide';
    button.setAttribute('aria-pressed', 'true');
    mark.style.background = one.color;
    one.label = document.createElement('b');
    button.append(mark, one.name, one.label);
    button.addEventListener('click', () => {
      one.shown = !one.shown;
      button.setAttribute('aria-pressed', String(one.shown));
      this.draw();
    });
    return button;
  }

  listen() {
    const toTime = (event) => {
      const place = event.clientX - this.svg.getBoundingClientRect().left;
      const part = (place - this.left) / (this.right - this.left);
      this.seek(this.first + Math.max(0, Math.min(1, part)) * (this.last - this.first));
    };
    this.svg.addEventListener('pointerdown', (event) => {
      this.svg.setPointerCapture(event.pointerId);
      toTime(event);
    });
    this.svg.addEventListener('pointermove', (event) => {
      if (event.buttons & 1) toTime(event);
    });
  }

  range() {
    let low = Infinity,
      high = -Infinity;
    for (const one of this.series.filter((s) => s.shown))
      for (const value of one.values)
        if (Number.isFinite(value)) {
          low = Math.min(low, value / this.size);
          high = Math.max(high, value / this.size);
        }
    if (!(low <= high)) [low, high] = [0, 1];
    if (this.fromZero) low = Math.min(low, 0);
    const flat = high - low <= 1e-12 * Math.max(Math.abs(low), Math.abs(high));
    const margin = flat ? 0.5 * Math.abs(high) || 1 : 0.04 * (high - low);
    return [this.fromZero && low === 0 ? 0 : low - margin, high + margin];
  }

  draw() {
    const width = printing ? 360 : this.svg.clientWidth || 460,
      height = printing ? 190 : this.svg.clientHeight || 230;
    const [low, high] = this.range(),
      {ticks, step} = ticksBetween(low, high, Math.max(3, height / 40));
    this.tiny = 1e-7 * (high - low); /* rounding */
    const longest = Math.max(...ticks.map((tick) => tickText(tick, step).length));
    this.left = 12 + 6.4 * longest;
    this.right = width - 10;
    this.first = this.times[0];
    this.last = this.times[this.times.length - 1];
    if (!(this.last > this.first)) this.last = this.first + 1;
    const top = 10,
      bottom = height - 34;
    this.x = (time) =>
      this.left + ((time - this.first) / (this.last - this.first)) * (this.right - this.left);
    this.y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
    this.svg.replaceChildren();
    this.svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    for (const tick of ticks) {
      svgElement(
        'line',
        {class: 'rule', x1: this.left, x2: this.right, y1: this.y(tick), y2: this.y(tick)},
        this.svg,
      );
      const label = svgElement(
        'text',
        {x: this.left - 6, y: this.y(tick) + 4, 'text-anchor': 'end'},
        this.svg,
      );
      label.textContent = tickText(tick, step);
    }
    const across = ticksBetween(this.first, this.last, Math.max(2, width / 90));
    for (const tick of across.ticks) {
      svgElement(
        'line',
        {class: 'rule', x1: this.x(tick), x2: this.x(tick), y1: top, y2: bottom},
        this.svg,
      );
      const label = svgElement(
        'text',
        {x: this.x(tick), y: bottom + 15, 'text-anchor': 'middle'},
        this.svg,
      );
      label.textContent = tickText(tick, across.step);
    }
    const unit = svgElement('text', {x: this.right, y: height - 4, 'text-anchor': 'end'}, this.svg);
    unit.textContent = 'time, s';
    svgElement(
      'rect',
      {class: 'frame', x: this.left, y: top, width: this.right - this.left, height: bottom - top},
      this.svg,
    );
    for (const one of this.series) if (one.shown) this.drawLine(one);
    this.cursor = svgElement('line', {class: 'cursor', y1: top, y2: bottom}, this.svg);
    this.point(this.time);
  }

  /* Gaps where a value is not finite. */
  drawLine(one) {
    let path = '',
      pen = 'M',
      alone = -1;
    one.values.forEach((value, q) => {
      if (!Number.isFinite(value)) {
        pen = 'M';
        return;
      }
      path += `${pen}${this.x(this.times[q]).toFixed(1)} ${this.y(value / this.size).toFixed(1)}`;
      if (pen === 'M') alone = q;
      pen = 'L';
    });
    svgElement(
      'path',
      {
        class: 'line',
        d: path,
        style: `stroke: ${one.color}`,
        'stroke-dasharray': one.dashed ? '5 4' : 'none',
      },
      this.svg,
    );
    if (one.values.length === 1 && alone === 0)
      svgElement(
        'circle',
        {
          cx: this.x(this.times[0]),
          cy: this.y(one.values[0] / this.size),
          r: 3,
          style: `fill: ${one.color}`,
        },
        this.svg,
      );
  }

  /* Moves the cursor, and the values beside the legend. */
  point(time) {
    this.time = time;
    if (!this.cursor) return;
    const at = this.x(Math.max(this.first, Math.min(this.last, time)));
    this.cursor.setAttribute('x1', at);
    this.cursor.setAttribute('x2', at);
    let low = 0,
      high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    for (const one of this.series) {
      const value = one.values[low] / this.size;
      one.label.textContent = Math.abs(value) < this.tiny ? '0' : numberText(value, 3);
    }
  }
}
