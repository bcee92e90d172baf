// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// XXH64 with seed 0, by its specification: the checksum of zstd.

const [P1, P2, P3, P4, P5] = [11400714785074694791n, 14029467366897019727n, 1609587929392839161n, 9650029242287828579n, 2870177450012600261n];
const cut = (n) => BigInt.asUintN(64, n);
const turn = (n, bits) => cut((n << bits) | (n >> (64n - bits)));
const round = (sum, lane) => cut(turn(cut(sum + cut(lane * P2)), 31n) * P1);

// The low 32 bits, which are what zstd keeps.
export function xxh64Low(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  let at = 0;
  let hash = P5;
  if (length >= 32) {
    const sums = [cut(P1 + P2), P2, 0n, cut(-P1)];
    for (; at + 32 <= length; at += 32) for (let k = 0; k < 4; k++) sums[k] = round(sums[k], view.getBigUint64(at + 8 * k, true));
    hash = cut(turn(sums[0], 1n) + turn(sums[1], 7n) + turn(sums[2], 12n) + turn(sums[3], 18n));
    for (const sum of sums) hash = cut(cut((hash ^ round(0n, sum)) * P1) + P4);
  }
  hash = cut(hash + BigInt(length));
  for (; at + 8 <= length; at += 8) hash = cut(cut(turn(hash ^ round(0n, view.getBigUint64(at, true)), 27n) * P1) + P4);
  if (at + 4 <= length) {
    hash = cut(cut(turn(hash ^ cut(BigInt(view.getUint32(at, true)) * P1), 23n) * P2) + P3);
    at += 4;
  }
  for (; at < length; at++) hash = cut(turn(hash ^ cut(BigInt(bytes[at]) * P5), 11n) * P1);
  hash = cut((hash ^ (hash >> 33n)) * P2);
  hash = cut((hash ^ (hash >> 29n)) * P3);
  return Number((hash ^ (hash >> 32n)) & 0xffffffffn);
}
