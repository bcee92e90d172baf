// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The callers of what the graph is zoomed to: one row of names, which zoom out again. Where all have no room, those in the
// middle are in a list that opens.
import { button, h, listen, refill } from '../dom/dom.js';
import { clip, isJava, shortenings, visible } from '../data/names.js';
import { plural } from '../data/numbers.js';

const PADDING = 14;
const SEPARATOR = 13;
const MIN_WIDTH = 44;
const MAX_LABEL = 260;
// Room for "… 1,234 frames, 12 found".
const MENU = 190;
// As many as fit into any list that somebody reads; the rest is above them in the call tree.
const MAX_LISTED = 500;

export class Crumbs {
  constructor(app, flame) {
    this.app = app;
    this.flame = flame;
    this.summary = h('summary');
    this.sheet = h('div.sheet');
    this.menu = h('details.menu', this.summary, this.sheet);
    this.element = h('nav.crumbs', { alt: 'Callers of what the graph is zoomed to', hidden: true });
    this.top = 0;
    this.drawn = [];
    listen(this.menu, 'toggle', () => this.menu.open && refill(this.sheet, ...this.listed()));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  // top: the node in the first row of the graph.
  show(tree, top) {
    this.tree = tree;
    this.top = top;
    this.element.hidden = top <= 0;
    if (top > 0) this.draw();
  }

  draw() {
    const { app, tree, top, element } = this;
    if (element.hidden) return;
    const width = element.clientWidth - this.padding;
    const now = [tree, top, width, app.hits, app.chosen.node, app.chosen.name, app.mine, app.shown];
    if (now.every((part, i) => part === this.drawn[i])) return;
    this.drawn = now;
    const hadFocus = element.contains(app.shadow.activeElement);
    this.menu.open = false;
    const callers = [0, ...tree.pathOf(top).slice(0, -1)];
    const { first, last } = this.fit(callers, width);
    this.hidden = callers.slice(first, last);
    const shown = callers.map((node, i) => (i < first || i >= last ? this.crumb(node, this.room) : null));
    if (this.hidden.length) {
      this.fillSummary();
      shown.splice(first, 0, this.menu);
    }
    const between = () => h('span.between-crumbs', { 'aria-hidden': 'true' }, '›');
    refill(element, ...shown.filter(Boolean).flatMap((crumb, i) => (i ? [between(), crumb] : [crumb])));
    if (hadFocus) (element.querySelector(':scope > button:last-of-type') || app.outline.element).focus();
  }

  get padding() {
    return this.app.root && this.app.root.clientWidth > 640 ? 28 : 20;
  }

  // Which callers have no room: from `first` to before `last`. The nearest ones matter most.
  fit(callers, width) {
    const widthOf = (node) => Math.max(MIN_WIDTH, this.labelsFor(node).widthOf(this.label(node, MAX_LABEL)) + PADDING) + SEPARATOR;
    let sum = 0;
    let at = callers.length;
    while (at > 0 && sum <= width) sum += widthOf(callers[--at]);
    this.room = MAX_LABEL;
    if (sum <= width) return { first: 0, last: 0 };
    let room = width - MENU - widthOf(0);
    let last = callers.length;
    while (last > 1 && widthOf(callers[last - 1]) <= room) room -= widthOf(callers[--last]);
    // However narrow the page is, the nearest one has a place.
    if (last < callers.length) return { first: 1, last };
    this.room = Math.max(40, room - PADDING - SEPARATOR);
    return { first: 1, last: Math.max(1, callers.length - 1) };
  }

  labelsFor(node) {
    return this.app.colours.isOwn(this.tree.name[node]) ? this.flame.boldLabels : this.flame.labels;
  }

  nameOf(node) {
    return node > 0 ? this.app.pipeline.names[this.tree.name[node]] : this.app.rootName;
  }

  // Class and method: less says too little in a row of names.
  label(node, room) {
    const name = this.nameOf(node);
    const forms = shortenings(name, isJava(this.tree.kind[node], name));
    const text = forms[Math.max(0, forms.length - 2)] || '(empty name)';
    const labels = this.labelsFor(node);
    return labels.widthOf(text) <= room ? text : labels.cut(text, room);
  }

  // What stands out in the graph stands out here too.
  marks(node) {
    const { app, tree } = this;
    const { chosen } = app;
    const name = tree.name[node];
    return {
      found: Boolean(name >= 0 && app.hits && app.hits[name]),
      selected: name >= 0 && (chosen.node > 0 ? chosen.node === node : chosen.name === name),
    };
  }

  crumb(node, room) {
    const { app } = this;
    const { found, selected } = this.marks(node);
    const said = app.describe(this.tree, app.shown, node) + (found ? ', found' : '') + (selected ? ', selected' : '');
    const own = app.colours.isOwn(this.tree.name[node]);
    return button(said, () => this.zoom(node), { class: ['crumb', found && 'hit', selected && 'selected', own && 'mine'].filter(Boolean).join(' ') }, h('bdi', this.label(node, room)));
  }

  zoom(node) {
    this.menu.open = false;
    this.app.zoomInto(this.flame, node);
  }

  fillSummary() {
    const marks = this.hidden.map((node) => this.marks(node));
    const found = marks.filter((mark) => mark.found).length;
    const selected = marks.some((mark) => mark.selected);
    this.summary.textContent = `… ${plural(this.hidden.length, 'frame')}${found ? `, ${found} found` : ''}${selected ? ', selected' : ''}`;
    this.summary.className = ['crumb', found && 'hit', selected && 'selected'].filter(Boolean).join(' ');
    this.summary.title = 'The callers between';
  }

  listed() {
    const rows = this.hidden.slice(-MAX_LISTED).map((node) => {
      const row = this.crumb(node, Infinity);
      refill(row, h('bdi', visible(clip(this.nameOf(node), 300)) || '(empty name)'));
      return row;
    });
    const left = this.hidden.length - rows.length;
    return left > 0 ? [h('p.hint', `${plural(left, 'frame')} more above: the call tree has them`), ...rows] : rows;
  }
}
