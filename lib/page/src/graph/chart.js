// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The flame chart: a lane for each thread, in it the stacks in the order of time. A lane has a row with its name and, below
// the name, its thread's states; open lanes have a row for each level of their stacks.
import { markColour, stateColour, textColour } from './colours.js';
import { FlameView } from './flame.js';
import { ChartRows } from './chartrows.js';
import { Row } from './layout.js';

const BAND_PIXELS = 5;
// What ran for a moment of a pixel's time can still be seen.
const FAINTEST = 0.3;
const GAP_PIXELS = 6;

export class ChartGraph extends FlameView {
  constructor(listener) {
    super(listener, 'chart');
    this.ownPixels = 24;
    // The box that is chosen: { lane, depth (-1: the lane's own row), tick }.
    this.mark = null;
  }

  // model: what a graph needs (views.js) and { lanes, told, isOpen(lane), whole (ticks), flags (bytes over nodes that a search
  // found, or null), gaps, ranges ([from, to] of ticks that count, or none), describe(lane) }
  get whole() {
    return this.model ? this.model.whole : 1;
  }

  // Where each lane begins, in rows.
  place() {
    let top = 0;
    this.places = this.model.lanes.map((lane) => {
      const rows = this.model.isOpen(lane) ? lane.levels : 0;
      const place = { lane, top, rows };
      top += rows + 1;
      return place;
    });
    this.rowCount = top;
  }

  placeOf(lane) {
    return this.places.find((place) => place.lane === lane);
  }

  placeAt(row) {
    let low = 0;
    let high = this.places.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.places[middle].top <= row) low = middle;
      else high = middle - 1;
    }
    return this.places[low];
  }

  // -1 for the row of the name.
  depthOf({ top, rows }, row) {
    const at = row - top - 1;
    return at < 0 || !this.model.rootBelow ? at : rows - 1 - at;
  }

  rowOf({ top, rows }, depth) {
    return depth < 0 ? top : top + 1 + (this.model.rootBelow ? rows - 1 - depth : depth);
  }

  relayout() {
    if (this.placedFor !== this.model) this.place();
    this.placedFor = this.model;
    this.content = this.rowCount * this.rowHeight;
    const spacer = Math.max(0, this.content - this.height) + 'px';
    if (this.spacer.style.height !== spacer) this.spacer.style.height = spacer;
    this.noteScroll();
    this.laidOutAt = this.scrolled;
    const first = Math.max(0, this.rowAt(0));
    const last = Math.min(this.rowCount - 1, this.rowAt(this.height - 1));
    this.layout = { rows: [] };
    this.layout.rows.length = this.rowCount;
    if (!this.places.length) return;
    for (let k = this.places.indexOf(this.placeAt(first)); k < this.places.length && this.places[k].top <= last; k++) {
      const place = this.places[k];
      const rows = new ChartRows(this.model.tree, (depth) => {
        const row = this.rowOf(place, depth);
        return depth < place.rows && row >= first && row <= last;
      });
      rows.fill(place.lane, { from: this.from, to: this.to, width: this.width });
      for (const [depth, boxes] of rows.depths) this.layout.rows[this.rowOf(place, depth)] = boxes;
      this.layout.rows[place.top] = Object.assign(rows.band, { place });
      place.pieces = rows.band;
    }
    for (let row = first; row <= last; row++) this.layout.rows[row] ??= new Row();
  }

  // Of every open lane, in view or not.
  pictureRows(width) {
    return this.places.flatMap(({ lane, rows }) => {
      const made = new ChartRows(this.model.tree, (depth) => depth < rows);
      made.fill(lane, { from: this.from, to: this.to, width });
      const { left, right, share } = made.band;
      const faded = this.model.told ? left.map((from, k) => [from, right[k], (1 - share[k]) * (1 - FAINTEST)]).filter(([, , strength]) => strength > 0.005) : [];
      const { name, figures } = this.model.describe(lane);
      const levels = Array.from({ length: rows }, (_, d) => Object.assign(made.depths.get(this.model.rootBelow ? rows - 1 - d : d) ?? new Row(), { faded }));
      return [Object.assign(new Row(), { title: `${name}   ${figures}` }), ...levels];
    });
  }

  draw() {
    if (!this.model || !this.width) return;
    this.noteScroll();
    if (this.laidOutAt !== this.scrolled) this.layout = null;
    super.draw();
    this.listener.drawn(this);
  }

  drawRows(rows) {
    const { pen, pixels, model, ratio, surface } = this;
    if (!rows.length) return;
    const tall = this.rowHeight - 1;
    pixels.begin(surface.width, rows.length, model.background);
    rows.forEach((row, i) => {
      const boxes = this.layout.rows[row];
      if (boxes.place) this.fillBand(boxes, i);
      else this.fillBoxes(boxes, this.placeAt(row).pieces, i);
    });
    pixels.end();
    pen.imageSmoothingEnabled = false;
    rows.forEach((row, i) => {
      const y = this.top(row);
      const { place } = this.layout.rows[row];
      this.clear(y, this.rowHeight);
      if (place) this.underLane(y);
      const high = place ? BAND_PIXELS : tall;
      pen.drawImage(pixels.surface, 0, i, surface.width, 1, 0, y + tall - high, surface.width / ratio, high);
      if (place) this.labelLane(place, y, tall);
      else this.labelRow(this.layout.rows[row], y, tall);
      this.shadeRow(y);
    });
  }

  underLane(y) {
    this.pen.fillStyle = this.model.dark ? '#23272e' : '#eef0f4';
    this.pen.fillRect(0, y, this.width, this.rowHeight - 1 - BAND_PIXELS);
  }

  fillBoxes({ node, left, right }, pieces, row) {
    const { pixels, model, ratio } = this;
    for (let k = 0; k < node.length; k++) {
      const wide = right[k] - left[k];
      const colour = model.marked(node[k]) ? markColour(model.dark) : model.fill(node[k]);
      pixels.fill(row, left[k] * ratio, (left[k] + Math.max(0.5, wide - (wide > 3 ? 1 : 0))) * ratio, colour, 1);
    }
    this.fade(pieces, row);
  }

  // Where the thread ran for a part of the time only, what is drawn is as much paler.
  fade({ left, right, share }, row) {
    if (!this.model.told) return;
    for (let k = 0; k < left.length; k++) {
      if (share[k] < 0.995) this.pixels.fill(row, Math.round(left[k] * this.ratio), Math.round(right[k] * this.ratio), this.model.background, (1 - share[k]) * (1 - FAINTEST));
    }
  }

  fillBand(band, row) {
    const { pixels, model, ratio } = this;
    const { lane } = band.place;
    const { flags } = model;
    const found = flags && (lane.foundFor === flags ? lane.found : (lane.found = lane.countFlagged(flags)));
    if (flags) lane.foundFor = flags;
    const { left, right, entry, share } = band;
    const span = (this.to - this.from) / this.width;
    let i = 0;
    for (let k = 0; k < left.length; k++) {
      let colour = stateColour(model.stateOf(lane.sample[entry[k]]), model.dark);
      if (found) {
        // Whatever was found in the time of the piece shows, also where another stack stands for it.
        i = share[k] < 1 ? lane.after(this.from + left[k] * span, i) : entry[k];
        const next = share[k] < 1 ? Math.max(lane.after(this.from + right[k] * span - 1e-9, i), i + 1) : entry[k] + 1;
        if (found[Math.min(next, lane.count)] > found[i]) colour = markColour(model.dark);
      }
      pixels.fill(row, left[k] * ratio, Math.max(left[k] + 0.5, right[k]) * ratio, colour, 1);
    }
    this.fade(band, row);
  }

  labelLane(place, y, tall) {
    const { pen, model } = this;
    const { name, figures } = model.describe(place.lane);
    const middle = y + (tall - BAND_PIXELS) / 2;
    const colour = textColour(model.dark);
    const twist = model.isOpen(place.lane) ? '▾ ' : '▸ ';
    const rest = '   ' + figures;
    this.boldLabels.apply();
    pen.fillStyle = colour;
    const room = this.width - 8 - this.boldLabels.widthOf(twist);
    const fits = this.boldLabels.widthOf(name) <= room ? name : this.boldLabels.cut(name, room);
    pen.fillText(twist + fits, 4, middle);
    const used = 4 + this.boldLabels.widthOf(twist + fits);
    this.labels.apply();
    pen.fillStyle = model.dark ? '#a6adba' : '#5b6371';
    if (used + this.labels.widthOf(rest) < this.width) pen.fillText(rest, used, middle);
  }

  // Times in which samples were lost are hatched; times that the selection leaves out are grey: neither is an idle thread.
  shadeRow(y) {
    const { pen, model, width, from, to, rowHeight } = this;
    const x = (tick) => Math.min(width, Math.max(0, ((tick - from) * width) / (to - from)));
    pen.fillStyle = model.dark ? 'rgba(255,255,255,.07)' : 'rgba(0,0,0,.06)';
    let last = 0;
    for (const [begin, end] of model.ranges) {
      if (x(begin) > last) pen.fillRect(last, y, x(begin) - last, rowHeight);
      last = Math.max(last, x(end));
    }
    if (model.ranges.length && last < width) pen.fillRect(last, y, width - last, rowHeight);
    pen.fillStyle = model.dark ? 'rgba(200,100,90,.55)' : 'rgba(200,80,70,.45)';
    for (const gap of model.gaps) {
      if (gap.to < from || gap.from > to) continue;
      const right = Math.max(x(gap.from) + 2, x(gap.to));
      for (let at = Math.ceil(x(gap.from) / GAP_PIXELS) * GAP_PIXELS; at < right; at += GAP_PIXELS) pen.fillRect(at, y, 1, rowHeight);
    }
  }

  // Nothing is marked beside the rows.
  drawTicks() {}

  tickAt(x) {
    return this.from + ((this.to - this.from) * x) / (this.width || 1);
  }

  // { node (-1: the row of a lane's name, or a pause), lane, depth, tick, row, ... }, or null.
  hitAt(x, y) {
    if (!this.model || !this.width) return null;
    if (!this.layout || this.laidOutAt !== this.scrolled) this.relayout();
    const row = this.rowAt(y);
    const boxes = this.layout.rows[row];
    if (!boxes || row >= this.rowCount) return null;
    const place = this.placeAt(row);
    const depth = this.depthOf(place, row);
    const tick = this.tickAt(x);
    if (depth < 0) return { node: -1, lane: place.lane, depth, tick, row, index: -1 };
    const index = boxes.find(x);
    if (index < 0) return null;
    return { node: boxes.node[index], lane: place.lane, depth, tick, row, index, left: boxes.left[index], right: boxes.right[index] };
  }

  // The part of the time that a pixel stands for.
  get step() {
    return (this.to - this.from) / (this.width || 1);
  }

  findOutlines() {
    const { model, hovered, mark } = this;
    const { selectedName, tree, dark } = model;
    const found = [];
    const markRow = mark && this.placeOf(mark.lane) ? this.rowOf(this.placeOf(mark.lane), mark.depth) : -1;
    const at = mark ? (mark.tick - this.from) / this.step : 0;
    for (const row of this.rowsInView()) {
      const { node, left, right, place } = this.layout.rows[row];
      if (place) {
        if (row === markRow) found.push({ row, k: -1, line: 2, colour: dark ? '#fff' : '#111' });
        continue;
      }
      for (let k = 0; k < node.length; k++) {
        const chosen = row === markRow && left[k] <= at && at < right[k];
        const named = selectedName >= 0 && tree.name[node[k]] === selectedName;
        const over = hovered && hovered.row === row && hovered.index === k;
        if (chosen) found.push({ row, k, line: 2, colour: dark ? '#fff' : '#111' });
        else if ((named || over) && right[k] - left[k] >= 3) found.push({ row, k, line: 1, colour: dark ? 'rgba(255,255,255,.6)' : 'rgba(0,0,0,.55)' });
      }
    }
    return found;
  }

  drawOutlines() {
    const { pen, layout } = this;
    for (const { row, k, colour, line } of this.outlined) {
      const { left, right } = layout.rows[row];
      const [from, to] = k < 0 ? [0, this.width] : [Math.max(-2, left[k]), Math.min(this.width + 2, Math.max(left[k] + 4, right[k]))];
      pen.strokeStyle = colour;
      pen.lineWidth = line;
      pen.strokeRect(from + line / 2, this.top(row) + line / 2, to - from - line - 1, this.rowHeight - 1 - line);
    }
  }

  // Scrolls and pans so that a box can be seen.
  reveal({ lane, depth, tick }) {
    if (!this.width) return;
    if (this.placedFor !== this.model) this.relayout();
    const place = this.placeOf(lane);
    if (!place) return;
    this.noteScroll();
    const y = this.top(this.rowOf(place, depth));
    if (y < 0) this.element.scrollTop += y - this.rowHeight;
    else if (y > this.height - this.rowHeight) this.element.scrollTop += y - this.height + 2 * this.rowHeight;
    const span = this.to - this.from;
    if (depth >= 0 && (tick < this.from || tick > this.to)) this.setWindow(tick - span / 2, tick + span / 2);
    else this.redraw();
  }
}
