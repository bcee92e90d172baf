// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Numbers and fields as recordings hold them (docs/formats/recording.md). Whatever is beyond the bytes is damage.

export class Damaged extends Error {}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export class Fields {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  get left() {
    return this.bytes.length - this.at;
  }

  byte() {
    if (this.at >= this.bytes.length) throw new Damaged();
    return this.bytes[this.at++];
  }

  // Numbers above 2^53 lose digits, which no sum of weights can be seen to lack.
  varint() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const b = this.byte();
      if (scale > 2 ** 63) throw new Damaged();
      value += (b & 127) * scale;
      if (b < 128) return value;
    }
  }

  zigzag() {
    const n = this.varint();
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }

  raw(length) {
    if (length > this.left) throw new Damaged();
    return this.bytes.subarray(this.at, (this.at += length));
  }

  text(length = this.varint()) {
    return decoder.decode(this.raw(length));
  }

  // Calls visit(tag, fields of the content) for each field.
  each(visit) {
    while (this.left > 0) {
      const tag = this.varint();
      visit(tag, new Fields(this.raw(this.varint())));
    }
  }

  // A reader of the next `count` varints; this one goes on behind them.
  column(count) {
    const own = new Fields(this.bytes);
    own.at = this.at;
    for (let i = 0; i < count; i++) this.varint();
    return own;
  }
}
