// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Numbers as text. A number always says what it is: samples, time, bytes, or a share.

// Not toLocaleString, whose first call takes as long as drawing a graph.
export function formatCount(n) {
  return String(Math.round(n)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function significant(x) {
  const a = Math.abs(x);
  if (a >= 100) return x.toFixed(0);
  if (a >= 10) return x.toFixed(1);
  return x.toFixed(2);
}

export function formatShare(part, whole) {
  if (!(whole > 0)) return '0 %';
  const percent = (100 * part) / whole;
  if (percent === 0) return '0 %';
  if (Math.abs(percent) >= 99.995) return percent.toFixed(0) + ' %';
  return (Math.abs(percent) >= 0.095 ? significant(percent) : percent.toPrecision(2)) + ' %';
}

export function formatPoints(difference) {
  const points = 100 * difference;
  const sign = points > 0 ? '+' : points < 0 ? '−' : '±';
  return sign + Math.abs(points).toFixed(Math.abs(points) < 0.1 ? 3 : 2);
}

const SCALES = {
  ns: [[6e10, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
  bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [1024, 'KiB'], [1, 'B']],
};

// A weight in its unit; nothing for units that are only counts (the samples are shown beside anyway).
export function formatWeight(weight, unit) {
  const scales = SCALES[unit];
  if (!scales) return unit && unit !== 'samples' ? formatCount(weight) + ' ' + unit : '';
  for (const [size, word] of scales) {
    if (weight >= size * (word === 'min' ? 10 : 1)) return significant(weight / size) + ' ' + word;
  }
  return '0 ' + scales[scales.length - 1][1];
}

export function formatClock(ms, utc) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return '';
  const two = (n) => String(n).padStart(2, '0');
  const parts = utc
    ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCMilliseconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds()];
  return `${two(parts[0])}:${two(parts[1])}:${two(parts[2])}.${String(parts[3]).padStart(3, '0')}`;
}

export function formatSeconds(seconds) {
  return seconds >= 600 ? significant(seconds / 60) + ' min' : significant(seconds) + ' s';
}

export const plural = (n, word) => `${formatCount(n)} ${word}${n === 1 ? '' : 's'}`;
