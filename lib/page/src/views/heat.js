// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Time as cells: a column for each second (for several, where columns would be too narrow), a row for each part of it.
// What happens every second, or at its start, shows as a line or a pattern.
import { eachSelected } from '../data/selection.js';

const HEAT_ROWS = 20;
const MIN_COLUMN = 3;

// Cells stand column after column, so that a time is one place in the list: (tick - first) / step.
export function heatGrid([from, to], second, width) {
  const unit = second * Math.max(1, Math.ceil(((to - from) * MIN_COLUMN) / second / (width || 1)));
  const first = Math.floor(from / unit) * unit;
  return { first, step: unit / HEAT_ROWS, columns: Math.max(1, Math.ceil((to - first) / unit)) };
}

export function heatCells(grid, timed, selection, weightOf) {
  const cells = new Float64Array(grid.columns * HEAT_ROWS);
  let highest = 0;
  eachSelected(timed, selection, (s) => {
    const at = Math.floor((timed.time[s] - grid.first) / grid.step);
    cells[at] += weightOf(s);
    highest = Math.max(highest, cells[at]);
  });
  return { ...grid, cells, highest };
}

// The first tick of the cell at a place of the canvas.
export function heatTick(heat, x, y, width, height) {
  const within = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  return heat.first + (within(x / width, heat.columns) * HEAT_ROWS + within(y / height, HEAT_ROWS)) * heat.step;
}

// whole: the cells of all samples, which are grey where `heat` has none; isLit(from, to): whether the ticks of a cell are in the selected range.
export function drawHeat(context, heat, whole, width, height, dark, isLit) {
  const wide = width / heat.columns;
  const tall = height / HEAT_ROWS;
  heat.cells.forEach((weight, i) => {
    const at = heat.first + i * heat.step;
    const lit = isLit(at, at + heat.step);
    const all = whole.cells[i];
    if (!all && lit) return;
    const hot = lit && weight > 0;
    const share = hot ? weight / heat.highest : all / whole.highest;
    context.fillStyle = hot ? `hsl(${40 - 28 * share} 82% ${dark ? 18 + 42 * share : 90 - 46 * share}%)` : `hsl(220 6% ${dark ? 14 + 20 * share : 93 - 26 * share}%)`;
    context.fillRect(Math.floor(i / HEAT_ROWS) * wide, (i % HEAT_ROWS) * tall, Math.max(1, wide - 0.5), Math.max(1, tall - 0.5));
  });
}
