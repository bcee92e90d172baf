// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The names in the page's source that belong to the browser and must not be shortened. With --write
// the list is made anew; as a test it is only compared.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
export const LIST = new URL('lib/page/reserved_names.txt', root);

// Reached by a text: views by their id.
const DYNAMIC = ['graph', 'callers', 'sandwich', 'table', 'name'];

// A browser or the data block has these as properties too, but we use them on our own objects only.
const OURS = [
  ...['node', 'state', 'result', 'selected', 'names', 'timed', 'source', 'weight', 'cursor', 'count', 'listener', 'order', 'dark', 'update'],
  ...['element', 'views', 'pipeline', 'hits', 'layout', 'row', 'rows', 'run', 'chip', 'meta', 'sums', 'side', 'time', 'thread'],
  ...['app', 'total', 'samples', 'flame', 'tree', 'threads', 'perSample', 'parent', 'self', 'states', 'kind', 'range', 'chips', 'outline'],
  ...['difference', 'frames', 'bytes', 'chrome', 'base', 'available', 'baseShape', 'method', 'part', 'merge', 'fold', 'selectNode', 'mine'],
  ...['cells', 'heat', 'pkg', 'cls', 'rate', 'zoom', 'show', 'query', 'view'],
];

// Keys of option objects and attributes: no object of the browser has them as properties.
const OPTIONS = ['alpha', 'ignoreBOM', 'once', 'passive', 'tabindex'];

function sourceNames() {
  const dir = new URL('lib/page/src/', root);
  const names = new Set();
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.js'))) {
    for (const [name] of readFileSync(new URL(file, dir), 'utf8').matchAll(/[A-Za-z_$][\w$]*/g)) names.add(name);
  }
  return names;
}

// Keys of the description in a data block, from the format's document.
function formatNames() {
  const text = readFileSync(new URL('docs/formats/page.md', root), 'utf8');
  const section = text.slice(text.indexOf('## META'));
  return [...section.matchAll(/`(\w+)`/g)].map((match) => match[1]).concat('from', 'to', 'empty').filter((name) => !OURS.includes(name));
}

export async function findReserved(page) {
  const builtin = await page.evaluate(() => {
    const names = new Set();
    const seen = new Set();
    const visit = (object, depth) => {
      if (!object || (typeof object !== 'object' && typeof object !== 'function') || seen.has(object)) return;
      seen.add(object);
      for (const name of Object.getOwnPropertyNames(object)) {
        names.add(name);
        if (depth === 0) continue;
        const found = Object.getOwnPropertyDescriptor(object, name);
        if (found && 'value' in found) visit(found.value, depth - 1);
      }
      visit(Object.getPrototypeOf(object), depth);
    };
    visit(window, 3);
    for (const made of [document.createElement('canvas').getContext('2d'), getComputedStyle(document.body), document.createElement('div').dataset]) visit(made, 1);
    return [...names];
  });
  const ours = sourceNames();
  const reserved = new Set([...builtin.filter((name) => !OURS.includes(name)), ...OPTIONS, ...DYNAMIC, ...formatNames()].filter((name) => ours.has(name)));
  return [...reserved].sort();
}

export function digest() {
  return createHash('sha256').update([...sourceNames()].sort().join('\n')).digest('hex').slice(0, 16);
}

export function listed() {
  return readFileSync(LIST, 'utf8').split('\n').filter((line) => line[0] !== '#').join(' ').split(' ').filter(Boolean);
}

function inLines(names) {
  const lines = [''];
  for (const name of names) {
    if (lines[lines.length - 1].length + name.length > 110) lines.push('');
    lines[lines.length - 1] += (lines[lines.length - 1] ? ' ' : '') + name;
  }
  return lines.join('\n');
}

export function writeList(names) {
  writeFileSync(LIST, '# SPDX-FileCopyrightText: The jprof authors\n# SPDX-License-Identifier: Apache-2.0\n' + '# Made by tests/page/run --reserved: names that shrink.py must leave alone.\n# For words ' + digest() + '\n' + inLines(names) + '\n');
}
