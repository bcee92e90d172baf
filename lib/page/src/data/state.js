// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What the user chose, as one object; how it goes into the fragment of the address and back; undo.

export const VIEWS = ['graph', 'callers', 'sandwich', 'table', 'tree', 'chart'];

export function emptyState() {
  return {
    view: 'graph',
    zoom: '', // "<depth>.<hash of the path>" of the node that fills the width
    part: '', // the part of that node which the window shows, "from-to" in thousandths
    method: '', // hash of the selected method's name
    path: '', // like zoom: the selected node
    query: '',
    chips: [], // [{ verb, text }]
    range: null, // [from, to] in ticks
    base: null, // second range: what the first is compared with
    threads: null, // hashes of thread names
    states: null, // numbers of states
    colour: 'kind',
    mine: '',
    flame: false,
    byName: false,
    merge: false,
    fold: false,
    split: false,
    callerRows: false, // merged callers as rows, not as a graph
    pooled: false, // threads as pools
    pools: '', // patterns of their names: see pools.js
    roots: 'java', // which frames at the roots fold: see roots.js
    baseShape: false,
    rate: false,
    bySelf: false, // colours of a comparison: by the change of self weight, not of total
    heat: false,
    chartWindow: null, // [from, to] in ticks: what the flame chart shows; null: all of it
    lanes: null, // keys of its open lanes; null: the heaviest, while they have few rows
  };
}

const VERBS = ['keep', 'drop', 'start', 'hide', 'mine', 'only', 'fold'];
export const COLOURINGS = ['kind', 'package', 'module', 'heat', 'search', 'mine'];
const MAX_FRAGMENT = 2000;
const FLAGS = { f: 'flame', o: 'byName', g: 'merge', r: 'fold', p: 'split', b: 'baseShape', s: 'rate', e: 'heat', y: 'bySelf', a: 'pooled', c: 'callerRows' };

const numbers = (text, separator) => text.split(separator).map(Number);
const isRange = (r) => r.length === 2 && r.every(Number.isFinite) && r[0] >= 0 && r[0] < r[1];

// Returns { text, shortened }.
export function writeFragment(state) {
  const pairs = [];
  const put = (key, value) => value && pairs.push(key + '=' + encodeURIComponent(value));
  put('v', state.view === 'graph' ? '' : state.view);
  put('z', state.zoom);
  put('w', state.part);
  put('m', state.method);
  put('n', state.path);
  put('q', state.query);
  put('t', state.range && state.range.map(Math.round).join('-'));
  put('tb', state.base && state.base.map(Math.round).join('-'));
  put('c', state.colour === 'kind' ? '' : state.colour);
  put('i', state.mine);
  put('x', Object.keys(FLAGS).filter((key) => state[FLAGS[key]]).join(''));
  put('st', state.states && (state.states.join('.') || '-'));
  put('tg', state.pools);
  put('j', { all: 'a', pools: 'p' }[state.roots]);
  put('k', state.chips.map((chip) => chip.verb + ':' + encodeURIComponent(chip.text)).join(','));
  put('th', state.threads && (state.threads.join('.') || '-'));
  put('cw', state.chartWindow && state.chartWindow.map((tick) => Number(tick.toFixed(2))).join('~'));
  put('lo', state.lanes && (state.lanes.join('~') || '-'));
  let shortened = false;
  let text = pairs.join('&');
  while (text.length > MAX_FRAGMENT && pairs.length) {
    pairs.pop();
    shortened = true;
    text = pairs.join('&');
  }
  return { text, shortened };
}

function readChips(text) {
  const chips = [];
  for (const item of text.split(',').slice(0, 50)) {
    const colon = item.indexOf(':');
    const verb = item.slice(0, colon);
    if (!VERBS.includes(verb)) continue;
    try {
      chips.push({ verb, text: decodeURIComponent(item.slice(colon + 1)).slice(0, 1000) });
    } catch {
      // A broken escape: from a cut link; the chip is left out.
    }
  }
  return chips;
}

// The fragment is input from strangers: unknown keys are ignored, values are checked, nothing is evaluated.
export function readFragment(text) {
  const state = emptyState();
  const given = new URLSearchParams(text.slice(0, 8000).replaceAll('+', '%2B'));
  const get = (key) => given.get(key) || '';
  if (VIEWS.includes(get('v'))) state.view = get('v');
  if (/^\d+\.[0-9a-z]+$/.test(get('z'))) state.zoom = get('z');
  if (/^-?\d+(\.\d+)?~-?\d+(\.\d+)?$/.test(get('w'))) state.part = get('w');
  if (/^[0-9a-z]+$/.test(get('m'))) state.method = get('m');
  if (/^\d+\.[0-9a-z]+$/.test(get('n'))) state.path = get('n');
  state.query = get('q').slice(0, 1000);
  for (const [key, which] of [['t', 'range'], ['tb', 'base']]) {
    const range = numbers(get(key), '-');
    if (get(key) && isRange(range)) state[which] = range;
  }
  if (COLOURINGS.includes(get('c'))) state.colour = get('c');
  state.mine = get('i').slice(0, 200);
  for (const letter of get('x')) if (Object.hasOwn(FLAGS, letter)) state[FLAGS[letter]] = true;
  state.roots = { a: 'all', p: 'pools' }[get('j')] || 'java';
  if (get('st')) state.states = get('st') === '-' ? [] : numbers(get('st'), '.').filter((n) => n >= 0 && n < 256);
  state.pools = get('tg').slice(0, 1000);
  if (get('k')) state.chips = readChips(get('k'));
  if (get('th')) state.threads = get('th') === '-' ? [] : get('th').split('.').filter((h) => /^[0-9a-z]+$/.test(h));
  const shown = numbers(get('cw'), '~');
  if (get('cw') && isRange(shown)) state.chartWindow = shown;
  if (get('lo')) state.lanes = get('lo').split('~').filter((key) => /^[0-9a-z]+(\.\d+)?$/.test(key));
  return state;
}

// Undo and redo of what was filtered; looking elsewhere (zoom, view) is the browser's Back.
export class Undo {
  constructor() {
    this.past = [];
    this.future = [];
  }

  static filters(state) {
    const { chips, range, base, threads, states, merge, fold, split, roots, mine } = state;
    return JSON.stringify({ chips, range, base, threads, states, merge, fold, split, roots, mine });
  }

  remember(before) {
    this.past.push(before);
    if (this.past.length > 200) this.past.shift();
    this.future = [];
  }

  // Returns the filters to go to, or null.
  step(from, to, current) {
    if (!from.length) return null;
    to.push(current);
    return JSON.parse(from.pop());
  }

  undo(current) {
    return this.step(this.past, this.future, current);
  }

  redo(current) {
    return this.step(this.future, this.past, current);
  }
}

// Names a node by its path, not by its place: "<depth>.<hash>".
export function pathHash(tree, names, node, hashText) {
  let h = 0;
  let depth = 0;
  for (const step of tree.pathOf(node)) {
    h = (Math.imul(h, 31) + hashText(names[tree.name[step]])) >>> 0;
    depth++;
  }
  return depth ? `${depth}.${h.toString(36)}` : '';
}

// The node of a path, or -1. One pass; hashes of the open path are kept per level.
export function findPath(tree, nameHashes, wanted) {
  const [depth, hash] = wanted.split('.');
  const target = parseInt(hash, 36);
  const level = Number(depth);
  const open = [0];
  const levels = new Int32Array(tree.size);
  for (let i = 1; i < tree.size; i++) {
    const at = levels[tree.parent[i]] + 1;
    levels[i] = at;
    if (at > level) {
      i = tree.end[tree.parent[i]] - 1;
      continue;
    }
    open[at] = (Math.imul(open[at - 1], 31) + nameHashes[tree.name[i]]) >>> 0;
    if (at === level && open[at] === target) return i;
  }
  return -1;
}
