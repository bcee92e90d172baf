// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a file is, by its content, and the capture that it holds. As lib/formats/format_reader.cpp has it.
import { DamagedData } from '../data/bytes.js';
import { readCapture } from '../data/capture.js';
import { MOST_BYTES } from '../data/intake.js';
import { Pacer } from '../data/pacer.js';
import { readFolded } from './folded.js';
import { isRecording, readRecording } from './recording.js';
import { looksLikeSpeedscope, readSpeedscope } from './speedscope.js';
import { isZstd, unpackZstd } from './zstd.js';

const DATA_BLOCK = /<script type="text\/plain" id="jprof-data(?:-\d)?">([A-Za-z0-9+/=\s]*)<\/script>/g;
const MARKUP = /^\s*<(?:(?:!doctype|html|svg|\?xml)[\s>]|!--)/i;
const PERF = /^\S[^\n]*?\s+\d+(?:\/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s/m;
const THREAD_DUMP = /^Full thread dump |^"[^\n]*" [^\n]*(?:nid|tid)=/m;
const OTHERS = [
  [[0x46, 0x4c, 0x52, 0], 'it is a recording of JFR: asprof’s converter makes folded text of it'],
  [[0x50, 0x45, 0x52, 0x46, 0x49, 0x4c, 0x45, 0x32], 'it is a recording of perf: give the output of `perf script` to `jprof convert`'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'it is packed by xz: unpack it first'],
  [[0x42, 0x5a, 0x68], 'it is packed by bzip2: unpack it first'],
  [[0x50, 0x4b, 3, 4], 'it is packed by zip: unpack it first'],
  [[0x04, 0x22, 0x4d, 0x18], 'it is packed by lz4: unpack it first'],
];

const startsWith = (bytes, magic) => magic.every((byte, i) => bytes[i] === byte);
const isGzip = (bytes) => startsWith(bytes, [0x1f, 0x8b]);

async function unpackGzip(bytes) {
  const parts = [];
  let size = 0;
  try {
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
    for (let piece; !(piece = await reader.read()).done; ) {
      size += piece.value.length;
      if (size > MOST_BYTES) break;
      parts.push(piece.value);
    }
  } catch {
    throw new DamagedData('its gzip data is damaged: copy it again from where it came');
  }
  if (size > MOST_BYTES) throw new DamagedData('it unpacks to more than 400 MB: make a page of it with `jprof convert`');
  const all = new Uint8Array(size);
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return all;
}

async function readText(bytes, title) {
  for (const [magic, why] of OTHERS) if (startsWith(bytes, magic)) throw new DamagedData(why);
  const text = new TextDecoder().decode(bytes);
  const blocks = [...text.matchAll(DATA_BLOCK)];
  if (blocks.length) return readCapture(blocks[blocks.length - 1][1], new Pacer());
  if (text.includes('\0')) throw new DamagedData('it is neither a page or recording of jprof nor text');
  // Styles and scripts hold lines that end in a number.
  if (MARKUP.test(text)) throw new DamagedData('it is neither a page of jprof nor folded text');
  if (looksLikeSpeedscope(text)) return readSpeedscope(text, title);
  if (/^\s*[{[]/.test(text)) throw new DamagedData('its JSON is not speedscope’s: "shared" and "profiles" are missing');
  const beginning = text.slice(0, 20000);
  if (THREAD_DUMP.test(beginning)) throw new DamagedData('it is a thread dump: make a page of it with `jprof convert`');
  if (PERF.test(beginning)) throw new DamagedData('it is the output of perf script: make a page of it with `jprof convert`');
  return readFolded(text, title);
}

// The capture of a file's bytes. Throws DamagedData, NewerFormat or OldBrowser.
export async function recognise(bytes, title) {
  if (!bytes.length) throw new DamagedData('it is empty: copy it again from where it came');
  let content = bytes;
  if (isGzip(bytes)) content = await unpackGzip(bytes);
  else if (isZstd(bytes)) content = unpackZstd(bytes, MOST_BYTES);
  if (content !== bytes && (isGzip(content) || isZstd(content))) throw new DamagedData('it is packed twice: unpack it first');
  return isRecording(content) ? readRecording(content) : readText(content, title);
}
