// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The flame chart: what each thread did, in the order of time.
import { button, h } from '../dom/dom.js';
import { ChartGraph } from '../graph/chart.js';
import { makeLanes } from '../data/lanes.js';
import { clip, visible } from '../data/names.js';
import { formatShare, formatWeight, plural } from '../data/numbers.js';
import { stacksWith } from '../data/selection.js';
import { passes } from '../data/timeline.js';
import { ChartCursor } from './chartcursor.js';
import { ChartText } from './charttext.js';
import { drawRuler } from './ruler.js';
import { shadedModel } from './views.js';

// Lanes are open, the heaviest first, while they have so few rows; the first is in any case.
const OPEN_ROWS = 80;

export class ChartView {
  constructor(app) {
    this.app = app;
    this.id = 'chart';
    this.graph = new ChartGraph({
      select: (graph, node, run, hit) => this.cursor.choose(hit),
      zoom: () => this.zoomSelected(),
      open: () => {},
      hover: (graph, hit, event) => app.details.hover(graph, hit, event),
      moved: () => this.moved(),
      settled: () => app.writeFragment('replace'),
      drawn: (graph) => drawRuler(this.ruler, graph, app),
    });
    this.cursor = new ChartCursor(this);
    this.words = new ChartText(this);
    this.graph.tipText = (hit) => this.words.tipText(hit);
    this.graph.brush = (from, to, done) => this.brush(from, to, done);
    this.ruler = h('canvas.ruler', { 'aria-hidden': 'true' });
    this.why = h('p.hint');
    this.note = h('span.lanes-note');
    this.tools = h('div.tools', button('Open all lanes', () => this.openLanes(this.lanes.map(({ key }) => key))), button('Close all lanes', () => this.openLanes([])), this.note, h('span.lanes-note wide', 'Drag pans, Ctrl+wheel zooms, Shift-drag selects a range'));
    this.element = h('section.view', { alt: 'Flame chart' }, this.tools, this.why, this.ruler, this.graph.element);
    this.lanes = [];
  }

  // No tree is drawn here: what the app does with one, it does not with this.
  get flame() {
    return null;
  }

  get side() {
    return this.app.source.sides[0];
  }

  get ranges() {
    const { range, base } = this.app.state;
    return [range, base].filter(Boolean).sort((a, b) => a[0] - b[0]);
  }

  // What is in the window unless the user moves it.
  get wholeWindow() {
    const { ranges } = this;
    return ranges.length ? [ranges[0][0], Math.max(...ranges.map((r) => r[1]))] : [0, this.app.strip.end];
  }

  whyNot() {
    const { source } = this.app;
    if (source.sides.length === 2) return 'Two captures have no time in common: open one of them alone, or compare two ranges of one.';
    if (!this.app.strip.available) return 'This capture has no times: its source (folded text, for example) holds sums only.';
    return '';
  }

  show() {
    const { app, graph } = this;
    const why = this.whyNot();
    this.why.textContent = why;
    this.why.hidden = !why;
    this.tools.hidden = this.ruler.hidden = graph.element.hidden = Boolean(why);
    if (why) return;
    this.count();
    this.cursor.forgetStale();
    const { chartWindow, lanes: open, flame } = app.state;
    const { timed, meta } = this.side;
    this.openKeys = new Set(open || this.openAtFirst());
    const model = Object.assign(shadedModel(app), {
      lanes: this.lanes,
      told: this.told,
      whole: app.strip.end,
      minimum: 5,
      rootBelow: flame,
      flags: this.flags(),
      gaps: meta.gaps || [],
      ranges: this.ranges,
      isOpen: (lane) => this.openKeys.has(lane.key),
      stateOf: (s) => timed.state[s],
      describe: (lane) => this.describe(lane),
    });
    this.showing = true;
    graph.show(model, true);
    graph.setWindow(...(chartWindow || this.wholeWindow));
    this.showing = false;
    app.strip.showWindow();
    this.tellNote();
  }

  // Lanes depend on these alone.
  count() {
    const { app } = this;
    const { result, state, pipeline } = app;
    const now = [result.shape, this.side, JSON.stringify([state.range, state.base, state.threads, state.states, state.chips, state.byName])];
    if (this.counted && now.every((part, i) => part === this.counted[i])) return;
    this.counted = now;
    const filter = passes(pipeline, result, state);
    const { ranges } = this;
    const { time } = this.side.timed;
    const within = (s) => ranges.some(([from, to]) => time[s] >= from && time[s] < to);
    const accepts = ranges.length ? (s) => within(s) && (!filter || filter(s)) : filter;
    const { lanes, told } = makeLanes(this.side, result.shape, result.tree, accepts);
    if (state.byName) lanes.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.thread - b.thread));
    this.weight = lanes.reduce((sum, lane) => sum + lane.weight, 0);
    Object.assign(this, { lanes, told });
    this.cursor.mark = null;
  }

  openAtFirst() {
    let rows = 0;
    const heaviest = this.lanes.slice().sort((a, b) => b.weight - a.weight);
    return heaviest.filter((lane, i) => (rows += lane.levels + 1) <= OPEN_ROWS || i === 0).map(({ key }) => key);
  }

  openLanes(keys) {
    this.app.update({ lanes: keys }, 'replace');
  }

  toggle(lane) {
    const keys = new Set(this.openKeys);
    if (!keys.delete(lane.key)) keys.add(lane.key);
    this.openLanes([...keys]);
  }

  flags() {
    const { hits, result } = this.app;
    if (this.flagsOf !== hits || this.flagsTree !== result.tree) {
      this.found = hits && stacksWith(result.tree, hits);
      Object.assign(this, { flagsOf: hits, flagsTree: result.tree });
    }
    return this.found;
  }

  describe(lane) {
    const weight = formatWeight(lane.weight, this.app.unit);
    return { name: visible(clip(lane.name, 300)) || '(unnamed thread)', figures: `${formatShare(lane.weight, this.weight)} · ${weight ? weight + ' · ' : ''}${plural(lane.samples, 'sample')}` };
  }

  tellNote() {
    const { threads } = this.side;
    const parts = [plural(this.lanes.length, 'lane')];
    if (!threads.length) parts.push('this capture does not tell threads apart');
    if (!this.told) parts.push('it does not tell how long a sample stands for: each is a line at its moment');
    this.note.textContent = parts.join(' · ');
  }

  // ---- the window ----

  moved() {
    if (this.showing || !this.graph.model) return;
    const { from, to } = this.graph;
    const [left, right] = this.wholeWindow;
    const whole = Math.abs(from - left) < 0.01 && Math.abs(to - right) < 0.01;
    this.app.state.chartWindow = whole ? null : [from, to];
    this.app.strip.showWindow();
    this.app.details.tip.hidden = true;
  }

  moveTo(from, to) {
    this.graph.moveTo(from, to);
    const [left, right] = this.wholeWindow;
    this.app.state.chartWindow = from <= left && to >= right ? null : [from, to];
    this.app.askTell('push');
  }

  zoomSelected() {
    const { mark } = this.cursor;
    if (!mark || this.whyNot()) return;
    if (mark.depth < 0) return this.toggle(mark.lane);
    const { from, to } = this.cursor.runOf(mark);
    this.moveTo(from, to);
  }

  zoomOut() {
    if (this.whyNot()) return;
    const { from, to, whole } = this.graph;
    const span = to - from;
    this.moveTo(Math.max(0, from - 1.5 * span), Math.min(whole, to + 1.5 * span));
  }

  zoomReset() {
    if (!this.whyNot()) this.moveTo(...this.wholeWindow);
  }

  zoomBy(factor) {
    if (this.whyNot()) return;
    this.graph.zoomAt(this.graph.width / 2, factor);
    this.app.writeFragment('replace');
  }

  scroll(x, y) {
    const { graph } = this;
    if (this.whyNot()) return;
    if (x) {
      graph.pan(x * graph.width * 0.15);
      this.app.writeFragment('replace');
    }
    graph.element.scrollTop += y * graph.rowHeight * 4;
  }

  // Shift and drag: a range of time for every view.
  brush(a, b, done) {
    const { app, graph } = this;
    const [from, to] = [a, b].map((x) => graph.tickAt(Math.min(Math.max(0, x), graph.width))).sort((p, q) => p - q);
    this.before ??= app.rememberFilters();
    // The chart stays where it is while something is dragged over it.
    app.state.chartWindow = [graph.from, graph.to];
    app.state.range = [Math.max(0, Math.floor(from)), Math.max(Math.floor(from) + 1, Math.ceil(to))];
    if (!done) return app.strip.redraw();
    app.settleRange(this.before);
    this.before = null;
  }

  redraw() {
    if (!this.graph.model || this.whyNot()) return;
    this.cursor.forgetStale();
    this.graph.model.selectedName = this.app.chosen.name;
    this.graph.redraw();
  }

  arrow(key) {
    this.cursor.arrow(key);
  }

  walk(by) {
    this.cursor.walk(by);
  }

  facts() {
    return this.words.facts();
  }

  statesShown() {
    return this.words.statesShown();
  }
}
