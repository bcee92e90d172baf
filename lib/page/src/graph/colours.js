// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Colours: by kind of frame, by package, by "mine"; marks of a search; shades of a comparison.
// A name has the same colour in every open and every view.
import { hashText, splitName } from '../data/names.js';
import { prefixesOf, startsWithAny } from '../data/ownership.js';

const FIRST_NEUTRAL_KIND = 10;

// Hue and saturation per kind, in the order of KINDS.
const KIND_HUES = [
  [142, 30],
  [50, 62],
  [86, 38],
  [142, 34],
  [178, 34],
  [28, 66],
  [28, 66],
  [262, 42],
  [262, 42],
  [6, 58],
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

const hues = new Map();

// By package, or by class where there is none.
const packageColour = (name, dark) => hueColour(packageHue(name), hashText(name) % 5, dark);

// Which of the package colours a name has, as a number; -1: the colour of what belongs to no class.
export function packageHue(name) {
  const { pkg, cls } = splitName(name);
  if (!pkg && !cls) return -1;
  let hue = hues.get(pkg || cls);
  if (hue === undefined) {
    hue = PACKAGE_HUES[hashText(pkg.split('.').slice(0, 3).join('.') || cls) % PACKAGE_HUES.length];
    hues.set(pkg || cls, hue);
  }
  return hue;
}

export const hueColour = (hue, spread, dark) => (hue < 0 ? shade(220, 7, 2, dark) : shade(hue, 42, spread, dark));
export const mineSwatch = (mine, dark) => (mine ? shade(210, 62, 2, dark) : shade(220, 7, 2, dark));
export const rootColour = (dark) => (dark ? '#2c2f36' : '#e4e7ec');
// The line under the boxes of the application's code.
export const ownColour = (dark) => (dark ? '#f2f3f5' : '#16181d');

function mineColour(name, dark, mine) {
  return startsWithAny(name, mine) ? shade(210, 62, hashText(name) % 5, dark) : shade(220, 7, hashText(name) % 4, dark);
}

export class Colours {
  constructor(names) {
    this.names = names;
    this.cache = new Map();
    this.own = new Map();
    this.key = '';
  }

  // mode: kind, package or mine.
  choose(mode, dark, mine) {
    const key = `${mode}|${dark}|${mine}`;
    if (key === this.key) return;
    Object.assign(this, { key, mode, dark, mine: prefixesOf(mine) });
    this.cache.clear();
    this.own.clear();
  }

  // Whether a method is the application's: its boxes stand out in every colouring.
  isOwn(name) {
    if (name < 0 || !this.mine.length) return false;
    let own = this.own.get(name);
    if (own === undefined) this.own.set(name, (own = startsWithAny(this.names[name], this.mine)));
    return own;
  }

  of(name, kind) {
    if (name < 0) return rootColour(this.dark);
    const slot = name * 16 + kind;
    let colour = this.cache.get(slot);
    if (colour === undefined) {
      const text = this.names[name];
      if (kind >= FIRST_NEUTRAL_KIND) colour = kindColour(kind, text, this.dark);
      else if (this.mode === 'package') colour = packageColour(text, this.dark);
      else if (this.mode === 'mine') colour = mineColour(text, this.dark, this.mine);
      else colour = kindColour(kind, text, this.dark);
      this.cache.set(slot, colour);
    }
    return colour;
  }
}

// Comparison: hue is direction, strength is evidence (0 none, 1 some, 2 strong).
export function evidenceColour(direction, strength, dark) {
  if (!direction || !strength) return dark ? '#3a3d44' : '#d9dce1';
  const hue = direction > 0 ? 28 : 214;
  if (strength === 1) return dark ? `hsl(${hue} 32% 30%)` : `hsl(${hue} 70% 87%)`;
  return dark ? `hsl(${hue} 80% 33%)` : `hsl(${hue} 90% 70%)`;
}
