// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Runs in a worker, of the page's own script: reads one file, and answers with its capture or with what is wrong.
import { recognise } from './recognise.js';

// The memory of these goes to the page, instead of a copy.
function buffersOf(value, found = new Set()) {
  if (ArrayBuffer.isView(value)) found.add(value.buffer);
  else if (value && value.constructor === Object) for (const part of Object.values(value)) buffersOf(part, found);
  return found;
}

// What arrives must hold no more than it shows.
function compact(value) {
  if (ArrayBuffer.isView(value)) return value.byteLength === value.buffer.byteLength ? value : value.slice();
  if (value && value.constructor === Object) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, compact(part)]));
  return value;
}

export function serveIntake() {
  onmessage = async ({ data: { file, title } }) => {
    try {
      const { meta, names, tree, modules, samples, weights, threads, timed, perSample } = await recognise(new Uint8Array(await file.arrayBuffer()), title);
      const { size, parent, end, name, kind } = tree;
      const capture = compact({ meta, names, tree: { size, parent, end, name, kind }, modules, samples, weights, threads, timed, perSample });
      postMessage({ capture }, [...buffersOf({ tree: capture.tree, samples: capture.samples, weights: capture.weights, timed: capture.timed })]);
    } catch (error) {
      const isTold = ['DamagedData', 'NewerFormat', 'OldBrowser'].includes(error.kind);
      postMessage({ error: isTold ? error.message : error instanceof RangeError ? 'it holds more than a page can show: make a page of it with `jprof convert`' : `it cannot be read: ${error.message}` });
    }
  };
}
