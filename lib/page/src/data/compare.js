// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Two captures (or two ranges of one) side by side, and how sure a difference is.
import { nameAndKind } from './names.js';
import { TreeBuilder } from './reshape.js';
import { eachSelected, weightOf } from './selection.js';

export const SLICES = 24;
export const FEW_SAMPLES = 20;

// A page shows one source: names, one tree, and one side (or two, when it compares).
export function singleSource(capture) {
  return { names: capture.names, tree: capture.tree, weights: capture.weights, sides: [capture], moduleOf: modulesOf([capture]) };
}

// The library that a native method is in, by name and kind; '' if nobody knows. `nameMap`: of the second capture.
function modulesOf(captures, nameMap) {
  const modules = new Map();
  captures.forEach((capture, i) => capture.modules.forEach(({ name, kind, module }) => modules.set(nameAndKind(i ? nameMap[name] : name, kind), module)));
  return (name, kind) => modules.get(nameAndKind(name, kind)) || '';
}

function mergeNames(a, b) {
  const ids = new Map(a.map((name, i) => [name, i]));
  const names = a.slice();
  const map = new Int32Array(b.length);
  b.forEach((name, i) => {
    let id = ids.get(name);
    if (id === undefined) {
      id = names.length;
      ids.set(name, id);
      names.push(name);
    }
    map[i] = id;
  });
  return { names, map };
}

function addTree(builder, tree, nameMap) {
  const at = new Int32Array(tree.size);
  for (let i = 1; i < tree.size; i++) {
    const name = nameMap ? nameMap[tree.name[i]] : tree.name[i];
    at[i] = builder.child(at[tree.parent[i]], name, tree.kind[i]);
  }
  return at;
}

function sideOn(capture, tree, at, place) {
  const spread = (values) => {
    if (!values) return null;
    const out = new Float64Array(tree.size);
    for (let i = 0; i < values.length; i++) out[place[at[i]]] += values[i];
    return out;
  };
  const timed = capture.timed && { ...capture.timed, node: capture.timed.node.map((n) => place[at[n]]) };
  return {
    meta: capture.meta,
    perSample: capture.perSample,
    threads: capture.threads,
    tree,
    weights: spread(capture.weights),
    samples: spread(capture.samples),
    timed,
  };
}

// base is the older one: what the other is compared with.
export function jointSource(base, other) {
  const { names, map } = mergeNames(base.names, other.names);
  const builder = new TreeBuilder(Math.max(base.tree.size, other.tree.size));
  const atBase = addTree(builder, base.tree, null);
  const atOther = addTree(builder, other.tree, map);
  const weight = new Float64Array(builder.size);
  const add = (capture, at) => {
    const whole = capture.weights.reduce((sum, w) => sum + w, 0) || 1;
    for (let i = 0; i < at.length; i++) weight[at[i]] += capture.weights[i] / whole;
  };
  add(base, atBase);
  add(other, atOther);
  const { tree, place } = builder.freeze(weight);
  const sides = [sideOn(base, tree, atBase, place), sideOn(other, tree, atOther, place)];
  return { names, tree, weights: weightsOf(sides), sides, moduleOf: modulesOf([base, other], map) };
}

function weightsOf(sides) {
  const sums = sides.map((side) => side.weights.reduce((sum, w) => sum + w, 0) || 1);
  return sides[0].weights.map((w, i) => w / sums[0] + sides[1].weights[i] / sums[1]);
}

// What differs in how two captures were made: a difference of shares may come from that.
export function warnings(a, b) {
  const all = [];
  const check = (label, x, y) => {
    if (x !== undefined && y !== undefined && x !== y) all.push(`${label}: ${x} and ${y}`);
  };
  check('event', a.event, b.event);
  check('unit', a.unit, b.unit);
  check('interval', a.interval, b.interval);
  check('JVM', a.jvm, b.jvm);
  check('host', a.host, b.host);
  if (a.duration && b.duration && Math.max(a.duration, b.duration) > 2 * Math.min(a.duration, b.duration)) {
    all.push('durations differ by more than twice');
  }
  return all;
}

// Per key (node or name): sums over time slices of x^2 and x*n, x being the key's weight in a slice of weight n.
export class SliceSums {
  constructor(count) {
    this.squares = new Float64Array(count);
    this.products = new Float64Array(count);
    this.totalSquares = 0;
    this.whole = 0;
    this.slices = 0;
  }
}

function sliceBounds(timed, range) {
  const from = range ? range[0] : timed.time[0];
  const to = range ? range[1] : timed.time[timed.count - 1] + 1;
  return Array.from({ length: SLICES }, (_, k) => [from + ((to - from) * k) / SLICES, from + ((to - from) * (k + 1)) / SLICES]);
}

// keysOf(sample, add): calls add(key) once for every key the sample counts for.
export function sumSlices(side, selection, count, keysOf) {
  if (!side.timed || side.timed.count < SLICES) return null;
  const sums = new SliceSums(count);
  const slice = new Float64Array(count);
  const weight = weightOf(side);
  for (const range of sliceBounds(side.timed, selection && selection.range)) {
    const touched = [];
    let whole = 0;
    eachSelected(side.timed, { ...selection, range }, (s) => {
      const w = weight(s);
      let used = false;
      keysOf(s, (key) => {
        used = true;
        if (slice[key] === 0) touched.push(key);
        slice[key] += w;
      });
      if (used) whole += w;
    });
    for (const key of touched) {
      sums.squares[key] += slice[key] * slice[key];
      sums.products[key] += slice[key] * whole;
      slice[key] = 0;
    }
    sums.totalSquares += whole * whole;
    sums.whole += whole;
    if (whole > 0) sums.slices++;
  }
  return sums.slices >= 20 ? sums : null;
}

// Variance of the share p of a key: the larger of what the slices show and what independent samples would have.
// Equal samples in a row (a thread that stays where it is) make the second far too small: facts of real threads.
function shareVariance(key, p, samples, sums) {
  const independent = samples > 0 ? (p * (1 - p)) / samples : 0;
  if (!sums) return independent;
  const k = sums.slices;
  const spread = sums.squares[key] - 2 * p * sums.products[key] + p * p * sums.totalSquares;
  const fromSlices = ((k / (k - 1)) * Math.max(0, spread)) / (sums.whole * sums.whole);
  return Math.max(independent, fromSlices);
}

// a, b: { part, whole, samples (of the whole), count (samples of the part), sums }. Shares, difference, its error and z.
export function judge(key, a, b) {
  const pa = a.whole > 0 ? a.part / a.whole : 0;
  const pb = b.whole > 0 ? b.part / b.whole : 0;
  const difference = pb - pa;
  // Under "no change" both sides have the pooled share: keeps a method seen on one side only from having no error.
  const n = a.samples + b.samples;
  const pooled = n > 0 ? (pa * a.samples + pb * b.samples) / n : 0;
  const floor = (m) => (m > 0 ? (pooled * (1 - pooled)) / m : 0);
  const error = Math.sqrt(
    Math.max(shareVariance(key, pa, a.samples, a.sums), floor(a.samples)) +
      Math.max(shareVariance(key, pb, b.samples, b.sums), floor(b.samples)),
  );
  const few = a.count < FEW_SAMPLES && b.count < FEW_SAMPLES;
  const z = error > 0 ? difference / error : 0;
  const exact = a.sums && b.sums;
  let strength = Math.abs(z) < 2 || few ? 0 : Math.abs(z) <= 3.3 ? 1 : 2;
  if (!exact && strength === 2) strength = 1;
  return { pa, pb, difference, error, z, few, strength, direction: Math.sign(difference) };
}

// Two-sided p of a normal z (Abramowitz and Stegun 26.2.17, error below 1e-7).
export function twoSided(z) {
  const x = Math.abs(z);
  const t = 1 / (1 + 0.2316419 * x);
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return Math.min(1, 2 * Math.exp((-x * x) / 2) * 0.3989422804014327 * poly);
}

// Benjamini-Hochberg at 5 %: the set of keys that pass.
export function passing(tests) {
  const sorted = tests.slice().sort((a, b) => a.p - b.p);
  let last = -1;
  sorted.forEach((test, i) => {
    if (test.p <= (0.05 * (i + 1)) / sorted.length) last = i;
  });
  return new Set(sorted.slice(0, last + 1).map((test) => test.key));
}
