// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// How sure the differences of a comparison are, per node of the tree and per method, for total and for self weight. The
// sums over time slices cost a pass over the samples: they are made when first asked for, and kept with the result.
import { judge, sumSlices } from './compare.js';
import { stackFilters } from './selection.js';

// The node of the tree that a sample stands for, by its index; below 0: none.
export function nodeOfSample({ bySample, map }, timed) {
  if (bySample) return (s) => bySample[s];
  return map ? (s) => map[timed.node[s]] : (s) => timed.node[s];
}

// Slices know nothing of stacks that were kept or dropped by name. visit(node, add): calls add(key) once for every key that a sample at the node counts for.
function slicesOf(result, state, count, visit) {
  return result.sides.map((side, i) => {
    if (!side.timed || stackFilters(state.chips).length) return null;
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

// values: of both sides, per key. Returns judge(key): see compare.js.
function judgeBy(result, which, values, sums) {
  return (key) =>
    judge(
      key,
      ...result.measures.map((m, i) => ({
        part: values[i][which][key],
        whole: m.total[0],
        samples: m.samplesOf(0),
        count: which === 'self' ? values[i].selfSamplesOf(key) : values[i].samplesOf(key),
        sums: sums[i],
      })),
    );
}

// which: 'total' or 'self'. Returns judge(node).
export const nodeEvidence = (result, state, which) => judgeBy(result, which, result.measures, nodeSums(result, state, which));

function nameSums(result, state, which, count) {
  const kept = (result.nameSums ??= {});
  if (kept[which]) return kept[which];
  const { parent, name } = result.tree;
  // Recursion counts once.
  const stamp = new Int32Array(count).fill(-1);
  let turn = 0;
  kept[which] = slicesOf(result, state, count, (node, add) => {
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
export const nameEvidence = (result, state, which, methods) => judgeBy(result, which, methods, nameSums(result, state, which, methods[0].total.length));

// Whether both sides had enough time slices.
export const isSliced = (result) => Boolean(result.nameSums && result.nameSums.total.every(Boolean));
