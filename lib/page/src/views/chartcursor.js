// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The chosen box of the flame chart, and where keys lead from it. A place is { lane, depth (-1: the row of the lane's name), node,
// tick }.
import { levelsOf } from '../data/lanes.js';

export class ChartCursor {
  constructor(chart) {
    this.chart = chart;
    this.app = chart.app;
    this.mark = null;
  }

  get graph() {
    return this.chart.graph;
  }

  get lanes() {
    return this.chart.lanes;
  }

  nodeAt(lane, i, depth) {
    const { tree } = this.graph.model;
    const levels = levelsOf(tree);
    let node = lane.node[i];
    while (levels[node] > depth + 1) node = tree.parent[node];
    return levels[node] === depth + 1 ? node : -1;
  }

  runOf({ lane, node, tick }) {
    return lane.runOf(lane.at(tick), node, this.graph.model.tree);
  }

  // hit: what lies under the pointer, or a place like that; null chooses nothing.
  choose(hit) {
    const { app } = this;
    if (!hit) {
      this.mark = this.graph.mark = null;
      return app.selectNode(-1);
    }
    const { lane, depth } = hit;
    if (depth < 0) {
      this.setMark({ lane, depth, node: -1, tick: hit.tick });
      app.selectNode(-1);
      return this.chart.toggle(lane);
    }
    // Where several entries are one pixel, it is the drawn one that is chosen.
    const tick = this.drawnTick(hit);
    this.setMark({ lane, depth, node: hit.node, tick });
    app.selectNode(hit.node);
  }

  drawnTick({ lane, node, tick }) {
    const { tree } = this.graph.model;
    const inside = (i) => i >= 0 && i < lane.count && lane.node[i] >= node && lane.node[i] < tree.end[node];
    if (inside(lane.at(tick))) return tick;
    const { step } = this.graph;
    const first = lane.after(Math.floor(tick / step) * step - step);
    for (let i = first; i < lane.count && lane.begin[i] < tick + 2 * step; i++) if (inside(i)) return (lane.begin[i] + lane.end[i]) / 2;
    return tick;
  }

  setMark(mark) {
    this.mark = this.graph.mark = mark;
    this.graph.cursor = mark.node;
  }

  // Something else was selected since.
  forgetStale() {
    const { chosen } = this.app;
    if (this.mark && this.mark.depth >= 0 && this.mark.node !== chosen.node) this.mark = null;
    this.graph.mark = this.mark;
  }

  // Where the keyboard begins: at what is selected, or in the first lane.
  start() {
    const { node } = this.app.chosen;
    const { tree } = this.graph.model;
    for (const lane of node > 0 ? this.lanes : []) {
      const i = lane.node.findIndex((n) => n >= node && n < tree.end[node]);
      if (i >= 0) return this.placeOf(lane, i, levelsOf(tree)[node] - 1);
    }
    return null;
  }

  placeOf(lane, i, depth) {
    return { lane, depth, node: depth < 0 ? -1 : this.nodeAt(lane, i, depth), tick: (lane.begin[i] + lane.end[i]) / 2 };
  }

  arrow(key) {
    if (this.chart.whyNot() || !this.lanes.length) return;
    this.forgetStale();
    const at = this.mark || this.start();
    const next = key === 'Home' || !at ? this.home() : key === 'End' ? this.leaf(at) : key === 'ArrowUp' || key === 'ArrowDown' ? this.vertical(at, key === 'ArrowUp' ? -1 : 1) : this.sideways(at, key === 'ArrowLeft' ? -1 : 1);
    if (next) this.step(next);
  }

  step(place) {
    this.setMark(place);
    if (place.depth >= 0 && !this.chart.openKeys.has(place.lane.key)) this.chart.toggle(place.lane);
    this.app.selectNode(place.node);
    if (place.depth < 0) this.app.outline.say(`Thread ${Object.values(this.chart.describe(place.lane)).join(', ')}, ${this.chart.openKeys.has(place.lane.key) ? 'open' : 'closed'}`);
    this.graph.reveal(place);
  }

  home() {
    const [lane] = this.lanes;
    const i = Math.min(lane.after(this.graph.from), lane.count - 1);
    return this.placeOf(lane, i, this.chart.openKeys.has(lane.key) && this.nodeAt(lane, i, 0) > 0 ? 0 : -1);
  }

  leaf({ lane, tick }) {
    const i = Math.min(lane.after(tick), lane.count - 1);
    return this.placeOf(lane, i, levelsOf(this.graph.model.tree)[lane.node[i]] - 1);
  }

  // The next row, up or down, that has something at that moment: a box, or a lane's name.
  vertical(at, by) {
    const { graph } = this;
    if (graph.placedFor !== graph.model) graph.relayout();
    for (let row = graph.rowOf(graph.placeOf(at.lane), at.depth) + by; row >= 0 && row < graph.rowCount; row += by) {
      const place = graph.placeAt(row);
      const depth = graph.depthOf(place, row);
      const { lane } = place;
      if (depth < 0) return { lane, depth, node: -1, tick: at.tick };
      // From a lane's name to what it did then, or next.
      const i = at.depth < 0 && lane === at.lane ? Math.min(lane.after(at.tick), lane.count - 1) : lane.at(at.tick);
      const node = i < 0 ? -1 : this.nodeAt(lane, i, depth);
      if (node > 0) return { lane, depth, node, tick: lane.at(at.tick) === i ? at.tick : (lane.begin[i] + lane.end[i]) / 2 };
    }
    return null;
  }

  // The box before or after, at the same level; a lane's name opens and closes.
  sideways(at, by) {
    const { lane, depth } = at;
    if (depth < 0) {
      if (this.chart.openKeys.has(lane.key) === by < 0) this.chart.toggle(lane);
      return at;
    }
    const { first, last } = this.runOf(at);
    for (let i = by < 0 ? first - 1 : last + 1; i >= 0 && i < lane.count; i += by) if (this.nodeAt(lane, i, depth) > 0) return this.placeOf(lane, i, depth);
    return null;
  }

  // The next place of what a search found, in the order of time, lane after lane.
  walk(by) {
    const flags = this.chart.flags();
    const { lanes } = this;
    if (!flags || this.chart.whyNot() || !lanes.length) return;
    const { mark } = this;
    let l = mark ? lanes.indexOf(mark.lane) : by > 0 ? 0 : lanes.length - 1;
    const run = mark && mark.depth >= 0 ? this.runOf(mark) : null;
    let i = run ? (by > 0 ? run.last + 1 : run.first - 1) : by > 0 ? 0 : lanes[l].count - 1;
    for (let turns = 0; turns <= lanes.length; turns++) {
      const lane = lanes[l];
      for (; i >= 0 && i < lane.count; i += by) if (flags[lane.node[i]]) return this.step(this.placeOf(lane, i, this.hitDepth(lane.node[i])));
      l = (l + by + lanes.length) % lanes.length;
      i = by > 0 ? 0 : lanes[l].count - 1;
    }
  }

  // The outermost level of a stack that was found.
  hitDepth(node) {
    const { tree } = this.graph.model;
    return tree.pathOf(node).findIndex((at) => this.app.hits[tree.name[at]]);
  }
}
