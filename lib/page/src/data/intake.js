// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A second capture that the user drops or opens: a page of jprof, or folded text.
import { DamagedData } from './bytes.js';
import { Capture, readCapture } from './capture.js';
import { Pacer } from './pacer.js';
import { TreeBuilder } from './reshape.js';

const DATA_BLOCK = /<script type="text\/plain" id="jprof-data(?:-\d)?">([A-Za-z0-9+/=\s]*)<\/script>/g;
const MARKUP = /^\s*<(?:(?:!doctype|html|svg|\?xml)[\s>]|!--)/i;
const MAX_BYTES = 400e6;

// Folded text as a capture: "a;b;c 12" per line.
export function readFolded(text, title) {
  const builder = new TreeBuilder(1 << 16);
  const names = [];
  const ids = new Map();
  const weights = [];
  let used = 0;
  let ignored = 0;
  for (const line of text.split('\n')) {
    const match = /^(.*?)[ \t]+(\d+(?:\.\d+)?)\s*$/.exec(line);
    if (!match) {
      if (line.trim()) ignored++;
      continue;
    }
    let at = 0;
    for (const name of match[1].split(';')) {
      let id = ids.get(name);
      if (id === undefined) {
        id = names.length;
        ids.set(name, id);
        names.push(name);
      }
      at = builder.child(at, id, 0);
    }
    weights[at] = (weights[at] || 0) + Number(match[2]);
    used++;
  }
  if (!used) throw new DamagedData('it is neither a page of jprof nor folded text');
  const self = new Float64Array(builder.size);
  for (let i = 0; i < builder.size; i++) self[i] = weights[i] || 0;
  const { tree, place } = builder.freeze(self);
  const samples = new Float64Array(tree.size);
  for (let i = 0; i < self.length; i++) samples[place[i]] = self[i];
  const facts = [['source', title]];
  if (ignored) facts.push(['ignored lines', String(ignored)]);
  return new Capture({ title, facts, perSample: 1 }, names, { tree, samples, weights: null }, [], null);
}

// The text of a file, also of one that gzip has packed. Bytes that are no text may hold lines that end in a number.
async function readText(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  let text = '';
  if (first === 0x1f && second === 0x8b) {
    const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
    const decoder = new TextDecoder();
    for (let size = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > MAX_BYTES) throw new DamagedData('it unpacks to more than 400 MB');
      text += decoder.decode(value, { stream: true });
    }
  } else text = await file.text();
  if (text.includes('\0')) throw new DamagedData('it is neither a page of jprof nor text');
  return text;
}

export async function readOther(file) {
  if (file.size > MAX_BYTES) throw new DamagedData('it is larger than 400 MB');
  const text = await readText(file);
  const blocks = [...text.matchAll(DATA_BLOCK)];
  if (blocks.length) return readCapture(blocks[blocks.length - 1][1], new Pacer());
  // As lib/formats/format_reader.cpp has it: styles and scripts hold lines that end in a number.
  if (MARKUP.test(text)) throw new DamagedData('it is neither a page of jprof nor folded text');
  return readFolded(text, file.name);
}
