// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Unpacks zstd (RFC 8878): browsers do not. Everything is checked against the bytes that are there and against `most`.
import { DamagedData } from '../data/bytes.js';
import { ForwardBits } from './bits.js';
import { buildTable, readTable, rleTable } from './fse.js';
import { readHuffman } from './huffman.js';
import { xxh64Low } from './xxhash.js';

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
const MOST_BLOCK = 1 << 17;
const MOST_WINDOW = 2 ** 27;

export const isZstd = (bytes) => bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd;

function fail(why) {
  throw new DamagedData(`its zstd data is damaged: ${why}`);
}

const extras = (spec) => Uint8Array.from(spec.flatMap(([bits, times]) => Array(times).fill(bits)));
const bases = (first, bits) => bits.reduce((all, n) => [...all, all[all.length - 1] + 2 ** n], [first]).slice(0, bits.length);

// Lengths of literals, lengths of matches, offsets (3.1.1.3.2): extra bits and bases of each code; the distribution that
// needs no description (3.1.1.3.2.2); the largest code and accuracy.
const LITERAL_BITS = extras([[0, 16], [1, 4], [2, 2], [3, 2], [4, 1], [6, 1], [7, 1], [8, 1], [9, 1], [10, 1], [11, 1], [12, 1], [13, 1], [14, 1], [15, 1], [16, 1]]);
const MATCH_BITS = extras([[0, 32], [1, 4], [2, 2], [3, 2], [4, 2], [5, 1], [7, 1], [8, 1], [9, 1], [10, 1], [11, 1], [12, 1], [13, 1], [14, 1], [15, 1], [16, 1]]);
const LITERAL_BASE = bases(0, [...LITERAL_BITS]);
const MATCH_BASE = bases(3, [...MATCH_BITS]);
const KINDS = [
  { codes: 36, log: 9, plain: [6, [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1]] },
  { codes: 32, log: 8, plain: [5, [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1]] },
  { codes: 53, log: 9, plain: [6, [1, 4, 3, 2, 2, 2, 2, 2, 2, ...Array(37).fill(1), -1, -1, -1, -1, -1, -1, -1]] },
];

class Frame {
  constructor(out) {
    this.out = out;
    this.start = out.at;
    this.repeats = [1, 4, 8];
    this.tables = [null, null, null];
    this.huffman = null;
    this.literals = new Uint8Array(MOST_BLOCK);
  }

  // The literals of a block (3.1.1.3.1): how many there are, and where the sequences begin.
  readLiterals(block) {
    const type = block[0] & 3;
    const form = (block[0] >> 2) & 3;
    if (type < 2) {
      const head = form === 1 ? 2 : form === 3 ? 3 : 1;
      if (block.length < head) fail('a block is cut off');
      const count = head === 1 ? block[0] >> 3 : (block[0] >> 4) + (block[1] << 4) + (head === 3 ? block[2] << 12 : 0);
      const stored = type === 1 ? 1 : count;
      if (count > MOST_BLOCK || head + stored > block.length) fail('literals are cut off');
      if (type === 1) this.literals.fill(block[head], 0, count);
      else this.literals.set(block.subarray(head, head + count));
      return [count, head + stored];
    }
    const head = form < 2 ? 3 : form + 2;
    const bits = form < 2 ? 10 : form === 2 ? 14 : 18;
    const sizes = new ForwardBits(block.subarray(0, head), 4);
    const count = sizes.read(bits);
    const stored = sizes.read(bits);
    if (block.length < head || count > MOST_BLOCK || head + stored > block.length) fail('literals are cut off');
    let packed = block.subarray(head, head + stored);
    if (type === 2) {
      const { table, used } = readHuffman(packed, fail);
      this.huffman = table;
      packed = packed.subarray(used);
    }
    if (!this.huffman) fail('a table is missing');
    this.huffman.decode(packed, this.literals.subarray(0, count), form === 0 ? 1 : 4, fail);
    return [count, head + stored];
  }

  // Tables of the three codes (3.1.1.3.2.1), then the bytes that hold the sequences.
  readTables(block, at, modes) {
    KINDS.forEach((kind, k) => {
      const mode = (modes >> (6 - 2 * k)) & 3;
      if (mode === 0) this.tables[k] = kind.table ??= buildTable(kind.plain[1], kind.plain[0], fail);
      else if (mode === 1) {
        if (at >= block.length || block[at] >= kind.codes) fail('a code is unknown');
        this.tables[k] = rleTable(block[at++]);
      } else if (mode === 2) {
        const read = readTable(block.subarray(at), kind.log, kind.codes, fail);
        this.tables[k] = read.table;
        at += read.used;
      } else if (!this.tables[k]) fail('a table is missing');
    });
    return at;
  }

  readBlock(block) {
    const [count, begin] = this.readLiterals(block);
    let at = begin;
    if (at >= block.length) fail('a block is cut off');
    let sequences = block[at++];
    if (sequences === 255) {
      sequences = block[at] + (block[at + 1] << 8) + 0x7f00;
      at += 2;
    } else if (sequences > 127) sequences = ((sequences - 128) << 8) + block[at++];
    if (at > block.length || !(sequences >= 0)) fail('a block is cut off');
    let used = 0;
    if (sequences > 0) {
      const modes = block[at++];
      if (modes & 3) fail('a block is of no kind');
      at = this.readTables(block, at, modes);
      used = this.runSequences(block.subarray(at), sequences, count);
    } else if (at !== block.length) fail('a block is too long');
    this.out.append(this.literals.subarray(used, count));
  }

  runSequences(bytes, sequences, count) {
    const [literal, offset, match] = this.tables;
    const bits = literal.open(bytes, fail);
    const states = [bits.read(literal.log), bits.read(offset.log), bits.read(match.log)];
    const { literals, out, repeats } = this;
    let used = 0;
    for (let n = 0; n < sequences; n++) {
      const offsetCode = offset.symbol[states[1]];
      const literalCode = literal.symbol[states[0]];
      const matchCode = match.symbol[states[2]];
      const value = 2 ** offsetCode + bits.readLong(offsetCode);
      const length = MATCH_BASE[matchCode] + bits.read(MATCH_BITS[matchCode]);
      const copied = LITERAL_BASE[literalCode] + bits.read(LITERAL_BITS[literalCode]);
      if (used + copied > count) fail('literals are missing');
      out.append(literals.subarray(used, used + copied));
      used += copied;
      out.repeat(this.offsetOf(value, copied, repeats), length, this.start);
      if (n + 1 < sequences) {
        states[0] = literal.next(states[0], bits);
        states[2] = match.next(states[2], bits);
        states[1] = offset.next(states[1], bits);
      }
      if (bits.at < 0) fail('a block is cut off');
    }
    if (bits.at !== 0) fail('a block is too long');
    return used;
  }

  // An offset, or one of the last three (3.1.1.5).
  offsetOf(value, copied, repeats) {
    if (value > 3) {
      repeats.unshift(value - 3);
      repeats.pop();
      return repeats[0];
    }
    const which = value - 1 + (copied === 0 ? 1 : 0);
    if (which === 0) return repeats[0];
    const found = which === 3 ? repeats[0] - 1 : repeats[which];
    if (!(found > 0)) fail('a distance is 0');
    if (which === 1) repeats.splice(1, 1);
    else repeats.pop();
    repeats.unshift(found);
    return found;
  }
}

// What was unpacked so far; it grows up to `most`.
class Output {
  constructor(most) {
    this.most = most;
    this.bytes = new Uint8Array(Math.min(most, 1 << 18));
    this.at = 0;
  }

  room(count) {
    const wanted = this.at + count;
    if (wanted > this.most) throw new DamagedData(`it unpacks to more than ${Math.round(this.most / 1e6)} MB`);
    if (wanted <= this.bytes.length) return;
    const longer = new Uint8Array(Math.min(this.most, Math.max(wanted, this.bytes.length * 2)));
    longer.set(this.bytes.subarray(0, this.at));
    this.bytes = longer;
  }

  append(part) {
    this.room(part.length);
    this.bytes.set(part, this.at);
    this.at += part.length;
  }

  repeat(distance, length, start) {
    if (distance > this.at - start || distance > MOST_WINDOW) fail('a distance is too large');
    this.room(length);
    const { bytes, at } = this;
    if (distance >= length) bytes.copyWithin(at, at - distance, at - distance + length);
    else for (let i = 0; i < length; i++) bytes[at + i] = bytes[at + i - distance];
    this.at += length;
  }
}

function readFrame(bytes, at, out) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const descriptor = bytes[at++];
  if (descriptor & 8) fail('its header is of no kind');
  const single = descriptor & 32;
  if (!single) {
    const window = 2 ** (10 + (bytes[at] >> 3)) * (1 + (bytes[at] & 7) / 8);
    at++;
    if (window > MOST_WINDOW) throw new DamagedData('it needs a window of more than 128 MiB: pack it without --ultra and --long');
  }
  const dictionary = [0, 1, 2, 4][descriptor & 3];
  for (let k = 0; k < dictionary; k++) if (bytes[at + k]) throw new DamagedData('it needs a dictionary of zstd: pack it without one');
  at += dictionary;
  const sizeBytes = [single ? 1 : 0, 2, 4, 8][descriptor >> 6];
  if (at + sizeBytes > bytes.length) fail('its header is cut off');
  const size = sizeBytes === 0 ? -1 : sizeBytes === 1 ? bytes[at] : sizeBytes === 2 ? view.getUint16(at, true) + 256 : sizeBytes === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
  at += sizeBytes;
  if (size > 0) out.room(size);
  const frame = new Frame(out);
  for (let last = false; !last; ) {
    if (at + 3 > bytes.length) fail('it is cut off');
    const head = bytes[at] + (bytes[at + 1] << 8) + (bytes[at + 2] << 16);
    at += 3;
    last = (head & 1) === 1;
    const type = (head >> 1) & 3;
    const length = head >> 3;
    const stored = type === 1 ? 1 : length;
    if (type === 3 || length > MOST_BLOCK || at + stored > bytes.length) fail('a block is cut off');
    const before = out.at;
    if (type === 0) out.append(bytes.subarray(at, at + length));
    else if (type === 1) out.append(new Uint8Array(length).fill(bytes[at]));
    else frame.readBlock(bytes.subarray(at, at + length));
    if (out.at - before > MOST_BLOCK) fail('a block is too long');
    at += stored;
  }
  if (size >= 0 && out.at - frame.start !== size) fail(`${size} bytes expected, ${out.at - frame.start} found`);
  if (descriptor & 4) {
    if (at + 4 > bytes.length) fail('it is cut off');
    if (view.getUint32(at, true) !== xxh64Low(out.bytes.subarray(frame.start, out.at))) fail('its checksum is wrong');
    at += 4;
  }
  return at;
}

// All frames of `bytes`, unpacked: at most `most` bytes. Throws DamagedData.
export function unpackZstd(bytes, most) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = new Output(most);
  for (let at = 0; at < bytes.length; ) {
    if (at + 5 > bytes.length) fail('it is cut off');
    const magic = view.getUint32(at, true);
    if (magic === MAGIC) at = readFrame(bytes, at + 4, out);
    else if ((magic & ~15) >>> 0 === SKIPPABLE && at + 8 <= bytes.length) at += 8 + view.getUint32(at + 4, true);
    else fail('something else follows it');
    if (at > bytes.length) fail('it is cut off');
  }
  return out.bytes.subarray(0, out.at);
}

