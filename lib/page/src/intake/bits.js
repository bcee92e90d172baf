// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Bits of a byte array, from its beginning, or from its end as the entropy codes of zstd have them.

export const highestBit = (n) => 31 - Math.clz32(n);

// The `count` bits (at most 24) from a bit on; bits beside the bytes are 0.
function bitsFrom(bytes, at, count) {
  const k = at >> 3;
  const word = (bytes[k] | (bytes[k + 1] << 8) | (bytes[k + 2] << 16) | (bytes[k + 3] << 24)) >>> (at & 7);
  return word & ((1 << count) - 1);
}

export class ForwardBits {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  read(count) {
    const value = bitsFrom(this.bytes, this.at, count);
    this.at += count;
    return value;
  }
}

// Ends with a set bit, which is none of the content. `at`: how many bits are left; below 0 if more were read than there were.
export class BackwardBits {
  constructor(bytes, fail) {
    const last = bytes.length ? bytes[bytes.length - 1] : 0;
    if (!last) fail('a stream has no end');
    this.bytes = bytes;
    this.at = 8 * (bytes.length - 1) + highestBit(last);
  }

  read(count) {
    this.at -= count;
    if (this.at >= 0) return bitsFrom(this.bytes, this.at, count);
    const missing = -this.at;
    return missing >= count ? 0 : bitsFrom(this.bytes, 0, count - missing) << missing;
  }

  // Up to 31 bits.
  readLong(count) {
    if (count <= 16) return this.read(count);
    const high = this.read(count - 16);
    return high * 65536 + this.read(16);
  }
}
