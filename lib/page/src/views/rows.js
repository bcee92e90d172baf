// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The call tree as rows, opened along the hottest path.
import { h } from '../dom/dom.js';
import { visible } from '../data/names.js';
import { formatCount, formatShare } from '../data/numbers.js';
import { VirtualList } from '../dom/virtual.js';

export class TreeView {
  constructor(app) {
    this.app = app;
    this.id = 'tree';
    this.list = new VirtualList({ role: 'tree', class: 'table', alt: 'Call tree', tabindex: '0' }, 24, (i) => this.row(i));
    const head = h('div.table-head', { 'aria-hidden': 'true' }, h('div.cell total', 'Total'), h('div.cell self', 'Self'), h('div.cell name', 'Call tree'));
    this.element = h('section.view', { alt: 'Call tree' }, head, this.list.element);
    this.open = new Set();
    this.rows = [];
  }

  childrenOf(node) {
    const { tree } = this.app.result;
    const { total } = this.app.shown;
    const children = [];
    for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0) children.push(c);
    return children.sort((a, b) => total[b] - total[a] || a - b);
  }

  show() {
    const { app } = this;
    if (this.tree !== app.result.tree) {
      this.tree = app.result.tree;
      this.open = new Set([0]);
      for (let node = 0, steps = 0; steps < 60; steps++) {
        const [heaviest] = this.childrenOf(node);
        if (heaviest === undefined) break;
        this.open.add(heaviest);
        node = heaviest;
      }
    }
    if (app.chosen.node > 0) for (const step of this.tree.pathOf(app.chosen.node).slice(0, -1)) this.open.add(step);
    this.list.rowHeight = app.rowHeight + 4;
    this.arrange();
    const at = this.rows.findIndex((row) => row.node === app.chosen.node);
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
        class: 'table-row' + (node === app.chosen.node ? ' selected' : ''),
        'aria-level': level,
        'aria-posinset': position,
        'aria-setsize': size,
        'aria-expanded': leaf ? null : String(isOpen),
        'aria-selected': node === app.chosen.node ? 'true' : 'false',
        alt: app.describe(this.tree, app.shown, node),
        onclick: () => app.selectNode(node),
        ondblclick: (event) => this.toggle(node, event),
      },
      h('div.cell total', h('span', formatShare(app.shown.total[node], whole)), h('small', formatCount(app.shown.samplesOf(node)))),
      h('div.cell self', h('span', formatShare(app.shown.self[node], whole))),
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
    const at = this.rows.findIndex((row) => row.node === this.app.chosen.node);
    const next = Math.max(0, Math.min(this.rows.length - 1, at + step));
    this.app.selectNode(this.rows[next].node);
    this.list.reveal(next);
  }

  // Right opens or enters, Left closes or leaves.
  sideways(inward) {
    const { node } = this.app.chosen;
    if (node <= 0) return this.move(1);
    const isOpen = this.open.has(node);
    if (inward && !isOpen && this.tree.first(node) >= 0) this.toggle(node);
    else if (inward) this.move(1);
    else if (isOpen && this.tree.first(node) >= 0) this.toggle(node);
    else if (this.tree.parent[node] > 0) this.app.selectNode(this.tree.parent[node]);
    this.redraw();
  }

  redraw() {
    this.list.draw();
  }
}
