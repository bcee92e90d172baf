// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a page's data says of itself (META of docs/formats/page.md), checked: a file that somebody gives may say anything.
import { DamagedData } from './bytes.js';

const COUNTS = ['nodes', 'frames', 'names', 'modules', 'threads', 'timed'];
const NUMBERS = ['perSample', 'durationS', 'startMs', 'tickNs', 'durationTicks', 'lost'];
const TEXTS = ['title', 'event', 'unit', 'interval', 'duration', 'partial', 'jvm', 'host', 'empty'];

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const listOf = (value) => (Array.isArray(value) ? value : []);

export function cleanMeta(given) {
  if (!given || typeof given !== 'object') throw new DamagedData('its description cannot be read');
  const meta = {};
  for (const key of COUNTS) {
    const value = given[key] ?? 0;
    if (!isNumber(value) || !Number.isInteger(value)) throw new DamagedData(`its description has no number for ${key}`);
    meta[key] = value;
  }
  for (const key of NUMBERS) if (isNumber(given[key])) meta[key] = given[key];
  for (const key of TEXTS) if (given[key] !== undefined) meta[key] = String(given[key]);
  if (!(meta.tickNs > 0)) meta.tickNs = 1e6;
  if (given.warnings) meta.warnings = listOf(given.warnings).map(String);
  meta.facts = listOf(given.facts).filter(Array.isArray).map(([label, value]) => [String(label), String(value)]);
  const gaps = listOf(given.gaps).filter((gap) => gap && isNumber(gap.from) && isNumber(gap.to));
  if (gaps.length) meta.gaps = gaps.map(({ from, to, lost, reason }) => ({ from, to, lost: isNumber(lost) ? lost : 0, reason: String(reason) }));
  return meta;
}

// Every entry takes a byte at least: whoever claims more would get memory for nothing. bytesOf(id): of a column, 0 if it is not there.
export function checkCounts(meta, bytesOf) {
  const room = { nodes: bytesOf('TRNK'), frames: bytesOf('FKIN'), names: bytesOf('NLEN'), modules: bytesOf('MLEN'), threads: bytesOf('HLEN'), timed: bytesOf('STIM') };
  for (const [key, bytes] of Object.entries(room)) if (meta[key] > bytes) throw new DamagedData(`its description claims more ${key} than there are`);
}
