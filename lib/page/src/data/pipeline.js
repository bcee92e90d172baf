// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// From the capture and the state to what the views show: shape of the tree, then weights on it.
import { Matcher } from './matcher.js';
import { FOLDED_MARK, hashText, withoutGenerated } from './names.js';
import { prefixesOf, startsWithAny } from './ownership.js';
import { poolNamer } from './pools.js';
import { reshape, splitByThread } from './reshape.js';
import { START_NAME, foldRoots, rootsToFold } from './roots.js';
import { matchNames, parseQuery } from './search.js';
import { Measure, eachSelected, mask, selfUnder, stackFilters, stacksWith, weightOf } from './selection.js';

const LIBRARY = '… library code';
const SHAPING = ['hide', 'start', 'mine', 'only', 'fold'];

export class Pipeline {
  // `matched` is called when a filter's expression, which takes its time, has told its names: what was computed before
  // is without them.
  constructor(source, matched) {
    this.source = source;
    this.matched = matched;
    this.matcher = new Matcher();
    // Why filters match nothing: [text, reason], ...
    this.problems = new Map();
    this.names = source.names.slice();
    this.ids = null;
    this.shapes = new Map();
    this.folds = new Map();
    this.merged = null;
    this.hitCache = new Map();
  }

  // Names that the page itself adds: fold boxes, threads, names without their generated part.
  intern(name) {
    if (!this.ids) this.ids = new Map(this.names.map((text, i) => [text, i]));
    let id = this.ids.get(name);
    if (id === undefined) {
      id = this.names.length;
      this.names.push(name);
      this.ids.set(name, id);
    }
    return id;
  }

  hitsOf(text) {
    let hits = this.hitCache.get(text);
    if (!hits) {
      const query = text[0] === '=' ? { test: (name) => name === text.slice(1) } : parseQuery(text);
      hits = query && query.test ? matchNames(this.source.names, query) : new Uint8Array(this.source.names.length);
      if (query && query.error) this.problems.set(text, query.error);
      if (query && query.expression) this.ask(text, query.expression);
      this.hitCache.set(text, hits);
    }
    return hits;
  }

  ask(text, expression) {
    const settled = () => {
      this.shapes.clear();
      this.matched();
    };
    this.matcher.match(this.source.names, expression).then(
      (hits) => {
        this.hitCache.set(text, hits);
        settled();
      },
      (why) => {
        this.problems.set(text, why);
        settled();
      },
    );
  }

  renameMap() {
    if (!this.merged) {
      const { names } = this.source;
      const map = new Int32Array(names.length);
      const sizes = new Map();
      for (let n = 0; n < names.length; n++) {
        const name = withoutGenerated(names[n]);
        map[n] = name === names[n] ? n : this.intern(name);
        sizes.set(map[n], (sizes.get(map[n]) || 0) + 1);
      }
      this.merged = { map, sizes };
    }
    return this.merged.map;
  }

  // How many recorded names stand behind one shown name.
  namesBehind(name, state) {
    return state.merge && this.merged ? this.merged.sizes.get(name) || 1 : 1;
  }

  stepsOf(state) {
    const union = (verb) => {
      const chips = state.chips.filter((chip) => chip.verb === verb);
      if (!chips.length) return null;
      const all = new Uint8Array(this.source.names.length);
      for (const chip of chips) {
        const hits = this.hitsOf(chip.text);
        for (let n = 0; n < all.length; n++) all[n] |= hits[n];
      }
      return all;
    };
    const prefixes = (...verbs) => state.chips.filter((chip) => verbs.includes(chip.verb)).flatMap((chip) => prefixesOf(chip.text));
    const mine = prefixes('mine', 'only');
    const packages = prefixes('fold');
    // What is not mine folds by itself, from the roots on.
    const folded = mine.length ? null : this.foldedRoots(state);
    return {
      hide: union('hide'),
      start: union('start'),
      mine: mine.length ? Uint8Array.from(this.source.names, (name) => (startsWithAny(name, mine) ? 1 : 0)) : null,
      only: state.chips.some((chip) => chip.verb === 'only'),
      packages: packages.length ? this.boxesOf(packages) : null,
      fold: state.fold,
      rename: state.merge ? this.renameMap() : null,
      libraryName: mine.length ? this.intern(LIBRARY) : -1,
      roots: folded && folded.flags,
      startName: folded ? this.intern(START_NAME) : -1,
    };
  }

  // Per name the box that its package folds into, -1: none. The longest prefix that fits counts.
  boxesOf(prefixes) {
    const boxes = prefixes.sort((a, b) => b.length - a.length).map((prefix) => [prefix, this.intern(FOLDED_MARK + prefix.replace(/\.$/, ''))]);
    return Int32Array.from(this.source.names, (name) => (boxes.find(([prefix]) => name.startsWith(prefix)) || [0, -1])[1]);
  }

  // What folds at the roots: { flags over recorded nodes, nodes }, or null.
  foldedRoots(state) {
    if (!this.folds.has(state.roots)) this.folds.set(state.roots, rootsToFold(this.source.tree, this.source.names, state.roots));
    return this.folds.get(state.roots);
  }

  shapeOf(state) {
    const chips = state.chips.filter((chip) => SHAPING.includes(chip.verb));
    const split = state.split && this.source.sides.length === 1 && this.source.sides[0].timed;
    const key = JSON.stringify([chips, state.fold, state.merge, split && [state.pooled, state.pools], state.roots]);
    let shape = this.shapes.get(key);
    if (!shape) {
      const steps = this.stepsOf(state);
      const plain = !steps.hide && !steps.start && !steps.mine && !steps.packages && !steps.fold && !steps.rename;
      if (!plain) shape = reshape(this.source, steps);
      else if (steps.roots) shape = foldRoots(this.source, this.foldedRoots(state), steps.startName);
      else shape = { tree: this.source.tree, map: null };
      if (split) {
        const side = this.source.sides[0];
        const poolOf = poolNamer(state);
        shape = splitByThread(side, shape, side.threads.map((name) => this.intern(poolOf(name) || '(unnamed thread)')));
      }
      // Large captures: only the last few shapes stay.
      if (this.shapes.size > (this.source.tree.size > 1e6 ? 1 : 4)) this.shapes.clear();
      this.shapes.set(key, shape);
    }
    return shape;
  }

  selectionOf(state, side, which) {
    const range = which === 0 && this.rangesCompared(state) ? state.base : state.range;
    const timed = this.source.sides.length === 2 ? null : range;
    const wanted = state.threads && new Set(state.threads);
    return {
      range: timed,
      threads: wanted && side.timed ? Uint8Array.from(side.threads, (name) => (wanted.has(hashText(name).toString(36)) ? 1 : 0)) : null,
      states: state.states && side.timed ? Uint8Array.from({ length: 256 }, (_, n) => (state.states.includes(n) ? 1 : 0)) : null,
    };
  }

  rangesCompared(state) {
    return Boolean(this.source.sides.length === 1 && state.base && state.range && this.source.sides[0].timed);
  }

  // Self weights of one side on the shape, after all filters.
  measure(state, side, selection, shape, report) {
    let part = selfUnder(side, selection);
    const whole = sumOf(part.self);
    const dropped = state.chips.length ? new Uint8Array(side.tree.size) : null;
    for (const chip of stackFilters(state.chips)) {
      const flag = stacksWith(side.tree, this.hitsOf(chip.text));
      part = mask(part, flag, chip.verb === 'keep' ? 1 : 0);
      for (let i = 0; i < flag.length; i++) if (flag[i] !== (chip.verb === 'keep' ? 1 : 0)) dropped[i] = 1;
      if (report) report(chip, part.gone, whole);
    }
    const onShape = this.ontoShape(side, selection, shape, part, dropped);
    if (report) {
      for (const chip of state.chips) if (chip.verb === 'start') report(chip, onShape.lost, whole);
    }
    const total = shape.tree.sumUp(onShape.self);
    const totalSamples = onShape.samples && shape.tree.sumUp(onShape.samples);
    const measure = new Measure(onShape.self, total, side.perSample, onShape.samples, totalSamples);
    measure.whole = whole;
    return measure;
  }

  ontoShape(side, selection, shape, part, dropped) {
    if (shape.bySample) return this.bySample(side, selection, shape, dropped);
    if (!shape.map) return { self: part.self, samples: part.samples, lost: 0 };
    const self = new Float64Array(shape.tree.size);
    const samples = part.samples && new Float64Array(shape.tree.size);
    let lost = 0;
    for (let i = 0; i < shape.map.length; i++) {
      const to = shape.map[i];
      if (to < 0) lost += part.self[i];
      else {
        self[to] += part.self[i];
        if (samples) samples[to] += part.samples[i];
      }
    }
    return { self, samples, lost };
  }

  bySample(side, selection, shape, dropped) {
    const { timed, perSample } = side;
    const self = new Float64Array(shape.tree.size);
    const samples = perSample ? null : new Float64Array(shape.tree.size);
    const weight = weightOf(side);
    let lost = 0;
    eachSelected(timed, selection, (s) => {
      if (dropped && dropped[timed.node[s]]) return;
      const to = shape.bySample[s];
      if (to < 0) lost += weight(s);
      else {
        self[to] += weight(s);
        if (samples) samples[to] += timed.repeat ? timed.repeat[s] : 1;
      }
    });
    return { self, samples, lost };
  }

  // { tree, measures: [one, or base and other], chips: [{ chip, gone, whole }] }
  run(state) {
    const shape = this.shapeOf(state);
    const chips = [];
    const sides = this.rangesCompared(state) ? [this.source.sides[0], this.source.sides[0]] : this.source.sides;
    const selections = sides.map((side, i) => this.selectionOf(state, side, i));
    const last = sides.length - 1;
    const measures = sides.map((side, i) =>
      this.measure(state, side, selections[i], shape, i === last ? (chip, gone, whole) => chips.push({ chip, gone, whole }) : null),
    );
    return { tree: shape.tree, shape, sides, selections, measures, chips, names: this.names, comparing: sides.length === 2 };
  }
}

// A loop: reduce takes five times as long.
function sumOf(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}
