// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Each behaviour of the list has a test that names it, and no test names another.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const here = new URL('./', import.meta.url);

test('every behaviour has a test', () => {
  const listed = [...readFileSync(new URL('behaviours.txt', here), 'utf8').matchAll(/^(B\d+) \S/gm)].map((match) => match[1]);
  const tested = new Set();
  for (const file of readdirSync(here).filter((name) => name.endsWith('.test.mjs'))) {
    for (const [, numbers] of readFileSync(new URL(file, here), 'utf8').matchAll(/^test\('((?:B\d+(?:, )?)+):/gm)) {
      for (const number of numbers.split(', ')) tested.add(number);
    }
  }
  assert.ok(listed.length > 50);
  assert.deepEqual([...tested].sort(), [...listed].sort());
});
