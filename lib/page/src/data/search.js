// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Search: plain text, /regex/, name: class: pkg:. It marks names; how much they weigh is counted once per stack.
import { splitName } from './names.js';

// { test(name) }, { expression } (for the matcher, never here) or { error }. Case counts only when a capital letter is typed.
export function parseQuery(text) {
  const query = text.trim();
  if (!query) return null;
  const regex = /^\/(.+)\/(i?)$/s.exec(query);
  if (regex) {
    try {
      new RegExp(regex[1], regex[2]); // says what is wrong with it
      return { expression: [regex[1], regex[2]] };
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
  const which = { name: 'method', class: 'cls', pkg: 'pkg' }[part[1]];
  return { test: (name) => holds(splitName(name)[which]) };
}

export function matchNames(names, query) {
  const hits = new Uint8Array(names.length);
  for (let n = 0; n < names.length; n++) if (query.test(names[n])) hits[n] = 1;
  return hits;
}

// Weight and samples of the stacks that hold a hit, each stack once, and in how many places they do: a hit below another
// is the same place. `within`: a node to look inside.
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

// How many methods with samples are hit, wherever they stand: also inside another hit.
export function countMethods(tree, measure, hits) {
  const seen = new Uint8Array(hits.length);
  let methods = 0;
  for (let i = 1; i < tree.size; i++) {
    const name = tree.name[i];
    if (!hits[name] || seen[name] || measure.total[i] === 0) continue;
    seen[name] = 1;
    methods++;
  }
  return methods;
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
