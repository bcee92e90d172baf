// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Tables of finite state entropy (RFC 8878, 4.1).
import { BackwardBits, ForwardBits, highestBit } from './bits.js';

class Table {
  constructor(log) {
    this.log = log;
    this.symbol = new Uint8Array(1 << log);
    this.bits = new Uint8Array(1 << log);
    this.base = new Uint16Array(1 << log);
  }

  open(bytes, fail) {
    return new BackwardBits(bytes, fail);
  }

  next(state, bits) {
    return this.base[state] + bits.read(this.bits[state]);
  }
}

export function rleTable(symbol) {
  const table = new Table(0);
  table.symbol[0] = symbol;
  return table;
}

// counts: how often each symbol occurs among 2^log; -1: less than once.
export function buildTable(counts, log, fail) {
  const table = new Table(log);
  const size = 1 << log;
  const nexts = counts.map((count) => Math.abs(count));
  let high = size - 1;
  counts.forEach((count, symbol) => {
    if (count < 0) table.symbol[high--] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  counts.forEach((count, symbol) => {
    for (let i = 0; i < count; i++) {
      table.symbol[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at > high);
    }
  });
  if (at !== 0) fail('a table is not well-formed');
  for (let i = 0; i < size; i++) {
    const next = nexts[table.symbol[i]]++;
    table.bits[i] = log - highestBit(next);
    table.base[i] = (next << table.bits[i]) - size;
  }
  return table;
}

// The description of a table: { table, used: bytes }.
export function readTable(bytes, mostLog, mostSymbols, fail) {
  const bits = new ForwardBits(bytes);
  const log = bits.read(4) + 5;
  if (log > mostLog) fail('a table is too large');
  const counts = [];
  let left = 1 << log;
  while (left > 0) {
    if (counts.length >= mostSymbols || bits.at > 8 * bytes.length) fail('a table is not well-formed');
    const width = highestBit(left + 1) + 1;
    const value = bits.read(width);
    const low = value & ((1 << (width - 1)) - 1);
    const spare = (1 << width) - 1 - (left + 1);
    let found = value;
    if (low < spare) {
      bits.at--;
      found = low;
    } else if (value >= 1 << (width - 1)) found = value - spare;
    const count = found - 1;
    left -= Math.abs(count);
    counts.push(count);
    if (count !== 0) continue;
    for (let more = 3; more === 3; ) {
      more = bits.read(2);
      for (let i = 0; i < more; i++) counts.push(0);
      if (counts.length > mostSymbols) fail('a table is not well-formed');
    }
  }
  const used = (bits.at + 7) >> 3;
  if (left < 0 || counts.length > mostSymbols || used > bytes.length) fail('a table is not well-formed');
  return { table: buildTable(counts, log, fail), used };
}
