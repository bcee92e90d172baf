// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A list of any length of which only the rows in view exist.
import { h, listen, oncePerFrame, refill } from './dom.js';

export class VirtualList {
  // fill(index): the element of a row.
  constructor(attributes, rowHeight, fill) {
    this.rowHeight = rowHeight;
    this.fill = fill;
    this.count = 0;
    this.inner = h('div.rows', { role: 'presentation' });
    this.element = h('div', { ...attributes, class: 'virtual ' + (attributes.class || '') }, this.inner);
    this.drawn = '';
    this.redraw = oncePerFrame(() => this.draw(false));
    listen(this.element, 'scroll', () => this.redraw(), { passive: true });
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  setCount(count) {
    this.count = count;
    this.inner.style.height = count * this.rowHeight + 'px';
    this.draw();
  }

  // changed: whether rows may look different now. Otherwise rows that stay in view keep their elements: a click whose button
  // was replaced between press and release would be lost.
  draw(changed = true) {
    if (changed) this.drawn = '';
    const height = this.element.clientHeight;
    // Out of sight: what it lists may be gone already.
    if (!height) return;
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - 4);
    const last = Math.min(this.count, Math.ceil((this.element.scrollTop + height) / this.rowHeight) + 4);
    const range = `${first}-${last}`;
    if (this.drawn === range) return;
    this.drawn = range;
    const rows = [];
    for (let i = first; i < last; i++) {
      const row = this.fill(i);
      row.style.top = i * this.rowHeight + 'px';
      rows.push(row);
    }
    refill(this.inner, ...rows);
  }

  reveal(index) {
    const top = index * this.rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + this.rowHeight - clientHeight;
    this.draw();
  }
}
