// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Search: plain text, /regex/, name: class: pkg:. It marks names; how much they weigh is counted once per stack.
import { splitName } from './names.js';
import { field } from './state.js';

// A regex cannot be interrupted on the page's thread, so the two shapes that take exponential time are refused:
// a repeated group that itself repeats or alternates, and back-references.
export function regexDanger(source) {
  const groups = [];
  let escaped = false;
  let inClass = false;
  let closed = null;
  for (let i = 0; i < source.length; i++) {
    const c = source[i];
    const wasClosed = closed;
    closed = null;
    if (escaped) {
      escaped = false;
      if (/[1-9k]/.test(c) && !inClass) return 'back-references are not supported';
      continue;
    }
    if (c === '\\') escaped = true;
    else if (inClass) inClass = c !== ']';
    else if (c === '[') inClass = true;
    else if (c === '(') groups.push({ repeats: false });
    else if (c === ')') {
      closed = groups.pop() || null;
      if (closed && closed.repeats && groups.length) groups[groups.length - 1].repeats = true;
    } else if (c === '|' && groups.length) groups[groups.length - 1].repeats = true;
    else if (c === '*' || c === '+' || c === '{' || (c === '?' && !'(*+?}'.includes(source[i - 1]))) {
      if (wasClosed && wasClosed.repeats && c !== '?') return 'a repeated group must not repeat or alternate inside';
      if (groups.length && c !== '?') groups[groups.length - 1].repeats = true;
    }
  }
  return polynomialDanger(source);
}

// Many unbounded repeats in a row take polynomial time on long names.
function polynomialDanger(source) {
  const unbounded = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x').match(/[*+]|\{\d+,\}/g);
  return unbounded && unbounded.length > 6 ? 'at most 6 repeats' : '';
}

// { test(name) } or { error }. Case counts only when a capital letter is typed.
export function parseQuery(text) {
  const query = text.trim();
  if (!query) return null;
  const regex = /^\/(.+)\/(i?)$/s.exec(query);
  if (regex) {
    const danger = regexDanger(regex[1]);
    if (danger) return { error: `this expression could freeze the page: ${danger}` };
    try {
      const compiled = new RegExp(regex[1], regex[2]);
      // Matching is bounded by the length of what is matched, too.
      return { test: (name) => compiled.test(name.length > 2000 ? name.slice(0, 2000) : name), regex: true };
    } catch (error) {
      return { error: 'not a regular expression: ' + error.message.replace(/^.*: /, '') };
    }
  }
  const part = /^(name|class|pkg):(.*)$/.exec(query);
  const wanted = part ? part[2].trim() : query;
  if (!wanted) return null;
  const exact = /\p{Lu}/u.test(wanted);
  const needle = exact ? wanted : wanted.toLowerCase();
  const holds = (s) => (exact ? s : s.toLowerCase()).includes(needle);
  if (!part) return { test: holds };
  const which = { name: field.method, class: field.cls, 'pkg': field.pkg }[part[1]];
  return { test: (name) => holds(splitName(name)[which]) };
}

export function matchNames(names, query) {
  const hits = new Uint8Array(names.length);
  for (let n = 0; n < names.length; n++) if (query.test(names[n])) hits[n] = 1;
  return hits;
}

// Weight and samples of the stacks that hold a hit, each stack once; `within`: a node to look inside.
export function weighHits(tree, measure, hits, within) {
  let weight = 0;
  let samples = 0;
  let boxes = 0;
  for (let node = within; node >= 0 && node < tree.size; node = tree.parent[node]) {
    if (node > 0 && node !== within && hits[tree.name[node]]) {
      // The whole of it lies below a hit already.
      return { weight: measure.total[within], samples: measure.samplesOf(within), boxes: countBoxes(tree, measure, hits, within) };
    }
  }
  const stop = tree.end[within];
  for (let i = within; i < stop; ) {
    if (i === 0 || measure.total[i] === 0 || !hits[tree.name[i]]) {
      i = i > 0 && measure.total[i] === 0 ? tree.end[i] : i + 1;
      continue;
    }
    weight += measure.total[i];
    samples += measure.samplesOf(i);
    boxes++;
    i = tree.end[i];
  }
  return { weight, samples, boxes };
}

function countBoxes(tree, measure, hits, within) {
  let boxes = 0;
  for (let i = Math.max(1, within); i < tree.end[within]; i++) if (measure.total[i] > 0 && hits[tree.name[i]]) boxes++;
  return boxes;
}

// The outermost hits, heaviest first: the walk of n and N.
export function hitsByWeight(tree, measure, hits, limit) {
  const found = [];
  for (let i = 1; i < tree.size; ) {
    if (measure.total[i] === 0) i = tree.end[i];
    else if (hits[tree.name[i]]) {
      found.push(i);
      i = tree.end[i];
    } else i++;
  }
  return found.sort((a, b) => measure.total[b] - measure.total[a] || a - b).slice(0, limit);
}
