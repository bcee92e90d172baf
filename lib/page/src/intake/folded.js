// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Folded text as a capture: "a;b;c 12" per line.
import { DamagedData } from '../data/bytes.js';
import { Numbers, StackSet } from './stacks.js';

const LINE = /^(.*?)[ \t]+(\d+(?:\.\d+)?)\s*$/;
const MOST_LINE = 1 << 22;

function* linesOf(text) {
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const stop = end < 0 ? text.length : end;
    yield text.slice(at, stop);
    at = stop + 1;
  }
}

export function readFolded(text, title) {
  const set = new StackSet();
  const entries = { node: new Numbers(Int32Array), weight: new Numbers() };
  let ignored = 0;
  for (const line of linesOf(text)) {
    const match = line.length <= MOST_LINE && LINE.exec(line);
    if (!match) {
      if (line.trim()) ignored++;
      continue;
    }
    let node = 0;
    for (const name of match[1].split(';')) node = set.child(node, set.name(name));
    entries.node.push(node);
    entries.weight.push(Number(match[2]));
  }
  if (!entries.node.count) throw new DamagedData('no line of it is a stack and a count (`main;serve 12`)');
  const facts = [['source', title]];
  if (ignored) facts.push(['ignored lines', String(ignored)]);
  const weight = entries.weight.done();
  return set.capture({ title, facts }, { node: entries.node.done(), weight, count: weight }, []);
}
