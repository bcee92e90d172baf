// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a recording says of itself, in the words of a page (lib/page/page_data.cpp).
import { Fields } from './wire.js';

const UNITS = ['samples', 'ns', 'bytes'];
const TICK_NS = 1e6;

export const emptyInfo = () => ({ title: '', event: 'cpu', engine: '', walker: '', unit: 0, interval: 0, got: 0, start: 0, duration: 0, hasTimes: false, hasThreads: false, partial: '', losses: [], facts: [], gaps: [] });

export function readInfo(payload) {
  const info = emptyInfo();
  const texts = { 1: 'title', 2: 'event', 4: 'engine', 5: 'walker' };
  const times = { 6: 'interval', 7: 'got', 8: 'start', 9: 'duration' };
  new Fields(payload).each((tag, content) => {
    const text = () => content.text(content.left);
    if (texts[tag]) info[texts[tag]] = text();
    else if (times[tag]) info[times[tag]] = content.zigzag();
    else if (tag === 3) info.unit = content.varint();
    else if (tag === 10) info.hasTimes = content.varint() !== 0;
    else if (tag === 11) info.hasThreads = content.varint() !== 0;
    else if (tag === 12) info.partial = text() || 'no reason known';
    else if (tag === 13) info.losses.push([content.text(), content.varint()]);
    else if (tag === 14) info.facts.push([content.text(), content.text()]);
    else if (tag === 15) info.gaps.push({ reason: content.text(), from: content.zigzag(), to: content.zigzag(), lost: content.varint() });
  });
  return info;
}

// "5.01 s", "10 ms", "12 min 30 s".
export function durationLabel(ns) {
  if (ns <= 0) return '';
  if (ns >= 120e9) {
    const seconds = Math.floor((ns + 5e8) / 1e9);
    const hours = seconds >= 7200;
    const large = Math.floor(seconds / (hours ? 3600 : 60));
    const small = hours ? Math.floor((seconds % 3600) / 60) : seconds % 60;
    return `${large}${hours ? ' h' : ' min'}${small > 0 ? ` ${small}${hours ? ' min' : ' s'}` : ''}`;
  }
  const [unit, word] = ns >= 1e9 ? [1e9, ' s'] : ns >= 1e6 ? [1e6, ' ms'] : ns >= 1e3 ? [1e3, ' µs'] : [1, ' ns'];
  return Number((ns / unit).toPrecision(3)) + word;
}

// The META of a page.
export function describe(info, samples) {
  const facts = [];
  const add = (label, value) => value && facts.push([label, String(value)]);
  add('event', info.event);
  add('engine', info.engine);
  add('stack walker', info.walker);
  add('interval asked', durationLabel(info.interval));
  add('interval got', durationLabel(info.got));
  add('duration', durationLabel(info.duration));
  facts.push(['samples', String(samples)]);
  for (const [reason, lost] of info.losses) facts.push(['lost: ' + reason, String(lost)]);
  add('ended early', info.partial);
  facts.push(...info.facts);
  const meta = { title: info.title, event: info.event, unit: UNITS[info.unit] ?? UNITS[0], facts };
  const put = (key, value) => {
    if (value) meta[key] = value;
  };
  put('interval', durationLabel(info.interval));
  put('duration', durationLabel(info.duration));
  put('durationS', info.duration / 1e9);
  put('startMs', Math.floor(info.start / 1e6));
  put('lost', info.losses.reduce((sum, [, lost]) => sum + lost, 0));
  put('partial', info.partial);
  if (info.hasTimes && info.gaps.length) meta.gaps = info.gaps.map(({ from, to, lost, reason }) => ({ from: Math.trunc(from / TICK_NS), to: Math.max(Math.trunc(from / TICK_NS) + 1, Math.trunc(to / TICK_NS)), lost, reason }));
  const factOf = (label) => facts.find(([name]) => name === label)?.[1];
  put('jvm', factOf('JVM'));
  put('host', factOf('host'));
  const warnings = facts.filter(([label]) => label === 'warning').map(([, value]) => value);
  if (warnings.length) meta.warnings = warnings;
  return meta;
}
