// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Threads of one pool, told by their names: what differs among them is a number.

// A number stands alone, or the whole name ends in it (`CompilerThread0`). The digits of `C1`, `G1` and `http2` are part of a name.
const NUMBERS = /(?<![A-Za-z\d])#?\d+(?![A-Za-z\d])|#\d+|(?<=[A-Za-z]{2})\d+$/g;
const MAX_PATTERNS = 50;

const isDigit = (c) => c >= '0' && c <= '9';

// Where the number at a place of a name ends, `#` before it included; the place itself if there is none.
function numberEnd(name, at) {
  const first = name[at] === '#' ? at + 1 : at;
  let end = first;
  while (end < name.length && isDigit(name[end])) end++;
  return end > first ? end : at;
}

// Whether a whole name is as the pattern says: # is a number, * anything. No expression, which could take for ever.
export function matchesPattern(pattern, name) {
  let p = 0;
  let n = 0;
  let star = -1;
  let from = 0;
  while (n < name.length) {
    const number = pattern[p] === '#' ? numberEnd(name, n) : n;
    if (pattern[p] === '*') {
      star = p++;
      from = n;
    } else if (number > n) {
      n = number;
      p++;
    } else if (p < pattern.length && pattern[p] === name[n]) {
      n++;
      p++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++from;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

class Pools {
  // text: patterns with commas between, which come before what the names themselves say.
  constructor(text) {
    this.patterns = text.split(',').map((part) => part.trim()).filter(Boolean).slice(0, MAX_PATTERNS);
  }

  // The pool of a thread: the first pattern that its name is like, or the name with # for its numbers.
  of(name) {
    return this.patterns.find((pattern) => matchesPattern(pattern, name)) ?? name.replace(NUMBERS, '#');
  }
}

// What a thread counts as under a state: its pool, or its own name.
export function poolNamer({ pooled, pools }) {
  if (!pooled) return (name) => name;
  const made = new Pools(pools);
  return (name) => made.of(name);
}
