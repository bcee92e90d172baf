// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The graph for those who cannot see it: a hidden tree of the open branches that moves with the cursor.
import { afterPaint, h, listen, refill } from '../dom/dom.js';
import { clip, visible } from '../data/names.js';

const MAX_SIBLINGS = 40;
const MAX_LEVELS = 200;

export class Outline {
  constructor(app) {
    this.app = app;
    this.element = h('div', { role: 'tree', class: 'outline', tabindex: '0', alt: 'Graph as a tree; arrow keys move' });
    this.status = h('div.outline-status', { role: 'status', 'aria-live': 'polite' });
    listen(this.element, 'focus', () => {
      if (this.app.chosen.node <= 0 && this.app.chosen.name < 0) this.app.arrow('Home');
    });
  }

  childrenOf(tree, total, node) {
    const children = [];
    for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0) children.push(c);
    return children.sort((a, b) => total[b] - total[a] || a - b);
  }

  show(view) {
    if (!this.view) afterPaint(() => this.build());
    this.view = view;
  }

  // The path to the cursor with its siblings; other branches stay closed.
  build() {
    const { view } = this;
    const { model } = view;
    this.view = null;
    if (!model) return;
    const { tree, total } = model;
    const cursor = view.cursor;
    const path = cursor > 0 ? tree.pathOf(cursor) : [];
    // The items of a level: siblings up to the chosen one, then its branch, then the rest.
    const before = [];
    const after = [];
    let parent = path.length > MAX_LEVELS ? path[path.length - MAX_LEVELS - 1] : 0;
    for (let level = Math.max(0, path.length - MAX_LEVELS); level <= path.length; level++) {
      const children = this.childrenOf(tree, total, parent);
      const chosen = path[level];
      const shown = children.slice(0, MAX_SIBLINGS);
      if (chosen !== undefined && !shown.includes(chosen)) shown.push(chosen);
      const items = shown.map((node) => this.item(view, node, level, children, node === chosen));
      const split = chosen === undefined ? items.length : shown.indexOf(chosen) + 1;
      before.push(...items.slice(0, split));
      after.unshift(...items.slice(split));
      if (chosen === undefined) break;
      parent = chosen;
    }
    refill(this.element, ...before, ...after);
    if (cursor > 0) this.element.setAttribute('aria-activedescendant', 'o' + cursor);
    else this.element.removeAttribute('aria-activedescendant');
  }

  item(view, node, level, siblings, isOpen) {
    const { tree } = view.model;
    return h('div', {
      role: 'treeitem',
      id: 'o' + node,
      'aria-level': level + 1,
      'aria-posinset': siblings.indexOf(node) + 1,
      'aria-setsize': siblings.length,
      'aria-expanded': tree.first(node) < 0 ? null : String(isOpen),
      'aria-selected': String(node === view.cursor),
      alt: this.app.describe(tree, view.model, node),
    });
  }

  say(text) {
    const short = visible(clip(text, 500));
    if (this.status.textContent !== short) this.status.textContent = short;
  }
}
