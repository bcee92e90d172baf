// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The overview above the graph.
import { afterPaint, h, listen, oncePerFrame } from '../dom/dom.js';
import { layoutBoxes } from '../graph/layout.js';

// The whole graph in 40 pixels, with the part in the window; also the handle to move it.
export class Minimap {
  constructor(flame) {
    this.flame = flame;
    this.surface = h('canvas', { 'aria-hidden': 'true' });
    this.element = h('div.minimap', this.surface);
    this.image = null;
    this.redraw = oncePerFrame(() => this.draw());
    let grabbed = null;
    const at = (event) => ((event.clientX - this.surface.getBoundingClientRect().left) / (this.surface.clientWidth || 1)) * flame.whole;
    listen(this.surface, 'pointerdown', (event) => {
      this.surface.setPointerCapture(event.pointerId);
      const value = at(event);
      const span = flame.to - flame.from;
      grabbed = value >= flame.from && value < flame.to ? value - flame.from : span / 2;
      flame.setWindow(value - grabbed, value - grabbed + span);
    });
    listen(this.surface, 'pointermove', (event) => {
      if (grabbed === null) return;
      const span = flame.to - flame.from;
      flame.setWindow(at(event) - grabbed, at(event) - grabbed + span);
    });
    for (const type of ['pointerup', 'pointercancel']) {
      listen(this.surface, type, () => {
        if (grabbed !== null) flame.listener.settled(flame);
        grabbed = null;
      });
    }
    new ResizeObserver(() => {
      this.forget();
      this.redraw();
    }).observe(this.element);
  }

  forget() {
    this.image = null;
  }

  paint(width, height, ratio) {
    const { model } = this.flame;
    const image = document.createElement('canvas');
    image.width = width * ratio;
    image.height = height * ratio;
    const context = image.getContext('2d', { alpha: false });
    context.scale(ratio, ratio);
    context.fillStyle = model.background;
    context.fillRect(0, 0, width, height);
    const layout = layoutBoxes(model, { from: 0, to: model.total[0], width, rootRow: 0, minimum: 1.5 });
    const tall = Math.min(3, height / Math.max(1, layout.rows.length));
    layout.rows.forEach((row, depth) => {
      const y = this.flame.flame ? height - (depth + 1) * tall : depth * tall;
      for (let k = 0; k < row.node.length; k++) {
        context.fillStyle = row.run[k] ? '#9aa0aa' : model.fill(row.node[k]);
        context.fillRect(row.left[k], y, Math.max(0.5, row.right[k] - row.left[k]), tall);
      }
    });
    return image;
  }

  draw() {
    const { flame } = this;
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height || !flame.model) return;
    const { dark } = flame.model;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const key = `${width}x${height}x${ratio}${dark}${flame.flame}${flame.model.colouring}`;
    if (!this.image || this.key !== key) {
      // After the graph itself: it is what people wait for.
      if (!this.asked) {
        this.asked = true;
        afterPaint(() => {
          this.asked = false;
          this.image = this.paint(width, height, ratio);
          this.key = key;
          this.draw();
        });
      }
      if (!this.image) return;
    }
    // Another size is another canvas to the browser.
    if (this.surface.width !== this.image.width) this.surface.width = this.image.width;
    if (this.surface.height !== this.image.height) this.surface.height = this.image.height;
    const context = this.surface.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.image, 0, 0);
    context.scale(ratio, ratio);
    const left = (flame.from / flame.whole) * width;
    const right = (flame.to / flame.whole) * width;
    context.fillStyle = dark ? 'rgba(0,0,0,.55)' : 'rgba(255,255,255,.72)';
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.strokeStyle = dark ? '#c9ced8' : '#4b5260';
    context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), height - 1);
  }
}
