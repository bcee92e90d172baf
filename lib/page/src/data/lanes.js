// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Samples in the order of time, a lane for each thread. A sample stands for the CPU time before it, which reaches back to the
// sample before at most: where a lane has nothing, its thread did not run, or nobody looked.
import { nodeOfSample } from './evidence.js';
import { hashText } from './names.js';
import { weightOf } from './selection.js';
import { intervalTicks } from './timeline.js';

// How many levels each node has above it, the root none.
export function levelsOf(tree) {
  if (!tree.levels) {
    tree.levels = new Uint32Array(tree.size);
    for (let i = 1; i < tree.size; i++) tree.levels[i] = tree.levels[tree.parent[i]] + 1;
  }
  return tree.levels;
}

export class Lane {
  // Arrays over its entries, by time: sample (its index), node (of the tree shown), begin and end in ticks.
  constructor(thread, name, entries) {
    this.thread = thread;
    this.name = name;
    Object.assign(this, entries);
    this.count = this.sample.length;
    // The time that the thread ran before each entry.
    this.ran = new Float64Array(this.count + 1);
    for (let i = 0; i < this.count; i++) this.ran[i + 1] = this.ran[i] + this.end[i] - this.begin[i];
  }

  // The first entry, from `low` on, that ends after a tick.
  after(tick, low = 0) {
    const { end, count } = this;
    let step = 1;
    while (low + step < count && end[low + step] <= tick) step *= 2;
    let high = Math.min(count, low + step);
    let from = low;
    while (from < high) {
      const middle = (from + high) >> 1;
      if (end[middle] <= tick) from = middle + 1;
      else high = middle;
    }
    return from;
  }

  // How long the thread ran before a tick; `i`: the first entry that ends after it.
  ranBefore(tick, i) {
    return this.ran[i] + (i < this.count ? Math.max(0, tick - this.begin[i]) : 0);
  }

  // The entry in the middle of the time that the thread ran, when that was between the two sums.
  middle(from, to, low, high) {
    const wanted = (from + to) / 2;
    while (low < high) {
      const at = (low + high) >> 1;
      if (this.ran[at + 1] <= wanted) low = at + 1;
      else high = at;
    }
    return Math.min(low, this.count - 1);
  }

  // Calls visit(from, to, entry, share) for each piece of the time between two ticks in which the thread ran, in order. Entries
  // that are narrower than `step` are told together, a step at a time: by the one in the middle of what ran, with the share
  // of the step in which anything did. So there are never more pieces than steps.
  eachPiece(from, to, step, visit) {
    const { begin, end, count } = this;
    let at = from;
    for (let i = this.after(from); i < count && begin[i] < to; ) {
      const start = Math.max(begin[i], at);
      if (end[i] - start >= step) {
        visit(start, end[i], i, 1);
        at = end[i++];
        continue;
      }
      // Steps begin at multiples of their length, so that what they tell stays the same while the window moves.
      const left = Math.max(at, Math.floor(start / step + 1e-9) * step);
      const right = Math.max(Math.floor(start / step + 1e-9) * step + step, left + step / 2);
      const next = this.after(right, i);
      const ranFrom = this.ranBefore(left, i);
      const ranTo = this.ranBefore(right, next);
      visit(left, right, this.middle(ranFrom, ranTo, i, Math.min(next, count - 1)), Math.min(1, (ranTo - ranFrom) / (right - left)));
      at = right;
      i = next;
    }
  }

  // The entry that a moment lies in, or -1.
  at(tick) {
    const i = this.after(tick);
    return i < this.count && this.begin[i] <= tick ? i : -1;
  }

  // The first and last entry, without a pause between them, of the box of a node that holds an entry.
  runOf(i, node, { end }) {
    const inside = (k) => this.node[k] >= node && this.node[k] < end[node];
    let first = i;
    let last = i;
    while (first > 0 && this.begin[first] === this.end[first - 1] && inside(first - 1)) first--;
    while (last + 1 < this.count && this.begin[last + 1] === this.end[last] && inside(last + 1)) last++;
    return { first, last, from: this.begin[first], to: this.end[last] };
  }

  // For each entry, how many of those before it lie below a flagged node.
  countFlagged(flags) {
    const sums = new Uint32Array(this.count + 1);
    for (let i = 0; i < this.count; i++) sums[i + 1] = sums[i] + flags[this.node[i]];
    return sums;
  }
}

// How long before its time a sample reaches, in ticks: [by index, whether the capture tells it].
function reachOf(side) {
  const { meta, timed } = side;
  const interval = intervalTicks(side);
  const tick = meta.tickNs || 1e6;
  const weight = weightOf(side);
  if (meta.unit === 'ns') return [(s) => weight(s) / tick, true];
  return [(s) => (interval || 1) * (timed.repeat ? timed.repeat[s] : 1), interval > 0];
}

// Times are whole ticks: what lies less than one apart was without a pause.
const PAUSE_TICKS = 1;

function entriesOf(samples, side, place, reach) {
  const { time } = side.timed;
  const count = samples.length;
  const entries = { sample: samples, node: new Int32Array(count), begin: new Float64Array(count), end: new Float64Array(count) };
  let before = 0;
  samples.forEach((s, i) => {
    const from = time[s] - reach(s);
    entries.node[i] = place(s);
    entries.begin[i] = from - before <= PAUSE_TICKS ? before : from;
    entries.end[i] = before = Math.max(entries.begin[i], time[s]);
  });
  return entries;
}

// { lanes: by falling weight, told: whether the capture says for how much time a sample stands }. accepts: a test of a
// sample's index, or null for all.
export function makeLanes(side, shape, tree, accepts) {
  const { timed, threads } = side;
  const place = nodeOfSample(shape, timed);
  const weight = weightOf(side);
  const [reach, told] = reachOf(side);
  const chosen = (s) => place(s) >= 0 && (!accepts || accepts(s));
  const counts = new Uint32Array(threads.length || 1);
  for (let s = 0; s < timed.count; s++) if (chosen(s)) counts[timed.thread[s]]++;
  const lists = Array.from(counts, (n) => new Int32Array(n));
  const weights = new Float64Array(counts.length);
  const filled = new Uint32Array(counts.length);
  for (let s = 0; s < timed.count; s++) {
    if (!chosen(s)) continue;
    const t = timed.thread[s];
    lists[t][filled[t]++] = s;
    weights[t] += weight(s);
  }
  const levels = levelsOf(tree);
  const keys = new Map();
  const lanes = [];
  lists.forEach((samples, t) => {
    const name = threads.length ? threads[t] : 'all threads';
    const hash = hashText(name).toString(36);
    const turn = keys.get(hash) || 0;
    keys.set(hash, turn + 1);
    if (!samples.length) return;
    const lane = new Lane(t, name, entriesOf(samples, side, place, reach));
    lane.weight = weights[t];
    lane.samples = timed.repeat ? samples.reduce((sum, s) => sum + timed.repeat[s], 0) : samples.length;
    lane.levels = lane.node.reduce((most, node) => Math.max(most, levels[node]), 0);
    // Several threads may have one name.
    lane.key = turn ? `${hash}.${turn}` : hash;
    lanes.push(lane);
  });
  lanes.sort((a, b) => b.weight - a.weight || a.thread - b.thread);
  return { lanes, told };
}
