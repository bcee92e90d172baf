// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The graph: a tree drawn on one canvas of the size of its viewport, with a scroll of its own.
import { greyColour, markColour, textColour } from './colours.js';
import { h, listen, oncePerFrame, reducedMotion } from './dom.js';
import { bindGestures } from './gestures.js';
import { Labels } from './labels.js';
import { layoutBoxes, startOf } from './layout.js';

const ZOOM_MS = 140;

export class FlameView {
  // listener: { select(node), zoom(node), hover(hit, event), moved() }
  constructor(listener, label) {
    this.listener = listener;
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.spacer = h('div.spacer');
    this.element = h('div.flame', { 'data-view': label }, this.canvas, this.spacer);
    this.context = this.canvas.getContext('2d', { alpha: false });
    this.labels = new Labels(this.context);
    this.from = 0;
    this.to = 1;
    this.width = 0;
    this.height = 0;
    this.model = null;
    this.layout = null;
    this.flame = false;
    this.rootRow = 0;
    this.cursor = -1;
    this.hovered = null;
    this.fits = false;
    this.picture = h('canvas');
    this.drawn = [];
    this.copied = false;
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
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = width + 'px';
    this.canvas.style.height = height + 'px';
    this.layout = null;
    this.draw();
  }

  // model: { tree, total, order, dark, rowHeight, name(node), fill(node), marked(node), hatched(node), minimum }
  show(model, keepWindow) {
    const grown = !this.model || !keepWindow;
    this.model = model;
    this.layout = null;
    this.hovered = null;
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

  relayout() {
    this.layout = layoutBoxes(this.model.tree, {
      total: this.model.total,
      from: this.from,
      to: this.to,
      width: this.width,
      order: this.model.order,
      rootRow: this.rootRow,
    });
    this.content = Math.max(this.layout.rows.length * this.rowHeight, this.flame ? this.height : 0);
    // No higher than what it shows, so that another graph gets the room.
    if (this.fits && this.isWhole()) this.element.style.maxHeight = this.layout.rows.length * this.rowHeight + 'px';
    const spacer = Math.max(0, this.content - this.height) + 'px';
    if (this.spacer.style.height !== spacer) {
      const atEnd = this.flame && this.atBottom !== false;
      this.spacer.style.height = spacer;
      if (atEnd) this.element.scrollTop = this.content;
    }
  }

  top(row) {
    const y = this.flame ? this.content - (row + 1) * this.rowHeight : row * this.rowHeight;
    return y - this.element.scrollTop;
  }

  rowAt(y) {
    const absolute = y + this.element.scrollTop;
    return Math.floor((this.flame ? this.content - absolute : absolute) / this.rowHeight);
  }

  hitAt(x, y) {
    if (!this.layout || !this.model) return null;
    const row = this.rowAt(y);
    const boxes = this.layout.rows[row];
    if (!boxes) return null;
    const index = boxes.find(x);
    if (index < 0) return null;
    return { node: boxes.node[index], run: boxes.run[index], row, index, left: boxes.left[index], right: boxes.right[index] };
  }

  draw() {
    if (!this.model || !this.width) return;
    if (!this.layout || this.layout.unfinished) this.relayout();
    const { context, width, height, ratio } = this;
    this.atBottom = this.element.scrollTop + height >= this.content - 2;
    // Outlines move more often than boxes: from the second drawing on of the same boxes there is a copy of them.
    const { picture, drawn } = this;
    const now = [this.layout, this.model, this.element.scrollTop];
    const same = now.every((part, i) => part === drawn[i]);
    this.drawn = now;
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (same && this.copied) context.drawImage(picture, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!same || !this.copied) {
      this.drawBoxes();
      this.copied = same;
      if (same) {
        picture.width = this.canvas.width;
        picture.height = this.canvas.height;
        picture.getContext('2d').drawImage(this.canvas, 0, 0);
      }
    }
    this.drawOutlines();
    if (this.layout.unfinished) this.redraw();
  }

  drawBoxes() {
    const { context, width, height } = this;
    context.fillStyle = this.model.background;
    context.fillRect(0, 0, width, height);
    this.labels.apply();
    const first = Math.max(0, Math.min(this.rowAt(0), this.rowAt(height)));
    const last = Math.min(this.layout.rows.length - 1, Math.max(this.rowAt(0), this.rowAt(height)));
    for (let row = first; row <= last; row++) this.drawRow(row, this.top(row));
    this.drawTicks();
  }

  drawRow(index, y) {
    const { context, model, width } = this;
    const row = this.layout.rows[index];
    const tall = this.rowHeight - 1;
    const text = textColour(model.dark);
    for (let k = 0; k < row.node.length; k++) {
      const left = row.left[k];
      const right = row.right[k];
      const node = row.node[k];
      if (row.run[k]) {
        context.fillStyle = greyColour(model.dark);
        context.fillRect(left, y, Math.max(1, right - left), tall);
        continue;
      }
      const wide = Math.max(0.5, right - left - (right - left > 3 ? 1 : 0));
      const dimmed = left < 0 && right > width;
      if (dimmed) context.globalAlpha = 0.55;
      context.fillStyle = model.marked(node) ? markColour(model.dark) : model.fill(node);
      context.fillRect(left, y, wide, tall);
      context.globalAlpha = 1;
      if (wide > 4 && model.hatched(node)) this.hatch(left, y, wide, tall);
      if (wide < 24) continue;
      const visibleLeft = Math.max(0, left);
      const room = Math.min(width, right) - visibleLeft - 8;
      const label = room > 12 ? this.labels.fit(model.name(node), room) : '';
      if (label) {
        context.fillStyle = text;
        context.fillText(label, visibleLeft + 4, y + tall / 2 + 0.5);
      }
    }
  }

  hatch(left, y, wide, tall) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(left, y, wide, tall);
    context.clip();
    context.strokeStyle = this.model.dark ? 'rgba(255,255,255,.28)' : 'rgba(0,0,0,.26)';
    context.lineWidth = 1;
    context.beginPath();
    const begin = Math.max(left, 0);
    const end = Math.min(left + wide, this.width);
    for (let x = begin - tall - ((begin - tall) % 6); x < end; x += 6) {
      context.moveTo(x, y + tall);
      context.lineTo(x + tall, y);
    }
    context.stroke();
    context.restore();
  }

  // Hits of a search that are too small for a box get a tick, so that they can be seen and aimed at.
  drawTicks() {
    const ticks = this.model.ticks;
    if (!ticks) return;
    const { context } = this;
    context.fillStyle = this.model.dark ? '#ff8cf0' : '#b1008e';
    const scale = this.width / (this.to - this.from || 1);
    for (const tick of ticks) {
      if (tick.weight * scale >= 1.5) continue;
      const x = (tick.start - this.from) * scale;
      if (x < -2 || x > this.width + 2) continue;
      const y = this.top(tick.row + this.rootRow);
      if (y > -this.rowHeight && y < this.height) context.fillRect(x - 1, y, 3, this.rowHeight - 1);
    }
  }

  drawOutlines() {
    const { context, model } = this;
    const outline = (node, colour, line) => {
      for (let r = 0; r < this.layout.rows.length; r++) {
        const y = this.top(r);
        if (y < -this.rowHeight || y > this.height) continue;
        const row = this.layout.rows[r];
        for (let k = 0; k < row.node.length; k++) {
          if (row.run[k] || !node(row.node[k]) || row.right[k] - row.left[k] < 3) continue;
          context.strokeStyle = colour;
          context.lineWidth = line;
          context.strokeRect(row.left[k] + line / 2, y + line / 2, row.right[k] - row.left[k] - line - 1, this.rowHeight - 1 - line);
        }
      }
    };
    const strong = model.dark ? '#ffffff' : '#111318';
    if (model.selectedName >= 0) outline((node) => model.tree.name[node] === model.selectedName, model.dark ? 'rgba(255,255,255,.55)' : 'rgba(0,0,0,.5)', 1);
    if (this.hovered && !this.hovered.run) outline((node) => node === this.hovered.node, model.dark ? 'rgba(255,255,255,.8)' : 'rgba(0,0,0,.7)', 1);
    if (this.cursor >= 0) outline((node) => node === this.cursor, strong, 2);
  }

  // Scrolls so that a node's row can be seen.
  reveal(node) {
    let row = this.rootRow;
    for (let i = node; i > 0; i = this.model.tree.parent[i]) row++;
    if (!this.layout && this.width) this.relayout();
    const y = this.top(row);
    if (y < 0) this.element.scrollTop += y - this.rowHeight;
    else if (y > this.height - this.rowHeight) this.element.scrollTop += y - this.height + 2 * this.rowHeight;
    this.redraw();
  }
}
