// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What the flame chart says in words: of a box, of what shares a pixel, of a state.
import { h } from '../dom/dom.js';
import { KIND_REST, clip, visible } from '../data/names.js';
import { formatSeconds, formatShare, formatWeight, plural } from '../data/numbers.js';
import { weightOf } from '../data/selection.js';
import { STATES } from './strip.js';

export class ChartText {
  constructor(chart) {
    this.chart = chart;
    this.app = chart.app;
  }

  get side() {
    return this.chart.side;
  }

  get graph() {
    return this.chart.graph;
  }

  seconds(ticks) {
    return (ticks * (this.side.meta.tickNs || 1e6)) / 1e9;
  }

  timeText({ from, to }) {
    const digits = this.seconds(to - from) < 1 ? 3 : 2;
    return `+${this.seconds(from).toFixed(digits)} s – +${this.seconds(to).toFixed(digits)} s`;
  }

  // Of a box: how long, how many samples, when.
  boxText({ lane, node, tick }) {
    const i = lane.at(tick);
    if (i < 0) return '';
    const { first, last, from, to } = lane.runOf(i, node, this.graph.model.tree);
    const { repeat } = this.side.timed;
    const weight = weightOf(this.side);
    let samples = 0;
    let sum = 0;
    for (let k = first; k <= last; k++) {
      samples += repeat ? repeat[lane.sample[k]] : 1;
      sum += weight(lane.sample[k]);
    }
    const amount = formatWeight(sum, this.app.unit);
    return `${amount ? amount + ' in ' : ''}${plural(samples, 'sample')} · ${this.timeText({ from, to })}`;
  }

  // How many of the entries that share a pixel are in the box that is drawn there.
  crowdText({ lane, node, tick }) {
    const { step, model } = this.graph;
    const from = Math.floor(tick / step) * step;
    const first = lane.after(from);
    const last = Math.max(first + 1, lane.after(from + step, first));
    if (last - first < 2) return '';
    let inside = 0;
    for (let i = first; i < last; i++) if (lane.node[i] >= node && lane.node[i] < model.tree.end[node]) inside++;
    const ran = lane.ranBefore(from + step, last) - lane.ranBefore(from, first);
    return `At the pointer: ${inside} of ${plural(last - first, 'sample')} in ${formatSeconds(this.seconds(step))}, of which the thread ran ${formatShare(ran, step)}`;
  }

  tipText(hit) {
    const { name, figures } = this.chart.describe(hit.lane);
    const thread = h('div.dim', h('bdi', name), hit.depth < 0 ? ' · ' + figures : '');
    const i = hit.lane.at(hit.tick);
    const state = i >= 0 ? h('div.dim', STATES[this.side.timed.state[hit.lane.sample[i]]] ?? STATES[0]) : null;
    if (hit.depth < 0) return [thread, state].filter(Boolean);
    const { model } = this.graph;
    const place = { ...hit, tick: this.chart.cursor.drawnTick(hit) };
    const crowd = this.crowdText(hit);
    const rest = model.tree.kind[hit.node] === KIND_REST ? h('div.dim', 'when this time was used is not known') : null;
    return [h('bdi.full', visible(clip(model.name(hit.node), 600)) || '(empty name)'), h('div', this.boxText(place)), crowd ? h('div.dim', crowd) : null, rest, thread, state].filter(Boolean);
  }

  // For the details: what is known of the chosen box beside its method.
  facts() {
    const { mark } = this.chart.cursor;
    if (!mark || mark.depth < 0) return [];
    return [h('span.fact', h('b', 'this box'), ' ', this.boxText(mark), ' ', h('bdi', this.chart.describe(mark.lane).name))];
  }

  // States that the legend must name.
  statesShown() {
    const { timed } = this.side;
    if (this.statesOf !== this.chart.lanes) {
      const seen = new Set();
      for (const lane of this.chart.lanes) for (const s of lane.sample) seen.add(timed.state[s]);
      this.states = [...seen].sort((a, b) => a - b);
      this.statesOf = this.chart.lanes;
    }
    return this.states;
  }
}
