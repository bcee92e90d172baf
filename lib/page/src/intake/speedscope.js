// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// speedscope's JSON as a capture. Like lib/render/speedscope_reader.cpp.
import { DamagedData } from '../data/bytes.js';
import { plural } from '../data/numbers.js';
import { Numbers, StackSet } from './stacks.js';

const FACTORS = { seconds: 1e9, milliseconds: 1e6, microseconds: 1e3, nanoseconds: 1, bytes: 1 };
const MOST_COUNT = 9e15;
const MOST_DEPTH = 65536;

export const looksLikeSpeedscope = (text) => /^\s*\{/.test(text) && text.includes('"shared"') && text.includes('"profiles"');

const listOf = (value) => (Array.isArray(value) ? value : []);
const textOf = (value, other = '') => (typeof value === 'string' ? value : other);

class Intake {
  constructor(file) {
    const frames = listOf(file?.shared?.frames);
    this.set = new StackSet();
    this.frames = frames.map((frame) => this.set.name(textOf(frame?.name, '[unnamed]')));
    this.profiles = listOf(file?.profiles);
    if (!this.frames.length || !this.profiles.length) throw new DamagedData('its speedscope JSON has no frames or no profiles');
    this.unit = textOf(this.profiles[0]?.unit);
    this.threads = [];
    this.entries = { node: new Numbers(Int32Array), weight: new Numbers(), time: new Numbers(), thread: new Numbers() };
    Object.assign(this, { otherUnits: 0, ignored: 0, timed: this.unit.endsWith('seconds'), factor: FACTORS[this.unit] || 0 });
  }

  read() {
    this.profiles.forEach((one, i) => {
      if (textOf(one?.unit) !== this.unit) {
        this.otherUnits++;
        return;
      }
      this.where = `profile ${i + 1}`;
      this.threads.push(textOf(one.name));
      if (one.type === 'sampled') this.readSampled(one);
      else if (one.type === 'evented') this.readEvented(one);
      else throw new DamagedData(`${this.where}: its type is neither sampled nor evented`);
    });
    return this.finish();
  }

  below(node, frame, what) {
    if (!Number.isInteger(frame) || !(frame >= 0 && frame < this.frames.length)) throw new DamagedData(`${this.where}: ${what} has a frame that is not in the list of ${this.frames.length}`);
    return this.set.child(node, this.frames[frame]);
  }

  readSampled(one) {
    const samples = listOf(one.samples);
    const weights = listOf(one.weights);
    if (one.weights !== undefined && weights.length !== samples.length) throw new DamagedData(`${this.where}: it has ${plural(samples.length, 'sample')} and ${plural(weights.length, 'weight')}`);
    let at = 0;
    samples.forEach((stack, i) => {
      if (!Array.isArray(stack) || stack.length > MOST_DEPTH) throw new DamagedData(`${this.where}: sample ${i + 1} is not a list of frames`);
      const node = stack.reduce((above, frame) => this.below(above, frame, `sample ${i + 1}`), 0);
      const weight = typeof weights[i] === 'number' ? weights[i] : 1;
      this.add(at, weight, node);
      at += weight;
    });
  }

  readEvented(one) {
    const stack = [0];
    let last = null;
    listOf(one.events).forEach((event, i) => {
      const now = event?.at;
      if (typeof now !== 'number') throw new DamagedData(`${this.where}: event ${i + 1} has no time`);
      if (last !== null && stack.length > 1) this.add(last, now - last, stack[stack.length - 1]);
      last = now;
      if (event.type === 'O') {
        if (stack.length > MOST_DEPTH) throw new DamagedData(`${this.where}: its stacks are too deep`);
        stack.push(this.below(stack[stack.length - 1], event.frame, `event ${i + 1}`));
      } else if (stack.length > 1) stack.pop();
    });
  }

  add(at, weight, node) {
    const factor = this.factor || 1;
    const scaled = weight * factor;
    if (scaled === 0) return;
    if (!(scaled > 0 && scaled < MOST_COUNT && at * factor < MOST_COUNT)) {
      this.ignored++;
      return;
    }
    const whole = this.factor ? Math.round(scaled) : scaled;
    if (!(whole > 0)) {
      this.ignored++;
      return;
    }
    this.entries.node.push(node);
    this.entries.weight.push(whole);
    this.entries.time.push(Math.round(Math.max(0, at * factor)));
    this.entries.thread.push(this.threads.length - 1);
  }

  finish() {
    const [node, weight, time, thread] = ['node', 'weight', 'time', 'thread'].map((which) => this.entries[which].done());
    if (!node.length) throw new DamagedData('its speedscope JSON has no samples');
    const facts = [['source', 'speedscope']];
    if (this.otherUnits) facts.push(['profiles of other units', String(this.otherUnits)]);
    if (this.ignored) facts.push(['ignored values', String(this.ignored)]);
    const unit = this.timed ? 'ns' : this.unit === 'bytes' ? 'bytes' : 'samples';
    // A value says when it began; a sample here, when it ended.
    const ends = this.timed ? time.map((at, i) => at + weight[i]) : null;
    const count = this.factor ? weight.map(() => 1) : weight;
    return { meta: { event: this.unit === 'bytes' ? 'alloc' : '', unit, facts }, entries: { node, weight, count, time: ends, thread, state: new Uint8Array(node.length) } };
  }
}

export function readSpeedscope(text, title) {
  let file;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new DamagedData(`its JSON is damaged: ${error.message}`);
  }
  const intake = new Intake(file);
  const { meta, entries } = intake.read();
  return intake.set.capture({ title, ...meta }, entries, intake.threads);
}
