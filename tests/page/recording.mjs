// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Writes recordings (docs/formats/recording.md), apart from the code of jprof that does so.
import { bigProfile } from './big_profile.mjs';
import { randomNumbers } from './fixtures.mjs';

const MOST_SAMPLES = 400000;

// Castagnoli, reflected.
const table = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0x82f63b78 ^ (c >>> 1) : c >>> 1;
  return c;
});

export function crc32c(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

// Numbers below 2^53.
class Bytes {
  constructor() {
    this.list = [];
  }

  varint(n) {
    for (; n > 127; n = Math.floor(n / 128)) this.list.push((n % 128) + 128);
    this.list.push(n);
    return this;
  }

  zigzag(n) {
    return this.varint(n < 0 ? -2 * n - 1 : 2 * n);
  }

  raw(bytes) {
    for (const byte of bytes) this.list.push(byte);
    return this;
  }

  text(text) {
    const bytes = Buffer.from(text);
    return this.varint(bytes.length).raw(bytes);
  }

  field(tag, content) {
    return this.varint(tag).varint(content.list.length).raw(content.list);
  }
}

const runs = (values) => {
  const out = new Bytes();
  for (let i = 0; i < values.length; ) {
    let n = 1;
    while (values[i + n] === values[i]) n++;
    out.varint(values[i]).varint(n);
    i += n;
  }
  return out;
};

const column = (values, put = 'varint') => values.reduce((out, n) => out[put](n), new Bytes());
const section = (values) => new Bytes().varint(0).varint(values.length);

export function chunk(kind, sequence, payload, { samples = 0, flags = 0, rawBytes } = {}) {
  const head = Buffer.alloc(32);
  head.write('JCHK', 0, 'latin1');
  head.writeUInt16LE(kind, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt32LE(sequence, 8);
  head.writeUInt32LE(payload.length, 12);
  head.writeUInt32LE(rawBytes ?? payload.length, 16);
  head.writeUInt32LE(samples, 20);
  head.writeUInt32LE(crc32c(payload), 24);
  head.writeUInt32LE(crc32c(head.subarray(0, 28)), 28);
  return Buffer.concat([head, payload]);
}

export function fileHeader(major = 1) {
  const head = Buffer.alloc(16);
  head.write('\x89JPROF\r\n', 0, 'latin1');
  head.writeUInt16LE(major, 8);
  head.writeUInt32LE(crc32c(head.subarray(0, 12)), 12);
  return head;
}

function eventOf({ event = 'cpu', unit = 1, interval = 10e6, losses = [], gaps = [] }) {
  const out = new Bytes().field(1, new Bytes().raw(Buffer.from(event))).field(2, new Bytes().varint(unit)).field(5, new Bytes().zigzag(interval));
  for (const [reason, samples] of losses) out.field(7, new Bytes().text(reason).varint(samples).varint(0));
  for (const [reason, from, to, samples] of gaps) out.field(8, new Bytes().text(reason).zigzag(from).zigzag(to).varint(samples));
  return out;
}

function infoOf(profile) {
  const { title = 'capture', start = 0, duration = 0, facts = [], others = [] } = profile;
  const text = (value) => new Bytes().raw(Buffer.from(value));
  const number = (value, put = 'zigzag') => new Bytes()[put](value);
  const out = new Bytes().field(1, text(title));
  for (const event of [profile, ...others]) out.field(2, eventOf(event));
  out.field(3, number(start)).field(4, number(duration)).field(5, number(1, 'varint')).field(6, number(1, 'varint'));
  for (const [key, value] of facts) out.field(8, new Bytes().text(key).text(value));
  return Buffer.from(out.list);
}

function dictionaryOf({ frames, stacks, threads }) {
  const strings = [''];
  const ids = new Map([['', 0]]);
  const idOf = (text) => {
    if (!ids.has(text)) {
      ids.set(text, strings.length);
      strings.push(text);
    }
    return ids.get(text);
  };
  const columns = [frames.map(({ name }) => idOf(name)), frames.map(({ owner = '' }) => idOf(owner)), frames.map(({ signature = '' }) => idOf(signature))];
  const threadNames = threads.map(idOf);
  const texts = strings.map((text) => Buffer.from(text));
  const out = new Bytes();
  out.field(1, texts.reduce((all, text) => all.raw(text), section(texts).raw(column(texts.map((text) => text.length)).list)));
  out.field(2, section(frames).raw(frames.map(({ kind = 3 }) => kind)).raw(columns.flatMap((values) => column(values).list)).raw(column(frames.map(({ line = 0 }) => line), 'zigzag').list));
  let last = [];
  const shared = stacks.map((stack) => {
    let n = 0;
    while (n < stack.length && stack[n] === last[n]) n++;
    last = stack;
    return n;
  });
  const stackPart = section(stacks).raw(column(shared).list).raw(column(stacks.map((stack, i) => stack.length - shared[i])).list);
  stacks.forEach((stack, i) => stackPart.raw(column(stack.slice(shared[i])).list));
  out.field(3, stackPart);
  const threadPart = new Bytes();
  threadNames.forEach((name, id) => {
    const { list } = new Bytes().varint(id).varint(name).varint(100 + id).varint(id + 1).zigzag(0);
    threadPart.varint(list.length).raw(list);
  });
  return out.field(4, threadPart);
}

// Times in ns, whole steps; samples by thread, then by time.
function samplesOf(event, samples, step) {
  const head = new Bytes().varint(event).varint(samples.length).zigzag(0).varint(1).varint(0).varint(step);
  const times = samples.map(({ thread, time }, i) => (time - (i && samples[i - 1].thread === thread ? samples[i - 1].time : 0)) / step);
  const out = new Bytes().field(1, head).field(2, runs(samples.map((s) => s.thread))).field(3, column(times, 'zigzag'));
  out.field(4, column(samples.map((s) => s.stack))).field(5, column(samples.map((s) => s.weight))).field(6, runs(samples.map((s) => s.state ?? 1)));
  if (samples.some(({ count = 1 }) => count !== 1)) out.field(7, runs(samples.map(({ count = 1 }) => count)));
  return out;
}

const sum = (samples, of) => samples.reduce((all, s) => all + of(s), 0);

// { title, interval, start, duration (ns), losses, facts, gaps, frames: [{ name, kind, owner, line }], stacks: [[frame, ...] root first],
// threads: [name], samples: [{ time (ns), thread, stack, weight (ns), state, count }], others: more events: [{ event, unit, interval,
// losses, gaps, samples }] }; pack(payload): what is stored of a data chunk, as
// zstd. Returns the bytes of a file.
export function recordingOf(profile, pack = null) {
  const { step = 100000, others = [] } = profile;
  const events = [profile, ...others];
  const data = [Buffer.from(dictionaryOf(profile).list)];
  const taken = (samples) => samples.filter(({ count = 1 }) => count > 0).length;
  const end = new Bytes();
  events.forEach(({ samples }, event) => {
    for (let at = 0; at < samples.length; at += MOST_SAMPLES) {
      const part = samples.slice(at, at + MOST_SAMPLES).sort((a, b) => a.thread - b.thread || a.time - b.time);
      data.push(Object.assign(Buffer.from(new Bytes().field(5, samplesOf(event, part, step)).list), { samples: taken(part) }));
    }
    end.field(1, new Bytes().varint(taken(samples)).varint(sum(samples, (s) => s.weight)).varint(sum(samples, (s) => s.count ?? 1)));
  });
  const chunks = [chunk(1, 0, infoOf(profile))];
  for (const payload of data) chunks.push(pack ? chunk(2, chunks.length, pack(payload), { samples: payload.samples, flags: 1, rawBytes: payload.length }) : chunk(2, chunks.length, payload, payload));
  chunks.push(chunk(3, chunks.length, Buffer.from(end.list)));
  return Buffer.concat([fileHeader(), ...chunks]);
}

// A long capture of busy threads, each sample 10 ms of one: a thread stays in a stack or near it for a while, and now and then
// does nothing.
export function longCapture(count, threads = 8, seed = 5) {
  const { names, stacks } = bigProfile(33000);
  const random = randomNumbers(seed);
  const all = [];
  const states = Array.from({ length: threads }, () => ({ time: 0, stack: Math.floor(random() * stacks.length), left: 0 }));
  for (let i = 0; i < count; i++) {
    const state = states[i % threads];
    if (state.left-- <= 0) {
      state.stack = random() < 0.1 ? Math.floor(random() * stacks.length) : Math.min(stacks.length - 1, state.stack + 1);
      state.left = Math.floor(4 * random() ** 3);
      if (random() < 0.05) state.time += Math.floor(random() * 40) * 10e6;
    }
    state.time += 10e6;
    all.push({ time: state.time, thread: i % threads, stack: state.stack, weight: 10e6, state: 1 });
  }
  return {
    title: `${count} samples`,
    duration: Math.max(...states.map(({ time }) => time)),
    frames: names.map((name) => ({ name })),
    stacks: stacks.map(([path]) => path),
    threads: states.map((_, t) => `worker-${t + 1}`),
    samples: all,
  };
}
