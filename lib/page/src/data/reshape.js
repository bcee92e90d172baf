// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Trees made from the recorded tree: frames hidden, runs folded, names merged, stacks begun lower, threads split.
// A reshaped tree comes with a map from each recorded node to its node in the new tree (-1: not in it).
import { CallTree } from './calltree.js';
import { KIND_FOLDED, KIND_LIBRARY, KIND_REST, KIND_START, KIND_THREAD } from './names.js';

// A tree under construction: nodes by (parent, name), found by open addressing.
export class TreeBuilder {
  constructor(expected) {
    let slots = 1024;
    while (slots < expected * 2) slots *= 2;
    this.table = new Int32Array(slots).fill(-1);
    this.parent = new Int32Array(expected + 1);
    this.name = new Int32Array(expected + 1);
    this.kind = new Uint8Array(expected + 1);
    this.parent[0] = -1;
    this.name[0] = -1;
    this.size = 1;
  }

  child(parent, name, kind) {
    const { table } = this;
    const maskBits = table.length - 1;
    let h = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(name + 1, 0x85ebca6b)) >>> 0;
    for (h = (h ^ (h >>> 15)) & maskBits; ; h = (h + 1) & maskBits) {
      const found = table[h];
      if (found < 0) break;
      if (this.parent[found] === parent && this.name[found] === name) return found;
    }
    const made = this.size++;
    if (made >= this.parent.length) this.grow();
    table[h] = made;
    this.parent[made] = parent;
    this.name[made] = name;
    this.kind[made] = kind;
    if (this.size * 2 > table.length) this.rehash();
    return made;
  }

  grow() {
    for (const which of ['parent', 'name', 'kind']) {
      const longer = new this[which].constructor(this[which].length * 2);
      longer.set(this[which]);
      this[which] = longer;
    }
  }

  rehash() {
    const table = new Int32Array(this.table.length * 2).fill(-1);
    const maskBits = table.length - 1;
    for (let i = 1; i < this.size; i++) {
      let h = (Math.imul(this.parent[i], 0x9e3779b1) ^ Math.imul(this.name[i] + 1, 0x85ebca6b)) >>> 0;
      for (h = (h ^ (h >>> 15)) & maskBits; table[h] >= 0; ) h = (h + 1) & maskBits;
      table[h] = i;
    }
    this.table = table;
  }

  // Preorder, heaviest child first by `weight` (self per node): { tree, place } with place[built] = node.
  freeze(weight) {
    const { size, parent } = this;
    const total = Float64Array.from(weight.subarray(0, size));
    const frames = new Int32Array(size).fill(1);
    for (let i = size - 1; i > 0; i--) {
      total[parent[i]] += total[i];
      frames[parent[i]] += frames[i];
    }
    const order = new Int32Array(size - 1);
    for (let i = 1; i < size; i++) order[i - 1] = i;
    order.sort((a, b) => parent[a] - parent[b] || total[b] - total[a] || a - b);
    const tree = new CallTree(size);
    const place = new Int32Array(size);
    const nextPlace = new Int32Array(size);
    nextPlace[0] = 1;
    // A parent is built before its children, so its place is known when its children are placed.
    for (let k = 0; k < order.length; k++) {
      const i = order[k];
      const p = parent[i];
      const at = nextPlace[p];
      nextPlace[p] += frames[i];
      place[i] = at;
      nextPlace[i] = at + 1;
      tree.parent[at] = place[p];
      tree.end[at] = at + frames[i];
      tree.name[at] = this.name[i];
      tree.kind[at] = this.kind[i];
    }
    return { tree, place };
  }
}

const NOT_STARTED = -2;

// One pass over the recorded tree. `steps`: { hide, start: Uint8Array over names or null, mine: same, only: whether what is not mine
// leaves the tree instead of folding, packages: Int32Array over names (the name of the box it folds into, or -1) or null,
// fold: boolean, rename: Int32Array over names or null, libraryName: id, roots: Uint8Array over nodes or null, startName: id }.
function visitNodes(tree, builder, steps) {
  const at = new Int32Array(tree.size);
  const { hide, start, mine, only, packages, fold, rename, libraryName, roots, startName } = steps;
  at[0] = start ? NOT_STARTED : 0;
  for (let i = 1; i < tree.size; i++) {
    const raw = tree.name[i];
    let above = at[tree.parent[i]];
    if (above === NOT_STARTED) {
      if (!start[raw]) {
        at[i] = NOT_STARTED;
        continue;
      }
      above = 0;
    }
    if (roots && roots[i]) {
      at[i] = builder.child(0, startName, KIND_START);
      continue;
    }
    if (hide && hide[raw]) {
      at[i] = above;
      continue;
    }
    const library = mine && !mine[raw] && tree.kind[i] !== KIND_REST;
    if (only && library && above > 0) {
      at[i] = above;
      continue;
    }
    // The box at the root keeps the stacks that have nothing of mine.
    if (only && above > 0 && builder.kind[above] === KIND_LIBRARY) above = 0;
    const folded = !library && packages && packages[raw] >= 0;
    const name = library ? libraryName : folded ? packages[raw] : rename ? rename[raw] : raw;
    const joins = above > 0 && builder.name[above] === name && (fold || library || folded);
    at[i] = joins ? above : builder.child(above, name, library ? KIND_LIBRARY : folded ? KIND_FOLDED : tree.kind[i]);
  }
  return at;
}

export function reshape(capture, steps) {
  const { tree } = capture;
  const builder = new TreeBuilder(Math.min(tree.size, 1 << 20));
  const at = visitNodes(tree, builder, steps);
  const weight = new Float64Array(builder.size);
  for (let i = 0; i < at.length; i++) if (at[i] >= 0) weight[at[i]] += capture.weights[i];
  const frozen = builder.freeze(weight);
  const map = new Int32Array(tree.size);
  for (let i = 0; i < at.length; i++) map[i] = at[i] >= 0 ? frozen.place[at[i]] : -1;
  return { tree: frozen.tree, map };
}

// One root frame per thread. The map goes from (thread, node of `shape`) pairs to nodes: see nodeFor.
export function splitByThread(capture, shape, threadNames) {
  const builder = new TreeBuilder(1 << 16);
  const { timed } = capture;
  const source = shape.tree;
  const memo = new Map();
  const placeOf = (thread, node) => {
    if (node === 0) return builder.child(0, threadNames[thread], KIND_THREAD);
    const key = thread * source.size + node;
    let built = memo.get(key);
    if (built === undefined) {
      const path = source.pathOf(node);
      built = builder.child(0, threadNames[thread], KIND_THREAD);
      for (const step of path) built = builder.child(built, source.name[step], source.kind[step]);
      memo.set(key, built);
    }
    return built;
  };
  const bySample = new Int32Array(timed.count);
  for (let s = 0; s < timed.count; s++) {
    const node = shape.map ? shape.map[timed.node[s]] : timed.node[s];
    bySample[s] = node < 0 ? -1 : placeOf(timed.thread[s], node);
  }
  const weight = new Float64Array(builder.size);
  for (let s = 0; s < timed.count; s++) {
    if (bySample[s] >= 0) weight[bySample[s]] += timed.weight ? timed.weight[s] : timed.repeat ? timed.repeat[s] : 1;
  }
  const frozen = builder.freeze(weight);
  for (let s = 0; s < timed.count; s++) if (bySample[s] >= 0) bySample[s] = frozen.place[bySample[s]];
  return { tree: frozen.tree, bySample };
}
