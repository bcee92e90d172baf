// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Which samples count: time range, threads, states, and stacks kept or dropped by name.
// The result is one weight (and one sample count) per node of the recorded tree.

export class Measure {
  constructor(self, total, perSample, selfSamples, totalSamples) {
    this.self = self;
    this.total = total;
    this.perSample = perSample;
    this.selfSamples = selfSamples;
    this.totalSamples = totalSamples;
  }

  // Samples behind a node's total or self weight.
  samplesOf(i) {
    return this.perSample ? this.total[i] / this.perSample : this.totalSamples[i];
  }

  selfSamplesOf(i) {
    return this.perSample ? this.self[i] / this.perSample : this.selfSamples[i];
  }
}

export function isWhole(selection) {
  return !selection || (!selection.range && !selection.threads && !selection.states);
}

function firstAtOrAfter(time, tick) {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] < tick) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Calls visit(sample index) for every timed sample that the selection holds.
export function eachSelected(timed, selection, visit) {
  const [from, to] = selection && selection.range ? selection.range : [-Infinity, Infinity];
  const low = firstAtOrAfter(timed.time, from);
  const high = firstAtOrAfter(timed.time, to);
  const threads = selection && selection.threads;
  const states = selection && selection.states;
  const { thread, state } = timed;
  for (let s = low; s < high; s++) {
    if (threads && !threads[thread[s]]) continue;
    if (states && !states[state[s]]) continue;
    visit(s);
  }
}

// The weight of a timed sample, by its index.
export const weightOf = ({ timed: { weight, repeat }, perSample }) => (s) => (weight ? weight[s] : (repeat ? repeat[s] : 1) * (perSample || 1));

// Filters that look at whole stacks.
export const stackFilters = (chips) => chips.filter(({ verb }) => verb === 'keep' || verb === 'drop');

// Self weight and samples per node of the recorded tree under a selection.
export function selfUnder(capture, selection) {
  if (isWhole(selection) || !capture.timed) {
    return { self: capture.weights, samples: capture.perSample ? null : capture.samples };
  }
  const { timed, perSample } = capture;
  const self = new Float64Array(capture.tree.size);
  const samples = perSample ? null : new Float64Array(capture.tree.size);
  const { node, repeat } = timed;
  const weight = weightOf(capture);
  eachSelected(timed, selection, (s) => {
    self[node[s]] += weight(s);
    if (samples) samples[node[s]] += repeat ? repeat[s] : 1;
  });
  return { self, samples };
}

// Flags the nodes whose stack holds a name of `hits` (Uint8Array over names).
export function stacksWith(tree, hits) {
  const flag = new Uint8Array(tree.size);
  const { parent, name } = tree;
  for (let i = 1; i < tree.size; i++) flag[i] = flag[parent[i]] | hits[name[i]];
  return flag;
}

// Keeps (or drops) stacks by flag; returns the weight that went.
export function mask(part, flag, wanted) {
  const self = Float64Array.from(part.self);
  const samples = part.samples && Float64Array.from(part.samples);
  let gone = 0;
  for (let i = 0; i < self.length; i++) {
    if (flag[i] === wanted || self[i] === 0) continue;
    gone += self[i];
    self[i] = 0;
    if (samples) samples[i] = 0;
  }
  return { self, samples, gone };
}
