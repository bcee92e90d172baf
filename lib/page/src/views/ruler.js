// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Marks of time above the flame chart.

const LABEL_PIXELS = 90;

// The least of 1, 2, 5, 10, ... that is not below.
function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least * 0.999999);
}

export function drawRuler(surface, { from, to, width }, { dark, strip }) {
  const ratio = Math.min(devicePixelRatio || 1, 3);
  const height = surface.clientHeight;
  if (!height) return;
  if (surface.width !== Math.round(width * ratio)) surface.width = Math.round(width * ratio);
  if (surface.height !== Math.round(height * ratio)) surface.height = Math.round(height * ratio);
  const pen = surface.getContext('2d', { alpha: false });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = dark ? '#17191e' : '#ffffff';
  pen.fillRect(0, 0, width, height);
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  const perSecond = 1 / strip.seconds(1);
  const step = roundStep(((to - from) / perSecond) * (LABEL_PIXELS / width));
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const first = Math.ceil(from / perSecond / step - 1e-9);
  for (let k = first; k * step * perSecond <= to; k++) {
    const x = ((k * step * perSecond - from) / (to - from)) * width;
    pen.fillStyle = dark ? '#3a3f4a' : '#d5d9e0';
    pen.fillRect(Math.round(x), 0, 1, height);
    pen.fillStyle = dark ? '#a6adba' : '#5b6371';
    pen.fillText(`${(k * step).toFixed(digits)} s`, Math.round(x) + 4, height / 2 + 0.5);
  }
}
