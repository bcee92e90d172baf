// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Captures with known numbers, made into pages by the real `jprof convert` and `jprof diff`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';

const root = fileURLToPath(new URL('../../', import.meta.url));
export const jprof = join(process.env.JPROF_BUILD_DIR || join(root, 'build/dev'), 'bin/jprof');
export const directory = mkdtempSync(join(tmpdir(), 'jprof-page-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

let made = 0;

export function pageOf(text, { title, name } = {}) {
  const base = join(directory, name || 'f' + made++);
  writeFileSync(base + '.in', text);
  const args = ['convert', base + '.in', '-o', base + '.html'];
  execFileSync(jprof, title === undefined ? args : [...args, '--title', title]);
  return base + '.html';
}

export function edited(file, change) {
  const copy = join(directory, 'e' + made++ + '.html');
  writeFileSync(copy, change(readFileSync(file, 'utf8')));
  return copy;
}

export function diffPage(base, changed, flags = []) {
  const names = [base, changed].map((text) => {
    const file = join(directory, 'd' + made++ + '.in');
    writeFileSync(file, text);
    return file;
  });
  const out = join(directory, 'd' + made++ + '.html');
  execFileSync(jprof, ['diff', ...flags, ...names, '-o', out]);
  return out;
}

// T2: 110 samples, 11 stacks, every number in the tests follows from this.
export const T2 = `java.lang.Thread.run;com.acme.Main.main;com.acme.pay.OrderService.place;com.acme.db.Pool.get 30
java.lang.Thread.run;com.acme.Main.main;com.acme.pay.OrderService.place;com.acme.db.Pool.get;jdk.internal.misc.Unsafe.park 10
java.lang.Thread.run;com.acme.Main.main;com.acme.pay.OrderService.place 20
java.lang.Thread.run;com.acme.Main.main;com.acme.pay.Refund.make;com.acme.db.Pool.get 15
java.lang.Thread.run;com.acme.Main.main;com.acme.util.Json.write_[i] 12
java.lang.Thread.run;com.acme.Main.main;com.acme.util.Json.write_[i];java.lang.StringBuilder.append_[j] 8
java.lang.Thread.run;com.acme.Worker.loop;com.acme.Worker.loop;com.acme.Worker.loop 5
java.lang.Thread.run;com.acme.Worker.loop;com.acme.Foo$$Lambda/0x0000000801.run 3
java.lang.Thread.run;com.acme.Worker.loop;com.acme.Foo$$Lambda/0x0000000802.run 2
start_thread;GCTaskThread::run;G1ParEvacuate 4
start_thread;sys_read_[k] 1
`;

// A generator of numbers that is the same in every run.
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

// Timed samples as perf script prints them: [{ time (s), thread, tid, stack (root first) }].
export function perfText(samples) {
  return samples
    .map(({ time, thread, tid, stack }) => {
      const frames = stack.slice().reverse().map((name, i) => `\t${(0x7f000000 + i).toString(16)} ${name}+0x1 (/tmp/perf-1.map)\n`);
      return `${thread} 1/${tid} [000] ${(100 + time).toFixed(6)}:   10000000 cpu-clock:u: \n${frames.join('')}\n`;
    })
    .join('');
}

// T3: ten seconds, two threads at 100 Hz each. Thread `alpha` (tid 11) runs a.steady, and a.spike from
// second 4 to 6; thread `beta` (tid 12) runs b.work all the time. 2 000 samples: 800 steady, 200 spike,
// 1 000 work.
export function timedSamples() {
  const samples = [];
  for (let i = 0; i < 1000; i++) {
    const time = i / 100;
    samples.push({ time, thread: 'alpha', tid: 11, stack: ['main.run', time >= 4 && time < 6 ? 'a.spike' : 'a.steady'] });
    samples.push({ time: time + 0.001, thread: 'beta', tid: 12, stack: ['main.run', 'b.work'] });
  }
  return samples;
}

export const T3 = () => perfText(timedSamples());

// IEEE 802.3, bit by bit: zlib.crc32 came with Node.js 20.15.
export function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

// A page whose capture says something else of itself: its description changed, its body stored, its checksum right.
export function withMeta(file, change) {
  return edited(file, (html) =>
    html.replace(/(id="jprof-data">)([^<]*)/, (_, tag, data) => {
      const packed = Buffer.from(data, 'base64');
      const body = inflateRawSync(packed.subarray(24));
      const columns = [];
      for (let at = 0; at < body.length; at += 8 + body.readUInt32LE(at + 4)) {
        const id = body.toString('latin1', at, at + 4);
        let content = body.subarray(at + 8, at + 8 + body.readUInt32LE(at + 4));
        if (id === 'META') content = Buffer.from(JSON.stringify(change(JSON.parse(content))));
        const head = Buffer.from(id + '....', 'latin1');
        head.writeUInt32LE(content.length, 4);
        columns.push(head, content);
      }
      const raw = Buffer.concat(columns);
      const header = Buffer.from(packed.subarray(0, 24));
      header[10] = 0;
      header.writeUInt32LE(raw.length, 12);
      header.writeUInt32LE(raw.length, 16);
      header.writeUInt32LE(crc32(Buffer.concat([header.subarray(0, 20), raw])), 20);
      return tag + Buffer.concat([header, raw]).toString('base64');
    }),
  );
}
