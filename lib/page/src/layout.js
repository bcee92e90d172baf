// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Where each box of a tree lies: rows of boxes for the part of the tree that a window shows.
// Boxes under half a pixel are not descended into; neighbours become one grey run that remembers what it hides.

const MIN_PIXELS = 0.5;
// Trees that grow while they are looked at grow for so long in one frame, and go on in the next.
const GROW_MS = 40;

class Row {
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
  addBox(depth, node, left, right) {
    if (depth < 0) return;
    const row = this.row(depth);
    row.node.push(node);
    row.left.push(left);
    row.right.push(right);
    row.run.push(null);
  }

  addToRun(depth, node, left, right, frames, value) {
    if (depth < 0) return;
    const row = this.row(depth);
    const last = row.node.length - 1;
    const run = last >= 0 && left - row.right[last] < 1 ? row.run[last] : null;
    if (run) {
      run.frames += frames;
      run.value += value;
      row.right[last] = Math.max(row.right[last], right);
      return;
    }
    row.node.push(node);
    row.left.push(left);
    row.right.push(right);
    row.run.push({ frames, value });
  }
}

// Children of a node in the order of drawing.
function childrenOf(tree, node, total, order) {
  const children = [];
  for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0) children.push(c);
  if (order) children.sort(order);
  return children;
}

// options: { total, from, to (the window in units of weight), width (pixels), order, rootRow (0, or below to leave rows out), minimum (pixels), patience (ms) }
export function layoutBoxes(tree, options) {
  const { total, from, to, width, order, rootRow, minimum = MIN_PIXELS, patience = GROW_MS } = options;
  const layout = new Layout();
  const scale = width / (to - from || 1);
  const until = performance.now() + patience;
  let opened = 0;
  const nodes = [0];
  const starts = [0];
  const depths = [rootRow];
  if (rootRow === 0) layout.addBox(0, 0, Math.max(-2, -from * scale), Math.min(width + 2, (total[0] - from) * scale));
  while (nodes.length) {
    const node = nodes.pop();
    let at = starts.pop();
    const depth = depths.pop() + 1;
    if (!tree.isOpen(node) && ++opened > 8 && performance.now() > until) {
      layout.unfinished = true;
      continue;
    }
    const wide = [];
    const place = (child) => {
      const left = (at - from) * scale;
      const start = at;
      at += total[child];
      const right = (at - from) * scale;
      if (right <= 0) return true;
      if (left >= width) return false;
      if (right - left < minimum) {
        layout.addToRun(depth, child, left, right, tree.frames(child), total[child]);
        return true;
      }
      layout.addBox(depth, child, Math.max(-2, left), Math.min(width + 2, right));
      wide.push(child, start);
      return true;
    };
    if (order) {
      for (const child of childrenOf(tree, node, total, order)) if (!place(child)) break;
    } else {
      for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (total[c] > 0 && !place(c)) break;
    }
    for (let k = wide.length - 2; k >= 0; k -= 2) {
      nodes.push(wide[k]);
      starts.push(wide[k + 1]);
      depths.push(depth);
    }
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
