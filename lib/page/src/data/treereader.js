// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The columns of the tree: shape, frames and samples of all nodes in one pass. Format: docs/formats/page.md.
import { DamagedData, Varints } from './bytes.js';
import { CallTree } from './calltree.js';

const MAX_RISE = 32;
const STEP_NODES = 60000;

// Samples of nodes that are not leaves: few have any.
class InnerSelf {
  constructor(column) {
    this.gaps = new Varints(column('TIGP'));
    this.counts = new Varints(column('TISF'));
    const weights = column('TIWT', true);
    this.weights = weights && new Varints(weights);
    this.skip();
  }

  // How many more nodes have none.
  skip() {
    this.left = this.gaps.done ? Infinity : this.gaps.next();
  }

  fill(node, samples, weights) {
    samples[node] = this.counts.next();
    if (weights) weights[node] = this.weights.next();
    this.skip();
  }

  end() {
    this.gaps.end();
    this.counts.end();
    if (this.weights) this.weights.end();
  }
}

// The tree is told by its leaves: how many frames lead down to each, and how far up the next begins.
export class TreeReader {
  // column(id, optional): a column; known: the frames told by number; frames: { count, name, kind }.
  constructor(size, frames, known, column) {
    this.size = size;
    this.frames = frames;
    this.known = known;
    this.tree = new CallTree(size);
    this.samples = new Float64Array(size);
    this.inner = new InnerSelf(column);
    this.weights = this.inner.weights && new Float64Array(size);
    this.ranks = new Varints(column('TRNK'));
    this.runs = new Varints(column('TRUN'));
    this.pops = new Varints(column('TPOP'));
    this.leafCounts = new Varints(column('TLSF'));
    this.leafWeights = this.weights && new Varints(column('TLWT'));
    // What each frame (the last: the root) was seen to call, most frequent first. A node's frame is told by its place
    // in the list of the frame above; lists change with each call as the writer's do (lib/page/tree_columns.cpp).
    // They lie in one pool, each entry a count and a frame. A list that is full moves to room for twice as many:
    // together they take less than four times what they hold. At 0 stands the end of all that are empty.
    this.entriesLeft = frames.count + known.length;
    this.pool = new Int32Array(8 * this.entriesLeft + 2);
    this.room = 2;
    this.begins = new Int32Array(frames.count + 1);
    this.lengths = new Int32Array(frames.count + 1);
    this.met = 0;
    this.path = new Int32Array(1024);
    this.frameAt = new Int32Array(1024);
    this.frameAt[0] = frames.count;
    this.level = 0;
    this.node = 1;
    if (this.inner.left-- === 0) this.inner.fill(0, this.samples, this.weights);
  }

  async read(pacer) {
    while (this.node < this.size) {
      this.step(Math.min(this.size, this.node + STEP_NODES));
      if (pacer.due()) await pacer.breathe();
    }
    const { ranks, known, runs, pops, leafCounts, leafWeights, inner } = this;
    for (const part of [ranks, known, runs, pops, leafCounts, leafWeights, inner]) if (part) part.end();
  }

  step(until) {
    const { tree, samples, weights, inner, runs, pops, size } = this;
    let { node, level } = this;
    while (node < until) {
      const last = node + runs.next();
      if (!(last < size)) throw new DamagedData('the tree is not well-formed');
      this.descend(node, last, level);
      const inside = last - node;
      if (inner.left < inside) {
        for (let i = node; i < last; i++) if (inner.left-- === 0) inner.fill(i, samples, weights);
      } else inner.left -= inside;
      level += inside + 1;
      node = last + 1;
      samples[last] = this.leafCounts.next();
      if (weights) weights[last] = this.leafWeights.next();
      const up = node < size ? pops.next() + 1 : level;
      if (!(up <= level)) throw new DamagedData('the tree is not well-formed');
      const { path } = this;
      for (let k = 0; k < up; k++) tree.end[path[level--]] = node;
    }
    this.node = node;
    this.level = level;
  }

  // The nodes of a run, each below the one before.
  descend(first, last, level) {
    if (level + last - first + 2 > this.path.length) {
      this.path = longer(this.path, level + last - first + 2);
      this.frameAt = longer(this.frameAt, this.path.length);
    }
    const { path, frameAt, ranks, pool, begins } = this;
    const { parent, name, kind } = this.tree;
    const { name: frameName, kind: frameKind } = this.frames;
    const { bytes } = ranks;
    let above = path[level];
    let caller = frameAt[level];
    for (let node = first; node <= last; node++) {
      let rank = bytes[ranks.at];
      if (rank < 128) ranks.at++;
      else rank = ranks.next();
      let frame;
      const best = begins[caller];
      if (rank === 2 && best > 0) {
        pool[best]++;
        frame = pool[best + 1];
      } else frame = rank >= 2 ? this.listed(caller, rank - 2) : this.unlisted(caller, rank);
      parent[node] = above;
      name[node] = frameName[frame];
      kind[node] = frameKind[frame];
      path[++level] = above = node;
      frameAt[level] = caller = frame;
    }
  }

  listed(caller, from) {
    const { pool } = this;
    if (!(from < this.lengths[caller])) throw new DamagedData('a node has no frame');
    const begin = this.begins[caller];
    let at = begin + 2 * from;
    const count = pool[at] + 1;
    const frame = pool[at + 1];
    const highest = Math.max(begin, at - 2 * MAX_RISE);
    for (; at > highest && pool[at - 2] <= count; at -= 2) {
      pool[at] = pool[at - 2];
      pool[at + 1] = pool[at - 1];
    }
    pool[at] = count;
    pool[at + 1] = frame;
    return frame;
  }

  unlisted(caller, isKnown) {
    const { pool, begins } = this;
    const frame = isKnown ? this.known.next() : this.met++;
    if (!(frame < this.frames.count) || --this.entriesLeft < 0) throw new DamagedData('a node has no frame');
    const length = this.lengths[caller]++;
    // Room is for 4, 8, 16 and so on.
    if (!length || (length > 2 && !(length & (length - 1)))) {
      pool.copyWithin(this.room, begins[caller], begins[caller] + 2 * length);
      begins[caller] = this.room;
      this.room += Math.max(8, 4 * length);
    }
    pool[begins[caller] + 2 * length] = 1;
    pool[begins[caller] + 2 * length + 1] = frame;
    return frame;
  }
}

function longer(array, length) {
  const copy = new array.constructor(length * 2);
  copy.set(array);
  return copy;
}
