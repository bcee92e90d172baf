// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Where the boxes of one lane of the flame chart lie, in the part of the time that a window shows: a row for each level, and
// the pieces of which they are made.
import { levelsOf } from '../data/lanes.js';
import { Row } from './layout.js';

// Closer than this, in pixels, there is no pause between two pieces.
const TOUCHING = 0.001;

export class ChartRows {
  // shows(depth): whether boxes of a level are in view.
  constructor(tree, shows) {
    this.tree = tree;
    this.shows = shows;
    this.depths = new Map();
    // Per piece: from and to (pixels), its entry, and the share of it in which the thread ran.
    this.band = Object.assign(new Row(), { entry: [], share: [] });
    this.open = [];
    this.lefts = [];
  }

  fill(lane, { from, to, width }) {
    const { open, lefts, band, tree } = this;
    const levels = levelsOf(tree);
    const { parent, end } = tree;
    const scale = width / (to - from || 1);
    const asked = [];
    for (let d = 0; d < lane.levels; d++) asked.push(this.shows(d) ? this.rowAt(d) : null);
    this.rows = asked;
    const boxes = asked.some(Boolean);
    let last = -Infinity;
    lane.eachPiece(from, to, 1 / scale, (begin, until, i, share) => {
      const left = (begin - from) * scale;
      const right = Math.min(width + 2, (until - from) * scale);
      band.left.push(left);
      band.right.push(right);
      band.entry.push(i);
      band.share.push(share);
      if (!boxes) return;
      const node = lane.node[i];
      let keep = left - last > TOUCHING ? 0 : open.length;
      // Boxes that the stack is still in go on.
      while (keep > 0 && !(node >= open[keep - 1] && node < end[open[keep - 1]])) keep--;
      this.close(keep, last);
      const level = levels[node];
      open.length = lefts.length = level;
      for (let d = level - 1, at = node; d >= keep; d--, at = parent[at]) {
        open[d] = at;
        lefts[d] = left;
      }
      last = right;
    });
    this.close(0, last);
  }

  rowAt(depth) {
    let row = this.depths.get(depth);
    if (!row) this.depths.set(depth, (row = new Row()));
    return row;
  }

  close(keep, right) {
    const { open, lefts, rows } = this;
    for (let d = keep; d < open.length; d++) {
      const row = rows[d];
      if (!row) continue;
      row.node.push(open[d]);
      row.left.push(lefts[d]);
      row.right.push(right);
      row.run.push(null);
    }
    open.length = keep;
  }
}
