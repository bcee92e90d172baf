// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Colours: by kind of frame, package, module, heat, search, "mine"; marks of a search; shades of a comparison.
// A name has the same colour in every open and every view.
import { Grouping } from '../data/grouping.js';
import { KIND_FOLDED, hashText, nameAndKind } from '../data/names.js';
import { prefixesOf, startsWithAny } from '../data/ownership.js';

const FIRST_NEUTRAL_KIND = 10;
// Kinds that have the same grey in every colouring: what is no method.
export const isNeutral = (kind) => kind >= FIRST_NEUTRAL_KIND && kind !== KIND_FOLDED;

// Hue and saturation per kind, in the order of KINDS.
const KIND_HUES = [
  [142, 30],
  [50, 62],
  [86, 38],
  [142, 34],
  [172, 34],
  [202, 50],
  [28, 66],
  [270, 42],
  [234, 46],
  [4, 58],
  [220, 7],
  [220, 7],
  [220, 7],
  [220, 7],
  [220, 7],
  [220, 7],
];
const PACKAGE_HUES = [4, 26, 46, 84, 130, 160, 186, 204, 224, 252, 282, 318];

const lightness = (dark, spread) => (dark ? 27 + spread : 80 - spread);

// There are few shades and many names: each shade is one text, which whoever asks for its pixel finds faster.
const shades = new Map();

function shade(hue, saturation, spread, dark) {
  const slot = ((hue * 128 + saturation) * 8 + spread) * 2 + dark;
  let text = shades.get(slot);
  if (!text) shades.set(slot, (text = `hsl(${hue} ${dark ? Math.round(saturation * 0.8) : saturation}% ${lightness(dark, spread)}%)`));
  return text;
}

export const textColour = (dark) => (dark ? '#f2f3f5' : '#16181d');
export const greyColour = (dark) => (dark ? '#41454d' : '#c3c7ce');
export const markColour = (dark) => (dark ? 'hsl(312 52% 34%)' : 'hsl(312 78% 79%)');

export function kindColour(kind, name, dark) {
  const [hue, saturation] = KIND_HUES[kind] || KIND_HUES[0];
  return shade(hue, saturation, hashText(name) % 5, dark);
}

// Which colours a graph by package or module has for its groups, as numbers from 0; -1: the colour of what is in none.
function groupingOf(source, by) {
  const distance = (a, b) => Math.min(Math.abs(PACKAGE_HUES[a] - PACKAGE_HUES[b]), 360 - Math.abs(PACKAGE_HUES[a] - PACKAGE_HUES[b]));
  return new Grouping(source, by, PACKAGE_HUES.length, distance);
}

export const hueColour = (hue, spread, dark) => (hue < 0 ? shade(220, 7, 2, dark) : shade(hue, 42, spread, dark));
export const mineSwatch = (mine, dark) => (mine ? shade(210, 62, 2, dark) : shade(220, 7, 2, dark));
export const rootColour = (dark) => (dark ? '#2c2f36' : '#e4e7ec');
// The line under the boxes of the application's code.
export const ownColour = (dark) => (dark ? '#f2f3f5' : '#16181d');

function mineColour(name, dark, mine) {
  return startsWithAny(name, mine) ? shade(210, 62, hashText(name) % 5, dark) : shade(220, 7, hashText(name) % 4, dark);
}

// Of self time, in all places: [from which share of the whole, hue, saturation, lightness added].
export const HEAT = [
  [0, 220, 7, 3, 'no time of its own'],
  [1e-12, 56, 58, 3, 'below 0.3 %'],
  [0.003, 44, 80, 0, '0.3 to 1 %'],
  [0.01, 30, 88, -4, '1 to 3 %'],
  [0.03, 14, 84, -8, '3 to 10 %'],
  [0.1, 0, 78, -14, '10 % and more'],
];

export function heatColour([, hue, saturation, more], dark) {
  return dark ? `hsl(${hue} ${Math.round(saturation * 0.8)}% ${28 - more / 2}%)` : `hsl(${hue} ${saturation}% ${80 + more}%)`;
}

export const heatStep = (share) => HEAT.findLast(([least]) => share >= least);
// By search: what is called by a hit, and what has nothing to do with one.
export const belowFoundColour = (dark) => (dark ? 'hsl(312 20% 27%)' : 'hsl(312 40% 90%)');
export const restColour = (dark) => shade(220, 7, 2, dark);

export class Colours {
  // source: what the capture says of all names, for groups whose colours depend on their neighbours.
  constructor(names, source = null) {
    this.names = names;
    this.source = source;
    this.groupings = {};
    this.cache = new Map();
    this.own = new Map();
    this.key = '';
  }

  // mode: kind, package, module, heat, search or mine; sums: { self, whole } of the methods, for heat.
  choose(mode, dark, mine, sums = null) {
    const key = `${mode}|${dark}|${mine}`;
    if (key === this.key && (sums && sums.self) === (this.sums && this.sums.self)) return;
    Object.assign(this, { key, mode, dark, sums, mine: prefixesOf(mine) });
    this.cache.clear();
    this.own.clear();
  }

  // Of packages or modules, whichever the colours show.
  get grouping() {
    return (this.groupings[this.mode] ??= groupingOf(this.source, this.mode));
  }

  // Whether a method is the application's: its boxes stand out in every colouring.
  isOwn(name) {
    if (name < 0 || !this.mine.length) return false;
    let own = this.own.get(name);
    if (own === undefined) this.own.set(name, (own = startsWithAny(this.names[name], this.mine)));
    return own;
  }

  // The colour of its group, as a number of degrees; -1 if it is in none.
  hueOf(name, kind) {
    const colour = this.grouping.colourOf(this.names[name], name, kind);
    return colour < 0 ? -1 : PACKAGE_HUES[colour];
  }

  of(name, kind) {
    if (name < 0) return rootColour(this.dark);
    const slot = nameAndKind(name, kind);
    let colour = this.cache.get(slot);
    if (colour === undefined) this.cache.set(slot, (colour = this.colourOf(name, kind)));
    return colour;
  }

  colourOf(name, kind) {
    const { mode, dark, sums } = this;
    const text = this.names[name];
    if (mode === 'heat') return heatColour(heatStep(sums && sums.whole > 0 ? sums.self[name] / sums.whole : 0), dark);
    if (mode === 'search') return restColour(dark);
    if (mode !== 'kind' && !isNeutral(kind)) return mode === 'mine' ? mineColour(text, dark, this.mine) : hueColour(this.hueOf(name, kind), hashText(text) % 5, dark);
    return kindColour(kind, text, dark);
  }
}

// Of thread states, in the order of their numbers.
const STATE_LIGHT = ['#6f9bd1', '#4f9d69', '#8cc084', '#c9ccd3', '#d8b765', '#e3cf97', '#d1685c', '#d9975a'];
const STATE_DARK = ['#5f8cc4', '#4b9265', '#6f9f68', '#565b66', '#a58839', '#8c7b48', '#b5544a', '#b0743c'];

export const stateColour = (state, dark) => (dark ? STATE_DARK : STATE_LIGHT)[Math.min(state, STATE_LIGHT.length - 1)];

// Comparison: hue is direction, strength is evidence (0 none, 1 some, 2 strong).
export function evidenceColour(direction, strength, dark) {
  if (!direction || !strength) return dark ? '#3a3d44' : '#d9dce1';
  const hue = direction > 0 ? 28 : 214;
  if (strength === 1) return dark ? `hsl(${hue} 32% 30%)` : `hsl(${hue} 70% 87%)`;
  return dark ? `hsl(${hue} 80% 33%)` : `hsl(${hue} 90% 70%)`;
}
