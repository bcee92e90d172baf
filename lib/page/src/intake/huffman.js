// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Huffman codes of zstd's literals (RFC 8878, 4.2).
import { BackwardBits, highestBit } from './bits.js';
import { readTable } from './fse.js';

const MOST_BITS = 11;

// Weights that are packed by two states of one table, which take turns (4.2.1.2).
function packedWeights(bytes, fail) {
  const { table, used } = readTable(bytes, 6, 12, fail);
  const bits = new BackwardBits(bytes.subarray(used), fail);
  const states = [bits.read(table.log), bits.read(table.log)];
  if (bits.at < 0) fail('a table is cut off');
  const weights = [];
  for (let turn = 0; weights.length < 255; turn ^= 1) {
    weights.push(table.symbol[states[turn]]);
    states[turn] = table.next(states[turn], bits);
    if (bits.at < 0) {
      weights.push(table.symbol[states[turn ^ 1]]);
      return weights;
    }
  }
  return fail('a table is too long');
}

class Huffman {
  constructor(bits) {
    this.bits = bits;
    this.symbol = new Uint8Array(1 << bits);
    this.length = new Uint8Array(1 << bits);
  }

  decodeStream(bytes, out, fail) {
    const bits = new BackwardBits(bytes, fail);
    const { symbol, length } = this;
    for (let i = 0; i < out.length; i++) {
      const code = bits.read(this.bits);
      out[i] = symbol[code];
      bits.at += this.bits - length[code];
      if (bits.at < 0) fail('literals are cut off');
    }
    if (bits.at !== 0) fail('literals are too long');
  }

  // One stream, or four behind the lengths of three.
  decode(bytes, out, streams, fail) {
    if (streams === 1) return this.decodeStream(bytes, out, fail);
    if (bytes.length < 6) fail('literals are cut off');
    const part = (out.length + 3) >> 2;
    let at = 6;
    for (let k = 0; k < 4; k++) {
      const end = k < 3 ? at + bytes[2 * k] + (bytes[2 * k + 1] << 8) : bytes.length;
      if (end > bytes.length || k * part > out.length) fail('literals are cut off');
      this.decodeStream(bytes.subarray(at, end), out.subarray(k * part, k < 3 ? Math.min(out.length, (k + 1) * part) : out.length), fail);
      at = end;
    }
    return undefined;
  }
}

function tableOf(weights, fail) {
  let sum = 0;
  for (const weight of weights) {
    if (weight > MOST_BITS) fail('a code is too long');
    if (weight > 0) sum += 1 << (weight - 1);
  }
  if (!sum) fail('a table is empty');
  // The last weight fills what is left.
  const bits = highestBit(sum) + 1;
  const left = (1 << bits) - sum;
  if (bits > MOST_BITS || left & (left - 1)) fail('a table is not well-formed');
  const all = [...weights, highestBit(left) + 1];
  const table = new Huffman(bits);
  let at = 0;
  for (let weight = 1; weight <= bits; weight++) {
    all.forEach((own, symbol) => {
      if (own !== weight) return;
      const count = 1 << (weight - 1);
      table.symbol.fill(symbol, at, at + count);
      table.length.fill(bits + 1 - weight, at, at + count);
      at += count;
    });
  }
  if (at !== 1 << bits) fail('a table is not well-formed');
  return table;
}

// { table, used: bytes of its description }.
export function readHuffman(bytes, fail) {
  if (!bytes.length) fail('a table is cut off');
  const head = bytes[0];
  const count = head - 127;
  const used = 1 + (head < 128 ? head : (count + 1) >> 1);
  if (used > bytes.length) fail('a table is cut off');
  const weights = head < 128 ? packedWeights(bytes.subarray(1, used), fail) : Array.from({ length: count }, (_, i) => (i % 2 ? bytes[1 + (i >> 1)] & 15 : bytes[1 + (i >> 1)] >> 4));
  return { table: tableOf(weights, fail), used };
}
