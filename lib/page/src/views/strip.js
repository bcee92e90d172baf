// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Samples over time, stacked by thread state. Dragging selects a range; everything else follows.
import { h, later, listen, oncePerFrame } from '../dom/dom.js';
import { markColour, stateColour, textColour } from '../graph/colours.js';
import { drawHeat, heatCells, heatGrid, heatTick } from './heat.js';
import { formatClock, formatCount, formatSeconds, formatShare, plural } from '../data/numbers.js';
import { weightOf } from '../data/selection.js';
import { countBins, holdsHit, intervalTicks, isChosen, passes, stacked, sumOf, timeBins } from '../data/timeline.js';

export const STATES = ['unknown', 'running', 'runnable', 'sleeping', 'waiting', 'parked', 'blocked', 'in native'];

export class Strip {
  constructor(app) {
    this.app = app;
    this.surface = h('canvas', { 'aria-hidden': 'true' });
    this.label = h('div.strip-label');
    this.window = h('i.strip-window', { 'aria-hidden': 'true', hidden: true });
    this.element = h(
      'div.strip',
      { tabindex: '0', role: 'group', alt: 'Time: drag to select a range; arrow keys move it, Shift and arrows resize it', 'aria-describedby': 'strip-label' },
      this.surface,
      this.window,
      this.label,
    );
    this.label.id = 'strip-label';
    this.utc = true;
    listen(this.label, 'click', () => {
      this.utc = !this.utc;
      this.tell();
    });
    this.redraw = oncePerFrame(() => this.draw());
    this.bind();
    new ResizeObserver(() => {
      this.cells = null;
      this.redraw();
    }).observe(this.element);
  }

  get side() {
    return this.app.source.sides[0];
  }

  get available() {
    return this.app.source.sides.length === 1 && this.side.timed && this.side.timed.count > 0;
  }

  get end() {
    return Math.max(this.side.meta.durationTicks || 0, this.side.timed.time[this.side.timed.count - 1] + 1);
  }

  // Ticks shown: the whole capture, or what the wheel zoomed to.
  get view() {
    return this.zoomed || [0, this.end];
  }

  // How heat cells lie, if they are shown.
  get grid() {
    return this.app.state.heat && heatGrid(this.view, 1e9 / this.side.meta.tickNs, this.surface.clientWidth);
  }

  // [from, to] in ticks between two places of the pointer.
  between(a, b) {
    const { clientWidth: width, clientHeight: height } = this.surface;
    const { grid } = this;
    const [from, to] = this.view;
    const ticks = [a, b]
      .map(({ x, y }) => (grid ? heatTick(grid, x, y, width, height) : from + ((to - from) * Math.min(Math.max(0, x), width)) / (width || 1)))
      .sort((p, q) => p - q);
    if (grid) ticks[1] += grid.step;
    const first = Math.max(0, Math.floor(ticks[0]));
    return [first, Math.max(first + 1, Math.ceil(ticks[1]))];
  }

  bind() {
    const at = (event) => {
      const { left, top } = this.surface.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    let start = null;
    let which = 'range';
    listen(this.surface, 'pointerdown', (event) => {
      if (event.button > 0 || !this.available) return;
      this.surface.setPointerCapture(event.pointerId);
      start = at(event);
      which = event.shiftKey && this.app.state.range ? 'base' : 'range';
      this.before = this.app.rememberFilters();
    });
    listen(this.surface, 'pointermove', (event) => {
      const here = at(event);
      if (start === null || (!this.dragging && Math.hypot(here.x - start.x, here.y - start.y) < 3)) return;
      this.dragging = true;
      this.app.dragRange(which, this.between(start, here));
    });
    for (const type of ['pointerup', 'pointercancel']) {
      listen(this.surface, type, () => {
        if (start === null) return;
        start = null;
        if (this.dragging) this.app.settleRange(this.before);
        else if (this.app.state.range) this.app.update({ range: null, base: null });
        this.dragging = false;
      });
    }
    listen(this.surface, 'wheel', (event) => this.wheel(event, at(event).x), { passive: false });
    listen(this.element, 'keydown', (event) => this.key(event));
  }

  wheel(event, x) {
    if (!this.available) return;
    event.preventDefault();
    const [from, to] = this.view;
    const { end } = this;
    const middle = from + ((to - from) * x) / (this.surface.clientWidth || 1);
    const span = Math.min(end, Math.max(20, (to - from) * Math.exp(Math.max(-200, Math.min(200, event.deltaY)) * 0.003)));
    const left = Math.min(Math.max(0, middle - ((middle - from) * span) / (to - from)), end - span);
    this.zoomed = span >= end ? null : [left, left + span];
    this.showWindow();
    this.cells = null;
    this.redraw();
  }

  key(event) {
    const step = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
    if (!step || !this.available) return;
    event.preventDefault();
    event.stopPropagation();
    const [from, to] = this.view;
    const unit = Math.max(1, Math.round((to - from) / 100));
    const range = this.app.state.range || [from, Math.min(to, from + 10 * unit)];
    const moved = event.shiftKey ? [range[0], Math.max(range[0] + unit, range[1] + step * unit)] : [range[0] + step * unit, range[1] + step * unit];
    if (moved[0] < 0 || moved[1] > to + unit) return;
    this.app.update({ range: moved.map(Math.round) });
  }

  // What is drawn, over the whole in grey: what the filters leave; of that what was found and what is selected.
  layers() {
    const { app } = this;
    const { result, state, pipeline, chosen } = app;
    const filter = passes(pipeline, result, state);
    const tests = filter ? [filter] : [];
    return {
      filtered: Boolean(filter),
      shown: tests,
      found: app.hits && [...tests, holdsHit(result, app.hits)],
      selected: chosen.name >= 0 && [...tests, isChosen(result, chosen, pipeline.names)],
    };
  }

  count(width) {
    const { side, view, grid } = this;
    const layers = this.layers();
    if (grid) {
      const focus = layers.selected || layers.found || layers.shown;
      const weight = weightOf(side);
      const cells = (tests) => heatCells(grid, side.timed, { range: view }, (s) => (tests.every((test) => test(s)) ? weight(s) : 0));
      return { layers, heat: cells(focus), whole: cells([]) };
    }
    const bins = timeBins(view, intervalTicks(side), width);
    const { state } = side.timed;
    const of = (tests) => tests && countBins(side, view, bins, tests);
    const shown = countBins(side, view, bins, layers.shown, STATES.length, (s) => Math.min(state[s], STATES.length - 1));
    const whole = layers.filtered ? this.wholeOf(bins, of) : [stacked(shown)];
    return { layers, bins, shown, whole, found: of(layers.found), selected: of(layers.selected), highest: Math.max(...whole[0]) };
  }

  // It stays while filters change.
  wholeOf(bins, of) {
    const key = [this.side, bins.first, bins.step, bins.count];
    if (!this.whole || key.some((part, i) => part !== this.wholeKey[i])) Object.assign(this, { whole: of([]), wholeKey: key });
    return this.whole;
  }

  // What is counted depends on these; the range of time, which is dragged, is none of them.
  get counted() {
    const { app } = this;
    const { result, state, hits, chosen } = app;
    return [result.shape, JSON.stringify([state.threads, state.states, state.chips, state.heat]), hits, chosen.node, chosen.name, this.view.join(), this.element.clientWidth];
  }

  // What was selected or found is another: counted when nothing else is to be done.
  follow() {
    if (!this.available || this.asked) return;
    this.asked = true;
    later(() => {
      this.asked = false;
      this.redraw();
    });
  }

  show() {
    this.element.hidden = !this.available;
    this.element.classList.toggle('heat', this.app.state.heat);
    this.showWindow();
    if (this.available) this.redraw();
  }

  draw() {
    if (!this.available) return;
    const width = this.element.clientWidth;
    const height = this.surface.clientHeight;
    if (!width || !height) return;
    const { dark, state } = this.app;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { counted } = this;
    if (!this.cells || counted.some((part, i) => part !== this.countedFor[i])) {
      this.cells = this.count(width);
      this.countedFor = counted;
    }
    this.surface.width = width * ratio;
    this.surface.height = height * ratio;
    const context = this.surface.getContext('2d', { alpha: false });
    context.scale(ratio, ratio);
    context.fillStyle = dark ? '#1d2026' : '#f6f7f9';
    context.fillRect(0, 0, width, height);
    this.tell();
    const { heat, whole } = this.cells;
    if (heat) {
      const ranges = [state.range, state.base].filter(Boolean);
      return drawHeat(context, heat, whole, width, height, dark, (from, to) => !ranges.length || ranges.some((r) => from < r[1] && to > r[0]));
    }
    this.drawGaps(context, width, height, dark);
    this.drawBins(context, width, height, dark);
    this.drawRange(context, state.range, height, dark ? '#e8ecf4' : '#1f2937', state.base ? 'new' : '', width, dark);
    if (state.base) this.drawRange(context, state.base, height, dark ? '#7fb0ff' : '#2f6fd0', 'base', 0, dark);
  }

  drawBins(context, width, height, dark) {
    const { layers, bins, shown, whole, found, selected, highest } = this.cells;
    const [from, to] = this.view;
    const scale = width / (to - from);
    const left = (c) => (bins.first + c * bins.step - from) * scale;
    const wide = Math.max(1, bins.step * scale - 0.6);
    const tall = (weight) => (highest ? (weight / highest) * (height - 3) : 0);
    const bars = (rows, colourOf) => {
      for (let c = 0; c < bins.count; c++) {
        let y = height;
        rows.forEach((row, s) => {
          if (!row[c]) return;
          context.fillStyle = colourOf(s);
          context.fillRect(left(c), y - tall(row[c]), wide, tall(row[c]));
          y -= tall(row[c]);
        });
      }
    };
    if (layers.filtered || found || selected) bars(whole, () => (dark ? '#353a43' : '#dde0e6'));
    // What is sought stands out from what the filters leave.
    bars(shown, found || selected ? () => (dark ? '#565c68' : '#b9bfca') : (s) => stateColour(s, dark));
    if (found) bars(found, () => markColour(dark));
    if (!selected) return;
    // A line, through which what was found can be seen.
    context.strokeStyle = textColour(dark);
    context.lineWidth = 1.5;
    context.beginPath();
    for (let c = 0; c < bins.count; c++) {
      const y = height - tall(selected[0][c]) - 0.75;
      context.lineTo(left(c), y);
      context.lineTo(left(c + 1), y);
    }
    context.stroke();
  }

  // Times in which samples were lost: hatched, since colour alone tells too little.
  drawGaps(context, width, height, dark) {
    const [from, to] = this.view;
    for (const gap of this.side.meta.gaps || []) {
      const left = ((gap.from - from) / (to - from)) * width;
      const right = Math.max(left + 2, ((gap.to - from) / (to - from)) * width);
      context.fillStyle = dark ? '#4a2b2b' : '#f7d9d6';
      context.fillRect(left, 0, right - left, height);
      context.fillStyle = dark ? '#8c4640' : '#d98a82';
      for (let x = Math.ceil(left / 6) * 6; x < right; x += 6) context.fillRect(x, 0, 1, height);
    }
  }

  // The part of the time that the flame chart shows.
  showWindow() {
    const { chart, state } = this.app;
    const { style } = this.window;
    const shown = this.available && chart && state.chartWindow;
    this.window.hidden = !shown;
    if (!shown) return;
    const [from, to] = this.view;
    const share = (tick) => Math.min(1, Math.max(0, (tick - from) / (to - from)));
    const [left, right] = shown.map(share);
    style.left = 100 * left + '%';
    style.width = 100 * (right - left) + '%';
  }

  drawRange(context, range, height, colour, word, width, dark) {
    if (!range) return;
    const [from, to] = this.view;
    const x = (tick) => ((tick - from) / (to - from)) * this.element.clientWidth;
    const left = x(range[0]);
    const right = x(range[1]);
    if (width) {
      context.fillStyle = dark ? 'rgba(0,0,0,.55)' : 'rgba(255,255,255,.7)';
      context.fillRect(0, 0, left, height);
      context.fillRect(right, 0, width - right, height);
    }
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.strokeRect(left, 1, Math.max(2, right - left), height - 2);
    if (!word) return;
    context.font = 'bold 11px system-ui, sans-serif';
    context.textBaseline = 'top';
    const room = context.measureText(word).width;
    context.fillStyle = dark ? '#17191e' : '#ffffff';
    context.fillRect(left + 2, 3, room + 4, 13);
    context.fillStyle = colour;
    context.fillText(word, left + 4, 4);
  }

  seconds(ticks) {
    return (ticks * (this.side.meta.tickNs || 1e6)) / 1e9;
  }

  clock(ticks) {
    const start = this.side.meta.startMs;
    if (!start) return '+' + formatSeconds(this.seconds(ticks));
    return formatClock(start + this.seconds(ticks) * 1000, this.utc);
  }

  describe(range) {
    return `${this.clock(range[0])} – ${this.clock(range[1])} (${formatSeconds(this.seconds(range[1] - range[0]))})`;
  }

  gapText() {
    const gaps = this.side.meta.gaps || [];
    const lost = gaps.reduce((sum, gap) => sum + gap.lost, 0);
    return gaps.length ? ` · ${plural(gaps.length, 'gap')}: ${plural(lost, 'sample')} lost` : '';
  }

  // What the colours over the grey are, with their shares of what the filters leave.
  layerText() {
    const { layers, shown, whole, found, selected } = this.cells;
    const parts = [];
    if (found) parts.push(`pink: found, ${formatShare(sumOf(found), sumOf(shown))}`);
    if (selected) parts.push(`line: selected, ${formatShare(sumOf(selected), sumOf(shown))}`);
    if (layers.filtered && shown) parts.push(`filters leave ${formatShare(sumOf(shown), sumOf(whole))}, pale grey: the rest`);
    return parts.map((part) => ' · ' + part).join('');
  }

  tell() {
    const { state } = this.app;
    const zone = this.side.meta.startMs ? (this.utc ? ' UTC' : ' local time') : '';
    const whole = this.view;
    let text = `${this.describe(whole)}${zone}${this.gapText()} · drag to select · ${formatCount(this.side.timed.sampleCount)} timed samples`;
    if (state.range && state.base) text = `new: ${this.describe(state.range)}, compared with base: ${this.describe(state.base)}${zone}`;
    else if (state.range) text = `${this.describe(state.range)}${zone} · Shift-drag a second range, the base to compare with · Esc clears`;
    if (this.cells && !this.cells.heat) text += this.layerText();
    if (this.label.textContent !== text) this.label.textContent = text;
    this.label.title = text;
  }
}
