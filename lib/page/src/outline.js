// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The graph for those who cannot see it: a hidden tree of the open branches that moves with the cursor.
import { h } from './dom.js';
import { clip, visible } from './names.js';

const MAX_SIBLINGS = 40;

export class Outline {
  constructor(app) {
    this.app = app;
    this.element = h('div', { role: 'tree', class: 'outline', tabindex: '0', 'aria-label': 'Graph as a tree; arrow keys move' });
    this.status = h('div', { role: 'status', 'aria-live': 'polite', class: 'outline-status' });
    this.element.addEventListener('focus', () => {
      if (this.app.selected.node <= 0 && this.app.selected.name < 0) this.app.arrow('Home');
    });
  }

  childrenOf(tree, total, node) {
    const children = [];
    for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0) children.push(c);
    return children.sort((a, b) => total[b] - total[a] || a - b);
  }

  // Rebuilds the path to the cursor with its siblings; other branches stay closed.
  show(view) {
    const { model } = view;
    if (!model) return;
    const { tree, total } = model;
    const cursor = view.cursor;
    const path = cursor > 0 ? tree.pathOf(cursor) : [];
    const items = [];
    let parent = 0;
    for (let level = 0; level <= path.length; level++) {
      const children = this.childrenOf(tree, total, parent);
      const chosen = path[level];
      const shown = children.slice(0, MAX_SIBLINGS);
      if (chosen !== undefined && !shown.includes(chosen)) shown.push(chosen);
      // Items of one level, in tree order: siblings before the chosen one, then its branch, then the rest.
      items.push({ level, children, shown, chosen });
      if (chosen === undefined) break;
      parent = chosen;
    }
    this.element.replaceChildren(...this.flatten(view, items, 0));
    if (cursor > 0) this.element.setAttribute('aria-activedescendant', 'o' + cursor);
    else this.element.removeAttribute('aria-activedescendant');
  }

  flatten(view, items, at) {
    const { tree } = view.model;
    const { level, children, shown, chosen } = items[at];
    const elements = [];
    for (const node of shown) {
      elements.push(
        h('div', {
          role: 'treeitem',
          id: 'o' + node,
          'aria-level': level + 1,
          'aria-posinset': children.indexOf(node) + 1,
          'aria-setsize': children.length,
          'aria-expanded': tree.first(node) < 0 ? null : String(node === chosen),
          'aria-selected': String(node === view.cursor),
          'aria-label': this.app.describe(tree, view.model, node),
        }),
      );
      if (node === chosen && at + 1 < items.length) elements.push(...this.flatten(view, items, at + 1));
    }
    return elements;
  }

  say(text) {
    const short = visible(clip(text, 500));
    if (this.status.textContent !== short) this.status.textContent = short;
  }
}
