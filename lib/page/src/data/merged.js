// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Trees that are made while they are looked at: merged callers (upwards) and merged callees (downwards).
// A node stands for many places of the call tree; its children are found when first asked for.

export class MergedTree {
  // seeds: groups of { name, kind, at: places, from: the places whose weight counts }.
  constructor(tree, measure, seeds, upwards, useSelf) {
    this.source = tree;
    this.measure = measure;
    this.upwards = upwards;
    // Upwards a place keeps the weight of where it came from: self weight for hot leaves, total for one method.
    this.value = useSelf ? measure.self : measure.total;
    this.parent = [-1];
    this.name = [-1];
    this.kind = [0];
    this.total = [0];
    this.self = [0];
    this.samples = [0];
    this.selfSamples = [0];
    this.places = [null];
    this.firstChild = [-2];
    this.nextSibling = [-1];
    this.useSelf = useSelf;
    this.addChildren(0, seeds);
    this.total[0] = this.sumOf(0, 'total');
    this.samples[0] = this.sumOf(0, 'samples');
  }

  get size() {
    return this.name.length;
  }

  sumOf(node, which) {
    let sum = 0;
    for (let c = this.firstChild[node]; c >= 0; c = this.nextSibling[c]) sum += this[which][c];
    return sum;
  }

  addChildren(node, groups) {
    const made = groups.map((group) => this.addNode(node, group)).filter((id) => this.total[id] > 0);
    made.sort((a, b) => this.total[b] - this.total[a] || this.name[a] - this.name[b]);
    let previous = -1;
    this.firstChild[node] = made.length ? made[0] : -1;
    for (const id of made) {
      if (previous >= 0) this.nextSibling[previous] = id;
      previous = id;
    }
  }

  addNode(parent, group) {
    const id = this.name.length;
    const { measure } = this;
    let total = 0;
    let self = 0;
    let samples = 0;
    let selfSamples = 0;
    for (const place of this.upwards ? group.from : group.at) {
      total += this.value[place];
      samples += this.useSelf ? measure.selfSamplesOf(place) : measure.samplesOf(place);
      if (this.upwards) continue;
      self += measure.self[place];
      selfSamples += measure.selfSamplesOf(place);
    }
    this.parent.push(parent);
    this.name.push(group.name);
    this.kind.push(group.kind);
    this.total.push(total);
    this.self.push(self);
    this.samples.push(samples);
    this.selfSamples.push(selfSamples);
    this.places.push(group);
    this.firstChild.push(-2);
    this.nextSibling.push(-1);
    return id;
  }

  first(node) {
    if (this.firstChild[node] === -2) {
      this.addChildren(node, this.upwards ? this.callersOf(node) : this.calleesOf(node));
    }
    return this.firstChild[node];
  }

  // Whether the children of a node have been found already.
  isOpen(node) {
    return this.firstChild[node] !== -2;
  }

  next(node) {
    return this.nextSibling[node];
  }

  frames() {
    return 1;
  }

  callersOf(node) {
    const group = this.places[node];
    const groups = new Map();
    const { parent, name, kind } = this.source;
    let ended = 0;
    for (let k = 0; k < group.at.length; k++) {
      const place = parent[group.at[k]];
      if (place <= 0) {
        ended += this.value[group.from[k]];
        continue;
      }
      let found = groups.get(name[place]);
      if (!found) groups.set(name[place], (found = { name: name[place], kind: kind[place], at: [], from: [] }));
      found.at.push(place);
      found.from.push(group.from[k]);
    }
    this.self[node] = ended;
    return [...groups.values()];
  }

  calleesOf(node) {
    const groups = new Map();
    const { source } = this;
    for (const place of this.places[node].at) {
      for (let c = source.first(place); c >= 0; c = source.next(c)) {
        if (this.value[c] === 0) continue;
        let found = groups.get(source.name[c]);
        if (!found) groups.set(source.name[c], (found = { name: source.name[c], kind: source.kind[c], at: [] }));
        found.at.push(c);
      }
    }
    return [...groups.values()];
  }

  pathOf(node) {
    const path = [];
    for (let i = node; i > 0; i = this.parent[i]) path.push(i);
    return path.reverse();
  }

  samplesOf(node) {
    return this.samples[node];
  }

  selfSamplesOf(node) {
    return this.selfSamples[node];
  }
}

// Every method with self weight as a root, its callers below.
export function mergedCallers(tree, measure) {
  const groups = new Map();
  for (let i = 1; i < tree.size; i++) {
    if (measure.self[i] === 0) continue;
    let found = groups.get(tree.name[i]);
    if (!found) groups.set(tree.name[i], (found = { name: tree.name[i], kind: tree.kind[i], at: [], from: null }));
    found.at.push(i);
  }
  for (const group of groups.values()) group.from = group.at;
  return new MergedTree(tree, measure, [...groups.values()], true, true);
}

// The outermost places of a method: inner ones of a recursion are part of them and must not count twice.
export function outermostPlaces(tree, name) {
  const places = [];
  let inside = 0;
  for (const i of tree.placesOf(name)) {
    if (i < inside) continue;
    places.push(i);
    inside = tree.end[i];
  }
  return places;
}

export function sandwichOf(tree, measure, name) {
  const at = outermostPlaces(tree, name).filter((i) => measure.total[i] > 0);
  const kind = at.length ? tree.kind[at[0]] : 0;
  const seed = () => [{ name, kind, at, from: at }];
  return {
    callers: new MergedTree(tree, measure, seed(), true, false),
    callees: new MergedTree(tree, measure, seed(), false, false),
  };
}
