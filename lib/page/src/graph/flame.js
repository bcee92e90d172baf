// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The graph: a tree drawn on one canvas of the size of its viewport, with a scroll of its own.
import { greyColour, markColour, ownColour, textColour } from './colours.js';
import { h, listen, oncePerFrame, reducedMotion } from '../dom/dom.js';
import { isJava } from '../data/names.js';
import { bindGestures } from './gestures.js';
import { Labels } from './labels.js';
import { layoutBoxes, startOf } from './layout.js';
import { PixelRows } from './pixels.js';

const ZOOM_MS = 140;
// Merged boxes of such a width say what they are, and a click opens them.
const RUN_LABEL_PIXELS = 70;

export class FlameView {
  // listener: { select(node), zoom(node), hover(hit, event), moved() }
  constructor(listener, label) {
    this.listener = listener;
    this.surface = h('canvas', { 'aria-hidden': 'true' });
    this.spacer = h('div.spacer');
    this.element = h('div.flame', { 'data-view': label }, this.surface, this.spacer);
    this.pen = this.surface.getContext('2d', { alpha: false });
    this.labels = new Labels(this.pen);
    this.boldLabels = new Labels(this.pen, 'bold');
    this.pixels = new PixelRows();
    this.from = 0;
    this.to = 1;
    this.width = 0;
    this.height = 0;
    this.model = null;
    this.layout = null;
    this.flame = false;
    this.rootRow = 0;
    // The row of the root in a picture that holds everything.
    this.wholeRow = 0;
    this.toStart = false;
    this.cursor = -1;
    this.hovered = null;
    this.fits = false;
    // From which width on a line shows that a box is the application's.
    this.ownPixels = 4;
    this.drawn = [];
    this.outlined = [];
    this.scrolled = 0;
    this.animation = 0;
    this.redraw = oncePerFrame(() => this.draw());
    listen(this.element, 'scroll', () => this.redraw(), { passive: true });
    bindGestures(this);
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  get rowHeight() {
    return this.model && this.model.rowHeight ? this.model.rowHeight : 20;
  }

  resize() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height) return;
    const ratio = Math.min(devicePixelRatio || 1, 3);
    if (width === this.width && height === this.height && ratio === this.ratio) return;
    Object.assign(this, { width, height, ratio });
    this.surface.width = Math.round(width * ratio);
    this.surface.height = Math.round(height * ratio);
    this.surface.style.width = width + 'px';
    this.surface.style.height = height + 'px';
    this.layout = null;
    this.draw();
  }

  // model: { tree, total, order, dark, rowHeight, name(node), fill(node), marked(node), hatched(node), minimum }
  show(model, keepWindow) {
    const grown = !this.model || !keepWindow;
    this.model = model;
    this.layout = null;
    this.hovered = null;
    for (const labels of [this.labels, this.boldLabels]) labels.keepClassOf(model.repeated);
    if (grown) this.setWindow(0, model.total[0]);
    else this.redraw();
  }

  get whole() {
    return this.model ? this.model.total[0] : 1;
  }

  isWhole() {
    return this.from <= 0 && this.to >= this.whole;
  }

  setWindow(from, to) {
    const whole = this.whole || 1;
    const span = Math.min(Math.max(to - from, Math.min(whole, (this.model && this.model.minimum) || 0)), whole);
    this.from = Math.min(Math.max(0, from), whole - span);
    this.to = this.from + span;
    this.layout = null;
    this.redraw();
    this.listener.moved(this);
  }

  moveTo(from, to) {
    cancelAnimationFrame(this.animation);
    if (reducedMotion() || document.hidden) return this.setWindow(from, to);
    const begin = { from: this.from, to: this.to };
    const since = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - since) / ZOOM_MS));
      const eased = 1 - (1 - t) ** 3;
      // Spans shrink by a constant factor per frame: the eye follows that as even motion.
      const span = (begin.to - begin.from) * ((to - from) / (begin.to - begin.from)) ** eased;
      const fraction = Math.abs(to - from - (begin.to - begin.from)) < 1e-9 ? eased : (span - (begin.to - begin.from)) / (to - from - (begin.to - begin.from));
      const left = begin.from + (from - begin.from) * fraction;
      if (t < 1) {
        this.setWindow(left, left + span);
        this.animation = requestAnimationFrame(step);
      } else this.setWindow(from, to);
    };
    this.animation = requestAnimationFrame(step);
  }

  zoomTo(node) {
    if (node <= 0) return this.moveTo(0, this.whole);
    const start = startOf(this.model.tree, node, this.model.total, this.model.order);
    this.moveTo(start, start + this.model.total[node]);
  }

  zoomAt(x, factor) {
    const at = this.from + ((this.to - this.from) * x) / this.width;
    const span = Math.min(this.whole, Math.max((this.to - this.from) * factor, this.model.minimum || 0));
    this.setWindow(at - (span * x) / this.width, at - (span * x) / this.width + span);
  }

  pan(pixels) {
    const shift = (pixels * (this.to - this.from)) / (this.width || 1);
    this.setWindow(this.from + shift, this.to + shift);
  }

  // Which row the root has: below 0, rows above the first are left out. The first row is in view then.
  startAt(row) {
    if (row === this.rootRow) return;
    this.rootRow = row;
    this.layout = null;
    this.toStart = true;
    this.redraw();
  }

  relayout() {
    this.layout = layoutBoxes(this.model, this);
    this.content = Math.max(this.layout.rows.length * this.rowHeight, this.flame ? this.height : 0);
    // No higher than what it shows, so that another graph gets the room.
    if (this.fits && this.isWhole()) this.element.style.maxHeight = this.layout.rows.length * this.rowHeight + 'px';
    const spacer = Math.max(0, this.content - this.height) + 'px';
    if (this.spacer.style.height !== spacer) {
      const atEnd = this.flame && this.atBottom !== false;
      this.spacer.style.height = spacer;
      if (atEnd) this.element.scrollTop = this.content;
    }
    if (this.toStart) this.element.scrollTop = this.flame ? this.content : 0;
    this.toStart = false;
  }

  // Rows of a picture of what the window shows. It has no row of callers' names: their boxes are in it.
  pictureRows(width) {
    return layoutBoxes(this.model, { from: this.from, to: this.to, width, rootRow: this.wholeRow, patience: Infinity }).rows;
  }

  top(row) {
    const y = this.flame ? this.content - (row + 1) * this.rowHeight : row * this.rowHeight;
    return y - this.scrolled;
  }

  rowAt(y) {
    const absolute = y + this.scrolled;
    return Math.floor((this.flame ? this.content - absolute : absolute) / this.rowHeight);
  }

  hitAt(x, y) {
    if (!this.model || !this.width) return null;
    // A click may come before the frame that draws the step before it.
    if (!this.layout) this.relayout();
    const row = this.rowAt(y);
    const boxes = this.layout.rows[row];
    if (!boxes) return null;
    const index = boxes.find(x);
    if (index < 0) return null;
    return { node: boxes.node[index], run: boxes.run[index], row, index, left: boxes.left[index], right: boxes.right[index] };
  }

  // Where the graph is scrolled to is asked once a frame, since the answer may cost a layout of the page.
  noteScroll() {
    this.scrolled = Math.round(this.element.scrollTop);
  }

  draw() {
    if (!this.model || !this.width) return;
    if (!this.layout || this.layout.unfinished) this.relayout();
    this.noteScroll();
    const { pen, ratio } = this;
    this.atBottom = this.scrolled + this.height >= this.content - 2;
    // Outlines move more often than boxes: then only the rows that have or had some are drawn.
    const now = [this.layout, this.model, this.scrolled, ratio];
    const same = ratio % 1 === 0 && now.every((part, i) => part === this.drawn[i]);
    this.drawn = now;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.labels.apply();
    const before = this.outlined;
    this.outlined = this.findOutlines();
    const rows = same ? [...new Set([...before, ...this.outlined].map((line) => line.row))] : this.rowsInView();
    if (!same) this.clear(0, this.height);
    this.drawRows(rows);
    this.drawTicks();
    this.drawOutlines();
    if (this.layout.unfinished) this.redraw();
  }

  rowsInView() {
    const ends = [this.rowAt(0), this.rowAt(this.height)].sort((a, b) => a - b);
    const rows = [];
    for (let row = Math.max(0, ends[0]); row <= Math.min(this.layout.rows.length - 1, ends[1]); row++) rows.push(row);
    return rows;
  }

  clear(y, tall) {
    this.pen.fillStyle = this.model.background;
    this.pen.fillRect(0, y, this.width, tall);
  }

  drawRows(rows) {
    const { pen, pixels, model, ratio, surface } = this;
    const tall = this.rowHeight - 1;
    if (!rows.length) return;
    pixels.begin(surface.width, rows.length, model.background);
    rows.forEach((row, i) => this.fillRow(this.layout.rows[row], i));
    pixels.end();
    pen.imageSmoothingEnabled = false;
    rows.forEach((row, i) => {
      const y = this.top(row);
      this.clear(y, this.rowHeight);
      pen.drawImage(pixels.surface, 0, i, surface.width, 1, 0, y, surface.width / ratio, tall);
      this.labelRow(this.layout.rows[row], y, tall);
    });
  }

  fillRow({ node, left, right, run }, row) {
    const { pixels, model, ratio, width } = this;
    const grey = greyColour(model.dark);
    const span = this.to - this.from;
    for (let k = 0; k < node.length; k++) {
      const from = left[k];
      const wide = right[k] - from;
      if (run[k]) pixels.fill(row, from * ratio, (from + Math.max(1, wide)) * ratio, grey, 1);
      else {
        const colour = model.marked(node[k]) ? markColour(model.dark) : model.fill(node[k]);
        // What is wider than the window is above what was zoomed to, whichever edges they share.
        const dimmed = model.total[node[k]] > span * 1.000001 && from <= 0 && right[k] >= width;
        pixels.fill(row, from * ratio, (from + wide - (wide > 3 ? 1 : 0)) * ratio, colour, dimmed ? 0.55 : 1);
      }
    }
  }

  labelRow({ node, left, right, run }, y, tall) {
    const { pen, model, width } = this;
    const text = textColour(model.dark);
    const bold = [];
    for (let k = 0; k < node.length; k++) {
      const wide = right[k] - left[k] - 1;
      if (wide <= 4) continue;
      if (run[k]) {
        if (wide >= RUN_LABEL_PIXELS) this.labelRun(run[k], left[k], right[k], y + tall / 2 + 0.5);
        continue;
      }
      if (model.hatched(node[k])) this.hatch(left[k], y, wide, tall);
      const own = model.own(node[k]);
      const from = Math.max(0, left[k]);
      if (own && wide > this.ownPixels) {
        pen.fillStyle = ownColour(model.dark);
        pen.fillRect(from, y + tall - 2, Math.min(width, right[k] - 1) - from, 2);
      }
      if (wide < 24) continue;
      const room = Math.min(width, right[k]) - from - 8;
      const label = room > 12 ? (own ? this.boldLabels : this.labels).fit(model.name(node[k]), room, isJava(model.tree.kind[node[k]], model.name(node[k]))) : '';
      if (!label) continue;
      if (own) bold.push([label, from]);
      else {
        this.labels.apply();
        pen.fillStyle = text;
        pen.fillText(label, from + 4, y + tall / 2 + 0.5);
      }
    }
    if (!bold.length) return;
    this.boldLabels.apply();
    pen.fillStyle = text;
    for (const [label, from] of bold) pen.fillText(label, from + 4, y + tall / 2 + 0.5);
  }

  labelRun(run, left, right, y) {
    const { pen, model, width } = this;
    const from = Math.max(0, left);
    const room = Math.min(width, right) - from - 8;
    const texts = model.runLabels(run);
    const label = texts.find((text) => this.labels.widthOf(text) <= room) ?? this.labels.cut(texts[texts.length - 1], room);
    this.labels.apply();
    pen.fillStyle = textColour(model.dark);
    pen.fillText(label, from + 4, y);
  }

  // The part of the width that merged boxes have, and whether they say what they are.
  windowOf({ left, right }) {
    const scale = (this.to - this.from) / this.width;
    return [this.from + Math.max(0, left) * scale, this.from + Math.min(this.width, right) * scale];
  }

  isLabelled({ run, left, right }) {
    return Boolean(run) && right - left - 1 >= RUN_LABEL_PIXELS;
  }

  hatch(left, y, wide, tall) {
    const { pen } = this;
    pen.save();
    pen.beginPath();
    pen.rect(left, y, wide, tall);
    pen.clip();
    pen.strokeStyle = this.model.dark ? 'rgba(255,255,255,.28)' : 'rgba(0,0,0,.26)';
    pen.lineWidth = 1;
    pen.beginPath();
    const begin = Math.max(left, 0);
    const end = Math.min(left + wide, this.width);
    for (let x = begin - tall - ((begin - tall) % 6); x < end; x += 6) {
      pen.moveTo(x, y + tall);
      pen.lineTo(x + tall, y);
    }
    pen.stroke();
    pen.restore();
  }

  // Hits of a search that are too small for a box get a tick, so that they can be seen and aimed at.
  drawTicks() {
    const ticks = this.model.ticks;
    if (!ticks) return;
    const { pen } = this;
    pen.fillStyle = this.model.dark ? '#ff8cf0' : '#b1008e';
    const scale = this.width / (this.to - this.from || 1);
    for (const tick of ticks) {
      if (tick.weight * scale >= 1.5) continue;
      const x = (tick.start - this.from) * scale;
      if (x < -2 || x > this.width + 2) continue;
      const y = this.top(tick.row + this.rootRow);
      // On whole pixels, so that drawing them again changes nothing.
      if (y > -this.rowHeight && y < this.height) pen.fillRect(Math.round(x) - 1, y, 3, this.rowHeight - 1);
    }
  }

  // The boxes that stand out, with the colour and width of their line: [{ row, k, colour, line }, ...].
  findOutlines() {
    const { model, cursor } = this;
    const { selectedName, tree, dark } = model;
    const hovered = this.hovered && !this.hovered.run ? this.hovered.node : -1;
    const found = [];
    if (cursor < 0 && hovered < 0 && selectedName < 0) return found;
    for (const row of this.rowsInView()) {
      const { node, left, right, run } = this.layout.rows[row];
      for (let k = 0; k < node.length; k++) {
        const n = node[k];
        const named = selectedName >= 0 && tree.name[n] === selectedName;
        if ((!named && n !== cursor && n !== hovered) || run[k] || right[k] - left[k] < 3) continue;
        if (n === cursor) found.push({ row, k, line: 2, colour: dark ? '#fff' : '#111' });
        else found.push({ row, k, line: 1, colour: dark ? 'rgba(255,255,255,.6)' : 'rgba(0,0,0,.55)' });
      }
    }
    return found;
  }

  drawOutlines() {
    const { pen, layout } = this;
    for (const { row, k, colour, line } of this.outlined) {
      const { left, right } = layout.rows[row];
      pen.strokeStyle = colour;
      pen.lineWidth = line;
      pen.strokeRect(left[k] + line / 2, this.top(row) + line / 2, right[k] - left[k] - line - 1, this.rowHeight - 1 - line);
    }
  }

  // Scrolls so that a node's row can be seen.
  reveal(node) {
    let row = this.rootRow;
    for (let i = node; i > 0; i = this.model.tree.parent[i]) row++;
    if (!this.layout && this.width) this.relayout();
    this.noteScroll();
    const y = this.top(row);
    if (y < 0) this.element.scrollTop += y - this.rowHeight;
    else if (y > this.height - this.rowHeight) this.element.scrollTop += y - this.height + 2 * this.rowHeight;
    this.redraw();
  }
}
