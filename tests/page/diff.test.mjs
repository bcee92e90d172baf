// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Two captures in one page: shares, what came and went, and how sure it is.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, withPage } from './browser.mjs';
import { diffPage, perfText, randomNumbers } from './fixtures.mjs';
import { clickBox, details, fragment, hoverBox, pixel, pointOf, press, tableRows } from './steps.mjs';

after(closeBrowser);

const BASE = 'main;a 500\nmain;b 300\nmain;gone 200\n';
const CHANGED = 'main;a 500\nmain;b 1300\nmain;new 200\n';

test('B50: scaled by two and sampled at a tenth, nothing changes', async () => {
  const twice = BASE.replaceAll(/\d+/g, (n) => String(n / 10));
  await withPage(diffPage(BASE, twice), { hash: '#v=table' }, async (page) => {
    for (const row of await tableRows(page)) for (const change of row.slice(0, 2)) assert.match(change, /^±0\.000/, row.join('|'));
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
    assert.deepEqual((await tableRows(page)).map((row) => row[5]), ['gone']);
    await page.getByLabel('Which methods').selectOption('new');
    assert.deepEqual((await tableRows(page)).map((row) => row[5]), ['new']);
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
    const row = (await tableRows(page)).find((cells) => cells[5] === 'm3');
    assert.match(row[0], /^\+\d+\.\d+ ± \d+\.\d+ changed/);
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
    assert.match(rows.find((row) => row[5] === 'b')[0], /^\+/);
    assert.match(rows.find((row) => row[5] === 'a')[0], /^−/);
  });
});

// Shares of 1 000 and 2 000 samples: Price.of 20 to 26.2 %, three new methods, one gone, the rest in proportion.
const SHOP = ['com.acme.checkout.Price.of 200', 'com.acme.checkout.Cart.sum 400', 'com.acme.Old.tax 100', 'com.acme.Json.write 300'];
const SHOP_NEW = ['com.acme.checkout.Price.of 600', 'com.acme.checkout.Cart.sum 800', 'com.acme.New.a 40', 'com.acme.New.b 60', 'com.acme.New.c 80', 'com.acme.Json.write 420'];
const stacks = (lines) => lines.map((line) => 'com.acme.Main.main;' + line + '\n').join('');

test('B75: the table has changes of self and total with their error, clear new and gone methods first', async () => {
  await withPage(diffPage(stacks(SHOP), stacks(SHOP_NEW)), { hash: '#v=table' }, async (page) => {
    const rows = await tableRows(page);
    assert.deepEqual(rows.map((row) => row[5].split('.').slice(-2).join('.')), ['Old.tax', 'New.c', 'New.b', 'New.a', 'Price.of', 'Json.write', 'Main.main', 'Cart.sum']);
    // 20 to 30 %: the error of both sides together.
    const error = 196 * Math.sqrt(Math.max((0.2 * 0.8) / 1000, (PRICE_POOLED * (1 - PRICE_POOLED)) / 1000) + Math.max((0.3 * 0.7) / 2000, (PRICE_POOLED * (1 - PRICE_POOLED)) / 2000));
    const price = rows.find((row) => /Price\.of$/.test(row[5]));
    assert.deepEqual(price.slice(0, 5), [`+10.00 ± ${error.toFixed(2)} changed`, `+10.00 ± ${error.toFixed(2)}`, '20.0 % self 20.0 %', '30.0 % self 30.0 %', '200 → 600']);
    assert.match(rows[0][0], /^−10\.00 ± \d\.\d\d changed gone$/);
    assert.match(rows[1][0], /^\+4\.00 ± \d\.\d\d changed new$/);
    const main = rows[6];
    assert.match(main[0], /^±0\.000 ± 0\.00 too few|^±0\.000 ± 0\.00 unclear/);
    assert.equal(main[3], '100 %');
    // What is unclear is grey.
    const colours = await page.locator('.table .table-row').evaluateAll((all) => all.map((e) => [e.querySelector('bdi').textContent, getComputedStyle(e).color]));
    const of = (name) => colours.find(([text]) => text.endsWith(name))[1];
    assert.equal(of('Cart.sum'), of('Main.main'));
    assert.notEqual(of('Cart.sum'), of('Price.of'));
    await page.getByRole('button', { name: 'Total change' }).click();
    assert.match((await tableRows(page))[0][5], /Old\.tax|Price\.of/);
  });
});
const PRICE_POOLED = (0.2 * 1000 + 0.3 * 2000) / 3000;

test('B75: one sentence says what changed, in every view', async () => {
  await withPage(diffPage(stacks(SHOP), stacks(SHOP_NEW)), {}, async (page) => {
    const sentence = page.locator('.summary');
    await page.waitForFunction(() => document.querySelector('#jprof').shadowRoot.querySelector('.summary').textContent);
    assert.equal(await sentence.innerText(), 'checkout.Price.of +10.0 points, acme.Json.write −9.0 points, 3 methods new, 1 method gone');
    await press(page, '5');
    assert.equal(await sentence.isVisible(), true);
  });
});

test('B75: no change is explained by what could have been seen, and by the samples needed', async () => {
  // 1 000 and 2 000 samples: 5 % would have to change by 2.8 errors.
  const twice = BASE.replaceAll(/\d+/g, (n) => String(2 * n));
  await withPage(diffPage(BASE, twice), {}, async (page) => {
    await page.waitForFunction(() => document.querySelector('#jprof').shadowRoot.querySelector('.summary').textContent);
    const change = (280 * Math.sqrt(0.05 * 0.95 * (1 / 1000 + 1 / 2000))).toFixed(1);
    assert.equal(await page.locator('.summary').innerText(), `No change can be told from chance: with 1,000 and 2,000 samples, a method with 5.00 % would have to change by ${change} points; to see 1 point takes about 7,400 samples on each side`);
  });
});

test('B75: the colours of the graph tell of total or of self; what is unclear is grey', async () => {
  // Total of a: 50 to 70 %; its self stays, its callee grew.
  const base = 'main;a 300\nmain;a;callee 200\nmain;b 500\n';
  const changed = 'main;a 300\nmain;a;callee 400\nmain;b 300\n';
  await withPage(diffPage(base, changed), {}, async (page) => {
    const colour = async (share, row) => {
      const { x, y } = await pointOf(page, share, row);
      return pixel(page, x, y - 6);
    };
    const isGrey = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) < 12;
    await page.mouse.move(2, 2);
    const [red, , blue] = await colour(0.6, 2);
    assert.ok(red > blue + 20, 'a is orange by total');
    await press(page, 'y');
    assert.equal(fragment(page).get('x'), 'y');
    assert.ok(isGrey(await colour(0.6, 2)), 'the self of a did not change');
    const [r, , b] = await colour(0.3, 3);
    assert.ok(r > b + 20, 'callee is orange by self');
    assert.match(await details(page), /more self than in the base/);
    await clickBox(page, 0.3, 3);
    assert.match(await details(page), /self 20\.0 % → 40\.0 %: \+20\.00 points, 95 % range \+1\d\.\d\d to \+2\d\.\d\d: some evidence/);
  });
});
