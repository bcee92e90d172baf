// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Text that fits a box: the longest form of a name that has room.
import { shortenings } from '../data/names.js';

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

export class Labels {
  constructor(pen) {
    this.pen = pen;
    this.letters = new Map();
    this.forms = new Map();
    pen.font = FONT;
    this.ellipsis = this.widthOf('…');
  }

  // Sum of letter widths: measuring each text would cost more than drawing it. Kerning only makes it narrower.
  widthOf(text) {
    let width = 0;
    for (const letter of text) {
      let w = this.letters.get(letter);
      if (w === undefined) {
        this.pen.font = FONT;
        w = this.pen.measureText(letter).width;
        this.letters.set(letter, w);
      }
      width += w;
    }
    return width;
  }

  formsOf(name) {
    let forms = this.forms.get(name);
    if (!forms) {
      forms = shortenings(name).map((text) => ({ text, width: this.widthOf(text) }));
      this.forms.set(name, forms);
    }
    return forms;
  }

  fit(name, room) {
    const forms = this.formsOf(name);
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
    this.pen.font = FONT;
    this.pen.textBaseline = 'middle';
  }
}
