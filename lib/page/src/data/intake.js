// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A file that the user drops, opens or pastes: a recording, a page of jprof, folded text, speedscope's JSON, packed or not. Its bytes
// may be anybody's, so a worker reads them: it can be ended.
import { DamagedData } from './bytes.js';
import { CallTree } from './calltree.js';
import { Capture } from './capture.js';
import { workerOf } from './worker.js';

// Packed, and unpacked.
export const MOST_BYTES = 400e6;
// For the largest recordings on a slow machine.
const LIMIT_MS = 60000;

// The page's own script, which runs as a worker too.
const ownScript = () => document.querySelector('script:not([type])').textContent;

function adopt(capture) {
  const tree = Object.assign(Object.create(CallTree.prototype), capture.tree);
  return Object.assign(Object.create(Capture.prototype), capture, { tree });
}

// The capture of a file. Throws DamagedData, which says why there is none.
export function readOther(file) {
  if (file.size > MOST_BYTES) return Promise.reject(new DamagedData('it is larger than 400 MB: make a page of it with `jprof convert`'));
  return new Promise((resolve, reject) => {
    let worker;
    let timer = 0;
    const end = (settle) => {
      clearTimeout(timer);
      if (worker) worker.terminate();
      settle();
    };
    const fail = (why) => end(() => reject(new DamagedData(why)));
    try {
      worker = workerOf('jprof-reader', ownScript);
    } catch {
      return fail('this browser does not let a page read files: make a page of it with `jprof convert`');
    }
    timer = setTimeout(() => fail(`reading it took longer than ${LIMIT_MS / 1000} s and was stopped: make a page of it with \`jprof convert\``), LIMIT_MS);
    worker.onerror = (event) => {
      event.preventDefault();
      fail('reading it needed more memory than the browser gives: make a page of it with `jprof convert`');
    };
    worker.onmessageerror = worker.onerror;
    worker.onmessage = ({ data }) => (data.error ? fail(data.error) : end(() => resolve(adopt(data.capture))));
    worker.postMessage({ file, title: file.name.slice(0, 300) });
    return undefined;
  });
}
