// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A recording (docs/formats/recording.md) as a capture. Like lib/profile/recording_reader.cpp: damage is bounded by its chunk, and told.
import { DamagedData } from '../data/bytes.js';
import { plural } from '../data/numbers.js';
import { crc32c } from './crc32c.js';
import { RecordingDecoder } from './recordingdecoder.js';
import { describe, emptyInfo, readInfo } from './recordinginfo.js';
import { Damaged, Fields } from './wire.js';
import { unpackZstd } from './zstd.js';

const MAGIC = [0x89, 0x4a, 0x50, 0x52, 0x4f, 0x46, 0x0d, 0x0a];
const CHUNK = 0x4b48434a;
const HEAD_BYTES = 16;
const CHUNK_BYTES = 32;
const MOST_CHUNK = 16 << 20;
const MOST_CHUNK_SAMPLES = 1 << 20;
const MOST_RAW = 2 ** 30;
const [INFO, DATA, END] = [1, 2, 3];
const [PACKED, CRITICAL] = [1, 2];

export const isRecording = (bytes) => MAGIC.every((byte, i) => bytes[i] === byte);

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = HEAD_BYTES;
    this.decoder = new RecordingDecoder();
    this.info = emptyInfo();
    Object.assign(this, { chunks: 0, sound: 0, damaged: 0, lost: 0, ignored: 0, raw: 0, sequence: 0, ended: null, cut: false, between: false, missing: false });
  }

  u32(at) {
    return this.view.getUint32(at, true);
  }

  header(at) {
    if (at + CHUNK_BYTES > this.bytes.length || this.u32(at) !== CHUNK) return null;
    if (crc32c(this.bytes.subarray(at, at + 28)) !== this.u32(at + 28)) return null;
    const head = { kind: this.view.getUint16(at + 4, true), flags: this.view.getUint16(at + 6, true), sequence: this.u32(at + 8), stored: this.u32(at + 12), raw: this.u32(at + 16), samples: this.u32(at + 20), crc: this.u32(at + 24) };
    return head.stored > MOST_CHUNK || head.raw > MOST_CHUNK || head.samples > MOST_CHUNK_SAMPLES ? null : head;
  }

  read() {
    const { bytes } = this;
    if (bytes.length < HEAD_BYTES || crc32c(bytes.subarray(0, 12)) !== this.u32(12)) throw new DamagedData('its header is damaged: copy it again from where it was recorded or stored');
    const major = this.view.getUint16(8, true);
    if (major !== 1) throw new DamagedData(`its format is ${major}.${this.view.getUint16(10, true)}, and this page reads version 1: use a page of the jprof that wrote it`);
    while (this.at < bytes.length && !this.ended) this.readChunk();
    this.ignored += bytes.length - this.at;
    return this.finish();
  }

  readChunk() {
    const head = this.header(this.at);
    if (!head) return this.resynchronise();
    const begin = this.at + CHUNK_BYTES;
    if (begin + head.stored > this.bytes.length) {
      this.cut = true;
      this.ignored += this.bytes.length - this.at;
      this.at = this.bytes.length;
      return undefined;
    }
    this.at = begin + head.stored;
    this.chunks++;
    this.raw += head.raw;
    if (this.raw > MOST_RAW) throw new DamagedData('it holds more than a page can show: make a page of it with `jprof convert`');
    if (head.sequence !== this.sequence) this.missing = true;
    this.sequence = head.sequence + 1;
    return this.use(head, this.bytes.subarray(begin, this.at));
  }

  use(head, stored) {
    try {
      if (crc32c(stored) !== head.crc) throw new Damaged();
      const payload = this.unpacked(head, stored);
      if (head.kind === DATA) this.decoder.decode(payload);
      else if (head.kind === INFO) this.info = readInfo(payload);
      else if (head.kind === END) this.ended = readEnd(payload);
      else if (head.flags & CRITICAL) throw new DamagedData('it needs a newer jprof to be understood: use a page of the jprof that wrote it');
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
      this.damaged++;
      this.lost += head.samples;
    }
  }

  unpacked({ flags, raw }, stored) {
    if (!(flags & PACKED)) {
      if (stored.length !== raw) throw new Damaged();
      return stored;
    }
    let payload;
    try {
      payload = unpackZstd(stored, raw);
    } catch {
      throw new Damaged();
    }
    if (payload.length !== raw) throw new Damaged();
    return payload;
  }

  // The next chunk that begins soundly.
  resynchronise() {
    const from = this.at;
    let at = from + 1;
    for (; at + CHUNK_BYTES <= this.bytes.length; at++) if (this.bytes[at] === 0x4a && this.header(at)) break;
    const found = at + CHUNK_BYTES <= this.bytes.length;
    if (found) this.between = true;
    else this.cut = true;
    this.at = found ? at : this.bytes.length;
    this.ignored += this.at - from;
  }

  finish() {
    const { decoder, ended, info } = this;
    const first = decoder.event(0);
    const samples = decoder.events.reduce((sum, event) => sum + event.samples, 0);
    const count = decoder.events.reduce((sum, event) => sum + event.count, 0);
    const read = `${plural(samples, 'sample')} in ${plural(this.chunks, 'chunk')} could be read`;
    let problem = '';
    if (this.damaged || this.between || this.missing) problem = `the recording is damaged; ${read}`;
    else if (this.cut || !ended) problem = `the recording was cut off; ${read}`;
    else if (!agree(ended, decoder.events)) problem = `the recording's totals do not agree with its samples; ${read}`;
    else if (this.ignored) problem = `bytes follow the recording's end; ${read}`;
    if (problem && count === 0) throw new DamagedData(`${problem}: copy the .jprof again from where it was recorded or stored`);
    const written = ended ? ended.reduce((sum, event) => sum + event.samples, 0) : 0;
    if (written > samples) this.lost = written - samples;
    if (problem) info.partial = info.partial ? `${info.partial}; ${problem}` : problem;
    const [event] = info.events;
    if (this.lost) event.losses.push(['damaged chunk', this.lost]);
    const others = decoder.events.flatMap(({ count: own }, i) => (i > 0 && own > 0 ? [`${info.events[i]?.name ?? '[damaged]'} (${own})`] : []));
    return decoder.build(info, 0, describe(info, event, first.count, others.join(', ')));
  }
}

// By event. An event without samples may be missing on either side.
function agree(told, found) {
  const same = (one, other) => ['samples', 'weight', 'count'].every((which) => (one?.[which] ?? 0) === (other?.[which] ?? 0));
  return Array.from({ length: Math.max(told.length, found.length) }).every((_, i) => same(told[i], found[i]));
}

function readEnd(payload) {
  const totals = [];
  new Fields(payload).each((tag, content) => {
    if (tag === 1) totals.push({ samples: content.varint(), weight: content.varint(), count: content.varint() });
  });
  return totals;
}

export const readRecording = (bytes) => new Reader(bytes).read();
