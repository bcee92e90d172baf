// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What the user can do, by key, button or menu: everything that is one step.
import { refill } from '../dom/dom.js';
import { KIND_START, isJava } from '../data/names.js';
import { recordedNode, unfoldedBelow } from '../data/roots.js';
import { startOf } from '../graph/layout.js';
import { promptText } from './prompt.js';
import { copyText, foldedLine, foldedText, printedTable, save, stackText, svgOf } from './share.js';
import { Undo } from '../data/state.js';

// A name of some length fits.
const READABLE_PIXELS = 160;

const FILE_ENDING = /(?:\.(?:jprof|html?|svg|png|collapsed|folded|txt|json|gz|zst))+$/i;

export class Commands {
  // ---- looking ----

  go(view, name) {
    if (name !== undefined) this.chosen = { name, node: -1, run: null };
    this.update({ view }, 'push');
  }

  get flame() {
    const view = this.views[this.state.view];
    return view && view.flame ? view.flame : null;
  }

  // The flame chart, while it is shown: it has a window of its own.
  get chart() {
    return this.state.view === 'chart' ? this.views.chart : null;
  }

  zoomSelected() {
    if (this.chart) return this.chart.zoomSelected();
    const { flame } = this;
    if (flame && flame === this.views.graph.flame && this.isStart(flame.model.tree, flame.cursor)) this.openStart();
    else if (flame && flame.cursor > 0) this.zoomInto(flame, flame.cursor);
    else if (this.state.view === 'tree' && this.chosen.node > 0) this.update({ view: 'graph', zoom: this.pathOf(this.chosen.node), part: '' }, 'push');
    else if (this.state.view === 'table' && this.chosen.name >= 0) this.go('sandwich', this.chosen.name);
  }

  zoomInto(flame, node) {
    flame.zoomTo(node);
    if (flame.linked) flame.linked.moveTo(0, flame.linked.whole);
    if (this.state.view !== 'graph') return;
    this.views.graph.anchorAt(Math.max(0, node));
    const zoom = node > 0 ? this.pathOf(node) : '';
    this.foundZoom = zoom;
    Object.assign(this.state, { zoom, part: '' });
    this.askTell('push');
  }

  // Boxes that were too narrow and became one: they fill the width.
  openRun(flame, { window }) {
    this.chosen = { name: -1, node: -1, run: null };
    flame.cursor = -1;
    flame.moveTo(...window);
    if (flame.linked) flame.linked.moveTo(...window);
    this.afterSelect();
    this.settled(flame, 'push', window);
  }

  zoomOut() {
    if (this.chart) return this.chart.zoomOut();
    const { flame } = this;
    if (!flame || flame.isWhole()) return;
    const { tree, total, order } = flame.model;
    let node = this.state.view === 'graph' && this.views.graph.anchored > 0 ? this.views.graph.anchored : flame.cursor;
    // The nearest ancestor that is wider than the window.
    for (node = node > 0 ? tree.parent[node] : 0; node > 0; node = tree.parent[node]) {
      const start = startOf(tree, node, total, order);
      if (total[node] > (flame.to - flame.from) * 1.0001 && start <= flame.from * 1.0001) break;
    }
    this.zoomInto(flame, Math.max(0, node));
  }

  zoomReset() {
    if (this.chart) this.chart.zoomReset();
    else if (this.flame) this.zoomInto(this.flame, 0);
  }

  zoomBy(factor) {
    if (this.chart) return this.chart.zoomBy(factor);
    const { flame } = this;
    if (!flame) return;
    flame.zoomAt(flame.width / 2, factor);
    this.settled(flame, 'replace');
  }

  scroll(x, y) {
    if (this.chart) return this.chart.scroll(x, y);
    const { flame } = this;
    if (flame) {
      if (x) {
        flame.pan(x * flame.width * 0.15);
        this.settled(flame, 'replace');
      }
      flame.element.scrollTop += y * flame.rowHeight * 4;
      return;
    }
    const list = this.views[this.state.view].list;
    if (list) list.element.scrollTop += y * list.rowHeight * 4;
  }

  arrow(key) {
    if (this.chart) return this.chart.arrow(key);
    const view = this.views[this.state.view];
    if (!view.flame) {
      if (key === 'ArrowUp' || key === 'ArrowDown') view.move(key === 'ArrowUp' ? -1 : 1);
      else if (key === 'Home' || key === 'End') view.move(key === 'Home' ? -1e9 : 1e9);
      else if (view.sideways) view.sideways(key === 'ArrowRight');
      return;
    }
    const next = this.neighbour(view.flame, key);
    if (next > 0) {
      this.select(view.flame, next, null);
      view.flame.reveal(next);
    }
  }

  // Where an arrow leads from the cursor of a graph.
  neighbour(flame, key) {
    const { tree, total } = flame.model;
    const heaviest = (node) => {
      let best = -1;
      for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0 && (best < 0 || total[c] > total[best])) best = c;
      return best;
    };
    const at = flame.cursor;
    if (key === 'Home' || at <= 0) return heaviest(0);
    if (key === 'End') {
      let node = at;
      for (let next = heaviest(node); next > 0; next = heaviest(node)) node = next;
      return node;
    }
    const up = flame.flame ? 'ArrowDown' : 'ArrowUp';
    const down = flame.flame ? 'ArrowUp' : 'ArrowDown';
    if (key === up) return tree.parent[at];
    if (key === down) return heaviest(at);
    const siblings = [];
    for (let c = tree.first(tree.parent[at]); c >= 0; c = tree.next(c)) if (total[c] > 0) siblings.push(c);
    if (flame.model.order) siblings.sort(flame.model.order);
    return siblings[siblings.indexOf(at) + (key === 'ArrowLeft' ? -1 : 1)] ?? -1;
  }

  walkHits(step) {
    if (this.chart) return this.chart.walk(step);
    const node = this.searchBox.walk(step);
    if (node < 0) return;
    if (this.state.view !== 'graph' && this.state.view !== 'tree') {
      this.selectName(this.result.tree.name[node]);
      return;
    }
    this.selectNode(node);
    if (this.state.view === 'tree') this.views.tree.show();
    else this.views.graph.flame.reveal(node);
  }

  // ---- filtering ----

  rememberFilters() {
    return Undo.filters(this.state);
  }

  addChip(verb, text) {
    const name = this.chosen.name;
    if (!text && name >= this.source.names.length) return this.outline.say('That stands for several methods: open it, then choose one');
    const chip = { verb, text: text || (name >= 0 && verb !== 'mine' && verb !== 'only' ? '=' + this.recordedName(name) : '') };
    if (!chip.text) return this.outline.say(verb === 'mine' ? 'Say first what is mine: a prefix like com.acme.' : 'Select a method first');
    if (this.state.chips.some((other) => other.verb === chip.verb && other.text === chip.text)) return;
    this.update({ chips: [...this.state.chips, chip] });
  }

  // A name that the page made by merging stands for all names that it merged; the first one will do as text.
  recordedName(name) {
    return this.pipeline.names[name];
  }

  undoStep() {
    const to = this.undo.undo(this.rememberFilters());
    if (to) this.apply(to, 'replace');
  }

  redoStep() {
    const to = this.undo.redo(this.rememberFilters());
    if (to) this.apply(to, 'replace');
  }

  dragRange(which, range) {
    this.state[which] = range;
    if (this.dragAsked) return;
    this.dragAsked = true;
    // On a large capture the strip moves at once and the views follow on release.
    if (this.slowRange) {
      this.dragAsked = false;
      return this.strip.redraw();
    }
    requestAnimationFrame(() => {
      this.dragAsked = false;
      const since = performance.now();
      this.recompute();
      this.render();
      this.slowRange = performance.now() - since > 120;
    });
  }

  settleRange(before) {
    this.undo.remember(before);
    this.recompute();
    this.render();
    this.writeFragment('push');
  }

  toggleBase() {
    this.toggleCompared('baseShape');
  }

  toggleSelf() {
    this.toggleCompared('bySelf');
  }

  toggleCompared(which) {
    if (!this.result.comparing) return this.outline.say('There is nothing to compare: open a second capture, or select two ranges');
    this.update({ [which]: !this.state[which] });
  }

  // What colours by heat are made of.
  get heatSums() {
    return this.colouring === 'heat' ? { self: this.methods(this.shown).self, whole: this.shown.total[0] } : null;
  }

  // How a method's name looks in a list.
  nameClass(name) {
    return [this.hits && this.hits[name] && 'hit', this.colours.isOwn(name) && 'mine'].filter(Boolean).join(' ');
  }

  // ---- what folds at the roots ----

  isStart(tree, node) {
    return node > 0 && tree.kind[node] === KIND_START;
  }

  // Another step of folding. What was zoomed to and selected stays so, where it is still there.
  setRoots(roots, patch) {
    const { shape } = this.result;
    const [zoomed, chosen] = [this.zoomedNode(), this.chosen.node].map((node) => recordedNode(shape, node));
    const selected = this.chosen.name;
    this.update({ roots, zoom: '', part: '', path: '', ...patch }, 'push');
    const now = this.result.shape;
    const place = (node) => (node <= 0 || now.bySample ? -1 : now.map ? now.map[node] : node);
    const [zoom, node] = [place(zoomed), place(chosen)];
    if (zoom <= 0 && node <= 0 && selected < 0) return;
    if (node > 0) this.chosen = { name: this.result.tree.name[node], node, run: null };
    this.noteSelection();
    this.update(zoom > 0 ? { zoom: this.pathOf(zoom) } : {}, 'replace');
  }

  // The first view: where the widest Java subtree is too narrow to be read, it fills the window.
  zoomToJava() {
    const { tree } = this.result;
    const { total } = this.shown;
    const { names } = this.pipeline;
    let widest = 0;
    const look = (above) => {
      for (let c = tree.first(above); c >= 0; c = tree.next(c)) {
        if (this.isStart(tree, c)) look(c);
        else if (total[c] > 0 && isJava(tree.kind[c], names[tree.name[c]]) && (!widest || total[c] > total[widest])) widest = c;
      }
    };
    look(0);
    if (!widest || (total[widest] / total[0]) * innerWidth >= READABLE_PIXELS) return;
    this.state.zoom = this.pathOf(widest);
    this.findZoom();
  }

  // A click opens what folds at the roots; anything else is selected.
  click(flame, node, run) {
    if (!run && flame && flame === this.views.graph.flame && this.isStart(flame.model.tree, node)) this.openStart();
    else this.select(flame, node, run);
  }

  openStart() {
    this.chosen = { name: -1, node: -1, run: null };
    this.setRoots('all');
    this.outline.say('The frames that start threads are shown; j folds them again');
  }

  // The result with nothing folded at the roots: what leaves the page holds whole stacks.
  get unfolded() {
    const { result, state } = this;
    if (state.roots === 'all') return result;
    if (this.unfoldedOf !== result) {
      this.unfoldedOf = result;
      this.unfoldedResult = this.pipeline.run({ ...state, roots: 'all' });
    }
    return this.unfoldedResult;
  }

  // The node of the whole stacks for one of those shown.
  wholePlace(tree, node) {
    if (tree !== this.result.tree) return { tree, node };
    const { shape } = this.unfolded;
    if (shape === this.result.shape || node <= 0) return { tree, node };
    const inside = this.insideOf(node);
    const found = inside.indexOf(1);
    return found < 0 ? { tree, node } : { tree: shape.tree, node: found };
  }

  insideOf(node) {
    const side = this.result.sides[this.result.sides.length - 1];
    return unfoldedBelow(this.result.shape, this.unfolded.shape, node, side.timed && side.timed.node);
  }

  // ---- panels ----

  togglePanel() {
    this.panel.element.hidden = !this.panel.element.hidden;
    if (!this.panel.element.hidden) {
      this.panel.show();
      this.panel.filter.focus();
    }
  }

  toggleHelp() {
    if (this.helpOpen) return this.chrome.help.close();
    this.chrome.fillHelp();
    this.helpOpen = true;
    this.chrome.help.showModal();
  }

  toggleTheme() {
    this.setTheme(this.dark ? 'light' : 'dark');
  }

  // Closes one thing: what lies on top first.
  escape() {
    if (this.helpOpen) return this.chrome.help.close();
    if (this.chrome.closeMenus()) return;
    if (!this.details.tip.hidden) this.details.tip.hidden = true;
    if (this.shadow.activeElement === this.searchBox.input) {
      if (this.state.query) return this.update({ query: '' }, 'replace');
      return this.searchBox.input.blur();
    }
    if (!this.panel.element.hidden) return this.togglePanel();
    if (this.state.range) return this.update({ range: null, base: null });
    if (this.state.query) return this.update({ query: '' }, 'replace');
    if (this.chosen.name >= 0) this.select(this.flame, -1, null);
  }

  // ---- sharing ----

  async copy(text, what) {
    const done = await copyText(text, this.shadow);
    this.outline.say(done ? `${what} copied` : `The browser does not let this page copy; ${what} not copied`);
    this.copied = text;
  }

  // The tree and node that a copy is about: the cursor of the graph in view.
  cursorPlace() {
    const { flame } = this;
    if (flame && flame.cursor > 0) return { tree: flame.model.tree, node: flame.cursor };
    if (this.chosen.node > 0) return { tree: this.result.tree, node: this.chosen.node };
    return null;
  }

  copyStack() {
    const place = this.cursorPlace();
    if (place) {
      const { tree, node } = this.wholePlace(place.tree, place.node);
      this.copy(stackText(tree, this.pipeline.names, node), 'stack');
    } else if (this.chosen.name >= 0) this.copyName();
  }

  copyName() {
    if (this.chosen.name >= 0) this.copy(this.pipeline.names[this.chosen.name], 'name');
  }

  copyFolded() {
    const { node } = this.chosen;
    if (node <= 0) return;
    const whole = this.wholePlace(this.result.tree, node);
    this.copy(foldedLine(whole.tree, this.pipeline.names, whole.node, this.shown.samplesOf(node)), 'folded line');
  }

  copyTable() {
    if (!this.views.table.made || this.views.table.made !== this.result) this.views.table.show();
    this.copy(this.views.table.text(), 'table');
  }

  copyPrompt() {
    this.copy(promptText(this), 'Markdown');
  }

  copyLink() {
    this.tell();
    this.copy(location.href, 'link');
  }

  fileName(ending) {
    // A title is often the name of a file that the capture came from.
    const name = this.title.replace(FILE_ENDING, '').replace(/[^\w.-]+/g, '-').slice(0, 80);
    return (name || 'capture') + ending;
  }

  saveSvg() {
    const flame = this.chart ? this.chart.graph : this.flame;
    if (flame && flame.model) save(this.fileName('.svg'), 'image/svg+xml', [svgOf(flame, this.title)]);
  }

  savePng() {
    const flame = this.chart ? this.chart.graph : this.flame;
    if (flame) flame.surface.toBlob((blob) => blob && save(this.fileName('.png'), 'image/png', [blob]));
  }

  saveFolded() {
    const { tree, measures } = this.unfolded;
    const measure = this.result.comparing && this.state.baseShape ? measures[0] : measures[measures.length - 1];
    const top = Math.max(0, this.zoomedNode());
    save(this.fileName('.collapsed'), 'text/plain', [foldedText(tree, this.pipeline.names, measure, top > 0 ? this.insideOf(top) : null)]);
  }

  // ---- captures ----

  compareWith(file) {
    return this.library.compareWith(file);
  }

  // Another capture, or other two: what belonged to the one before goes.
  adoptSource(source, patch) {
    this.setSource(source);
    Object.assign(this.state, patch);
    this.undo = new Undo();
    this.chosen = { name: -1, node: -1, run: null };
    this.recompute();
    this.findZoom();
    this.views.graph.forgetWindow();
    this.render();
    this.writeFragment('replace');
  }

  // ---- print ----

  preparePrint() {
    this.printing = true;
    this.render();
    const { flame } = this;
    if (flame) flame.draw();
    refill(this.printed, ...printedTable(this));
  }

  endPrint() {
    this.printing = false;
    this.render();
  }
}
