// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Text that fits a box: the longest form of a name that has room.
import { shortenings, splitName } from '../data/names.js';

const FACE = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class Labels {
  // weight: of the letters, as CSS has it.
  constructor(pen, weight = '') {
    this.pen = pen;
    this.font = weight + ' ' + FACE;
    this.repeated = null;
    this.letters = new Map();
    this.forms = new Map();
    this.others = new Map(); // of names that are not Java's
    pen.font = this.font;
    this.ellipsis = this.widthOf('…');
  }

  // Sum of letter widths: measuring each text would cost more than drawing it. Kerning only makes it narrower.
  widthOf(text) {
    let width = 0;
    for (const letter of text) {
      let w = this.letters.get(letter);
      if (w === undefined) {
        this.pen.font = this.font;
        w = this.pen.measureText(letter).width;
        this.letters.set(letter, w);
      }
      width += w;
    }
    return width;
  }

  // Names of methods that say nothing without their class: their labels keep it.
  keepClassOf(repeated) {
    if (this.repeated !== repeated) this.forms.clear();
    this.repeated = repeated;
  }

  formsOf(name, java) {
    const known = java ? this.forms : this.others;
    let forms = known.get(name);
    if (!forms) {
      const texts = shortenings(name, java);
      if (texts.length > 1 && this.repeated && this.repeated.has(splitName(name).method)) texts.pop();
      forms = texts.map((text) => ({ text, width: this.widthOf(text) }));
      known.set(name, forms);
    }
    return forms;
  }

  // java: whether it is the name of a Java method.
  fit(name, room, java = true) {
    const forms = this.formsOf(name, java);
    for (const form of forms) if (form.width <= room) return form.text;
    return this.cut(forms[forms.length - 1].text, room);
  }

  cut(text, room) {
    let width = this.ellipsis;
    let kept = '';
    for (const letter of text) {
      width += this.widthOf(letter);
      if (width > room) break;
      kept += letter;
    }
    return kept.length > 1 ? kept + '…' : '';
  }

  apply() {
    this.pen.font = this.font;
    this.pen.textBaseline = 'middle';
  }
}
