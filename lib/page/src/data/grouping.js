// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Packages and modules of methods, and which of a few colours each has, so that those that touch in the graph differ.
import { FOLDED_MARK, KIND_FOLDED, KIND_JAVA_LAST, KIND_KERNEL, hashText, nameAndKind, splitName } from './names.js';

// What is narrower than this part of the whole does not decide which colours differ.
const LEAST_SHARE = 1e-5;

// `org.springframework.web` of all that lies below; the class where there is no package; '' for what has neither.
export function packageOf(name) {
  if (name.startsWith(FOLDED_MARK)) return name.slice(FOLDED_MARK.length).split('.').slice(0, 3).join('.');
  const { pkg, cls } = splitName(name);
  return pkg.split('.').slice(0, 3).join('.') || cls;
}

// Packages of the JDK's own modules.
const JDK = /^(?:java|javax|jdk|sun|com\.sun|com\.oracle)\./;

// The library of a native function, the JDK, or what the first two parts of a package say; '' if nobody knows.
function moduleOf(name, kind, library) {
  if (kind === KIND_KERNEL) return 'kernel';
  if (library) return library;
  if (kind > KIND_JAVA_LAST && kind !== KIND_FOLDED) return '';
  if (JDK.test(name)) return 'JDK';
  return packageOf(name).split('.').slice(0, 2).join('.');
}

// Which group a method is in, and which of `count` colours each group has (-1: that of what is in none).
export class Grouping {
  // source: { names, tree, weights, modules: a function of name and kind, or nothing }; by: package or module;
  // distance(a, b): how far two colours are apart, in degrees.
  constructor(source, by, count, distance) {
    this.source = source;
    this.by = by;
    this.count = count;
    this.distance = distance;
    this.ids = new Map([['', 0]]);
    this.labels = [''];
    this.slots = new Map();
    this.colours = [-1];
    if (source) this.assign();
  }

  idOf(text, name, kind) {
    const slot = nameAndKind(name, kind);
    let id = this.slots.get(slot);
    if (id === undefined) {
      const label = this.by === 'package' ? packageOf(text) : moduleOf(text, kind, this.source && this.source.moduleOf(name, kind));
      id = this.ids.get(label);
      if (id === undefined) {
        this.ids.set(label, (id = this.labels.length));
        this.labels.push(label);
      }
      this.slots.set(slot, id);
    }
    return id;
  }

  // What is too narrow to count has the colour that its name gives it.
  colourOf(text, name, kind) {
    const id = this.idOf(text, name, kind);
    return (this.colours[id] ??= hashText(this.labels[id]) % this.count);
  }

  labelOf(text, name, kind) {
    return this.labels[this.idOf(text, name, kind)];
  }

  // How much two groups touch: below one another by the width, beside one another once. [Map of neighbour to weight] by group.
  touching() {
    const { tree, names, weights } = this.source;
    const total = tree.sumUp(weights);
    const least = total[0] * LEAST_SHARE;
    const touch = [];
    const widths = [];
    const note = (a, b, weight) => {
      if (a === b) return;
      for (const [one, other] of [[a, b], [b, a]]) {
        touch[one] ??= new Map();
        touch[one].set(other, (touch[one].get(other) || 0) + weight);
      }
    };
    const groups = new Int32Array(tree.size);
    const levels = new Int32Array(tree.size);
    const last = [];
    for (let i = 1; i < tree.size; i++) {
      if (total[i] < least) {
        i = tree.end[i] - 1;
        continue;
      }
      const above = tree.parent[i];
      const level = (levels[i] = levels[above] + 1);
      const group = (groups[i] = this.idOf(names[tree.name[i]], tree.name[i], tree.kind[i]));
      if (above > 0) note(group, groups[above], total[i]);
      if (last[level]) note(group, groups[last[level]], Math.min(total[i], total[last[level]]));
      last[level] = i;
      widths[group] = (widths[group] || 0) + (above > 0 && groups[above] === group ? 0 : total[i]);
    }
    return { touch, widths };
  }

  // The widest groups choose first: a colour that none of their neighbours has, far from theirs, used by few.
  assign() {
    const { touch, widths } = this.touching();
    const used = new Float64Array(this.count);
    const order = [...widths.keys()].filter((id) => id > 0 && widths[id] > 0).sort((a, b) => widths[b] - widths[a] || (this.labels[a] < this.labels[b] ? -1 : 1));
    for (const id of order) {
      const same = new Float64Array(this.count);
      const near = new Float64Array(this.count);
      for (const [other, weight] of touch[id] || []) {
        const taken = this.colours[other];
        if (taken === undefined || taken < 0) continue;
        for (let c = 0; c < this.count; c++) {
          if (c === taken) same[c] += weight;
          else if (this.distance(c, taken) < 30) near[c] += weight;
        }
      }
      const own = hashText(this.labels[id]) % this.count;
      let best = -1;
      const better = (c) => same[c] - same[best] || near[c] - near[best] || used[c] - used[best];
      for (let k = 0; k < this.count; k++) {
        const c = (own + k) % this.count;
        if (best < 0 || better(c) < 0) best = c;
      }
      this.colours[id] = best;
      used[best] += widths[id];
    }
  }
}
