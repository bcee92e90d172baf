// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Large captures with the properties of real ones that decide about size and speed: distinct stacks over a graph of
// methods with 12 callees each, of which few are frequent; shared prefixes; heavy-tailed counts; depth 20 to 60.
//   P1: 33 000 stacks, 312 thousand nodes, 16 600 names.   P2: 320 000 stacks, 3.0 million nodes, 20 000 names.
//   node tests/page/big_profile.mjs STACKS FILE   writes it as collapsed stacks and prints its figures
import { closeSync, openSync, writeSync } from 'node:fs';
import { randomNumbers } from './fixtures.mjs';

const METHODS = 20000;
export const P1 = 33000;
export const P2 = 320000;

function methodNames() {
  const layers = ['api', 'core', 'storage', 'transport', 'scheduling', 'rendering', 'accounting'];
  const nouns = ['OrderRepository', 'ConnectionPool', 'RequestDispatcher', 'JsonSerializer', 'TransactionScope', 'RowMapper'];
  const verbs = ['findMatching', 'acquire', 'dispatch', 'writeValue', 'commitPending', 'mapColumns'];
  return Array.from({ length: METHODS }, (_, i) => `com.acme.${layers[i % 7]}.module${i % 97}.${nouns[i % 6]}${i % 811}.${verbs[(i >> 2) % 6]}${i}`);
}

// { names, stacks: [[path of method numbers, count], ...] }, the same for the same number of stacks.
export function bigProfile(count, seed = 1) {
  const random = randomNumbers(seed);
  const callees = Array.from({ length: METHODS }, () => Array.from({ length: 12 }, () => Math.floor(random() ** 3.4 * METHODS)));
  const stacks = new Map();
  let prefix = [];
  while (stacks.size < count) {
    const depth = 20 + Math.floor((random() + random() + random() + random()) * 10.5);
    const path = prefix.slice(0, Math.floor(depth * (0.62 + 0.38 * random())));
    let at = path.length ? path[path.length - 1] : Math.floor(random() * 8);
    if (!path.length) path.push(at);
    while (path.length < depth) {
      at = callees[at][Math.floor(random() ** 3 * 12)];
      path.push(at);
    }
    prefix = random() < 0.02 ? [] : path;
    const key = path.join();
    const samples = 1 + Math.floor(1 / (random() + 0.001) ** 0.8);
    const known = stacks.get(key);
    if (known) known[1] += samples;
    else stacks.set(key, [path, samples]);
  }
  return { names: methodNames(), stacks: [...stacks.values()] };
}

export function writeCollapsed(count, file) {
  const { names, stacks } = bigProfile(count);
  const out = openSync(file, 'w');
  for (let i = 0; i < stacks.length; i += 1000) {
    const lines = stacks.slice(i, i + 1000).map(([path, samples]) => `${path.map((m) => names[m]).join(';')} ${samples}\n`);
    writeSync(out, lines.join(''));
  }
  closeSync(out);
}

if (process.argv[1] && process.argv[1].endsWith('big_profile.mjs')) {
  const [, , count, file] = process.argv;
  writeCollapsed(Number(count), file);
}
