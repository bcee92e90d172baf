// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a comparison says of each method: how self and total changed, how surely, what is new and what is gone; and all of it
// in one sentence.
import { passing, twoSided } from './compare.js';
import { isSliced, nameEvidence } from './evidence.js';
import { clip, splitName, visible } from './names.js';
import { formatCount, formatShare, plural } from './numbers.js';

const MOST_NAMED = 3;
// A change of so many standard errors is seen four times in five, at 95 % confidence.
const SEEN_AT = 2.8;
// The method that the sentence about unseen changes speaks of, and the change that it would like to see.
const EXAMPLE_SHARE = 0.05;
const EXAMPLE_CHANGE = 0.01;

export class Verdicts {
  // sums: of both sides, per name.
  constructor(names, result, state, sums) {
    this.names = names;
    this.result = result;
    this.sums = sums;
    this.methods = new Map();
    const judges = ['self', 'total'].map((which) => nameEvidence(result, state, which, sums));
    const tests = [];
    for (let n = 0; n < sums[0].total.length; n++) {
      if (!sums[0].total[n] && !sums[1].total[n]) continue;
      const [self, total] = judges.map((judge) => judge(n));
      this.methods.set(n, { self, total });
      if (!self.few) tests.push({ key: 2 * n, p: twoSided(self.z) });
      if (!total.few) tests.push({ key: 2 * n + 1, p: twoSided(total.z) });
    }
    this.passed = passing(tests);
    this.sliced = isSliced(result);
  }

  get(n) {
    return this.methods.get(n);
  }

  changedSelf(n) {
    return this.passed.has(2 * n);
  }

  changedTotal(n) {
    return this.passed.has(2 * n + 1);
  }

  // Whether something of a method differs so much that chance does not explain it.
  isClear(n) {
    return this.changedSelf(n) || this.changedTotal(n);
  }

  isNew(n) {
    return !this.sums[0].total[n];
  }

  isGone(n) {
    return !this.sums[1].total[n];
  }

  // What is clearly new or gone stands before everything else.
  rank(n) {
    return this.isClear(n) && (this.isNew(n) || this.isGone(n)) ? 1 : 0;
  }

  get clear() {
    this.clearNames ??= [...this.methods.keys()].filter((n) => this.isClear(n));
    return this.clearNames;
  }

  // `checkout.Price.of +6.2 points, 3 methods new`
  summary() {
    const { clear } = this;
    if (!clear.length) return this.unseen();
    const both = clear.filter((n) => !this.isNew(n) && !this.isGone(n));
    const selves = both.filter((n) => this.changedSelf(n));
    const which = selves.length ? 'self' : 'total';
    const size = (n) => Math.abs(this.get(n)[which].difference);
    const widest = (selves.length ? selves : both).sort((a, b) => size(b) - size(a));
    const parts = widest.slice(0, MOST_NAMED).map((n) => `${shortName(this.names[n])} ${points(this.get(n)[which].difference)} points`);
    if (widest.length > MOST_NAMED) parts.push(`${formatCount(widest.length - MOST_NAMED)} more changed`);
    const came = clear.filter((n) => this.isNew(n)).length;
    const went = clear.filter((n) => this.isGone(n)).length;
    if (came) parts.push(`${plural(came, 'method')} new`);
    if (went) parts.push(`${plural(went, 'method')} gone`);
    return parts.join(', ');
  }

  // How many times as much a share varies as that of independent samples would: the median of the methods.
  get spread() {
    const [a, b] = this.result.measures.map((m) => m.samplesOf(0));
    const ratios = [];
    for (const { total, self } of this.methods.values()) {
      for (const { pa, pb, error, few } of [total, self]) {
        const pooled = (pa * a + pb * b) / (a + b);
        const independent = pooled * (1 - pooled) * (1 / a + 1 / b);
        if (!few && independent > 0) ratios.push((error * error) / independent);
      }
    }
    ratios.sort((x, y) => x - y);
    return Math.max(1, ratios[ratios.length >> 1] || 1);
  }

  // Why nothing is called changed: what the samples could have shown, and how many more would be needed.
  unseen() {
    const [a, b] = this.result.measures.map((m) => m.samplesOf(0));
    if (!(a > 0 && b > 0)) return `Nothing to compare: ${a > 0 ? 'the new side' : 'the base'} has no samples`;
    const variance = EXAMPLE_SHARE * (1 - EXAMPLE_SHARE) * this.spread;
    const visibleFrom = SEEN_AT * Math.sqrt(variance * (1 / a + 1 / b));
    const text = `No change can be told from chance: with ${formatCount(a)} and ${plural(b, 'sample')}, a method with ${formatShare(EXAMPLE_SHARE, 1)} would have to change by ${points(visibleFrom).slice(1)} points`;
    if (visibleFrom <= EXAMPLE_CHANGE) return text;
    const needed = Number((2 * variance * (SEEN_AT / EXAMPLE_CHANGE) ** 2).toPrecision(2));
    return `${text}; to see 1 point takes about ${formatCount(needed)} samples on each side`;
  }
}

// Made once for a result.
export const verdictsOf = (names, result, state, sums) => (result.verdicts ??= new Verdicts(names, result, state, sums));

function points(difference) {
  const size = Math.abs(100 * difference);
  return (difference < 0 ? '−' : '+') + size.toFixed(size >= 1 ? 1 : 2);
}

// The last part of the package, class and method.
function shortName(name) {
  const { pkg, cls, method } = splitName(name);
  const text = cls ? [pkg.split('.').pop(), cls, method].filter(Boolean).join('.') : name;
  return visible(clip(text, 80)) || '(empty name)';
}
