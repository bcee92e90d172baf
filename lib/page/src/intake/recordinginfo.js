// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a recording says of itself, in the words of a page (lib/page/page_data.cpp).
import { Damaged, Fields } from './wire.js';

const UNITS = ['samples', 'ns', 'bytes'];
const TICK_NS = 1e6;

export const MOST_EVENTS = 16;

const emptyEvent = () => ({ name: 'cpu', unit: 0, engine: '', walker: '', interval: 0, got: 0, losses: [], gaps: [] });

export const emptyInfo = () => ({ title: '', events: [emptyEvent()], start: 0, duration: 0, hasTimes: false, hasThreads: false, partial: '', facts: [] });

function readEvent(payload) {
  const event = emptyEvent();
  const texts = { 1: 'name', 3: 'engine', 4: 'walker' };
  const times = { 5: 'interval', 6: 'got' };
  payload.each((tag, content) => {
    if (texts[tag]) event[texts[tag]] = content.text(content.left);
    else if (times[tag]) event[times[tag]] = content.zigzag();
    else if (tag === 2) event.unit = content.varint();
    else if (tag === 7) event.losses.push([content.text(), content.varint()]);
    else if (tag === 8) event.gaps.push({ reason: content.text(), from: content.zigzag(), to: content.zigzag(), lost: content.varint() });
  });
  return event;
}

export function readInfo(payload) {
  const info = { ...emptyInfo(), events: [] };
  const times = { 3: 'start', 4: 'duration' };
  new Fields(payload).each((tag, content) => {
    const text = () => content.text(content.left);
    if (tag === 1) info.title = text();
    else if (tag === 2) info.events.push(readEvent(content));
    else if (times[tag]) info[times[tag]] = content.zigzag();
    else if (tag === 5) info.hasTimes = content.varint() !== 0;
    else if (tag === 6) info.hasThreads = content.varint() !== 0;
    else if (tag === 7) info.partial = text() || 'no reason known';
    else if (tag === 8) info.facts.push([content.text(), content.text()]);
    if (info.events.length > MOST_EVENTS) throw new Damaged();
  });
  if (!info.events.length) throw new Damaged();
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

// The META of a page that shows an event; `others` are those that it does not show: "wall (812)".
export function describe(info, event, samples, others) {
  const facts = [];
  const add = (label, value) => value && facts.push([label, String(value)]);
  add('event', event.name);
  add('engine', event.engine);
  add('stack walker', event.walker);
  add('interval asked', durationLabel(event.interval));
  add('interval got', durationLabel(event.got));
  add('duration', durationLabel(info.duration));
  facts.push(['samples', String(samples)]);
  add('samples of other events', others);
  for (const [reason, lost] of event.losses) facts.push(['lost: ' + reason, String(lost)]);
  add('ended early', info.partial);
  facts.push(...info.facts);
  const meta = { title: info.title, event: event.name, unit: UNITS[event.unit] ?? UNITS[0], facts };
  const put = (key, value) => {
    if (value) meta[key] = value;
  };
  put('interval', durationLabel(event.interval));
  put('duration', durationLabel(info.duration));
  put('durationS', info.duration / 1e9);
  put('startMs', Math.floor(info.start / 1e6));
  put('lost', event.losses.reduce((sum, [, lost]) => sum + lost, 0));
  put('partial', info.partial);
  if (info.hasTimes && event.gaps.length) meta.gaps = event.gaps.map(({ from, to, lost, reason }) => ({ from: Math.trunc(from / TICK_NS), to: Math.max(Math.trunc(from / TICK_NS) + 1, Math.trunc(to / TICK_NS)), lost, reason }));
  const factOf = (label) => facts.find(([name]) => name === label)?.[1];
  put('jvm', factOf('JVM'));
  put('host', factOf('host'));
  const warnings = facts.filter(([label]) => label === 'warning').map(([, value]) => value);
  if (warnings.length) meta.warnings = warnings;
  return meta;
}
