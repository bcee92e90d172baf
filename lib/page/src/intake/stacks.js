// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Makes a capture of stacks, whatever file they come from.
import { Capture } from '../data/capture.js';
import { TreeBuilder } from '../data/reshape.js';
import { DamagedData } from '../data/bytes.js';

// Beyond these a page would need more memory than browsers give it.
export const MOST_NODES = 20e6;
export const MOST_SAMPLES = 20e6;
const TICK_NS = 1e6;

export const tooLarge = () => new DamagedData('it holds more than a page can show: make a page of it with `jprof convert`');

// A list of numbers that grows.
export class Numbers {
  constructor(Type = Float64Array) {
    this.values = new Type(1024);
    this.count = 0;
  }

  push(value) {
    if (this.count === this.values.length) {
      if (this.count >= MOST_SAMPLES) throw tooLarge();
      const longer = new this.values.constructor(this.count * 2);
      longer.set(this.values);
      this.values = longer;
    }
    this.values[this.count++] = value;
  }

  done() {
    return this.values.subarray(0, this.count);
  }
}

export class StackSet {
  constructor() {
    this.builder = new TreeBuilder(1 << 12);
    this.names = [];
    this.ids = new Map();
    // Nodes that frames of several kinds share.
    this.mixed = new Set();
  }

  name(text) {
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.names.length;
      this.ids.set(text, id);
      this.names.push(text);
    }
    return id;
  }

  // The node below another, of a name; 0 is the root.
  child(above, name, kind = 0) {
    const { builder } = this;
    const node = builder.child(above, name, kind);
    if (builder.kind[node] !== kind) this.mixed.add(node);
    if (builder.size > MOST_NODES) throw tooLarge();
    return node;
  }

  // Where frames of several kinds have one node, its kind is that of most of its weight: pathsOf(node) calls visit(node, kind)
  // for each frame of a stack.
  settleKinds(weights, eachStack) {
    if (!this.mixed.size) return;
    const sums = new Map();
    eachStack((weight, node, kind) => {
      if (!this.mixed.has(node)) return;
      const own = sums.get(node) ?? new Float64Array(256);
      own[kind] += weight;
      sums.set(node, own);
    });
    for (const [node, own] of sums) this.builder.kind[node] = own.indexOf(Math.max(...own));
  }

  // entries: arrays by time or in any order: node, weight, count and, if the file has times, time (ns), thread, state.
  capture(meta, entries, threads, modules = []) {
    const { builder } = this;
    const { node, weight, count, time } = entries;
    const sums = new Float64Array(builder.size);
    const counts = new Float64Array(builder.size);
    let all = 0;
    let whole = 0;
    for (let i = 0; i < node.length; i++) {
      sums[node[i]] += weight[i];
      counts[node[i]] += count[i];
      all += count[i];
      whole += weight[i];
    }
    const each = all > 0 ? whole / all : 0;
    const same = each > 0 && Number.isInteger(each) && weight.every((w, i) => w === count[i] * each);
    const { tree, place } = builder.freeze(sums);
    const spread = (values) => {
      const out = new Float64Array(tree.size);
      for (let i = 0; i < values.length; i++) out[place[i]] = values[i];
      return out;
    };
    const parts = { tree, samples: spread(counts), weights: same || whole === 0 ? null : spread(sums), modules };
    const timed = time && node.length ? timedOf(entries, place, same) : null;
    const told = { perSample: same ? each : 1, tickNs: TICK_NS, ...meta };
    if (timed) told.durationTicks = Math.floor(Math.max((meta.durationS || 0) * 1e9, timed.last + TICK_NS) / TICK_NS);
    return new Capture(told, this.names, parts, timed ? threads : [], timed && timed.samples);
  }
}

function timedOf({ node, weight, count, time, thread, state }, place, same) {
  const order = Uint32Array.from(node, (_, i) => i).sort((a, b) => time[a] - time[b] || a - b);
  const pick = (values, Type, of = (v) => v) => Type.from(order, (i) => of(values[i]));
  const several = count.some((n) => n !== 1);
  const samples = {
    count: node.length,
    sampleCount: count.reduce((sum, n) => sum + n, 0),
    time: pick(time, Float64Array, (ns) => Math.floor(Math.max(0, ns) / TICK_NS)),
    node: pick(node, Int32Array, (n) => place[n]),
    state: pick(state, Uint8Array),
    thread: pick(thread, Uint32Array),
    repeat: several ? pick(count, Float64Array) : null,
    weight: same ? null : pick(weight, Float64Array),
  };
  return { samples, last: Math.max(0, time[order[order.length - 1]]) };
}
