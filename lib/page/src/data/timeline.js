// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Samples over time, in bins: all of them, those that the filters leave, and of these what a search found and what is selected.
import { nodeOfSample } from './evidence.js';
import { eachSelected, stackFilters, stacksWith, weightOf } from './selection.js';

const MIN_BIN_PIXELS = 3;
const UNITS = new Map([['ns', 1], ['us', 1e3], ['\u00b5s', 1e3], ['ms', 1e6], ['s', 1e9]]);

// How many ticks lie between two samples of a thread; 0 if nobody knows.
export function intervalTicks({ meta, perSample }) {
  const [, number, unit] = /^([\d.]+)\s*(ns|us|\u00b5s|ms|s)$/.exec(meta.interval || '') || [];
  const ns = number ? Number(number) * UNITS.get(unit) : meta.unit === 'ns' ? perSample || 0 : 0;
  return ns / (meta.tickNs || 1e6);
}

// Bins of a part of the time. A bin holds a whole number of intervals: else some would hold one sample more than their
// neighbours, and even load would look like a comb.
export function timeBins([from, to], interval, width) {
  const least = ((to - from) * MIN_BIN_PIXELS) / (width || 1);
  const step = interval > 0 ? Math.ceil(least / interval - 1e-9) * interval : least;
  const first = interval > 0 ? Math.floor(from / step + 1e-9) * step : from;
  return { first, step, count: Math.max(1, Math.ceil((to - first) / step - 1e-9)) };
}

// Which samples the filters leave, apart from the range of time: a test of a sample's index, or null for all.
export function passes(pipeline, result, state) {
  const { timed, tree } = result.sides[0];
  const { shape } = result;
  const { threads, states } = result.selections[0];
  const flags = stackFilters(state.chips).map(({ verb, text }) => [stacksWith(tree, pipeline.hitsOf(text)), verb === 'keep' ? 1 : 0]);
  const started = state.chips.some(({ verb }) => verb === 'start');
  if (!threads && !states && !flags.length && !started) return null;
  const place = nodeOfSample(shape, timed);
  return (s) =>
    (!threads || threads[timed.thread[s]] === 1) &&
    (!states || states[timed.state[s]] === 1) &&
    flags.every(([flag, wanted]) => flag[timed.node[s]] === wanted) &&
    (!started || place(s) >= 0);
}

// Whether a sample's stack holds a hit of the search (hits: bytes over names).
export function holdsHit(result, hits) {
  const flag = stacksWith(result.tree, hits);
  const place = nodeOfSample(result.shape, result.sides[0].timed);
  return (s) => flag[place(s)] === 1;
}

// Whether a sample lies in the chosen box, or in the chosen method where no box is.
export function isChosen(result, { node, name }, names) {
  const { tree, shape, sides } = result;
  const place = nodeOfSample(shape, sides[0].timed);
  if (node > 0) return (s) => place(s) >= node && place(s) < tree.end[node];
  const wanted = new Uint8Array(names.length);
  wanted[name] = 1;
  return holdsHit(result, wanted);
}

// Weight per bin of the samples that pass all tests, in `rows` rows: rowOf(sample index) says in which.
export function countBins(side, range, bins, tests, rows = 1, rowOf = () => 0) {
  const cells = Array.from({ length: rows }, () => new Float64Array(bins.count));
  const weight = weightOf(side);
  const { time } = side.timed;
  eachSelected(side.timed, { range }, (s) => {
    for (const test of tests) if (!test(s)) return;
    cells[rowOf(s)][Math.min(bins.count - 1, Math.floor((time[s] - bins.first) / bins.step + 1e-9))] += weight(s);
  });
  return cells;
}

export const sumOf = (cells) => cells.reduce((sum, row) => row.reduce((a, b) => a + b, sum), 0);
// Of each bin, the sum of its rows.
export const stacked = (cells) => cells[0].map((_, c) => cells.reduce((sum, row) => sum + row[c], 0));
