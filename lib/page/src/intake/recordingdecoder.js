// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The data chunks of a recording: dictionaries and samples (docs/formats/recording.md).
import { MOST_EVENTS } from './recordinginfo.js';
import { Numbers, StackSet, tooLarge } from './stacks.js';
import { Damaged, Fields } from './wire.js';

const MOST_ENTRIES = 4e6;
const MOST_DEPTH = 65536;
const MOST_CHUNK_SAMPLES = 1 << 20;
const MOST_STACK_FRAMES = 50e6;
const NO_FRAME = 0xffffffff;
const [STRINGS, FRAMES, STACKS, THREADS, SAMPLES] = [1, 2, 3, 4, 5];
const KIND_ERROR = 10;
const LAST_KIND = 12;
const LAST_STATE = 7;
const NATIVE_KINDS = [6, 7];

class EventEntries {
  constructor() {
    this.entries = { time: new Numbers(), thread: new Numbers(), stack: new Numbers(), state: new Numbers(Uint8Array), weight: new Numbers(), count: new Numbers() };
    Object.assign(this, { samples: 0, weight: 0, count: 0 });
  }
}

export class RecordingDecoder {
  constructor() {
    this.set = new StackSet();
    this.strings = [];
    this.frames = [];
    this.stacks = []; // numbers of frames, root first
    this.threads = new Map();
    this.stackFrames = 0;
    this.events = []; // by number
  }

  decode(payload) {
    new Fields(payload).each((tag, content) => {
      if (tag === STRINGS) this.readStrings(content);
      else if (tag === FRAMES) this.readFrames(content);
      else if (tag === STACKS) this.readStacks(content);
      else if (tag === THREADS) this.readThreads(content);
      else if (tag === SAMPLES) this.readSamples(content);
    });
  }

  // How many entries a section claims, each of at least `least` bytes. Entries that a lost chunk had are damaged ones.
  section(content, list, least, damaged) {
    const first = content.varint();
    const claimed = content.varint();
    if (claimed > content.left / least || first < list.length) throw new Damaged();
    if (first + claimed > MOST_ENTRIES) throw tooLarge();
    while (list.length < first) list.push(damaged);
    return claimed;
  }

  readStrings(content) {
    const count = this.section(content, this.strings, 1, '[damaged]');
    const lengths = content.column(count);
    for (let i = 0; i < count; i++) this.strings.push(content.text(lengths.varint()));
  }

  get damagedFrame() {
    return { kind: KIND_ERROR, name: '[damaged]', owner: '' };
  }

  readFrames(content) {
    const count = this.section(content, this.frames, 5, this.damagedFrame);
    const kinds = content.raw(count);
    const names = content.column(count);
    const owners = content.column(count);
    content.column(count);
    content.column(count);
    const text = (column) => this.strings[column.varint()] ?? '[damaged]';
    for (let i = 0; i < count; i++) this.frames.push({ kind: kinds[i] <= LAST_KIND ? kinds[i] : 0, name: text(names), owner: text(owners) });
  }

  readStacks(content) {
    const count = this.section(content, this.stacks, 2, null);
    const shared = content.column(count);
    const rest = content.column(count);
    let stack = [];
    for (let i = 0; i < count; i++) {
      const kept = shared.varint();
      const more = rest.varint();
      if (kept > stack.length || more > content.left || kept + more > MOST_DEPTH) throw new Damaged();
      stack = stack.slice(0, kept);
      for (let k = 0; k < more; k++) stack.push(Math.min(content.varint(), NO_FRAME));
      this.stackFrames += stack.length;
      if (this.stackFrames > MOST_STACK_FRAMES) throw tooLarge();
      this.stacks.push(Uint32Array.from(stack));
    }
  }

  readThreads(content) {
    while (content.left > 0) {
      const record = new Fields(content.raw(content.varint()));
      const id = record.varint();
      this.threads.set(id, this.strings[record.varint()] ?? '');
      if (this.threads.size > MOST_ENTRIES) throw tooLarge();
    }
  }

  readSamples(content) {
    const columns = new Map();
    content.each((tag, own) => columns.set(tag, own));
    const of = (tag) => columns.get(tag) ?? new Fields(new Uint8Array(0));
    const head = of(1);
    const [event, count, base, unit, flags, step] = [head.varint(), head.varint(), head.zigzag(), head.varint(), head.varint(), head.varint()];
    if (event >= MOST_EVENTS || count > MOST_CHUNK_SAMPLES || count > of(4).left || !step) throw new Damaged();
    const runs = (tag) => {
      const out = new Float64Array(count);
      for (let at = 0; at < count; ) {
        const value = of(tag).varint();
        const length = of(tag).varint();
        if (!length || length > count - at) throw new Damaged();
        out.fill(value, at, (at += length));
      }
      return out;
    };
    const block = { thread: runs(2), stack: new Float64Array(count), weight: new Float64Array(count), state: runs(6), count: columns.has(7) ? runs(7) : new Float64Array(count).fill(1), time: new Float64Array(count) };
    for (let i = 0; i < count; i++) {
      block.stack[i] = of(4).varint();
      block.weight[i] = of(5).varint() * unit;
    }
    if (columns.has(3)) this.readTimes(of(3), block, { base, step: Math.min(step, 1e9), predicted: (flags & 1) !== 0 });
    this.add(event, block);
  }

  readTimes(column, { time, thread, weight }, { base, step, predicted }) {
    let before = 0;
    for (let i = 0; i < time.length; i++) {
      let steps = column.zigzag();
      if (i > 0 && thread[i] === thread[i - 1]) steps += before + (predicted ? Math.floor(weight[i] / step) : 0);
      before = steps;
      if (!(Math.abs(steps) <= 2 ** 62 / step)) throw new Damaged();
      time[i] = base + steps * step;
    }
    if (column.left) throw new Damaged();
  }

  event(number) {
    while (this.events.length <= number) this.events.push(new EventEntries());
    return this.events[number];
  }

  add(number, block) {
    const event = this.event(number);
    const { entries } = event;
    for (let i = 0; i < block.time.length; i++) {
      for (const which of Object.keys(entries)) entries[which].push(block[which][i]);
      if (!this.threads.has(block.thread[i])) this.threads.set(block.thread[i], '');
      event.samples += block.count[i] > 0 ? 1 : 0;
      event.weight += block.weight[i];
      event.count += block.count[i];
    }
  }

  // The place of each stack that samples have, by its number.
  placeStacks(entries) {
    const { set, frames } = this;
    const weights = new Map();
    for (let i = 0; i < entries.stack.length; i++) weights.set(entries.stack[i], (weights.get(entries.stack[i]) || 0) + entries.weight[i]);
    const places = new Map();
    const each = (visit) => {
      for (const [number, weight] of weights) {
        const stack = this.stacks[number];
        let node = 0;
        const step = ({ name, kind }) => {
          node = set.child(node, set.name(name), kind);
          visit(weight, node, kind);
        };
        if (!stack) step(this.damagedFrame);
        else for (const frame of stack) step(frames[frame] ?? this.damagedFrame);
        places.set(number, node);
      }
    };
    each(() => {});
    set.settleKinds(weights, each);
    return Int32Array.from(entries.stack, (number) => places.get(number));
  }

  // The samples of one event.
  build(info, number, meta) {
    const entries = Object.fromEntries(Object.entries(this.event(number).entries).map(([which, numbers]) => [which, numbers.done()]));
    const node = this.placeStacks(entries);
    const ids = [...this.threads.keys()].sort((a, b) => a - b);
    const places = new Map(ids.map((id, i) => [id, i]));
    const thread = entries.thread.map((id) => places.get(id));
    const state = entries.state.map((n) => (n <= LAST_STATE ? n : 0));
    const modules = this.modules();
    const time = info.hasTimes ? entries.time : null;
    return this.set.capture(meta, { node, weight: entries.weight, count: entries.count, time, thread: info.hasThreads ? thread : thread.map(() => 0), state }, info.hasThreads ? ids.map((id) => this.threads.get(id)) : [], modules);
  }

  // Of native frames that stacks have: a name that two libraries have counts for the first.
  modules() {
    const found = new Map();
    for (const { kind, name, owner } of this.frames) {
      const module = owner.slice(owner.lastIndexOf('/') + 1);
      const key = kind + name;
      if (NATIVE_KINDS.includes(kind) && module && this.set.ids.has(name) && !found.has(key)) found.set(key, { name: this.set.ids.get(name), kind, module });
    }
    return [...found.values()];
  }
}
