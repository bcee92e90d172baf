// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// One recorded capture: what the data block of a page holds, decoded and checked.
import { DamagedData, Varints, crc32, decodeBase64, readVarints } from './bytes.js';
import { checkCounts, cleanMeta } from './meta.js';
import { TreeReader } from './treereader.js';

const MAGIC = 'jprof.pg';
const HEADER_BYTES = 24;
const PIECE_BYTES = 65536;
const MOST_BYTES = 2 ** 31;
// Frames of these kinds have a module: native, JVM.
const NATIVE_KINDS = new Set([6, 7]);
export const FORMAT_MAJOR = 1;

export class NewerFormat extends Error {
  get kind() {
    return 'NewerFormat';
  }
}

export class OldBrowser extends Error {
  get kind() {
    return 'OldBrowser';
  }
}

const hex = (n) => n.toString(16).padStart(8, '0');

function checkHeader(packed) {
  const magic = String.fromCharCode(...packed.subarray(0, MAGIC.length));
  if (packed.length < HEADER_BYTES || magic !== MAGIC) {
    throw new DamagedData('its data does not begin like a capture of jprof');
  }
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const expected = view.getUint32(20, true);
  const found = crc32(packed, HEADER_BYTES, packed.length, crc32(packed, 0, 20, 0));
  if (found !== expected) {
    throw new DamagedData(`checksum expected ${hex(expected)}, found ${hex(found)}`);
  }
  if (packed[8] > FORMAT_MAJOR) {
    throw new NewerFormat(`its data has format ${packed[8]}.${packed[9]}, this page reads up to ${FORMAT_MAJOR}`);
  }
  return { packing: packed[10], rawLength: view.getUint32(12, true) };
}

async function inflate(packed, header, pacer) {
  if (header.packing === 0) return packed.subarray(HEADER_BYTES);
  if (typeof DecompressionStream === 'undefined') {
    throw new OldBrowser('this browser cannot unpack the data (needed: Chromium 103, Firefox 113 or Safari 16.4)');
  }
  // Not by way of a Blob, whose bytes go to another process and back.
  const { writable, readable } = new DecompressionStream('deflate-raw');
  const [writer, reader] = [writable.getWriter(), readable.getReader()];
  const feed = async () => {
    for (let at = HEADER_BYTES; at < packed.length; at += PIECE_BYTES) {
      await writer.write(packed.subarray(at, at + PIECE_BYTES));
      if (pacer.due()) await pacer.breathe();
    }
    await writer.close();
  };
  let length = 0;
  if (header.rawLength > MOST_BYTES) throw new DamagedData('its data is larger than any page is');
  try {
    const raw = new Uint8Array(header.rawLength);
    const fed = feed();
    // Whoever reads meets its failure as well.
    fed.catch(() => {});
    for (let piece; !(piece = await reader.read()).done; length += piece.value.length) raw.set(piece.value, length);
    await fed;
    if (length === raw.length) return raw;
  } catch {
    throw new DamagedData('its data cannot be unpacked');
  }
  throw new DamagedData(`${header.rawLength} bytes expected, ${length} found`);
}

// Columns of an id that this page does not know are skipped: a newer minor version added them.
function splitColumns(raw) {
  const columns = new Map();
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  for (let at = 0; at < raw.length; ) {
    if (at + 8 > raw.length) throw new DamagedData('a column is cut off');
    const id = String.fromCharCode(raw[at], raw[at + 1], raw[at + 2], raw[at + 3]);
    const end = at + 8 + view.getUint32(at + 4, true);
    if (end > raw.length) throw new DamagedData(`column ${id} is cut off`);
    columns.set(id, { id, bytes: raw.subarray(at + 8, end) });
    at = end;
  }
  return columns;
}

function column(columns, id) {
  const found = columns.get(id);
  if (!found) throw new DamagedData(`column ${id} is missing`);
  return found;
}

// Text columns: lengths in UTF-16 units, then all texts joined, as UTF-8.
async function readTexts(columns, lengthId, textId, count, pacer) {
  const lengths = await readVarints(column(columns, lengthId), new Uint32Array(count), pacer);
  const all = new TextDecoder('utf-8', { ignoreBOM: true }).decode(column(columns, textId).bytes);
  const texts = new Array(count);
  let at = 0;
  for (let i = 0; i < count; i++) texts[i] = all.slice(at, (at += lengths[i]));
  if (at !== all.length) throw new DamagedData(`column ${textId} has the wrong length`);
  return texts;
}

// Names stand in the order of their bytes, each without what it shares with the one before.
async function readNames(columns, count, pacer) {
  const names = await readTexts(columns, 'NLEN', 'NAME', count, pacer);
  const shared = new Varints(column(columns, 'NPRE'));
  let last = '';
  for (let i = 0; i < count; i++) {
    const length = shared.next();
    if (!(length <= last.length)) throw new DamagedData('column NPRE does not fit the names');
    names[i] = last = last.slice(0, length) + names[i];
  }
  shared.end();
  return names;
}

// Numbers that are split into their low byte and a varint of the rest.
class Split {
  constructor(columns, low, high) {
    this.low = column(columns, low);
    this.high = new Varints(column(columns, high));
    this.at = 0;
  }

  get length() {
    return this.low.bytes.length;
  }

  next() {
    return this.low.bytes[this.at++] + this.high.next() * 256;
  }

  end() {
    this.high.end();
    if (this.at !== this.low.bytes.length) throw new DamagedData(`column ${this.low.id} has the wrong length`);
  }
}

function readFrames(columns, count, nameCount) {
  const numbers = new Split(columns, 'FNLO', 'FNHI');
  const kind = column(columns, 'FKIN').bytes;
  const name = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    name[i] = numbers.next();
    if (name[i] < 0 || name[i] >= nameCount) throw new DamagedData('the frames do not fit the names');
  }
  numbers.end();
  if (kind.length !== count) throw new DamagedData('column FKIN has the wrong length');
  return { count, name, kind };
}

// Of native frames alone: [{ name, kind, module }, ...]. Pages of older versions have none.
async function readModules(columns, meta, frames, pacer) {
  if (!columns.has('FMOD')) return [];
  const texts = await readTexts(columns, 'MLEN', 'MNAM', meta.modules, pacer);
  const numbers = new Varints(column(columns, 'FMOD'));
  const found = [];
  for (let i = 0; i < frames.count; i++) {
    if (!NATIVE_KINDS.has(frames.kind[i])) continue;
    const number = numbers.next();
    if (number > texts.length) throw new DamagedData('the frames do not fit the modules');
    if (number) found.push({ name: frames.name[i], kind: frames.kind[i], module: texts[number - 1] });
  }
  numbers.end();
  return found;
}

async function readTree(columns, meta, names, pacer) {
  const frames = readFrames(columns, meta.frames, names.length);
  const modules = await readModules(columns, meta, frames, pacer);
  const known = new Split(columns, 'TKLO', 'TKHI');
  const reader = new TreeReader(meta.nodes + 1, frames, known, (id, optional) => (optional ? columns.get(id) : column(columns, id)));
  await reader.read(pacer);
  return Object.assign(reader, { modules });
}

// Stacks are numbered by their count of samples, then by node: the decoder finds the numbers again.
// Rests of CPU time have a weight alone.
function nodesByRank(samples, weights) {
  const nodes = [];
  for (let i = 0; i < samples.length; i++) if (samples[i] > 0 || (weights && weights[i] > 0)) nodes.push(i);
  return Int32Array.from(nodes).sort((a, b) => samples[b] - samples[a] || a - b);
}

async function readSamples(columns, meta, samples, weights, pacer) {
  const count = meta.timed;
  if (!count) return null;
  const time = await readVarints(column(columns, 'STIM'), new Float64Array(count), pacer);
  for (let i = 1; i < count; i++) time[i] += time[i - 1];
  const node = await readVarints(column(columns, 'SSTK'), new Int32Array(count), pacer);
  const ranks = nodesByRank(samples, weights);
  for (let i = 0; i < count; i++) {
    if (node[i] >= ranks.length) throw new DamagedData('a sample has no stack');
    node[i] = ranks[node[i]];
  }
  if (pacer.due()) await pacer.breathe();
  const state = columns.has('SSTA') ? column(columns, 'SSTA').bytes : new Uint8Array(count);
  const thread = columns.has('STHR')
    ? await readVarints(column(columns, 'STHR'), new Uint32Array(count), pacer)
    : new Uint32Array(count);
  if (columns.has('STHR') && thread.some((t) => !(t < meta.threads))) throw new DamagedData('a sample has no thread');
  const repeat = columns.has('SCNT') ? await readVarints(column(columns, 'SCNT'), new Float64Array(count), pacer) : null;
  const weight = columns.has('SWGT') ? await readVarints(column(columns, 'SWGT'), new Float64Array(count), pacer) : null;
  // Rests of CPU time are entries that stand for no sample.
  const sampleCount = repeat ? repeat.reduce((sum, n) => sum + n, 0) : count;
  return { count, sampleCount, time, node, state, thread, repeat, weight };
}

export class Capture {
  constructor(meta, names, parts, threads, timed) {
    this.meta = meta;
    this.names = names;
    this.tree = parts.tree;
    this.modules = parts.modules || [];
    // What one sample weighs when all weigh the same; otherwise null and `weights` says it per node.
    this.perSample = parts.weights ? null : meta.perSample || 1;
    this.samples = parts.samples;
    this.weights = parts.weights || (this.perSample === 1 ? parts.samples : parts.samples.map((n) => n * this.perSample));
    this.threads = threads;
    this.timed = timed;
  }

  get durationTicks() {
    return this.meta.durationTicks || 0;
  }
}

// Reads the base64 text of a data block. Throws DamagedData, NewerFormat or OldBrowser.
export async function readCapture(text, pacer) {
  const packed = decodeBase64(text.trim());
  const header = checkHeader(packed);
  if (pacer.due()) await pacer.breathe();
  const columns = splitColumns(await inflate(packed, header, pacer));
  let meta;
  try {
    meta = cleanMeta(JSON.parse(new TextDecoder().decode(column(columns, 'META').bytes)));
  } catch (error) {
    throw error instanceof DamagedData ? error : new DamagedData('its description cannot be read');
  }
  checkCounts(meta, (id) => (columns.has(id) ? columns.get(id).bytes.length : 0));
  const names = await readNames(columns, meta.names, pacer);
  const threads = meta.threads ? await readTexts(columns, 'HLEN', 'HNAM', meta.threads, pacer) : [];
  const parts = await readTree(columns, meta, names, pacer);
  const timed = await readSamples(columns, meta, parts.samples, parts.weights, pacer);
  return new Capture(meta, names, parts, threads, timed);
}
