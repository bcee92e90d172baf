// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The bytes of a data block: base64, CRC-32, varints. Format: docs/formats/page.md.

export class DamagedData extends Error {
  // A name that no minifier changes: from a worker errors come as text.
  get kind() {
    return 'DamagedData';
  }
}

export function decodeBase64(text) {
  try {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  } catch {
    throw new DamagedData('its data is not valid base64');
  }
}

// Four tables instead of one: a large capture is checked in a third of the time.
const crcTables = (() => {
  const tables = [new Int32Array(256), new Int32Array(256), new Int32Array(256), new Int32Array(256)];
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    tables[0][n] = c;
  }
  for (let n = 0; n < 256; n++) {
    for (let t = 1; t < 4; t++) {
      const c = tables[t - 1][n];
      tables[t][n] = tables[0][c & 255] ^ (c >>> 8);
    }
  }
  return tables;
})();

// Continues `crc` (0 to begin with) over bytes[from, to).
export function crc32(bytes, from, to, crc) {
  const [t0, t1, t2, t3] = crcTables;
  let c = ~crc;
  let i = from;
  for (; i + 4 <= to; i += 4) {
    c ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    c = t3[c & 255] ^ t2[(c >>> 8) & 255] ^ t1[(c >>> 16) & 255] ^ t0[c >>> 24];
  }
  for (; i < to; i++) c = t0[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return ~c >>> 0;
}

// The varints of a column, one after the other. Past the end they are NaN: whoever counts on them must ask.
export class Varints {
  constructor(column) {
    this.column = column;
    this.bytes = column.bytes;
    this.at = 0;
  }

  get done() {
    return this.at >= this.bytes.length;
  }

  next() {
    let b = this.bytes[this.at++];
    if (b < 128) return b;
    let value = b & 127;
    let scale = 128;
    do {
      b = this.bytes[this.at++];
      value += (b & 127) * scale;
      scale *= 128;
    } while (b >= 128);
    return b === undefined ? NaN : value;
  }

  // A column that holds fewer or more than was asked for is damaged.
  end() {
    if (this.at !== this.bytes.length) throw new DamagedData('column ' + this.column.id + ' has the wrong length');
  }
}

// Fills `out` with the varints of a column.
export async function readVarints(column, out, pacer) {
  const varints = new Varints(column);
  for (let i = 0; i < out.length; ) {
    const stop = Math.min(out.length, i + 65536);
    for (; i < stop; i++) out[i] = varints.next();
    if (pacer.due()) await pacer.breathe();
  }
  varints.end();
  return out;
}
