// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Where each box of a tree lies: rows of boxes for the part of the tree that a window shows.
// Boxes under half a pixel are not descended into; neighbours become one grey run that remembers what it hides.

const MIN_PIXELS = 0.5;
// Trees that grow while they are looked at grow for so long in one frame, and go on in the next.
const GROW_MS = 40;

export class Row {
  constructor() {
    this.node = [];
    this.left = [];
    this.right = [];
    this.run = [];
  }

  // Index of the box at pixel x, or -1.
  find(x) {
    let low = 0;
    let high = this.node.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (x < this.left[middle]) high = middle - 1;
      else if (x >= this.right[middle]) low = middle + 1;
      else return middle;
    }
    return -1;
  }
}

export class Layout {
  constructor() {
    this.rows = [];
  }

  row(depth) {
    while (this.rows.length <= depth) this.rows.push(new Row());
    return this.rows[depth];
  }

  // Rows below 0 are not shown: a sandwich leaves out the root, and the method above its callers.
  addBox(depth, node, left, right, run = null) {
    if (depth < 0) return;
    const row = this.row(depth);
    row.node.push(node);
    row.left.push(left);
    row.right.push(right);
    row.run.push(run);
  }

  addToRun(depth, node, left, right, frames, value) {
    const row = depth >= 0 && this.row(depth);
    const last = row ? row.node.length - 1 : -1;
    const run = last >= 0 && left - row.right[last] < 1 ? row.run[last] : null;
    if (run) {
      run.frames += frames;
      run.value += value;
      row.right[last] = Math.max(row.right[last], right);
    } else this.addBox(depth, node, left, right, { frames, value });
  }
}

// Children of a node in the order of drawing.
function childrenOf(tree, node, total, order) {
  const children = [];
  for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0) children.push(c);
  if (order) children.sort(order);
  return children;
}

// model: { tree, total, order, self: where given, children stand by falling weight, and this is what is not theirs };
// part: { from, to (the window in units of weight), width (pixels), rootRow (0, or below to leave rows out), minimum (pixels), patience (ms) }
export function layoutBoxes(model, part) {
  const { tree, total, order, self } = model;
  const { from, to, width, rootRow, minimum = MIN_PIXELS, patience = GROW_MS } = part;
  const layout = new Layout();
  const scale = width / (to - from || 1);
  const until = performance.now() + patience;
  // Boxes reach little beyond the window.
  const begin = (at) => Math.max(-2, (at - from) * scale);
  const end = (at) => Math.min(width + 2, (at - from) * scale);
  let opened = 0;
  if (rootRow === 0) layout.addBox(0, 0, begin(0), end(total[0]));
  // Row by row, from left to right: the boxes wide enough to have others below, and where they begin.
  let above = [0];
  let starts = [0];
  for (let depth = rootRow + 1; above.length; depth++) {
    const wide = [];
    const begins = [];
    for (let k = 0; k < above.length; k++) {
      const node = above[k];
      let at = starts[k];
      if (!tree.isOpen(node) && ++opened > 8 && performance.now() > until) {
        layout.unfinished = true;
        continue;
      }
      const children = order && childrenOf(tree, node, total, order);
      let n = 0;
      for (let c = children ? children[0] ?? -1 : tree.first(node); c >= 0; c = children ? children[++n] ?? -1 : tree.next(c)) {
        const weight = total[c];
        if (at >= to) break;
        if (weight * scale < minimum) {
          // Where one is too narrow, so are all that follow: they need no visit.
          const rest = self ? starts[k] + total[node] - self[node] - at : weight;
          if (rest > 0 && at + rest > from) layout.addToRun(depth, c, begin(at), end(at + rest), self ? tree.end[node] - c : tree.frames(c), rest);
          if (self) break;
        } else if (at + weight > from) {
          layout.addBox(depth, c, begin(at), end(at + weight));
          wide.push(c);
          begins.push(at);
        }
        at += weight;
      }
    }
    above = wide;
    starts = begins;
  }
  return layout;
}

// The weight to the left of a node, at the drawing order used.
export function startOf(tree, node, total, order) {
  let start = 0;
  for (let i = node; i > 0; i = tree.parent[i]) {
    const above = tree.parent[i];
    if (order) {
      for (const c of childrenOf(tree, above, total, order)) {
        if (c === i) break;
        start += total[c];
      }
    } else {
      for (let c = tree.first(above); c >= 0 && c !== i; c = tree.next(c)) start += total[c];
    }
  }
  return start;
}

// The deepest node that holds the whole of a window, and the weight to the left of it.
export function nodeAround({ tree, total, order }, from, to) {
  let node = 0;
  let start = 0;
  for (let child = tree.first(0), at = 0; child >= 0; ) {
    if (at <= from && at + total[child] >= to) {
      node = child;
      start = at;
      child = tree.first(node);
    } else {
      at += total[child];
      child = order || at > from ? -1 : tree.next(child);
    }
  }
  return { node, start };
}
