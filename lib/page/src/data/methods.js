// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The table of methods: self, and total with recursion counted once.

// Arrays over names: self, total, selfSamples, samples, places, kind.
export function sumMethods(tree, measure, nameCount) {
  const make = () => new Float64Array(nameCount);
  const sums = { self: make(), total: make(), places: new Uint32Array(nameCount), kind: new Uint8Array(nameCount) };
  const exact = measure.perSample === null;
  sums.selfSamples = exact ? make() : null;
  sums.samples = exact ? make() : null;
  // openUntil[name] > i: node i lies inside an open activation of the same name.
  const openUntil = new Int32Array(nameCount);
  const heaviest = make();
  const { name, end, kind } = tree;
  for (let i = 1; i < tree.size; i++) {
    const total = measure.total[i];
    if (total === 0) continue;
    const n = name[i];
    sums.self[n] += measure.self[i];
    sums.places[n]++;
    if (exact) sums.selfSamples[n] += measure.selfSamples[i];
    if (total > heaviest[n]) {
      heaviest[n] = total;
      sums.kind[n] = kind[i];
    }
    if (i < openUntil[n]) continue;
    openUntil[n] = end[i];
    sums.total[n] += total;
    if (exact) sums.samples[n] += measure.totalSamples[i];
  }
  sums.samplesOf = (n) => (exact ? sums.samples[n] : sums.total[n] / measure.perSample);
  sums.selfSamplesOf = (n) => (exact ? sums.selfSamples[n] : sums.self[n] / measure.perSample);
  return sums;
}
