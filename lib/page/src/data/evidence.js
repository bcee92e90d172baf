// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// How sure the differences of a comparison are, per node of the tree and per method, for total and for self weight. The
// sums over time slices cost a pass over the samples: they are made when first asked for, and kept with the result.
import { judge, sumSlices } from './compare.js';

// Slices know nothing of stacks that were kept or dropped by name.
const hasSlices = (state) => !state.chips.some((chip) => chip.verb === 'keep' || chip.verb === 'drop');

// The node of the tree that a sample stands for, by its index; below 0: none.
export function nodeOfSample({ bySample, map }, timed) {
  if (bySample) return (s) => bySample[s];
  return map ? (s) => map[timed.node[s]] : (s) => timed.node[s];
}

// visit(node, add): calls add(key) once for every key that a sample at the node counts for.
function slicesOf(result, state, count, visit) {
  return result.sides.map((side, i) => {
    if (!side.timed || !hasSlices(state)) return null;
    const nodeOf = nodeOfSample(result.shape, side.timed);
    return sumSlices(side, result.selections[i], count, (s, add) => visit(nodeOf(s), add));
  });
}

function nodeSums(result, state, which) {
  const kept = (result.nodeSums ??= {});
  const { parent, size } = result.tree;
  kept[which] ??= slicesOf(result, state, size, (node, add) => {
    if (which === 'self') {
      if (node >= 0) add(node);
    } else for (let n = node; n >= 0; n = parent[n]) add(n);
  });
  return kept[which];
}

// which: 'total' or 'self'. Returns judge(node): see compare.js.
export function nodeEvidence(result, state, which) {
  const sums = nodeSums(result, state, which);
  return (node) =>
    judge(
      node,
      ...result.measures.map((m, i) => ({
        part: m[which][node],
        whole: m.total[0],
        samples: m.samplesOf(0),
        count: which === 'self' ? m.selfSamplesOf(node) : m.samplesOf(node),
        sums: sums[i],
      })),
    );
}

function nameSums(result, state, which, count) {
  const kept = (result.nameSums ??= {});
  const { parent, name } = result.tree;
  // Recursion counts once.
  const stamp = new Int32Array(count).fill(-1);
  let turn = 0;
  kept[which] ??= slicesOf(result, state, count, (node, add) => {
    if (which === 'self') {
      if (node > 0) add(name[node]);
      return;
    }
    turn++;
    for (let n = node; n > 0; n = parent[n]) {
      if (stamp[name[n]] === turn) continue;
      stamp[name[n]] = turn;
      add(name[n]);
    }
  });
  return kept[which];
}

// methods: the sums per method of both sides. Returns judge(name).
export function nameEvidence(result, state, which, methods) {
  const sums = nameSums(result, state, which, methods[0].total.length);
  return (n) =>
    judge(
      n,
      ...result.measures.map((m, i) => ({
        part: methods[i][which][n],
        whole: m.total[0],
        samples: m.samplesOf(0),
        count: which === 'self' ? methods[i].selfSamplesOf(n) : methods[i].samplesOf(n),
        sums: sums[i],
      })),
    );
}

// Whether both sides had enough time slices.
export const isSliced = (result) => Boolean(result.nameSums && result.nameSums.total.every(Boolean));
