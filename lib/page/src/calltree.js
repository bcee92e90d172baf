// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A call tree in preorder, in typed arrays: node 0 is the root, a node's subtree is [node, end[node]).

export class CallTree {
  constructor(size) {
    this.size = size;
    this.parent = new Int32Array(size);
    this.end = new Int32Array(size);
    this.name = new Int32Array(size);
    this.kind = new Uint8Array(size);
    this.name[0] = -1;
    this.parent[0] = -1;
    this.end[0] = size;
  }

  first(i) {
    return i + 1 < this.end[i] ? i + 1 : -1;
  }

  isOpen() {
    return true;
  }

  next(i) {
    if (i === 0) return -1;
    const after = this.end[i];
    return after < this.end[this.parent[i]] ? after : -1;
  }

  // How many frames a subtree holds.
  frames(i) {
    return this.end[i] - i;
  }

  // Adds each node's value to all above it: self values in, totals out.
  sumUp(self, into) {
    const total = into || new Float64Array(this.size);
    total.set(self);
    const parent = this.parent;
    for (let i = this.size - 1; i > 0; i--) total[parent[i]] += total[i];
    return total;
  }

  pathOf(i) {
    const path = [];
    for (; i > 0; i = this.parent[i]) path.push(i);
    return path.reverse();
  }
}
