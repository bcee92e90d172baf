// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Regular expressions, matched where they cannot freeze the page: an expression can take longer than the age of the
// universe, none can be interrupted, and which ones do cannot be told by their text. A worker can be ended.

import { workerOf } from './worker.js';

// From when the worker has begun. A sane expression takes 25 ms for the 20 000 names of a large capture.
const LIMIT_MS = 2000;

// Runs apart, so it stands here as text. It is sent the names once, and each time an expression. Names are cut: one of
// two million letters is none that somebody looks for the end of.
const WORKER =
  'let names;' +
  'onmessage=({data:[given,source,flags]})=>{' +
  'if(given)names=given;' +
  'postMessage(null);' +
  'const expression=new RegExp(source,flags),hits=new Uint8Array(names.length);' +
  'for(let n=0;n<names.length;n++)if(expression.test(names[n].slice(0,2000)))hits[n]=1;' +
  'postMessage(hits,[hits.buffer])}';

export class Matcher {
  constructor() {
    this.jobs = [];
    this.worker = null;
    this.knows = null;
  }

  // Promise of a byte for each name, 1 for a hit; rejected with what to tell the user. `expression`: text and flags.
  match(names, expression) {
    return new Promise((resolve, reject) => {
      this.jobs.push({ names, size: names.length, expression, resolve, reject });
      if (this.jobs.length === 1) this.begin();
    });
  }

  // Gives up what was asked: nothing more is heard of it.
  stop() {
    if (this.jobs.length) this.end();
    this.jobs = [];
  }

  begin() {
    const [job] = this.jobs;
    if (!job) return;
    try {
      this.worker ??= workerOf('jprof-matcher', () => WORKER);
    } catch {
      return this.finish(() => job.reject('this browser does not let a page run expressions; text is found'));
    }
    const { worker } = this;
    // What a worker that was ended has sent still comes.
    const own = (work) => (event) => this.worker === worker && this.jobs[0] === job && work(event);
    worker.onerror = own(() => {
      this.end();
      this.finish(() => job.reject('this browser does not let a page run expressions; text is found'));
    });
    worker.onmessage = own(({ data }) => {
      if (data) this.finish(() => job.resolve(data));
      // Once more through the queue: a busy page sees the time before it sees the answer.
      else this.timer = setTimeout(() => setTimeout(own(() => this.giveUp(job))), LIMIT_MS);
    });
    const known = this.knows && this.knows.names === job.names && this.knows.size === job.size;
    this.knows = job;
    worker.postMessage([known ? null : job.names, ...job.expression]);
  }

  giveUp(job) {
    this.end();
    this.finish(() => job.reject(`this expression took longer than ${LIMIT_MS / 1000} s and was stopped`));
  }

  end() {
    clearTimeout(this.timer);
    if (this.worker) this.worker.terminate();
    this.worker = null;
    this.knows = null;
  }

  finish(tell) {
    clearTimeout(this.timer);
    this.jobs.shift();
    tell();
    this.begin();
  }
}
