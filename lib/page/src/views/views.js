// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The three views that draw a graph: the graph itself, merged callers, and the sandwich of one method.
import { evidenceColour } from '../graph/colours.js';
import { afterPaint, h, listen, oncePerFrame } from '../dom/dom.js';
import { FlameView } from '../graph/flame.js';
import { layoutBoxes, startOf } from '../graph/layout.js';
import { mergedCallers, sandwichOf } from '../data/merged.js';

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
    own: (node) => colours.isOwn(tree.name[node]),
    repeated: app.repeated,
    selectedName: app.chosen.name,
    ticks: null,
    comparing: result.comparing,
  };
}

export class GraphView {
  constructor(app) {
    this.app = app;
    this.id = 'graph';
    this.flame = new FlameView(app.listener, 'graph');
    this.minimap = new Minimap(this.flame);
    this.element = h('section.view', { alt: 'Graph' }, this.minimap.element, this.flame.element);
    this.tree = null;
  }

  show() {
    const { app } = this;
    const { tree } = app.result;
    const { total } = app.shown;
    const model = modelOf(app, tree, app.shown, { total, rootName: app.rootName });
    if (app.result.comparing) this.compare(model);
    else if (!model.order) model.self = app.shown.self;
    if (app.hits && app.hitList) {
      model.ticks = app.hitList.slice(0, 300).map((node) => ({
        weight: total[node],
        start: startOf(tree, node, total, model.order),
        row: tree.pathOf(node).length,
      }));
    }
    this.flame.flame = app.state.flame;
    this.flame.cursor = app.chosen.node;
    const same = this.tree === tree;
    const part = same && this.whole ? [this.flame.from / this.whole, this.flame.to / this.whole] : null;
    this.tree = tree;
    this.whole = total[0];
    this.flame.show(model, true);
    const anchor = this.anchor;
    if (anchor > 0 && total[anchor] > 0) {
      const start = startOf(tree, anchor, total, model.order);
      this.flame.setWindow(start, start + total[anchor]);
    } else if (part && (part[0] > 0 || part[1] < 1)) this.flame.setWindow(part[0] * total[0], part[1] * total[0]);
    else this.flame.setWindow(0, total[0]);
    if (!same || this.drawnFor !== total) this.minimap.forget();
    this.drawnFor = total;
    this.minimap.redraw();
  }

  compare(model) {
    const { app } = this;
    const judgeNode = app.pipeline.nodeEvidence(app.result, app.state);
    const [base, other] = app.result.measures;
    model.fill = (node) => {
      if (node === 0) return app.colours.of(-1, 0);
      const verdict = judgeNode(node);
      return evidenceColour(verdict.direction, verdict.strength, app.dark);
    };
    model.hatched = (node) => base.total[node] === 0 || other.total[node] === 0;
  }

  redraw() {
    if (!this.flame.model) return;
    this.flame.cursor = this.app.chosen.node;
    this.flame.model.selectedName = this.app.chosen.name;
    this.flame.redraw();
  }

  // The node that fills the window exactly, 0 for the whole.
  get anchor() {
    return this.anchored || 0;
  }
}

export class CallersView {
  constructor(app) {
    this.app = app;
    this.id = 'callers';
    this.flame = new FlameView(app.listener, 'callers');
    this.flame.rootRow = -1;
    this.element = h('section.view', { alt: 'Merged callers' }, this.flame.element);
  }

  show() {
    const { app } = this;
    if (this.made !== app.shown) {
      this.tree = mergedCallers(app.result.tree, app.shown);
      this.made = app.shown;
      this.cursor = -1;
    }
    const model = modelOf(app, this.tree, app.shown, { total: this.tree.total, rootName: app.rootName });
    this.flame.flame = app.state.flame;
    this.flame.cursor = this.cursor;
    this.flame.show(model, this.shownTree === this.tree);
    this.shownTree = this.tree;
  }

  redraw() {
    if (!this.flame.model) return;
    this.flame.cursor = this.cursor;
    this.flame.model.selectedName = this.app.chosen.name;
    this.flame.redraw();
  }
}

export class SandwichView {
  constructor(app) {
    this.app = app;
    this.id = 'sandwich';
    this.up = new FlameView(app.listener, 'callers of the method');
    this.down = new FlameView(app.listener, 'callees of the method');
    this.up.rootRow = -2;
    this.down.rootRow = -1;
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
    const key = `${width}x${height}x${ratio}${dark}${flame.flame}`;
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
