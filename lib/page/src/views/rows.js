// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Trees as rows with numbers: the call tree, and the merged callers. Both are opened along the hottest path.
import { h } from '../dom/dom.js';
import { visible } from '../data/names.js';
import { formatCount, formatShare } from '../data/numbers.js';
import { VirtualList } from '../dom/virtual.js';

// Who shows a tree says which (shownTree), what of it weighs how much (measure), and what selecting a row means.
class TreeRows {
  // title: of the rows; self: whether a column of self weight says something; steps: how far the hottest path is open at first.
  constructor(app, { title, self, steps }) {
    this.app = app;
    this.hasSelf = self;
    this.steps = steps;
    this.list = new VirtualList({ role: 'tree', class: 'table', alt: title, tabindex: '0' }, 24, (i) => this.row(i));
    this.head = h('div.table-head', { 'aria-hidden': 'true' }, h('div.cell total', 'Total'), self ? h('div.cell self', 'Self') : null, h('div.cell name', title));
    this.open = new Set();
    this.rows = [];
  }

  childrenOf(node) {
    const { tree } = this;
    const { total } = this.measure;
    const children = [];
    for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0) children.push(c);
    return children.sort((a, b) => total[b] - total[a] || a - b);
  }

  showRows() {
    if (this.tree !== this.shownTree) {
      this.tree = this.shownTree;
      this.open = new Set([0]);
      for (let node = 0, steps = 0; steps < this.steps; steps++) {
        const [heaviest] = this.childrenOf(node);
        if (heaviest === undefined) break;
        this.open.add(heaviest);
        node = heaviest;
      }
    }
    if (this.cursor > 0) for (const step of this.tree.pathOf(this.cursor).slice(0, -1)) this.open.add(step);
    this.list.rowHeight = this.app.rowHeight + 4;
    this.arrange();
    const at = this.rows.findIndex((row) => row.node === this.cursor);
    if (at >= 0) this.list.reveal(at);
  }

  arrange() {
    this.rows = [];
    const visit = [{ node: 0, level: 0, position: 1, size: 1 }];
    while (visit.length) {
      const at = visit.pop();
      if (at.level > 0) this.rows.push(at);
      if (at.level > 0 && !this.open.has(at.node)) continue;
      const children = this.childrenOf(at.node);
      for (let k = children.length - 1; k >= 0; k--) {
        visit.push({ node: children[k], level: at.level + 1, position: k + 1, size: children.length });
      }
    }
    this.list.setCount(this.rows.length);
  }

  row(index) {
    const { app } = this;
    const { node, level, position, size } = this.rows[index];
    const { measure } = this;
    const whole = app.shown.total[0];
    const name = app.pipeline.names[this.tree.name[node]];
    const leaf = this.tree.first(node) < 0;
    const isOpen = this.open.has(node);
    const twist = h('span.twist', { 'aria-hidden': 'true', onclick: (event) => this.toggle(node, event) }, leaf ? '' : isOpen ? '▾' : '▸');
    const label = h('div.cell name', twist, h('bdi', { class: app.nameClass(this.tree.name[node]) }, visible(name.slice(0, 1000)) || '(empty name)'));
    // Deep in the tree a level is a small step: names stay in sight.
    label.style.paddingInlineStart = 4 + Math.min(level - 1, 24) * 12 + Math.min(Math.max(0, level - 25), 100) * 4 + 'px';
    return h(
      'div',
      {
        role: 'treeitem',
        class: 'table-row' + (node === this.cursor ? ' selected' : ''),
        'aria-level': level,
        'aria-posinset': position,
        'aria-setsize': size,
        'aria-expanded': leaf ? null : String(isOpen),
        'aria-selected': node === this.cursor ? 'true' : 'false',
        alt: app.describe(this.tree, measure, node),
        onclick: () => this.choose(node),
        ondblclick: (event) => this.toggle(node, event),
      },
      h('div.cell total', h('span', formatShare(measure.total[node], whole)), h('small', formatCount(measure.samplesOf(node)))),
      ...(this.hasSelf ? [h('div.cell self', h('span', formatShare(measure.self[node], whole)))] : []),
      label,
    );
  }

  toggle(node, event) {
    if (event) event.stopPropagation();
    if (this.open.has(node)) this.open.delete(node);
    else this.open.add(node);
    this.arrange();
  }

  move(step) {
    if (!this.rows.length) return;
    const at = this.rows.findIndex((row) => row.node === this.cursor);
    const next = Math.max(0, Math.min(this.rows.length - 1, at + step));
    this.choose(this.rows[next].node);
    this.list.reveal(next);
  }

  // Right opens or enters, Left closes or leaves.
  sideways(inward) {
    const node = this.cursor;
    if (node <= 0) return this.move(1);
    const isOpen = this.open.has(node);
    if (inward && !isOpen && this.tree.first(node) >= 0) this.toggle(node);
    else if (inward) this.move(1);
    else if (isOpen && this.tree.first(node) >= 0) this.toggle(node);
    else if (this.tree.parent[node] > 0) this.choose(this.tree.parent[node]);
    this.redraw();
  }

  redraw() {
    this.list.draw();
  }
}

export class TreeView extends TreeRows {
  constructor(app) {
    super(app, { title: 'Call tree', self: true, steps: 60 });
    this.id = 'tree';
    this.element = h('section.view', { alt: 'Call tree' }, this.head, this.list.element);
  }

  get shownTree() {
    return this.app.result.tree;
  }

  get measure() {
    return this.app.shown;
  }

  get cursor() {
    return this.app.chosen.node;
  }

  choose(node) {
    this.app.selectNode(node);
  }

  show() {
    this.showRows();
  }
}

// Below each method with self weight its callers, with how much of that came by them.
export class CallerRows extends TreeRows {
  constructor(app) {
    super(app, { title: 'Methods with self weight, their callers below', self: false, steps: 8 });
    this.cursor = -1;
    this.element = h('div.grid', this.head, this.list.element);
  }

  get measure() {
    return this.shownTree;
  }

  choose(node) {
    this.cursor = node;
    this.app.chosen = { name: this.tree.name[node], node: -1, run: null };
    this.app.afterSelect();
  }

  show(tree) {
    if (tree !== this.shownTree) this.cursor = -1;
    this.shownTree = tree;
    this.showRows();
  }
}
