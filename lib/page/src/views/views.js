// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The three views that draw a graph: the graph itself, merged callers, and the sandwich of one method.
import { belowFoundColour, evidenceColour, markColour } from '../graph/colours.js';
import { h } from '../dom/dom.js';
import { Crumbs } from './crumbs.js';
import { FlameView } from '../graph/flame.js';
import { startOf } from '../graph/layout.js';
import { nodeEvidence } from '../data/evidence.js';
import { mergedCallers, sandwichOf } from '../data/merged.js';
import { formatCount, formatShare } from '../data/numbers.js';
import { stacksWith } from '../data/selection.js';
import { Minimap } from './minimap.js';
import { CallerRows } from './rows.js';

// What a FlameView needs to know about a tree, from the app's state.
export function modelOf(app, tree, measure, values) {
  const { names } = app.pipeline;
  const { colours, state, result } = app;
  const samplesWeight = measure.perSample || 1;
  return {
    tree,
    total: values.total,
    order: state.byName ? (a, b) => (names[tree.name[a]] < names[tree.name[b]] ? -1 : 1) : app.partial ? (a, b) => values.total[b] - values.total[a] || a - b : null,
    dark: app.dark,
    background: app.dark ? '#17191e' : '#ffffff',
    rowHeight: app.rowHeight,
    minimum: samplesWeight,
    rootName: values.rootName,
    name: (node) => (tree.name[node] < 0 ? values.rootName : names[tree.name[node]]),
    fill: (node) => colours.of(tree.name[node], tree.kind[node]),
    marked: (node) => Boolean(app.hits && tree.name[node] >= 0 && app.hits[tree.name[node]]),
    hatched: () => false,
    runLabels: ({ value, frames }) => {
      const short = `${formatShare(value, values.total[0])} in ${formatCount(frames)}`;
      return [`${short} small ones`, `${short} small`, short];
    },
    own: (node) => colours.isOwn(tree.name[node]),
    repeated: app.repeated,
    selectedName: app.chosen.name,
    ticks: null,
    comparing: result.comparing,
    colouring: `${colours.key}|${state.colour === 'search' ? state.query : ''}`,
  };
}

// The model of the call tree itself: what a comparison or a search says of its boxes is in their colours.
export function shadedModel(app) {
  const { tree } = app.result;
  const model = modelOf(app, tree, app.shown, { total: app.shown.total, rootName: app.rootName });
  if (app.result.comparing) compare(app, model);
  else if (app.colouring === 'search' && app.hits) colourFound(app, model);
  return model;
}

// By search: what hits call belongs to them, as their width says.
function colourFound({ dark, hits, result }, model) {
  const flags = stacksWith(result.tree, hits);
  const rest = model.fill;
  model.fill = (node) => (model.marked(node) ? markColour(dark) : flags[node] ? belowFoundColour(dark) : rest(node));
}

function compare(app, model) {
  const judgeNode = nodeEvidence(app.result, app.state, app.state.bySelf ? 'self' : 'total');
  const [base, other] = app.result.measures;
  model.fill = (node) => {
    if (node === 0) return app.colours.of(-1, 0);
    const verdict = judgeNode(node);
    return evidenceColour(verdict.direction, verdict.strength, app.dark);
  };
  model.hatched = (node) => base.total[node] === 0 || other.total[node] === 0;
}

export class GraphView {
  constructor(app) {
    this.app = app;
    this.id = 'graph';
    this.flame = new FlameView(app.listener, 'graph');
    this.minimap = new Minimap(this.flame);
    this.crumbs = new Crumbs(app, this.flame);
    this.element = h('section.view', { alt: 'Graph' }, this.minimap.element, this.crumbs.element, this.flame.element);
    this.tree = null;
    // The node that the window lies in (0: the whole), and the one that stands in the first row, its callers in the crumbs.
    this.anchored = 0;
    this.top = 0;
  }

  // Zooms to a node: its callers leave the graph.
  anchorAt(node) {
    this.anchored = this.top = node;
    this.showCrumbs();
  }

  // The window was moved by hand and lies in a node now. Rows stay where they are, unless the window left what is in the first.
  settleAt(node) {
    const { tree } = this.flame.model;
    this.anchored = node;
    while (this.top > 0 && !(node >= this.top && node < tree.end[this.top])) this.top = tree.parent[this.top];
    this.showCrumbs();
  }

  // What is shown next begins with its own window.
  forgetWindow() {
    this.whole = 0;
  }

  showCrumbs() {
    // What a link asks for is known before anything is drawn.
    if (!this.flame.model) return;
    const { tree } = this.app.result;
    this.flame.startAt(-tree.pathOf(this.top).length);
    this.crumbs.show(tree, this.top);
  }

  show() {
    const { app } = this;
    const { tree } = app.result;
    const { total } = app.shown;
    const model = shadedModel(app);
    if (!app.result.comparing && !model.order) model.self = app.shown.self;
    if (app.hits && app.hitList) {
      model.ticks = app.hitList.slice(0, 300).map((node) => ({
        weight: total[node],
        start: startOf(tree, node, total, model.order),
        row: tree.pathOf(node).length,
      }));
    }
    this.flame.flame = app.state.flame;
    this.element.classList.toggle('below', app.state.flame);
    this.flame.cursor = app.chosen.node;
    const same = this.tree === tree;
    const part = same && this.whole ? [this.flame.from / this.whole, this.flame.to / this.whole] : null;
    this.tree = tree;
    this.whole = total[0];
    this.flame.show(model, true);
    this.showCrumbs();
    const anchor = this.anchored;
    if (anchor > 0 && total[anchor] > 0) {
      const start = startOf(tree, anchor, total, model.order);
      this.flame.setWindow(start, start + total[anchor]);
    } else if (part && (part[0] > 0 || part[1] < 1)) this.flame.setWindow(part[0] * total[0], part[1] * total[0]);
    else this.flame.setWindow(0, total[0]);
    if (!same || this.drawnFor !== total) this.minimap.forget();
    this.drawnFor = total;
    this.minimap.redraw();
  }

  redraw() {
    if (!this.flame.model) return;
    this.flame.cursor = this.app.chosen.node;
    this.flame.model.selectedName = this.app.chosen.name;
    this.flame.redraw();
    this.showCrumbs();
  }
}

export class CallersView {
  constructor(app) {
    this.app = app;
    this.id = 'callers';
    this.graph = new FlameView(app.listener, 'callers');
    this.graph.rootRow = this.graph.wholeRow = -1;
    this.rows = new CallerRows(app);
    this.asRows = h('input', { type: 'checkbox', onchange: () => app.update({ callerRows: this.asRows.checked }) });
    const tools = h('div.tools', h('label', this.asRows, ' as a table'));
    this.element = h('section.view', { alt: 'Merged callers' }, tools, this.graph.element, this.rows.element);
  }

  // What draws a graph; nothing, while rows are shown.
  get flame() {
    return this.app.state.callerRows ? null : this.graph;
  }

  get list() {
    return this.rows.list;
  }

  show() {
    const { app, graph } = this;
    const { callerRows } = app.state;
    if (this.made !== app.shown) {
      this.tree = mergedCallers(app.result.tree, app.shown);
      this.made = app.shown;
      this.cursor = -1;
    }
    this.asRows.checked = callerRows;
    graph.element.hidden = callerRows;
    this.rows.element.hidden = !callerRows;
    if (callerRows) return this.rows.show(this.tree);
    const model = modelOf(app, this.tree, app.shown, { total: this.tree.total, rootName: app.rootName });
    graph.flame = app.state.flame;
    graph.cursor = this.cursor;
    graph.show(model, this.shownTree === this.tree);
    this.shownTree = this.tree;
  }

  move(step) {
    this.rows.move(step);
  }

  sideways(inward) {
    this.rows.sideways(inward);
  }

  redraw() {
    if (!this.flame) return this.rows.redraw();
    if (!this.graph.model) return;
    this.graph.cursor = this.cursor;
    this.graph.model.selectedName = this.app.chosen.name;
    this.graph.redraw();
  }
}

export class SandwichView {
  constructor(app) {
    this.app = app;
    this.id = 'sandwich';
    this.up = new FlameView(app.listener, 'callers of the method');
    this.down = new FlameView(app.listener, 'callees of the method');
    this.up.rootRow = this.up.wholeRow = -2;
    this.down.rootRow = this.down.wholeRow = -1;
    this.up.flame = true;
    this.up.fits = this.down.fits = true;
    this.title = h('div.between');
    this.none = h('p.hint');
    this.element = h(
      'section.view sandwich',
      { alt: 'Sandwich' },
      h('div.half-title', 'Callers'),
      this.up.element,
      this.title,
      h('div.half-title', 'Callees'),
      this.down.element,
      this.none,
    );
    this.up.linked = this.down;
    this.down.linked = this.up;
  }

  get flame() {
    return this.down;
  }

  show() {
    const { app } = this;
    const name = app.chosen.name;
    this.element.classList.toggle('empty', name < 0);
    if (name < 0) {
      this.none.textContent = 'Select a method in any view: its callers and callees appear here.';
      return;
    }
    if (this.made !== app.shown || this.name !== name) {
      this.trees = sandwichOf(app.result.tree, app.shown, name);
      this.made = app.shown;
      this.name = name;
    }
    const { callers, callees } = this.trees;
    this.none.textContent = callees.total[0] > 0 ? '' : 'This method is not in what is selected.';
    this.element.classList.toggle('empty', !(callees.total[0] > 0));
    this.up.show(modelOf(app, callers, app.shown, { total: callers.total, rootName: app.rootName }), this.shownTree === callers);
    this.down.show(modelOf(app, callees, app.shown, { total: callees.total, rootName: app.rootName }), this.shownTree === callers);
    this.shownTree = callers;
    app.fillBetween(this.title, callees);
  }

  redraw() {
    if (this.name !== this.app.chosen.name) return this.show();
    for (const flame of [this.up, this.down]) if (flame.model) flame.redraw();
  }
}
