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

  // The nodes of a name, in order. They are sorted by name when first asked for: a large tree takes a while.
  placesOf(wanted) {
    const { name, size } = this;
    if (!this.starts) {
      let names = 0;
      for (let i = 1; i < size; i++) names = Math.max(names, name[i] + 1);
      const ends = new Int32Array(names + 1);
      for (let i = 1; i < size; i++) ends[name[i]]++;
      for (let n = 1; n <= names; n++) ends[n] += ends[n - 1];
      this.places = new Int32Array(size - 1);
      for (let i = size - 1; i > 0; i--) this.places[--ends[name[i]]] = i;
      this.starts = ends;
    }
    return this.places.subarray(this.starts[wanted] ?? size, this.starts[wanted + 1]);
  }

  pathOf(i) {
    const path = [];
    for (; i > 0; i = this.parent[i]) path.push(i);
    return path.reverse();
  }
}
