// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A real JVM that does the same all the time: what the page calls changed between two halves of one capture, and between
// two captures, is at most 5 % of the methods; doubled work is called changed. Run by tests/full/two_halves.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowser, withPage } from './browser.mjs';
import { directory, jprof } from './fixtures.mjs';
import { search, tableRows } from './steps.mjs';

const SECONDS = Number(process.env.JPROF_SECONDS || 60);
const root = fileURLToPath(new URL('../../', import.meta.url));
const classes = join(dirname(dirname(jprof)), 'tests/classes');
const running = [];

async function startVaried(sorts) {
  const part = execFileSync(join(root, 'scripts/parts'), ['jdk-17'], { encoding: 'utf8' }).trim();
  const jvm = spawn(join(part, 'run-java'), ['-Xmx256m', '-cp', classes, 'Varied', String(sorts)], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(jvm);
  const [line] = await once(createInterface({ input: jvm.stdout }), 'line');
  assert.equal(line, 'ready');
  return jvm;
}

async function record(jvm, name) {
  const file = join(directory, name);
  const child = spawn(jprof, ['record', String(jvm.pid), '--json', '-d', SECONDS + 's', '-o', file + '.jprof', '-o', file + '.html'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const text = (await child.stdout.toArray()).join('');
  const result = JSON.parse(text);
  assert.ok(result.samples > 0 && !result.partial, text);
  return { recording: file + '.jprof', page: file + '.html', milliseconds: Math.floor(result.durationNs / 1e6), samples: result.samples };
}

// What the table says of all methods: how many there are, how many changed.
async function changedIn(page) {
  const note = await page.locator('.note').innerText();
  const [, methods, changed] = /([\d,]+) methods, ([\d,]+) changed/.exec(note).map((text) => Number(text.replaceAll(',', '')));
  assert.doesNotMatch(note, /assumes/);
  return { methods, changed };
}

function expectFew({ methods, changed }, what) {
  console.log(`${what}: ${changed} of ${methods} methods called changed (${((100 * changed) / methods).toFixed(1)} %)`);
  assert.ok(methods >= 100, `${methods} methods`);
  assert.ok(changed <= 0.05 * methods, `${changed} of ${methods}`);
}

let one;
let two;
let doubled;

before(async () => {
  const same = await startVaried(2);
  one = await record(same, 'one');
  two = await record(same, 'two');
  same.kill('SIGKILL');
  doubled = await record(await startVaried(4), 'doubled');
  console.log(`${one.samples}, ${two.samples} and ${doubled.samples} samples`);
});

after(async () => {
  for (const jvm of running) jvm.kill('SIGKILL');
  await closeBrowser();
});

test('two halves of one capture: at most 5 % of the methods are called changed', async () => {
  const half = Math.floor(two.milliseconds / 2); // of the second: by then nothing is compiled any more
  await withPage(two.page, { hash: `#v=table&t=${half}-${2 * half}&tb=0-${half}` }, async (page) => {
    expectFew(await changedIn(page), 'two halves');
  });
});

function difference(a, b) {
  const file = join(directory, 'difference.html');
  execFileSync(jprof, ['diff', a.recording, b.recording, '-o', file]);
  return file;
}

test('two captures of one program: at most 5 % of the methods are called changed', async () => {
  await withPage(difference(one, two), { hash: '#v=table' }, async (page) => {
    expectFew(await changedIn(page), 'two captures');
  });
});

test('work that is doubled is called changed', async () => {
  await withPage(difference(one, doubled), { hash: '#v=table' }, async (page) => {
    console.log(`doubled: ${JSON.stringify(await changedIn(page))}`);
    await search(page, 'Varied.sort');
    const row = (await tableRows(page)).find((cells) => cells[5] === 'Varied.sort');
    assert.match(row[0], /^\+\d+\.\d+ ± \d+\.\d+ changed/);
  });
});
