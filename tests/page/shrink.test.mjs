// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A shrunken script does what the script does. lib/page/shrink.py knows only as much JavaScript as the page uses.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SHRINK = `
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import shrink
tokens = shrink.rename(shrink.tokenize(sys.stdin.read()), set(sys.argv[2].split()))
print(shrink.join(shrink.simplify(shrink.fold_conditions(tokens))))
`;
const KEPT = 'Math Map max floor length push map join set get size name replace toString JSON stringify Object entries message Infinity';
const folder = fileURLToPath(new URL('../../lib/page/', import.meta.url));
const shrunk = (source) => execFileSync('python3', ['-c', SHRINK, folder, KEPT], { input: source, encoding: 'utf8' });

// The functions of the bundle write into `out`; both forms must write the same.
function same(body) {
  const source = `(() => {\n'use strict';\n${body}\n})();\n`;
  const results = [source, shrunk(source)].map((text) => {
    const out = [];
    new Function('out', text)(out);
    return out;
  });
  assert.deepEqual(results[1], results[0]);
  assert.ok(results[0].length > 0);
}

test('returns after conditions become one only where they follow each other', () => {
  same(`
function firstOver(values, limit) {
  for (const value of values) if (value > limit) return value;
  return -1;
}
function sign(value) {
  if (value < 0) return 'less';
  if (value > 0) return 'more';
  return 'same';
}
function choose(a, b) {
  if (a) return 1;
  else if (b) return 2;
  return 3;
}
function nested(a, b) {
  if (a) if (b) return 'both';
  return 'not both';
}
function bare(a) {
  if (a) return;
  return 7;
}
out.push(firstOver([1, 5, 9], 4), firstOver([1], 4), sign(-1), sign(0), sign(2), choose(0, 0), choose(0, 1), choose(1, 0), nested(1, 0), nested(1, 1), bare(1), bare(0));
`);
});

test('calls after conditions keep their conditions, their else and their order', () => {
  same(`
function note(text) {
  out.push(text);
  return text;
}
function run(a, b) {
  if (a) note('a');
  if (a || b) note('a or b');
  if (a && !b) note('a alone');
  else note('else');
  if (b) a = note('set');
  if (a ? b : !b) note('same');
  for (let i = 0; i < 2; i++) if (i === b) note('loop ' + i);
  if (b) b && note('inner');
  if (a) note(a) || note('never');
  note(String(a));
}
for (const a of [0, 1]) for (const b of [0, 1]) run(a, b);
`);
});

test('names: shadows, patterns with defaults, properties and variables of one name, getters, this', () => {
  same(`
const total = 5;
const width = (box, scale = total) => box.width * scale;
class Box {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.area = this.width * this.height;
    this.half = this.area / 2;
    this.all = [this.width, this.height].map((side) => side + this.half);
  }
  get doubled() {
    return { width: this.width * 2, height: this.height * 2 };
  }
  grown({ width, height = 3 } = {}, total = 1) {
    const name = 'n' + width;
    return { width, height, total, name, both: [width, ...this.all] };
  }
  static of({ width: w, height: h }) {
    return new Box(w, h);
  }
}
function shadow(total) {
  const add = (total) => total + 1;
  try {
    throw new Error(add(total));
  } catch (width) {
    return width.message;
  }
}
const box = Box.of({ width: 2, height: 4 });
const values = (o) => JSON.stringify(Object.entries(o).map(([, value]) => value));
const none = new Map();
out.push(new Map().size + none.size, [1, 2].map((n) => n + 1).join(), width(box), values(box.doubled), values(box.grown({ width: 9 })), values(box.grown(box, 8)), shadow(3), box.all.join());
`);
});

test('texts, templates, expressions, numbers and comments stay what they are', () => {
  same(`
// if (a) return 'x'; /* no */
const words = ['if (a) b();', "it's", 'undefined', \`plain\`];
const depth = (n) => \`<\${n > 0 ? \`\${n}:\${depth(n - 1)}}\` : '{'}>\`;
const slash = (text) => text.replace(/[/"'\`]\\/?/g, '|') + 8 / 2 / 1;
const far = Math.max(-Infinity, 1, 2) + Math.floor(2.5);
const nothing = undefined;
out.push(words.join(), depth(2), slash('a/b"c'), far, nothing === undefined, [Infinity, -Infinity].join(), 1 - -1, 1 + +1, 3 .toString(), nothing ? 0.5 : 0.25, 1 - 0.5, [...'0.5'].length * 0.5, [words[2], null, undefined, 0].map((x) => x === 'undefined' || (x !== 'plain' && x === null)).join());
`);
});

test('texts that stand often are themselves wherever they stand', () => {
  same(`
class Kinds {
  of(kind = 'selected') {
    switch (kind) {
      case 'selected':
        return { 'selected': kind === 'selected' ? 'selected' : 'name', name: ['selected', \`\${'selected'}\`] };
      default:
        return kind !== 'selected' && 'not selected';
    }
  }
}
const values = { 'selected': 1, name: { 'selected': 2 } };
out.push(JSON.stringify(new Kinds().of()), new Kinds().of('x'), values['selected'], 'selected' in values.name, 'selected'.length, 'selected' + 'selected');
`);
});
