// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Rows of boxes as pixels: each row is made one pixel high and stretched when it is drawn. A large graph has tens of
// thousands of boxes, and asking the browser for a rectangle each takes ten times as long.
import { h } from '../dom/dom.js';

const ODD = 0x00ff00ff;
const EVEN = 0xff00ff00;

export class PixelRows {
  constructor() {
    this.surface = h('canvas');
    this.pen = this.surface.getContext('2d');
    this.colours = new Map();
  }

  // A colour of a style as a pixel. The browser knows the colours, and tells opaque ones as #rrggbb.
  pixelOf(colour) {
    let pixel = this.colours.get(colour);
    if (pixel === undefined) {
      this.pen.fillStyle = colour;
      const rgb = parseInt(this.pen.fillStyle.slice(1), 16);
      [pixel] = new Uint32Array(new Uint8Array([rgb >> 16, rgb >> 8, rgb, 255]).buffer);
      this.colours.set(colour, pixel);
    }
    return pixel;
  }

  begin(width, count, background) {
    if (this.surface.width !== width || this.surface.height < count) {
      this.surface.width = width;
      this.surface.height = count;
      this.image = this.pen.createImageData(width, count);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.width = width;
    this.pixels.fill(this.pixelOf(background), 0, width * count);
  }

  // Ends may lie between pixels: what they cover of one is how much they change it.
  fill(row, left, right, colour, strength) {
    const from = Math.max(0, left);
    const to = Math.min(this.width, right);
    if (!(to > from)) return;
    const pixel = this.pixelOf(colour);
    const first = Math.floor(from);
    const last = Math.ceil(to) - 1;
    const at = row * this.width;
    if (strength < 1) for (let x = first; x <= last; x++) this.mix(at + x, pixel, strength);
    else if (first === last) this.mix(at + first, pixel, to - from);
    else {
      this.mix(at + first, pixel, first + 1 - from);
      this.pixels.fill(pixel, at + first + 1, at + last);
      this.mix(at + last, pixel, to - last);
    }
  }

  // Two of the four bytes at a time.
  mix(at, pixel, share) {
    const old = this.pixels[at];
    const part = Math.round(share * 256);
    const odd = ((old & ODD) * (256 - part) + (pixel & ODD) * part) / 256;
    const even = (((old & EVEN) >>> 0) * (256 - part) + ((pixel & EVEN) >>> 0) * part) / 256;
    this.pixels[at] = (odd & ODD) | (even & EVEN);
  }

  end() {
    this.pen.putImageData(this.image, 0, 0);
  }
}
