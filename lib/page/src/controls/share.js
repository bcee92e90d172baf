// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What leaves the page: copied text, files, paper.
import { greyColour, markColour, textColour } from '../graph/colours.js';
import { h } from '../dom/dom.js';
import { clip, visible } from '../data/names.js';
import { formatCount, formatShare } from '../data/numbers.js';

export async function copyText(text, root) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No permission, or no clipboard API: the old way needs a selected field.
    const area = h('textarea.outline');
    area.value = text;
    root.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export function save(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Folded text: `;` and line breaks would split a name in two.
const folded = (name) => name.replace(/[;\r\n]/g, (c) => (c === ';' ? ':' : ' '));

export function stackText(tree, names, node) {
  return tree.pathOf(node).map((step) => names[tree.name[step]]).join('\n');
}

export function foldedLine(tree, names, node, count) {
  return tree.pathOf(node).map((step) => folded(names[tree.name[step]])).join(';') + ' ' + Math.round(count);
}

// Every stack with weight, as folded text with counts of samples; `inside`: a byte for each node that counts, or null.
export function foldedText(tree, names, measure, inside) {
  const lines = [];
  const path = [];
  const levels = new Int32Array(tree.size);
  for (let i = 0; i < tree.size; i++) {
    if (i > 0) {
      const level = levels[tree.parent[i]];
      levels[i] = level + 1;
      path.length = level;
      path.push(folded(names[tree.name[i]]));
    }
    if (inside && !inside[i]) continue;
    const count = Math.round(measure.selfSamplesOf(i));
    if (count > 0) lines.push((path.join(';') || '[empty stack]') + ' ' + count);
  }
  return lines.join('\n') + '\n';
}

const xml = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd');

// Programs that show pictures know fewer ways to write a colour than browsers.
function hexOf(pen, colour) {
  pen.fillStyle = colour;
  return pen.fillStyle;
}

// What the window shows, as a picture of boxes and text, in the colours that it has.
export function svgOf(view, title) {
  const { model, flame } = view;
  const width = 1200;
  const row = 18;
  const rows = view.pictureRows(width);
  const height = rows.length * row + 40;
  const known = new Map();
  const hex = (colour) => known.get(colour) ?? known.set(colour, hexOf(view.pen, colour)).get(colour);
  const text = hex(textColour(model.dark));
  const out = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="${text}">`,
    `<title>${xml(visible(title))}</title><rect width="100%" height="100%" fill="${hex(model.background)}"/><text x="8" y="20" font-size="15">${xml(visible(title))}</text>`,
  ];
  rows.forEach((boxes, depth) => {
    const y = flame ? height - (depth + 1) * row - 4 : 36 + depth * row;
    if (boxes.title) out.push(`<text x="4" y="${y + 13}" font-weight="bold">${xml(clip(boxes.title, 160))}</text>`);
    for (let k = 0; k < boxes.node.length; k++) {
      const left = Math.max(0, boxes.left[k]);
      const wide = Math.min(width, boxes.right[k]) - left;
      const node = boxes.node[k];
      const name = boxes.run[k] ? '' : visible(clip(model.name(node), 300));
      const share = boxes.run[k] ? `${formatCount(boxes.run[k].frames)} frames` : formatShare(model.total[node], model.total[0]);
      const fill = hex(boxes.run[k] ? greyColour(model.dark) : model.marked(node) ? markColour(model.dark) : model.fill(node));
      const label = wide > 30 ? clip(name, Math.floor(wide / 7)) : '';
      out.push(
        `<g><title>${xml(name)} ${xml(share)}</title><rect x="${left.toFixed(2)}" y="${y}" width="${Math.max(0.3, wide - 0.5).toFixed(2)}" height="${row - 1}" fill="${fill}"/>` +
          (label ? `<text x="${(left + 3).toFixed(2)}" y="${y + 13}">${xml(label)}</text>` : '') +
          '</g>',
      );
    }
    // Where a thread ran for a part of the time only.
    for (const [left, right, strength] of boxes.faded || []) out.push(`<rect x="${left.toFixed(2)}" y="${y}" width="${(right - left).toFixed(2)}" height="${row - 1}" fill="${hex(model.background)}" opacity="${strength.toFixed(2)}"/>`);
  });
  return out.join('\n') + '\n</svg>\n';
}

// The part of a printed page that the screen does not have: facts and the top methods.
export function printedTable(app) {
  const sums = app.methods(app.shown);
  const order = [];
  for (let n = 0; n < sums.total.length; n++) if (sums.total[n] > 0) order.push(n);
  order.sort((a, b) => sums.self[b] - sums.self[a] || sums.total[b] - sums.total[a]);
  const whole = app.shown.total[0];
  const rows = order.map((n) => h('tr', h('td', formatShare(sums.self[n], whole)), h('td', formatShare(sums.total[n], whole)), h('td', h('bdi', visible(clip(app.pipeline.names[n], 300))))));
  const facts = app.allFacts().map(([label, value]) => h('div', h('b', label), ' ', visible(clip(value, 500))));
  return [h('div.print-facts', ...facts), h('table', h('thead', h('tr', h('th', 'Self'), h('th', 'Total'), h('th', 'Method'))), h('tbody', ...rows))];
}
