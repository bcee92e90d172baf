// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Two captures in one page: shares, what came and went, and how sure it is.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, withPage } from './browser.mjs';
import { diffPage, perfText, randomNumbers } from './fixtures.mjs';
import { clickBox, details, hoverBox, press, tableRows } from './steps.mjs';

after(closeBrowser);

const BASE = 'main;a 500\nmain;b 300\nmain;gone 200\n';
const CHANGED = 'main;a 500\nmain;b 1300\nmain;new 200\n';

test('B50: scaled by two and sampled at a tenth, nothing changes', async () => {
  const twice = BASE.replaceAll(/\d+/g, (n) => String(n / 10));
  await withPage(diffPage(BASE, twice), { hash: '#v=table' }, async (page) => {
    for (const row of await tableRows(page)) assert.match(row[0], /^±0\.000/, row.join('|'));
  });
});

test('B50, B51: shares of both sides, gone and new, and the shape of the base', async () => {
  await withPage(diffPage(BASE, CHANGED), {}, async (page) => {
    assert.match(await hoverBox(page, 0.1, 2), /^b\n65\.0 % · 1,300 samples/);
    await clickBox(page, 0.1, 2);
    assert.match(await details(page), /base 30\.0 % \(300 samples\) new 65\.0 % \(1,300 samples\) \+35\.00 points, 95 % range \+3\d\.\d\d to \+3\d\.\d\d/);
    await press(page, 'b');
    assert.match(await hoverBox(page, 0.9, 2), /^gone\n20\.0 % · 200 samples/);
    // Both shapes have one order, so that a box is found again.
    assert.match(await hoverBox(page, 0.1, 2), /^b\n30\.0 % · 300 samples/);
    assert.match(await hoverBox(page, 0.5, 2), /^a\n50\.0 % · 500 samples/);
    assert.match(await page.locator('.details .full').innerText(), /^b$/);
    await press(page, 'b', '4');
    await page.getByLabel('Which methods').selectOption('gone');
    assert.deepEqual((await tableRows(page)).map((row) => row[4]), ['gone']);
    await page.getByLabel('Which methods').selectOption('new');
    assert.deepEqual((await tableRows(page)).map((row) => row[4]), ['new']);
  });
});

test('B53: without time slices it says so and never uses the full shade', async () => {
  await withPage(diffPage(BASE, CHANGED), {}, async (page) => {
    await clickBox(page, 0.1, 2);
    assert.match(await details(page), /some evidence/);
    await press(page, '4');
    assert.match(await page.locator('.note').innerText(), /assumes independent samples, never the full shade/);
  });
});

// A thread that stays where it is for a while: runs of equal samples, as real threads have.
function runs(seed, methods, factor = {}) {
  const random = randomNumbers(seed);
  const samples = [];
  const weights = methods.map((name, i) => (factor[name] || 1) / (i + 2));
  const whole = weights.reduce((a, b) => a + b, 0);
  for (let i = 0; i < 6000; ) {
    let pick = random() * whole;
    let m = 0;
    while ((pick -= weights[m]) > 0 && m < methods.length - 1) m++;
    for (let run = 1 + Math.floor(random() * 8); run > 0 && i < 6000; run--, i++) samples.push({ time: i / 100, thread: 't', tid: 1, stack: ['main', methods[m]] });
  }
  return perfText(samples);
}
const METHODS = Array.from({ length: 60 }, (_, i) => 'm' + i);

test('B52: two captures of one program have at most 1 % full boxes and 5 % marked rows; a doubled method is full', async () => {
  await withPage(diffPage(runs(1, METHODS), runs(2, METHODS)), { hash: '#v=table' }, async (page) => {
    const note = await page.locator('.note').innerText();
    const [, methods, changed] = /([\d,]+) methods, (\d+) changed/.exec(note);
    assert.ok(Number(changed) <= 0.05 * Number(methods), note);
    assert.doesNotMatch(note, /assumes/);
  });
  await withPage(diffPage(runs(1, METHODS), runs(2, METHODS, { m3: 2.2 })), { hash: '#v=table' }, async (page) => {
    const row = (await tableRows(page)).find((cells) => cells[4] === 'm3');
    assert.match(row[0], /^\+\d+\.\d+ changed/);
    await page.locator('.table-row').filter({ has: page.getByText('m3', { exact: true }) }).click();
    await press(page, '1');
    assert.match(await details(page), /strong evidence/);
  });
});

test('B54: what differs in how the two were made is said', async () => {
  const one = perfText([{ time: 0, thread: 't', tid: 1, stack: ['a'] }, { time: 10, thread: 't', tid: 1, stack: ['a'] }]);
  await withPage(diffPage(one, BASE), {}, async (page) => {
    assert.match(await page.locator('.warning').innerText(), /event: cpu-clock:u and .*unit: ns and samples/);
  });
});

test('B63: more and less differ without colours', async () => {
  await withPage(diffPage(BASE, CHANGED), { hash: '#v=table' }, async (page) => {
    const rows = await tableRows(page);
    assert.match(rows.find((row) => row[4] === 'b')[0], /^\+/);
    assert.match(rows.find((row) => row[4] === 'a')[0], /^−/);
  });
});
